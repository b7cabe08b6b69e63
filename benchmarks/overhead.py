"""Measures the overhead of one operator call: avida and the real library in one run, on a tiny batch, eager mode.

    python benchmarks/overhead.py [--calls 2000] [--json FILE]

Both libraries make the same calls on the same data and read the last result at the end. They take turns; the best of
several rounds counts.
"""

import argparse
import functools
import importlib
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any, Any], Any]] = {
    "flip": lambda lib, x: lib.flip(x),
    "x + 1": lambda lib, x: x + 1,
    "cast": lambda lib, x: lib.cast(x, dtype=lib.float32),
    "crop": lambda lib, x: lib.crop(x, crop=[4, 4]),
}


def choice(rounds: int) -> float:
    """What `one_of` of five on 64 images costs beyond its operators: microseconds of CPU time."""
    avida = importlib.import_module("avida")
    batch = avida.as_batch([np.zeros((8, 8, 3), np.uint8)] * 64, layout="HWC").evaluate()
    brighter, cropped = (functools.partial(f, **arguments) for f, arguments in (
        (avida.brightness, {"brightness": 1.2}), (avida.crop, {"crop": [8, 8]})
    ))  # fmt: skip
    functions = [avida.flip, avida.copy, avida.augment.invert, brighter, cropped]
    groups = [batch.tensors[list(range(k, 64, 5))].evaluate() for k in range(5)]

    def spent(call: Callable[[], Any], calls: int = 300) -> float:
        start = time.process_time()
        for _ in range(calls):
            call()
        return (time.process_time() - start) / calls * 1e6

    def operators() -> None:
        for function, group in zip(functions, groups, strict=True):
            function(group).evaluate()

    pairs = [
        (spent(lambda: avida.augment.one_of(batch, functions).evaluate()), spent(operators)) for _ in range(rounds)
    ]
    return min(chosen for chosen, _ in pairs) - min(alone for _, alone in pairs)


def microseconds(lib: Any, case: Callable[[Any, Any], Any], calls: int) -> float:
    batch = lib.as_batch([np.full((8, 8, 3), i, np.uint8) for i in range(8)], layout="HWC")
    batch.evaluate()
    start = time.perf_counter()
    results = [case(lib, batch) for _ in range(calls)]
    for result in results:
        result.evaluate()
    return (time.perf_counter() - start) / calls * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    libraries = {name: importlib.import_module(name) for name in ("avida", "nvidia.dali.experimental.dynamic")}
    figures = {}
    for title, case in CASES.items():
        best = dict.fromkeys(libraries, float("inf"))
        for _ in range(options.rounds):
            for name, lib in libraries.items():
                calls = options.calls if name == "avida" else max(100, options.calls // 10)
                best[name] = min(best[name], microseconds(lib, case, calls))
        ours, theirs = best.values()
        figures[title] = {"avida_us": ours, "dali_us": theirs, "ratio": theirs / ours}
        print(f"{title:8} avida {ours:7.2f} us   DALI dynamic {theirs:7.1f} us   1/{theirs / ours:.1f}", flush=True)
    print(f"one_of of five, 64 images: {choice(options.rounds):.0f} us of CPU time beyond its operators", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
