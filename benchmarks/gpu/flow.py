"""Measures optical flow on a GPU: avida, the real library, and OpenCV's Farneback method on the CPU.

    python benchmarks/gpu/flow.py [--clips 4] [--frames 16] [--rounds 5]

Clips of 720 x 1280 pixels, RGB, are in GPU memory. A round is one call and waits for it; the libraries take turns, and
the best round counts. The error is the median distance of the vectors from the known motion, in pixels.
"""

import argparse
import functools
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from operators import libraries

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
from tests.flow_clips import clip

# The contestants come with the extra `bench`, and not all have types.
# pyright: reportMissingImports=false

HEIGHT, WIDTH, MOTION = 720, 1280, (5, -3)


def error_of(flow: np.ndarray) -> float:
    return float(np.median(np.linalg.norm(flow.reshape(-1, 2) + MOTION, axis=-1)))


def find(lib: Any, batch: Any, **arguments: Any) -> Any:
    return lib.optical_flow(batch, **arguments).evaluate()


def seconds(run: Callable[[], Any], wait: Callable[[], None]) -> float:
    wait()
    start = time.perf_counter()
    run()
    wait()
    return time.perf_counter() - start


def farneback(video: np.ndarray) -> None:
    """Prints what OpenCV needs for a pair of frames on all cores."""
    try:
        import cv2
    except ImportError:
        print("OpenCV is not installed")
        return
    gray = [cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in video[:2]]
    settings = {"pyr_scale": 0.5, "levels": 3, "winsize": 15, "iterations": 3, "poly_n": 5, "poly_sigma": 1.2}
    run = functools.partial(cv2.calcOpticalFlowFarneback, gray[0], gray[1], None, flags=0, **settings)
    fastest = min(seconds(run, lambda: None) for _ in range(3))
    print(f"OpenCV Farneback, CPU: {fastest * 1e3:.2f} ms a pair, error {error_of(run()):.3f} px")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=4)
    parser.add_argument("--frames", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    import torch

    wait = torch.cuda.synchronize
    video = clip(options.frames, HEIGHT, WIDTH, *MOTION)
    libs = libraries()
    batches = {name: lib.batch([video] * options.clips, layout="FHWC").gpu() for name, lib in libs.items()}
    pairs = options.clips * (options.frames - 1)
    print(f"{options.clips} clips of {options.frames} frames; ms for a pair of frames")
    for grid in (1, 2, 4):
        for preset in (0.0, 0.5, 1.0):
            calls = {
                name: functools.partial(find, lib, batches[name], output_grid=grid, preset=preset)
                for name, lib in libs.items()
            }
            flows = {name: np.asarray(call().tensors[0].cpu()) for name, call in calls.items()}
            best = dict.fromkeys(calls, float("inf"))
            for _ in range(options.rounds):
                for name, call in calls.items():
                    best[name] = min(best[name], seconds(call, wait))
            figures = ", ".join(
                f"{name} {time / pairs * 1e3:.3f} (error {error_of(flows[name]):.3f})" for name, time in best.items()
            )
            if "DALI" in best:
                far = np.abs(flows["avida"] - flows["DALI"]).max()
                figures += f"; avida is {best['DALI'] / best['avida']:.2f} x, vectors differ by at most {far}"
            print(f"grid {grid}, preset {preset}: {figures}")
    farneback(video)


if __name__ == "__main__":
    main()
