"""Measures whether a busy Python thread slows operators down.

A queue of 50 operators on large batches is timed three times: while the main thread waits, while it spins in pure
Python, and, as the control, while another process spins and the main thread waits. Native operators never take the GIL,
so spinning in this process should cost no more than spinning in another one, which shares only the machine.

    python benchmarks/gil.py [--rounds 20]

Operators use one thread, so that on two cores the spinning thread has its own core.
"""

import argparse
import contextlib
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

import avida


def seconds(batch: avida.Batch, spin: bool) -> float:
    start = time.perf_counter()
    results = [avida.flip(batch) if i % 2 else batch + 1 for i in range(50)]
    if spin:
        while results[-1]._pending():
            for _ in range(10_000):
                pass
    results[-1].evaluate()
    return time.perf_counter() - start


@contextlib.contextmanager
def spinning_process() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    batch = avida.batch([np.zeros((480, 640, 3), np.uint8)] * 16, layout="HWC")
    times: dict[str, list[float]] = {"main thread waits": [], "main thread spins": [], "another process spins": []}
    with avida.EvalContext(num_threads=1):
        seconds(batch, False)
        for _ in range(options.rounds):
            times["main thread waits"].append(seconds(batch, False))
            times["main thread spins"].append(seconds(batch, True))
            with spinning_process():
                time.sleep(0.1)
                times["another process spins"].append(seconds(batch, False))
    base = statistics.median(times["main thread waits"])
    for name, measured in times.items():
        print(f"{name:22} {statistics.median(measured):.3f} s  {(statistics.median(measured) / base - 1) * 100:+.1f} %")


if __name__ == "__main__":
    main()
