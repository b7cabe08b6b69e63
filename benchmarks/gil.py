"""Does a busy Python thread slow operators down? A queue of 50 operators on large batches is timed twice: while the
main thread waits, and while it spins in pure Python. Native operators never take the GIL, so the two should agree.

    python benchmarks/gil.py [--rounds 7]

Operators get one thread, so that on two cores the spinning thread has one of its own.
"""

import argparse
import time

import numpy as np

import avida


def seconds(batch: avida.Batch, spin: bool) -> float:
    start = time.perf_counter()
    results = [avida.flip(batch) if i % 2 else batch + 1 for i in range(50)]
    if spin:
        while results[-1]._pending():
            pass
    results[-1].evaluate()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    batch = avida.batch([np.zeros((480, 640, 3), np.uint8)] * 16, layout="HWC")
    with avida.EvalContext(num_threads=1):
        seconds(batch, False)
        times = {False: [], True: []}
        for _ in range(options.rounds):
            for spin, list_of_times in times.items():
                list_of_times.append(seconds(batch, spin))
    waiting, spinning = min(times[False]), min(times[True])
    print(f"main thread waiting {waiting:.3f} s, spinning {spinning:.3f} s: {(spinning / waiting - 1) * 100:+.1f} %")


if __name__ == "__main__":
    main()
