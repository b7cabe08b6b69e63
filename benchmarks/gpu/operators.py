"""Measures single operators on a GPU, compared with the real library and with copying their bytes once.

    python benchmarks/gpu/operators.py [--images 256] [--rounds 5] [--only NAME ...] [--json FILE]

256 images of 480x640x3 bytes are in GPU memory. A round makes several calls in a row and waits for the last; the
libraries take turns, and the best round counts. The reference copy is PyTorch's, from one block of GPU memory to
another. A profile tells how long the GPU and the host work for a call of avida: the longer of the two decides. A small
batch shows the overhead of a call.
"""

import argparse
import functools
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

# The contestants come with the extra `bench`, and not all have types.
# pyright: reportMissingImports=false

MATRIX = np.array([[0.9, 0.2, -30], [-0.2, 0.9, 80]], np.float32)  # maps output to input
CASES: dict[str, Callable[[Any, Any], Any]] = {
    "flip": lambda lib, x: lib.flip(x, horizontal=1),
    "cast": lambda lib, x: lib.cast(x, dtype=lib.float32),
    "crop_mirror_normalize": lambda lib, x: lib.crop_mirror_normalize(
        x, crop=[448, 608], mirror=1, mean=[124.0, 117.0, 104.0], std=[59.0, 57.0, 58.0], dtype=lib.float32
    ),
    "resize": lambda lib, x: lib.resize(x, size=[224, 224]),
    "rotate": lambda lib, x: lib.rotate(x, angle=20.0, keep_size=True, fill_value=0),
    "color_twist": lambda lib, x: lib.color_twist(x, hue=20.0, saturation=1.2, brightness=1.1, contrast=0.9),
    "gaussian_blur": lambda lib, x: lib.gaussian_blur(x, sigma=1.5),
    "reductions.mean, H and W": lambda lib, x: lib.reductions.mean(x, axes=[0, 1]),
    "reductions.mean": lambda lib, x: lib.reductions.mean(x),
    "reductions.std_dev, H and W": lambda lib, x: lib.reductions.std_dev(
        x, lib.reductions.mean(x, axes=[0, 1]), axes=[0, 1]
    ),
    "normalize": lambda lib, x: lib.normalize(x),
    "normalize, H and W": lambda lib, x: lib.normalize(x, axes=[0, 1]),
    "jpeg_compression_distortion": lambda lib, x: lib.jpeg_compression_distortion(x, quality=50),
    "grid_mask": lambda lib, x: lib.grid_mask(x, tile=60, angle=0.3),
    "pad": lambda lib, x: lib.pad(x, shape=[512, 672, 3], fill_value=1),
    "x + x": lambda lib, x: x + x,
    "x * 0.5": lambda lib, x: x * 0.5,
    "erase": lambda lib, x: lib.erase(x, anchor=[100, 100], shape=[200, 300]),
    "warp_affine": lambda lib, x: lib.warp_affine(x, matrix=MATRIX, fill_value=0),
}


def libraries() -> dict[str, Any]:
    """The libraries that can be imported."""
    import avida

    found = {"avida": avida}
    try:
        import nvidia.dali.experimental.dynamic as dali

        found["DALI"] = dali
    except ImportError:
        print("the real library is not installed: avida alone")
    return found


def seconds(run: Callable[[], Any], calls: int, wait: Callable[[], None]) -> float:
    """Seconds of one call in a row of several."""
    wait()
    start = time.perf_counter()
    results = [run() for _ in range(calls)]
    for result in results:
        result.evaluate()
    wait()
    return (time.perf_counter() - start) / calls


def profiled(run: Callable[[], Any], calls: int) -> dict[str, float]:
    """Seconds that the GPU works for one call of avida, by CUDA events, and seconds that the host does."""
    import avida

    with avida.profile() as profile:
        results = [run() for _ in range(calls)]
        for result in results:
            result.evaluate()
    return {
        "on the GPU": sum(line.gpu_seconds for line in profile.lines) / calls,
        "on the host": sum(line.seconds for line in profile.lines) / calls,
    }


def bytes_of(batch: Any) -> int:
    return sum(int(np.prod(shape)) for shape in batch.shape) * batch.dtype.bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=list(CASES), choices=list(CASES), help="these operators alone")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    import torch

    wait = torch.cuda.synchronize
    libs = libraries()
    image = np.random.default_rng(0).integers(0, 255, (480, 640, 3), np.uint8)
    large = {name: lib.batch([image] * options.images, layout="HWC").gpu() for name, lib in libs.items()}
    small = {
        name: lib.batch([np.ascontiguousarray(image[:8, :8])] * 8, layout="HWC").gpu() for name, lib in libs.items()
    }

    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    copies = []
    for _ in range(10):
        wait()
        start = time.perf_counter()
        for _ in range(10):
            target.copy_(source)
        wait()
        copies.append((time.perf_counter() - start) / 10)
    bandwidth = 2 * source.numel() / min(copies)
    print(f"{torch.cuda.get_device_name()}; copying moves {bandwidth / 1e12:.2f} TB/s, read and written")

    figures: dict[str, Any] = {"bandwidth": bandwidth, "images": options.images, "operators": {}}
    for title in options.only:
        case = CASES[title]
        row: dict[str, float] = {}
        for name, lib in libs.items():
            case(lib, large[name]).evaluate()  # compiles kernels, fills pools
        for _ in range(options.rounds):
            for name, lib in libs.items():
                best = seconds(functools.partial(case, lib, large[name]), options.calls, wait)
                row[name] = min(row.get(name, best), best)
        moved = bytes_of(large["avida"]) + bytes_of(case(libs["avida"], large["avida"]))
        row["once"] = moved / bandwidth
        row |= profiled(functools.partial(case, libs["avida"], large["avida"]), options.calls)
        figures["operators"][title] = row
        against = f"{row['DALI'] / row['avida']:6.2f} x DALI" if "DALI" in row else ""
        share = row["avida"] / row["once"]
        parts = ", ".join(f"{row[part] * 1e3:.3f} {part}" for part in ("on the GPU", "on the host"))
        print(
            f"{title:28} {row['avida'] * 1e3:7.3f} ms ({parts})  {share:6.2f} of moving its bytes  {against}",
            flush=True,
        )

    calls: dict[str, float] = {}
    for _ in range(options.rounds):
        for name, lib in libs.items():
            best = seconds(functools.partial(lib.flip, small[name]), 300, wait)
            calls[name] = min(calls.get(name, best), best)
    figures["call"] = calls
    print("flip of 8 tiny images: " + ", ".join(f"{name} {cost * 1e6:.1f} us" for name, cost in calls.items()))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
