"""Measures this machine on the main job, stage by stage: files to training batches, images per second.

Where OpenCV, Pillow or simplejpeg are installed, their plain decoding of the same files on as many threads stands
beside it. benchmarks/classification.py in the source tree compares libraries on the whole job.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib
import io
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import avida
from avida._cli.arguments import integer
from avida._cli.images import find_images, make_images
from avida._cli.stages import Job, measure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", metavar="DIR", help="a folder of images; some are made when it is left out"
    )
    parser.add_argument(
        "--files", type=integer(1, 10**9), default=1024, help="repeat the files up to this number (%(default)s)"
    )
    parser.add_argument("--batch", type=integer(1, 10**6), default=64, help="samples in a batch (%(default)s)")
    parser.add_argument(
        "--size", type=integer(1, 2**14), default=224, help="height and width of the results (%(default)s)"
    )
    parser.add_argument("--threads", type=integer(1, 2**12), help="threads of the operators (all cores)")


def run(options: argparse.Namespace) -> int:
    if options.threads:
        avida.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory(prefix="avida-bench-") as made:
        if options.folder is None:
            make_images(made, min(64, options.files))
        files = find_images(options.folder or made)[: options.files]
        repeat = max(1, options.files // len(files))
        measured = measure(files, Job(options.batch, options.size), repeat)
        report_errors(measured.errors)
        threads = avida.get_num_threads()
        size = f"{options.size}x{options.size}"
        print(f"{measured.images:,} images to {size}, {threads} threads, batches of {options.batch}\n")
        print(measured.table())
        for name, rate in decode_elsewhere(files, repeat, threads).items():
            part = measured.together / rate
            print(f"\n{name}, only decoding: {rate:,.0f} images/s; the whole job makes {part:.2f} of it")
    return 0


def report_errors(errors: Sequence[str], most: int = 5) -> None:
    """Says which files were left out."""
    for message in errors[:most]:
        print(f"left out: {message}", file=sys.stderr)
    if len(errors) > most:
        print(f"left out: {len(errors) - most} more", file=sys.stderr)


def decode_elsewhere(files: Sequence[pathlib.Path], repeat: int, threads: int) -> dict[str, float]:
    """Images per second of other libraries' decoders, of those that are installed and can read the files."""
    contents = [file.read_bytes() for file in files]
    rates = {}
    for name, load in {"OpenCV": _opencv, "Pillow": _pillow, "simplejpeg": _simplejpeg}.items():
        try:
            decode = load()
            with concurrent.futures.ThreadPoolExecutor(threads) as pool:
                list(pool.map(decode, contents))  # warm up, and see that all can be read
                start = time.perf_counter()
                for _ in range(repeat):
                    list(pool.map(decode, contents))
                rates[name] = len(contents) * repeat / (time.perf_counter() - start)
        except Exception:
            continue  # not installed, or not for these files
    return rates


def _opencv() -> Callable[[bytes], Any]:
    import numpy as np

    cv2 = importlib.import_module("cv2")
    cv2.setNumThreads(1)

    def decode(data: bytes) -> Any:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        if image is None:
            raise ValueError("not an image")
        return image

    return decode


def _pillow() -> Callable[[bytes], Any]:
    pillow = importlib.import_module("PIL.Image")
    return lambda data: pillow.open(io.BytesIO(data)).convert("RGB")


def _simplejpeg() -> Callable[[bytes], Any]:
    return importlib.import_module("simplejpeg").decode_jpeg
