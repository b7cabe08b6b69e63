"""Measures decoding of pictures that are not JPEG: avida, OpenCV and the real library, in one run.

    python benchmarks/pictures.py --data DIR [--rounds 5] [--only png bmp]

The photos in DIR are written in each format, as they are, by Pillow. All decode from memory on one thread, to RGB, or
with all channels of the file where that is alpha or gray. They take turns, and the least CPU time of all rounds counts,
since it is least affected by other load. Needs the extras `bench` and `parity`.
"""

import argparse
import io
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import nvidia.dali.experimental.dynamic as dali
import nvidia.dali.types
from PIL import Image, ImageFilter

import avida

# pyright: reportMissingImports=false

PHOTOS = 32
Pass = Callable[[], float]  # decodes all files, returns seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="a folder of JPEG files")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[""], help="the beginnings of the names of formats")
    options = parser.parse_args()
    paths = sorted(path for path in options.data.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))[:PHOTOS]
    if not paths:
        sys.exit(f"{options.data} has no files that end in .jpg or .jpeg")
    cv2.setNumThreads(1)
    avida.set_num_threads(1)
    dali.set_num_threads(1)
    photos = [Image.open(path).convert("RGB") for path in paths]
    titles = ["KB", "OpenCV, us", "DALI, us", "avida, us", "of OpenCV", "of DALI"]
    print(f"{'format':<22}" + "".join(f"{title:>12}" for title in titles))
    for name, (write, keeps) in FORMATS.items():
        if any(name.lower().startswith(only) for only in options.only):
            print(measure(name, [write(photo) for photo in photos], keeps, options.rounds), flush=True)


def saved(image: Image.Image, format_name: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, format_name, **options)
    return out.getvalue()


def with_alpha(photo: Image.Image) -> Image.Image:
    made = photo.convert("RGBA")
    made.putalpha(photo.convert("L").filter(ImageFilter.GaussianBlur(8)))
    return made


def mask(photo: Image.Image) -> Image.Image:
    """Areas of up to 21 classes, as in masks of segmentation."""
    return photo.filter(ImageFilter.GaussianBlur(6)).quantize(21).filter(ImageFilter.ModeFilter(9))


def wide_png(photo: Image.Image) -> bytes:
    return cv2.imencode(".png", np.asarray(photo)[..., ::-1].astype(np.uint16) * 257)[1].tobytes()


# How each is written, and whether all channels are decoded as they are stored.
FORMATS: dict[str, tuple[Callable[[Image.Image], bytes], bool]] = {
    "PNG RGB": (lambda photo: saved(photo, "PNG"), False),
    "PNG RGB of OpenCV": (lambda photo: cv2.imencode(".png", np.asarray(photo)[..., ::-1])[1].tobytes(), False),
    "PNG RGBA": (lambda photo: saved(with_alpha(photo), "PNG"), True),
    "PNG gray": (lambda photo: saved(photo.convert("L"), "PNG"), True),
    "PNG mask, palette": (lambda photo: saved(mask(photo), "PNG"), False),
    "PNG RGB, 16 bits": (wide_png, False),
    "BMP": (lambda photo: saved(photo, "BMP"), False),
    "BMP palette": (lambda photo: saved(mask(photo), "BMP"), False),
    "JPEG 2000": (lambda photo: saved(photo, "JPEG2000", irreversible=True, quality_layers=[10]), False),
    "JPEG 2000 lossless": (lambda photo: saved(photo, "JPEG2000"), False),
    "TIFF LZW": (lambda photo: saved(photo, "TIFF", compression="tiff_lzw"), False),
    "TIFF deflate": (lambda photo: saved(photo, "TIFF", compression="tiff_adobe_deflate"), False),
    "WebP": (lambda photo: saved(photo, "WEBP", quality=85), False),
    "WebP lossless": (lambda photo: saved(photo, "WEBP", lossless=True), False),
}


def by_opencv(files: list[bytes], keeps: bool) -> Pass:
    arrays = [np.frombuffer(file, np.uint8) for file in files]
    flag = cv2.IMREAD_UNCHANGED if keeps else cv2.IMREAD_COLOR

    def run() -> float:
        start = time.process_time()
        for array in arrays:
            cv2.imdecode(array, flag)
        return time.process_time() - start

    return run


def by_library(library: Any, types: Any, files: list[bytes], keeps: bool) -> Pass:
    encoded = library.batch([np.frombuffer(file, np.uint8) for file in files])
    encoded.evaluate()
    colors = types.ANY_DATA if keeps else types.RGB

    def run() -> float:
        start = time.process_time()
        library.decoders.image(encoded, device="cpu", output_type=colors).evaluate()
        return time.process_time() - start

    return run


def measure(name: str, files: list[bytes], keeps: bool, rounds: int) -> str:
    """A line of the table: the time of each, and how many times as fast avida is as the two."""
    passes = [
        by_opencv(files, keeps),
        by_library(dali, nvidia.dali.types, files, keeps),
        by_library(avida, avida.types, files, keeps),
    ]
    best = [float("inf")] * len(passes)
    for _ in range(rounds + 1):  # the first one warms up
        for i, run in enumerate(passes):
            best[i] = min(best[i], run())
    opencv, theirs, ours = (seconds / len(files) * 1e6 for seconds in best)
    size = sum(map(len, files)) / len(files) / 1e3
    return (
        f"{name:<22}{size:>12,.0f}"
        + "".join(f"{micros:>12,.0f}" for micros in (opencv, theirs, ours))
        + (f"{opencv / ours:>12.2f}{theirs / ours:>12.2f}")
    )


if __name__ == "__main__":
    main()
