"""Runs a job from where an earlier run has left it, whenever and however that ended."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import json
import os
import pathlib
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

from avida._cli.rewriting.engines import Engine
from avida._cli.rewriting.rows import CLASSES, load_source, open_data
from avida._cli.rewriting.shards import STATE, Job, Plan
from avida._files.atomic import write_file
from avida._shards.formats import index_of, missing_package
from avida.progress import Progress

_PLAN, _LOCK = "plan.json", "lock"
_ERRORS = "errors.txt"
_SHOWN = 10  # errors, on the screen
_MIB = 2**20


def run_job(job: Job, engine: Callable[[Job], contextlib.AbstractContextManager[Engine]]) -> int:
    """Writes the shards that are missing, and what belongs beside them; says what was done."""
    if package := missing_package(job.format, job.compression):
        raise RuntimeError(package)
    with _alone_in(job.target) as state:
        known = _known_plan(state, job)
        if known and known.get("shards") is not None:
            return _report(job, known["shards"])
        with engine(job) as working:
            plan = working.plan()
            _keep_plan(state, job, plan, known)
            records = _finished(state)
            missing = [number for number in range(plan.shards) if number not in records]
            with Progress(f"{job.format}", total=plan.samples, unit="samples") as bar:
                bar.advance(plan.samples - _samples_in(plan, missing), f"{len(records)} of {plan.shards} shards")
                for record in working.write(plan, missing, bar.advance):
                    records[record["number"]] = record
                    bar.advance(0, f"{len(records)} of {plan.shards} shards")
        return _report(job, _finish(state, job, plan, [records[number] for number in range(plan.shards)]))


def _samples_in(plan: Plan, numbers: list[int]) -> int:
    return sum(min(plan.per_shard, plan.samples - number * plan.per_shard) for number in numbers)


@contextlib.contextmanager
def _alone_in(target: str) -> Iterator[pathlib.Path]:
    """The folder in the target that knows what is finished, with a lock on it."""
    folder = pathlib.Path(target)
    state = folder / STATE
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "expected a folder for the shards, found a file", target)
    if folder.is_dir() and not state.is_dir() and any(folder.iterdir()):
        raise FileExistsError(errno.EEXIST, "expected a new or empty folder for the shards, it has other files", target)
    state.mkdir(parents=True, exist_ok=True)
    with open(state / _LOCK, "wb") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # which processes that are forked do not have
        except BlockingIOError:
            raise RuntimeError(f"{target}: another process is writing shards there") from None
        try:
            yield state
        finally:
            if not (state / _PLAN).exists():  # nothing was begun
                shutil.rmtree(state)
                with contextlib.suppress(OSError):
                    folder.rmdir()


def _described(job: Job) -> dict[str, Any]:
    """What has to be the same when a job goes on."""
    fields = dataclasses.asdict(job)
    ignored = {"target", "skip"} if job.place.script else {"target", "skip", "batch_size"}
    texts = [load_source(each) for each in (job.place.script, job.place.reader)]
    return {name: value for name, value in fields.items() if name not in ignored} | {"scripts": texts}


def _known_plan(state: pathlib.Path, job: Job) -> dict[str, Any] | None:
    path = state / _PLAN
    if not path.exists():
        return None
    known = json.loads(path.read_text())
    now = json.loads(json.dumps(_described(job)))
    for name, value in now.items():
        if known["job"].get(name) != value:
            raise RuntimeError(
                f"{job.target} has shards of another run, whose {name} differs: {_shortened(known['job'].get(name))} "
                f"there, {_shortened(value)} now; run the same command to go on, or choose a new folder"
            )
    return known


def _shortened(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _keep_plan(state: pathlib.Path, job: Job, plan: Plan, known: dict[str, Any] | None) -> None:
    now = json.loads(json.dumps(dataclasses.asdict(plan)))
    if known is None:
        write_file(state / _PLAN, json.dumps({"job": _described(job), "plan": now}))
    elif known["plan"] != now:
        raise RuntimeError(
            f"{job.target} has shards of a run over other data: what is read has changed since; choose a new folder"
        )


def _finished(state: pathlib.Path) -> dict[int, dict[str, Any]]:
    return {int(path.stem): json.loads(path.read_text()) for path in state.glob("[0-9]*.json")}


def _finish(state: pathlib.Path, job: Job, plan: Plan, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Writes what stands beside the shards, and then that all is done."""
    written = [record for record in records if record["samples"]]
    if not written:
        raise RuntimeError(f"none of {plan.samples} samples could be written; {records[0]['errors'][0]['error']}")
    classes = open_data(job.place).classes
    for name, text in index_of(job.format, job.compression, plan.columns, written).items():
        write_file(os.path.join(job.target, name), text)
    if classes:
        write_file(os.path.join(job.target, CLASSES), json.dumps(classes, ensure_ascii=False))
    errors = [error for record in records for error in record["errors"]]
    if errors:
        lines = "".join(f"{each['sample']}\t{each['error']}\n" for each in errors)
        write_file(os.path.join(job.target, _ERRORS), lines)
    content = json.loads((state / _PLAN).read_text()) | {"shards": records}
    write_file(state / _PLAN, json.dumps(content))
    for path in state.glob("[0-9]*.json"):
        path.unlink()
    return records


def _report(job: Job, records: list[dict[str, Any]]) -> int:
    samples, size = (sum(record[name] for record in records) for name in ("samples", "bytes"))
    shards = sum(record["samples"] > 0 for record in records)
    print(f"{job.target}: {samples:,} samples in {shards:,} shards of {job.format}, {size / _MIB:,.1f} MiB")
    errors = [error for record in records for error in record["errors"]]
    for error in errors[:_SHOWN]:
        print(f"left out: {error['sample']}: {error['error']}", file=sys.stderr)
    if errors:
        print(f"left out: {len(errors):,} samples, listed in {os.path.join(job.target, _ERRORS)}", file=sys.stderr)
    return 0
