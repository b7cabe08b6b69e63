"""Turns a folder of images into training batches: the speed of each stage, and a contact sheet to look at."""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile

import avida
from avida._cli.bench import report_errors
from avida._cli.images import NoImagesError, find_images, make_images
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
        try:
            if options.folder is None:
                kind = make_images(made, 64)
                print(f"64 made-up landscapes, written as {kind}")
            files = find_images(options.folder or made)
        except NoImagesError as error:
            print(f"avida demo: {error}", file=sys.stderr)
            return 2
        repeat = max(1, _LEAST // len(files))
        print(
            f"{len(files):,} files{f', {repeat} times' if repeat > 1 else ''} -> batches of {job.batch_size} x 3 x ",
            end="",
        )
        print(f"{job.size} x {job.size} float32, with {avida.get_num_threads()} threads\n")
        measured = measure(files, job, repeat)
        report_errors(measured.errors)
        print(measured.table())
        write_sheet(files[:: max(1, len(files) // 24)][:24], options.output)
    print(f"\nContact sheet: {pathlib.Path(options.output).resolve()}")
    return 0
