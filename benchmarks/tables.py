"""Measures Parquet files to batches: readers.Parquet in order and in blocks, and PyArrow's `iter_batches`, in turns.

    python benchmarks/tables.py [--megabytes 256] [--rounds 7] [--batch 64]

Writes three tables to a temporary folder, in row groups of 16 MiB: files of images, feature vectors, and rows of
numbers and words. Each contestant reads an epoch before the first round. Prints decoded bytes per second of time and of
CPU time, medians of the rounds, and how many times as fast as PyArrow the readers are; at least 0.9 is wanted. Bytes
are those of the table in memory, for all contestants.
"""

import argparse
import os
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import avida

GROUP = 16 << 20


def images(rng: np.random.Generator, size: int) -> pa.Table:
    files = [rng.bytes(int(kilobytes) << 10) for kilobytes in rng.integers(60, 160, size // (110 << 10))]
    return pa.table({"image": pa.array(files, pa.binary()), "label": np.arange(len(files))})


def vectors(rng: np.random.Generator, size: int) -> pa.Table:
    values = rng.normal(size=(size // 4096, 1024)).astype(np.float32)
    return pa.table({"vector": pa.FixedSizeListArray.from_arrays(values.ravel(), 1024), "id": np.arange(len(values))})


def words(rng: np.random.Generator, size: int) -> pa.Table:
    count = size // 120
    texts = [f"row {i} of a table" for i in range(1000)]
    numbers = {f"x{i}": rng.normal(size=count) for i in range(10)}
    return pa.table({**numbers, "text": pa.array(texts).take(pa.array(rng.integers(0, 1000, count)))})


TABLES = {"images": images, "vectors": vectors, "numbers and words": words}


def write(folder: pathlib.Path, table: pa.Table) -> list[str]:
    """Four files."""
    paths, per_file = [], -(-table.num_rows // 4)
    for i in range(4):
        part = table.slice(i * per_file, per_file)
        rows = max(1, part.num_rows * GROUP // part.nbytes)
        paths.append(str(folder / f"{i}.parquet"))
        pq.write_table(part, paths[-1], row_group_size=rows)
    return paths


def by_pyarrow(paths: list[str], batch: int) -> Callable[[], int]:
    def epoch() -> int:
        return sum(part.num_rows for path in paths for part in pq.ParquetFile(path).iter_batches(batch_size=batch))

    return epoch


def by_avida(paths: list[str], batch: int, **options: Any) -> Callable[[], int]:
    reader = avida.readers.Parquet(paths, last_batch="partial", **options)

    def epoch() -> int:
        rows = 0
        for columns in reader.next_epoch(batch):
            rows += next(iter(columns.values())).evaluate().batch_size
        return rows

    return epoch


def settle() -> None:
    """Until nothing is read ahead any more."""
    used = -1.0
    while time.process_time() - used > 0.002:
        used = time.process_time()
        time.sleep(0.1)


def measure(contestants: dict[str, Callable[[], int]], rows: int, rounds: int) -> dict[str, dict[str, float]]:
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for i in range(rounds + 1):
        for name, epoch in contestants.items():
            settle()
            start, used = time.perf_counter(), time.process_time()
            found = epoch()
            if found != rows:
                raise RuntimeError(f"{name} has read {found} rows of {rows}")
            wall = time.perf_counter() - start
            settle()  # what is read ahead belongs to the next epoch, and that of the epoch before to this one
            if i > 0:
                times[name].append((wall, time.process_time() - used))
    return {
        name: {"seconds": statistics.median(wall for wall, _ in each), "cpu": statistics.median(cpu for _, cpu in each)}
        for name, each in times.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=256, help="the size of each table")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    print(
        f"{options.rounds} rounds, batches of {options.batch}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| table | contestant | MB/s | MB per CPU second | x PyArrow, time | x PyArrow, CPU |")
    print("|---|---|---|---|---|---|")
    for name, make in TABLES.items():
        with tempfile.TemporaryDirectory() as folder:
            table = make(np.random.default_rng(0), options.megabytes << 20)
            paths, size, rows = write(pathlib.Path(folder), table), table.nbytes / 1e6, table.num_rows
            del table
            batch = options.batch if name != "numbers and words" else options.batch * 16
            contestants = {
                "PyArrow": by_pyarrow(paths, batch),
                "avida, in order": by_avida(paths, batch),
                "avida, blocks": by_avida(paths, batch, random_shuffle=avida.readers.Blocks(window=4)),
            }
            results = measure(contestants, rows, options.rounds)
            base = results["PyArrow"]
            for contestant, found in results.items():
                ratios = [base[key] / found[key] for key in ("seconds", "cpu")]
                rates = [size / found[key] for key in ("seconds", "cpu")]
                print(
                    f"| {name} | {contestant} | {rates[0]:,.0f} | {rates[1]:,.0f} | {ratios[0]:.2f} | {ratios[1]:.2f} |"
                )


if __name__ == "__main__":
    main()
