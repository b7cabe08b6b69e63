"""Measures JPEG decoding alone: avida, libjpeg-turbo as linked, and the newest one through simplejpeg.

    python benchmarks/jpeg.py --data DIR [--rounds 5] [--megapixels 0.1 0.5 2 12] [--threads 2]

All decode from memory to RGB on one thread, with the accurate IDCT and smooth upsampling. They take turns, and the
least CPU time of all rounds counts, since it is least affected by other load. avida runs with the best vectors of the
machine and with each other set that it has. The photos in DIR are measured as they are, then images composed of them
for each size, subsampling and quality.

Then one image of 12 megapixels at a time, on one thread and on --threads: the least wall time of all rounds, which
needs idle cores. Needs the extra `bench` and a C compiler.
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
SHARED_MEGAPIXELS = 12
Pass = Callable[[], float]  # decodes all files, returns seconds
Clock = Callable[[], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="a folder of JPEG files")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megapixels", type=float, nargs="*", default=[0.1, 0.5, 2, 12])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
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
    print(f"\n{shared_titles(options.threads)}")
    for subsampling in SUBSAMPLINGS:
        for quality in QUALITIES:
            for restart in [0, 1] if quality == 90 else [0]:
                file = compose(
                    images, SHARED_MEGAPIXELS, subsampling=subsampling, quality=quality, restart_marker_rows=restart
                )[0]
                title = f"one of {SHARED_MEGAPIXELS} MP, {subsampling}, {quality}{', restarts' if restart else ''}"
                print(measure_shared(title, file, options.rounds, options.threads), flush=True)


def ours() -> list[str]:
    return _core.testing.jpeg_decoders()[:-1]


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


def by_avida(files: list[bytes], name: str, clock: Clock = time.process_time, threads: int = 1) -> Pass:
    encoded = avida.as_batch([np.frombuffer(file, np.uint8) for file in files])
    context = avida.EvalContext(num_threads=threads)

    def run() -> float:
        _core.testing.use_jpeg_decoder(name)
        with context:
            start = clock()
            avida.decoders.image(encoded).evaluate()
            return clock() - start

    return run


def by_simplejpeg(files: list[bytes], clock: Clock = time.process_time) -> Pass:
    import simplejpeg

    def run() -> float:
        start = clock()
        for file in files:
            simplejpeg.decode_jpeg(file, "RGB")
        return clock() - start

    return run


def by_libjpeg(files: list[bytes], folder: pathlib.Path, clock: Clock = time.process_time) -> Pass:
    program = folder / "jpeg_floor"
    source = HERE / "contestants" / "jpeg_floor.c"
    subprocess.run([os.environ.get("CC", "cc"), "-O2", source, "-o", program, "-ljpeg", "-lpthread"], check=True)
    names = []
    for i, file in enumerate(files):
        path = folder / f"{i}.jpg"
        path.write_bytes(file)
        names.append(f"{path}\n")
    (folder / "files.txt").write_text("".join(names))

    def run() -> float:
        command = [program, "1", folder / "files.txt"]
        wall, cpu = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        return float(cpu if clock is time.process_time else wall)

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
        before = _core.testing.jpeg_decodes()
        best = best_of(passes, rounds)
        if _core.testing.jpeg_decodes() - before < len(files) * rounds:
            title += " (*)"  # libjpeg-turbo decoded some of them for avida
    times = [seconds / len(files) * 1e6 for seconds in best]
    cells = "".join(f"{micros:>16,.0f}" for micros in times[:2])
    for micros in times[2:]:
        cells += f"{micros:>8,.0f} {times[0] / micros:.2f} {times[1] / micros:.2f}"[:18].rjust(18)
    return f"{title:<28}{cells}"


def best_of(passes: list[Pass], rounds: int) -> list[float]:
    best = [float("inf")] * len(passes)
    for _ in range(rounds + 1):  # the first one warms up
        for i, run in enumerate(passes):
            best[i] = min(best[i], run())
    return best


def shared_titles(threads: int) -> str:
    names = ["libjpeg-turbo", "simplejpeg", "avida, 1 thread", f"{threads} threads", "of 1 thread", "of libjpeg"]
    return f"{'ms of wall time':<36}" + "".join(f"{name:>16}" for name in names)


def measure_shared(title: str, file: bytes, rounds: int, threads: int) -> str:
    """A line of the table: the time of each, and how many times as fast avida is on threads."""
    clock = time.perf_counter
    with tempfile.TemporaryDirectory() as folder:
        passes = [by_libjpeg([file], pathlib.Path(folder), clock), by_simplejpeg([file], clock)]
        passes += [by_avida([file], ours()[0], clock, count) for count in (1, threads)]
        library, newest, alone, shared = best_of(passes, rounds)
    cells = "".join(f"{seconds * 1e3:>16.2f}" for seconds in (library, newest, alone, shared))
    return f"{title:<36}{cells}{alone / shared:>15.2f}x{library / shared:>15.2f}x"


if __name__ == "__main__":
    main()
