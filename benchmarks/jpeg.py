"""Measures JPEG decoding alone: avida, libjpeg-turbo as linked, and the newest one through simplejpeg.

    python benchmarks/jpeg.py --data DIR [--rounds 5] [--megapixels 0.1 0.5 2 12]

All decode from memory to RGB on one thread, with the accurate IDCT and smooth upsampling. They take turns, and the
least CPU time of all rounds counts, since it is least affected by other load. avida runs with the best vectors of the
machine and with each other set that it has. The photos in DIR are measured as they are, then images composed of them
for each size, subsampling and quality. Needs the extra `bench` and a C compiler.
"""

import argparse
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
from PIL import Image

import avida
from avida import _core

# pyright: reportMissingImports=false

HERE = pathlib.Path(__file__).parent
SUBSAMPLINGS = ["4:2:0", "4:2:2", "4:4:4"]
QUALITIES = [50, 75, 90, 95]
LEAST_PIXELS = 4e6  # of all files of a case together
Pass = Callable[[], float]  # decodes all files, returns CPU seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="a folder of JPEG files")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megapixels", type=float, nargs="*", default=[0.1, 0.5, 2, 12])
    options = parser.parse_args()
    paths = sorted(path for path in options.data.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    if not paths:
        sys.exit(f"{options.data} has no files that end in .jpg or .jpeg")
    avida.set_num_threads(1)
    photos = [path.read_bytes() for path in paths]
    print(f"vectors: {', '.join(ours())}\n\n{titles()}")
    print(measure("photos as they are", photos, options.rounds))
    images = [np.asarray(Image.open(io.BytesIO(photo)).convert("RGB")) for photo in photos[:64]]
    for megapixels in options.megapixels:
        for subsampling in SUBSAMPLINGS:
            for quality in QUALITIES:
                files = compose(images, megapixels, subsampling=subsampling, quality=quality)
                print(measure(f"{megapixels:g} MP, {subsampling}, {quality}", files, options.rounds), flush=True)


def ours() -> list[str]:
    return _core.jpeg_decoders()[:-1]


def compose(images: list[np.ndarray], megapixels: float, **options: object) -> list[bytes]:
    """Files of this size, in which photos lie side by side at their own scale."""
    height, width = round((megapixels * 1e6 * 3 / 4) ** 0.5), round((megapixels * 1e6 * 4 / 3) ** 0.5)
    files = []
    for first in range(max(1, round(LEAST_PIXELS / (height * width)))):
        canvas = Image.new("RGB", (width, height))
        at, y = first, 0
        while y < height:
            x, row = 0, 0
            while x < width:
                image = images[at % len(images)]
                canvas.paste(Image.fromarray(image), (x, y))
                x, row, at = x + image.shape[1], max(row, image.shape[0]), at + 1
            y += row
        file = io.BytesIO()
        canvas.save(file, "JPEG", **options)
        files.append(file.getvalue())
    return files


def by_avida(files: list[bytes], name: str) -> Pass:
    encoded = avida.as_batch([np.frombuffer(file, np.uint8) for file in files])

    def run() -> float:
        _core.use_jpeg_decoder(name)
        start = time.process_time()
        avida.decoders.image(encoded).evaluate()
        return time.process_time() - start

    return run


def by_simplejpeg(files: list[bytes]) -> Pass:
    import simplejpeg

    def run() -> float:
        start = time.process_time()
        for file in files:
            simplejpeg.decode_jpeg(file, "RGB")
        return time.process_time() - start

    return run


def by_libjpeg(files: list[bytes], folder: pathlib.Path) -> Pass:
    program = folder / "jpeg_floor"
    source = HERE / "jpeg_floor.c"
    subprocess.run([os.environ.get("CC", "cc"), "-O2", source, "-o", program, "-ljpeg", "-lpthread"], check=True)
    names = []
    for i, file in enumerate(files):
        path = folder / f"{i}.jpg"
        path.write_bytes(file)
        names.append(f"{path}\n")
    (folder / "files.txt").write_text("".join(names))

    def run() -> float:
        command = [program, "1", folder / "files.txt"]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1])

    return run


def titles() -> str:
    columns = "".join(
        f"{title:>16}" for title in ["libjpeg-turbo", "simplejpeg", *(f"avida {name}" for name in ours())]
    )
    return f"{'us per file, and avida is':<28}{columns}"


def measure(title: str, files: list[bytes], rounds: int) -> str:
    """A line of the table: the time of each, and how many times as fast avida is as the two."""
    with tempfile.TemporaryDirectory() as folder:
        passes = [by_libjpeg(files, pathlib.Path(folder)), by_simplejpeg(files)]
        passes += [by_avida(files, name) for name in ours()]
        before = _core.jpeg_decodes()
        best = [float("inf")] * len(passes)
        for _ in range(rounds + 1):  # the first one warms up
            for i, run in enumerate(passes):
                best[i] = min(best[i], run())
        if _core.jpeg_decodes() - before < len(files) * rounds:
            title += " (*)"  # libjpeg-turbo decoded some of them for avida
    times = [seconds / len(files) * 1e6 for seconds in best]
    cells = "".join(f"{micros:>16,.0f}" for micros in times[:2])
    for micros in times[2:]:
        cells += f"{micros:>8,.0f} {times[0] / micros:.2f} {times[1] / micros:.2f}"[:18].rjust(18)
    return f"{title:<28}{cells}"


if __name__ == "__main__":
    main()
