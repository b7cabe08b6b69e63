"""Measures how much of the loading a loop hides behind a step that blocks, as `loss.item()` does.

    python benchmarks/overlap.py --data DIR [--step 30] [--rounds 5] [--epochs 3] [--only avida] [--json FILE]
    python benchmarks/overlap.py --data DIR --mispredict --calls --memory

The job: read, decode a random crop of each image, resize to 224, normalize, in batches of 32; then a step that sleeps
30 ms. Every contestant runs in its own process on the same cores, and the contestants take turns in each round. A
process runs one epoch to warm up and then some that are measured, first without the step (free-running) and then with
it. If all loading were hidden, the loop would reach the lower of its free-running rate and of the rate of the step; the
share is that of this bound, the median of all rounds: avida's should be 0.95 or more.

--mispredict compares `ahead=1` with `ahead=0` in loops whose arguments change: at most 1.02 where they change with
every batch. --calls measures the cost of calls that were made ahead, --memory the memory that `ahead` takes. With any
of these, only these sections run; --all runs everything. Needs the extra `parity`; contestants that are not installed
are left out.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from contestants.classification import (
    MEAN,
    STD,
    Batches,
    Settings,
    avida,
    dali_capture,
    dali_eager,
    dali_pipeline,
    dynamic,
)

import avida as ndd

# --- the overlap: contestants in processes of their own ---


def avida_mode(settings: Settings, **mode: Any) -> Batches:
    ndd.set_num_threads(settings.threads)
    return dynamic(ndd, settings, **mode)


CONTESTANTS: dict[str, Callable[[Settings], Batches]] = {
    "avida": avida,
    "avida, ahead=0": lambda settings: avida_mode(settings, ahead=0),
    "avida, capture": lambda settings: avida_mode(settings, capture=True),
    "DALI dynamic, eager": dali_eager,
    "DALI dynamic, capture": dali_capture,
    "DALI pipeline mode": dali_pipeline,
}


def run_contestant(name: str, settings: Settings, epochs: int, step: float) -> dict[str, float]:
    """Images per second without and with the step: in one infinite loop, so that prefetching gains nothing."""
    batches = CONTESTANTS[name](settings)
    epoch = -(-len(settings.files) // settings.batch)

    def rate(step: float) -> float:
        start = 0.0
        for i in range((1 + epochs) * epoch):
            if i == epoch:
                start = time.perf_counter()
            batch = next(batches)
            assert batch.shape[1:] == (3, settings.size, settings.size), batch.shape
            if step:
                time.sleep(step)
        return epochs * len(settings.files) / (time.perf_counter() - start)

    return {"free": rate(0), "stepped": rate(step)}


def overlap(settings: Settings, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    names = [name for name in CONTESTANTS if not options.only or any(part in name for part in options.only)]
    found: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    ceiling = settings.batch / (options.step / 1e3)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "settings.json")
        file.write_text(json.dumps(vars(settings)))
        for i in range(options.rounds):
            for name in list(found):
                progress(f"round {i + 1} of {options.rounds}, {name}")
                command = [sys.executable, __file__, "--contestant", name, "--settings", file]
                command += ["--epochs", str(options.epochs), "--step", str(options.step)]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode != 0:
                    print(f"{name} is left out: {done.stderr.strip().splitlines()[-1]}")
                    del found[name]
                    continue
                answer = json.loads(done.stdout.splitlines()[-1])
                found[name].append(answer | {"share": answer["stepped"] / min(answer["free"], ceiling)})
    progress("")
    return {
        name: {key: statistics.median(r[key] for r in rounds) for key in ("free", "stepped", "share")}
        | {"rounds": rounds}
        for name, rounds in found.items()
    }


def overlap_table(measured: dict[str, dict[str, Any]], step: float) -> str:
    head = f"| images/s | free-running | rounds | with a step of {step:g} ms | rounds | share of hiding everything |"
    lines = [head, "|---|---|---|---|---|---|"]
    for name, row in measured.items():
        cells = []
        for key in ("free", "stepped"):
            rates = [r[key] for r in row["rounds"]]
            cells += [f"{row[key]:,.0f}", f"{min(rates):,.0f}-{max(rates):,.0f}"]
        lines.append(f"| {name} | " + " | ".join([*cells, f"{row['share']:.2f}"]) + " |")
    return "\n".join(lines)


# --- what wrong predictions cost ---

Change = Callable[[int], tuple[int, float]]  # of the number of a batch: the size of resize, the area of the crop
CHANGES: dict[str, Change] = {
    "nothing changes": lambda i: (224, 0.08),
    "`resize` changes with every batch": lambda i: (200 + i % 48, 0.08),
    "the decoder changes with every batch": lambda i: (224, 0.08 + 1e-6 * i),
    "the decoder changes with every second batch": lambda i: (224, 0.08 + 1e-6 * (i // 2)),
}


def mispredictions(settings: Settings, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Seconds per epoch with `ahead=1` as a multiple of those with `ahead=0`: of the clock, and of all threads."""
    reader = ndd.readers.File(files=settings.files, labels=[0] * len(settings.files))

    def epoch(change: Change, ahead: int) -> tuple[float, float]:
        start, cpu = time.perf_counter(), time.process_time()
        for i, (encoded, _) in enumerate(reader.next_epoch(batch_size=settings.batch, ahead=ahead)):
            size, area = change(i)
            images = ndd.decoders.image_random_crop(encoded, random_area=[area, 1.0])
            images = ndd.resize(images, size=[size, size])
            images = ndd.crop_mirror_normalize(images, mean=MEAN, std=STD)
            images.evaluate()
        return time.perf_counter() - start, time.process_time() - cpu

    results = {}
    for title, change in CHANGES.items():
        times: dict[int, list[tuple[float, float]]] = {0: [], 1: []}
        epoch(change, 0)
        for i in range(options.pairs):
            progress(f"{title}: pair {i + 1} of {options.pairs}")
            for ahead in (0, 1) if i % 2 else (1, 0):
                times[ahead].append(epoch(change, ahead))
        pairs = list(zip(times[0], times[1], strict=True))
        wall, cpu = (statistics.median(after[k] / before[k] for before, after in pairs) for k in (0, 1))
        rate = len(settings.files) / statistics.median(wall for wall, _ in times[0])
        results[title] = {"images_per_second": rate, "wall": wall, "cpu": cpu, "pairs": pairs}
    progress("")
    return results


