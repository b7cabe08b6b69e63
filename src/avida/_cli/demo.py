"""Turns a folder of images into training batches: the speed of each stage, and a contact sheet to look at."""

from __future__ import annotations

import argparse
import pathlib
import tempfile

import avida
from avida._cli.bench import report_errors
from avida._cli.images import find_images, make_images
from avida._cli.stages import Job, measure
from avida._cli.view import write_sheet

_LEAST = 512  # fewer images are done in no time; they are repeated


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", metavar="DIR", help="a folder of images; some are made when it is left out"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="avida-demo.png", help="the contact sheet (%(default)s)"
    )


def run(options: argparse.Namespace) -> int:
    job = Job()
    with tempfile.TemporaryDirectory(prefix="avida-demo-") as made:
        if options.folder is None:
            kind = make_images(made, 64)
            print(f"64 made-up landscapes, written as {kind}")
        files = find_images(options.folder or made)
        repeat = max(1, _LEAST // len(files))
        source = f"{len(files):,} files" + (f", {repeat} times" if repeat > 1 else "")
        target = f"batches of {job.batch_size} x 3 x {job.size} x {job.size} float32"
        print(f"{source} -> {target}, with {avida.get_num_threads()} threads\n")
        measured = measure(files, job, repeat)
        report_errors(measured.errors)
        print(measured.table())
        write_sheet(files[:: max(1, len(files) // 24)][:24], options.output)
    print(f"\nContact sheet: {pathlib.Path(options.output).resolve()}")
    return 0
