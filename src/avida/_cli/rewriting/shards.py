"""Writes one shard: which samples it has, and in which columns, follows from the plan alone."""

from __future__ import annotations

import dataclasses
import json
import os
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import Any

from avida._cli.rewriting.rows import Data, From, Rows, open_data
from avida._files.atomic import replaced_file, write_file
from avida._shards.columns import Column, Sample, column_of, value_of
from avida._shards.formats import BYTES_BESIDE, file_name, write_shard

STATE = ".avida"  # the folder in the target that knows what is finished
_PROBES = 32  # samples that tell columns and sizes

Told = Callable[[int], None]  # samples that are done


@dataclasses.dataclass(frozen=True)
class Job:
    """What is to be written, and where."""

    place: From
    target: str
    format: str
    compression: str | None
    shard_bytes: int
    batch_size: int
    limit: int | None
    skip: bool  # samples that cannot be read or changed; else they end it


@dataclasses.dataclass(frozen=True)
class Plan:
    """What follows from a job and its data. Each shard is a function of both."""

    columns: tuple[Column, ...]
    samples: int
    per_shard: int
    fingerprint: int  # of some samples

    @property
    def shards(self) -> int:
        return -(-self.samples // self.per_shard)


def make_plan(job: Job) -> Plan:
    """Looks at some samples, evenly spaced."""
    data = open_data(job.place)
    samples = min(len(data), job.limit or len(data))
    probes = sorted({i * samples // _PROBES for i in range(_PROBES)})
    failed: list[dict[str, Any]] = []
    rows = [row for index in probes for row in _separate(data, [index], failed)]
    rows = [row for row in rows if row.keys]
    if not rows:
        raise RuntimeError(f"none of the first samples can be written; {failed[0]['sample']}: {failed[0]['error']}")
    if failed and not job.skip:
        raise RuntimeError(f"{failed[0]['sample']}: {failed[0]['error']}")
    names = list(rows[0].columns)
    classes = data.classes if isinstance(data.classes, list) else []
    columns = [
        column_of(name, [value for row in rows for value in row.columns.get(name, [])], _classes_of(name, classes))
        for name in names
    ]
    count = sum(len(row.keys) for row in rows)
    size = sum(row.bytes() for row in rows) / count + len(columns) * BYTES_BESIDE[job.format]
    told = "".join(f"{key} {row.bytes()}\n" for row in rows for key in row.keys)
    return Plan(tuple(columns), samples, max(1, round(job.shard_bytes / size)), zlib.crc32(told.encode()))


def _classes_of(name: str, classes: list[str]) -> list[str]:
    return classes if name == "label" else []


def write(job: Job, plan: Plan, number: int, told: Told) -> dict[str, Any]:
    """Writes a shard, and then that it is finished; returns what there is to know about it."""
    begin = number * plan.per_shard
    indices = range(begin, min(begin + plan.per_shard, plan.samples))
    record: dict[str, Any] = {"number": number, "file": None, "bytes": 0, "samples": 0, "errors": []}
    samples = _samples(job, plan, indices, record, told)
    first = next(samples, None)
    if first is not None:  # else nothing is left of it
        record["file"] = file_name(job.format, job.compression, number)
        path = os.path.join(job.target, record["file"])
        with replaced_file(path) as file:
            both = chain([first], samples)
            record |= write_shard(job.format, job.compression, file, plan.columns, both, len(indices))
        record["bytes"] = os.path.getsize(path)
    write_file(record_path(job.target, number), json.dumps(record))
    return record


def record_path(target: str, number: int) -> str:
    return os.path.join(target, STATE, f"{number:06}.json")


def _samples(job: Job, plan: Plan, indices: range, record: dict[str, Any], told: Told) -> Iterator[Sample]:
    """The samples of a shard, one after another. The next batch is read meanwhile."""
    data = open_data(job.place)
    seen = set[str]()
    batches = [indices[at : at + job.batch_size] for at in range(0, len(indices), job.batch_size)]
    with ThreadPoolExecutor(1) as reading:
        ahead: Future[Any] = reading.submit(data.read, batches[0])
        for number, batch in enumerate(batches):
            read, ahead = ahead, reading.submit(data.read, batches[min(number + 1, len(batches) - 1)])
            failed: list[dict[str, Any]] = []
            for rows in _rows(data, batch, read, failed):
                for i, key in enumerate(rows.keys):
                    try:
                        sample = _sample(plan.columns, rows, i)
                    except ValueError as error:
                        failed.append({"sample": key, "error": str(error)})
                        continue
                    unique = key if key not in seen else f"{key}-{batch[0]}-{i}"
                    seen.add(unique)
                    record["samples"] += 1
                    yield Sample(unique, sample)
            if failed and not job.skip:
                raise RuntimeError(f"{failed[0]['sample']}: {failed[0]['error']}")
            record["errors"] += failed
            told(len(batch))


def _rows(data: Data, batch: range, read: Future[Any], failed: list[dict[str, Any]]) -> Iterator[Rows]:
    try:
        rows = data.rows(*read.result())
    except Exception:  # a reader or a script may raise any; each sample is tried on its own
        yield from _separate(data, batch, failed)
    else:
        yield rows


def _separate(data: Data, indices: range | list[int], failed: list[dict[str, Any]]) -> Iterator[Rows]:
    """One sample at a time, without those that cannot be read or changed."""
    for index in indices:
        name = f"sample {index}"
        try:
            keys, columns = data.read([index])
            name = keys[0]
            rows = data.rows(keys, columns)
        except Exception as error:
            failed.append({"sample": name, "error": str(error) or type(error).__name__})
        else:
            yield rows


def _sample(columns: tuple[Column, ...], rows: Rows, i: int) -> list[Any]:
    if len(rows.columns) != len(columns):
        raise ValueError(f"expected the columns {', '.join(c.name for c in columns)}, got {', '.join(rows.columns)}")
    return [value_of(column, rows.columns[column.name][i]) for column in columns]