def mispredictions_table(measured: dict[str, dict[str, Any]]) -> str:
    lines = ["| free-running, `ahead=1` as a multiple of `ahead=0` | images/s | time | CPU time |", "|---|---|---|---|"]
    for title, row in measured.items():
        lines.append(f"| {title} | {row['images_per_second']:,.0f} | {row['wall']:.3f} | {row['cpu']:.3f} |")
    return "\n".join(lines)


# --- what a match costs ---

CALLS = 64  # of one iteration, so that the source matters little
VARIANTS = {"`ahead=0`": (0, False), "`ahead=1`": (1, False), "`ahead=1`, nothing matches": (1, True)}


def calls(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Microseconds per call in a loop of tiny operators: of making the calls alone, and of the whole loop."""
    arrays = [np.full((8, 8, 3), i % 256, np.uint8) for i in range(8 * 500)]
    source = ndd.ExternalSource(arrays, layout="HWC")

    def epoch(ahead: int, changes: bool) -> tuple[float, float]:
        start, making, made = time.perf_counter(), 0.0, 0
        for i, (x,) in enumerate(source.next_epoch(batch_size=8, ahead=ahead)):
            before = time.perf_counter()
            if changes:
                x = x + i % 97  # all other calls depend on it
            for _ in range(CALLS // 4):
                x = ndd.crop(ndd.flip(ndd.cast(x + 1, dtype=ndd.uint8)), crop=[8, 8])
            making += time.perf_counter() - before
            made += CALLS + changes
            x.evaluate()
        return making / made * 1e6, (time.perf_counter() - start) / made * 1e6

    times: dict[str, list[tuple[float, float]]] = {title: [] for title in VARIANTS}
    for i in range(options.pairs + 1):
        progress(f"calls: round {i} of {options.pairs}")
        for title, variant in VARIANTS.items() if i % 2 else reversed(VARIANTS.items()):
            taken = epoch(*variant)
            if i > 0:  # the first ones warm up
                times[title].append(taken)
    progress("")
    return {
        title: {key: statistics.median(taken[k] for taken in rounds) for k, key in enumerate(("making", "loop"))}
        for title, rounds in times.items()
    }


def calls_table(measured: dict[str, dict[str, float]]) -> str:
    lines = ["| us per call | making the call | whole loop |", "|---|---|---|"]
    return "\n".join(
        lines + [f"| {title} | {row['making']:.2f} | {row['loop']:.2f} |" for title, row in measured.items()]
    )


# --- memory ---


class Sampler:
    """Looks at the memory in use every millisecond; `peak()` is the highest value since the last call."""

    def __enter__(self) -> Self:
        self.highest, self.done = 0, False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done = True
        self.thread.join()

    def run(self) -> None:
        while not self.done:
            self.highest = max(self.highest, ndd.memory_use().in_use)
            time.sleep(1e-3)

    def peak(self) -> int:
        highest, self.highest = self.highest, 0
        return highest


def memory(settings: Settings, options: argparse.Namespace) -> dict[str, Any]:
    """Peaks of the memory in use in ten parts of a loop, and what is in use after leaving it by `break`."""
    count = (options.batches + 8) * settings.batch
    files = [settings.files[i % len(settings.files)] for i in range(count)]
    part = max(1, options.batches // 10)

    def peaks_of_loop(reader: Any, ahead: int) -> list[int]:
        peaks: list[int] = []
        with Sampler() as sampler:
            for i, (encoded, _) in enumerate(reader.next_epoch(batch_size=settings.batch, ahead=ahead), 1):
                images = ndd.decoders.image_random_crop(encoded)
                images = ndd.resize(images, size=[settings.size, settings.size])
                images = ndd.crop_mirror_normalize(images, mean=MEAN, std=STD)
                images.evaluate()
                time.sleep(options.step / 1e3)
                if i % part == 0:
                    peaks.append(sampler.peak())
                    progress(f"memory: ahead={ahead}, {i} of {options.batches} batches")
                if i == options.batches:
                    break
        return peaks

    results: dict[str, Any] = {"batch": max(sum(map(bytes_of, values)) for values in some_iterations(settings))}
    for ahead in (0, 1, 3):
        reader = ndd.readers.File(files=files, labels=[0] * len(files))
        peaks = peaks_of_loop(reader, ahead)
        time.sleep(0.5)  # what was running ends
        results[f"ahead={ahead}"] = {"peak": max(peaks), "peaks": peaks, "left": ndd.memory_use().in_use}
        del reader
    progress("")
    return results


def some_iterations(settings: Settings) -> Iterator[list[Any]]:
    """All values of an iteration, for one epoch."""
    reader = ndd.readers.File(files=settings.files, labels=[0] * len(settings.files))
    for encoded, _ in reader.next_epoch(batch_size=settings.batch, ahead=0):
        images = ndd.decoders.image_random_crop(encoded)
        small = ndd.resize(images, size=[settings.size, settings.size])
        yield [encoded, images, small, ndd.crop_mirror_normalize(small, mean=MEAN, std=STD)]


def bytes_of(batch: Any) -> int:
    return sum(int(np.prod(shape)) for shape in batch.shape) * batch.dtype.bytes


def memory_table(measured: dict[str, Any]) -> str:
    batch, rows = measured["batch"], {name: row for name, row in measured.items() if name != "batch"}
    first = next(iter(rows.values()))["peak"]
    lines = [
        f"All values of an iteration have at most {batch / 2**20:.1f} MiB.\n",
        "| MiB in use | peak | more than without, in batches | first half | second half | after `break` |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        half = len(row["peaks"]) // 2
        figures = [row["peak"], max(row["peaks"][:half]), max(row["peaks"][half:]), row["left"]]
        peak, early, late, left = (f"{value / 2**20:.1f}" for value in figures)
        lines.append(f"| `{name}` | {peak} | {(row['peak'] - first) / batch:.2f} | {early} | {late} | {left} |")
    return "\n".join(lines)


# --- all together ---


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"{text:<80}", end="\r", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="a folder of JPEG files")
    parser.add_argument("--files", type=int, default=1024, help="the files are repeated up to this number")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--step", type=float, default=30, help="milliseconds that the step blocks")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3, help="measured epochs of a round, after one to warm up")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="contestants whose names contain it")
    parser.add_argument("--mispredict", action="store_true", help="loops whose arguments change")
    parser.add_argument("--calls", action="store_true", help="the cost of calls that were made ahead")
    parser.add_argument("--memory", action="store_true", help="the memory that ahead takes")
    parser.add_argument("--all", action="store_true", help="all sections")
    parser.add_argument("--pairs", type=int, default=21, help="pairs of epochs for --mispredict and --calls")
    parser.add_argument("--batches", type=int, default=1000, help="batches for --memory")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    parser.add_argument("--contestant", choices=CONTESTANTS, help=argparse.SUPPRESS)  # what the processes run
    parser.add_argument("--settings", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant:
        settings = Settings(**json.loads(options.settings.read_text()))
        print(json.dumps(run_contestant(options.contestant, settings, options.epochs, options.step / 1e3)))
        return

    if options.data is None:
        parser.error("--data expected a folder of JPEG files")
    found = sorted(str(path) for path in options.data.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    if not found:
        sys.exit(f"{options.data} has no files that end in .jpg or .jpeg")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])  # inherited by the contestants
    ndd.set_num_threads(options.threads)
    files = [found[i % len(found)] for i in range(options.files)]
    settings = Settings(files, "random_crop", options.threads, options.batch, options.size)

    report: dict[str, Any] = {"python": platform.python_version(), "load_before": os.getloadavg()}
    for figures, text in sections(settings, options):
        print(f"{text}\n", flush=True)
        report |= figures
    report["load_after"] = os.getloadavg()
    loads = " before and ".join(f"{report[key][0]:.1f}" for key in ("load_before", "load_after"))
    print(f"Load of the machine: {loads} after.")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


def sections(settings: Settings, options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], str]]:
    """The figures of every section that was asked for, and its table."""
    if options.all or not (options.mispredict or options.calls or options.memory):
        measured = overlap(settings, options)
        yield {"overlap": measured}, overlap_table(measured, options.step)
    if options.all or options.mispredict:
        wrong = mispredictions(settings, options)
        yield {"mispredict": wrong}, mispredictions_table(wrong)
    if options.all or options.calls:
        cost = calls(options)
        yield {"calls": cost}, calls_table(cost)
    if options.all or options.memory:
        held = memory(settings, options)
        yield {"memory": held}, memory_table(held)


if __name__ == "__main__":
    main()
