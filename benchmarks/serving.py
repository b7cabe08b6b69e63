"""Measures serving: one encoded image to a tensor, alone and from many threads at once, in eager mode and `sync_cpu`.

    python benchmarks/serving.py --data DIR [--threads 16] [--requests 256] [--rounds 7] [--only single] [--dali]

A request decodes the bytes of one JPEG file, resizes the image to 224, normalizes it to CHW float32 and reads the
result with NumPy, as a sample and as a batch of one. First one thread makes one request after another: milliseconds of
a request. Then several threads do so at once: images per second of all together. Modes take turns in each round; the
best round and the median of all rounds are shown, and the ratio of the modes within each round.
"""

import argparse
import contextlib
import importlib
import json
import pathlib
import statistics
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]
Request = Callable[[np.ndarray], np.ndarray]


def sample(lib: Any) -> Request:
    def request(file: np.ndarray) -> np.ndarray:
        image = lib.decoders.image(file)
        image = lib.resize(image, size=[224, 224])
        return np.asarray(lib.crop_mirror_normalize(image, mean=MEAN, std=STD))

    return request


def batch_of_one(lib: Any) -> Request:
    def request(file: np.ndarray) -> np.ndarray:
        images = lib.decoders.image(lib.batch([file]))
        images = lib.resize(images, size=[224, 224])
        return np.asarray(lib.as_tensor(lib.crop_mirror_normalize(images, mean=MEAN, std=STD)))

    return request


FORMS = {"sample": sample, "batch of one": batch_of_one}


def one_thread(request: Request, mode: Any, files: list[np.ndarray], requests: int, threads: int) -> float:
    """The median seconds of a request."""
    del threads
    seconds = []
    with mode:
        for i in range(requests):
            start = time.perf_counter()
            request(files[i % len(files)])
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def many_threads(request: Request, mode: Any, files: list[np.ndarray], requests: int, threads: int) -> float:
    """Seconds of a request, by the requests that all threads answer in a second."""
    begin = threading.Barrier(threads)
    each = -(-requests // threads)
    times: list[float] = []

    def serve(first: int) -> None:
        with mode:
            for i in range(first, first + 3):  # a thread's first calls start what it needs
                request(files[i % len(files)])
            begin.wait()
            times.append(time.perf_counter())
            for i in range(first, first + each):
                request(files[i % len(files)])
            times.append(time.perf_counter())

    servers = [threading.Thread(target=serve, args=(k * each,)) for k in range(threads)]
    for server in servers:
        server.start()
    for server in servers:
        server.join()
    return (max(times) - min(times)) / (each * threads)


MEASURES = {"single": (one_thread, "ms", 1e3), "threads": (many_threads, "images/s", None)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="a folder of JPEG files")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--requests", type=int, default=256, help="of a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--dali", action="store_true", help="also measure the real library, in its eager mode")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    options = parser.parse_args()
    paths = sorted(path for path in options.data.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    if not paths:
        sys.exit(f"{options.data} has no files that end in .jpg or .jpeg")
    files = [np.fromfile(path, np.uint8) for path in paths]

    avida = importlib.import_module("avida")
    contestants: dict[str, tuple[Any, Any]] = {
        "sync_cpu": (avida, avida.EvalMode.sync_cpu),
        "eager": (avida, avida.EvalMode.eager),
    }
    if options.dali:
        dali = importlib.import_module("nvidia.dali.experimental.dynamic")
        contestants["DALI dynamic, eager"] = (dali, contextlib.nullcontext())

    report: dict[str, Any] = {}
    for measure in options.only:
        function, unit, factor = MEASURES[measure]
        for form in options.forms:
            seconds: dict[str, list[float]] = {name: [] for name in contestants}
            for i in range(options.rounds + 1):
                for name, (lib, mode) in contestants.items():
                    requests = options.requests if lib is avida else max(options.threads, options.requests // 4)
                    took = function(FORMS[form](lib), mode, files, requests, options.threads)
                    if i > 0:  # the first round warms up
                        seconds[name].append(took)
            title = f"{measure}, {form}" + (f", {options.threads} threads" if measure == "threads" else "")
            report[title] = show(title, seconds, unit, factor)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


def show(title: str, seconds: dict[str, list[float]], unit: str, factor: float | None) -> dict[str, Any]:
    """Prints and returns best and median of each contestant, and its speed as a multiple of that of `sync_cpu`."""
    figures = {}
    for name, times in seconds.items():
        ratio = statistics.median(a / b for a, b in zip(seconds["sync_cpu"], times, strict=True))
        best, middle = min(times), statistics.median(times)
        shown = [t * factor if factor else 1 / t for t in (best, middle)]
        figures[name] = {"unit": unit, "best": shown[0], "median": shown[1], "of_sync_cpu": ratio}
        digits = ".3f" if factor else ",.0f"
        print(
            f"{title:36} {name:20} best {shown[0]:>7{digits}} {unit}   median {shown[1]:>7{digits}} {unit}   "
            f"speed {min(seconds['sync_cpu']) / best:.2f} of sync_cpu at best, {ratio:.2f} in the median round",
            flush=True,
        )
    return figures


if __name__ == "__main__":
    main()
