"""The command line: ``avida info | ls | demo | bench | view | index | convert | process | profile | run | migrate``.

Each command is one module with these two functions: ``add_arguments(parser)`` and ``run(options) -> exit code``.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

import avida
from avida._cli.images import NoImagesError
from avida._cli.streams import flush_output, open_closed_streams

COMMANDS = {
    "info": "what this build can do on this machine, or what a data set has",
    "ls": "list a folder, on this machine or in a store such as s3://",
    "demo": "a folder of images becomes training batches: speed of each stage, and a contact sheet",
    "bench": "images per second on this machine, stage by stage",
    "view": "write a contact sheet of a folder of images, decoded and augmented, or of a video",
    "index": "write index files of TFRecord, WebDataset and RecordIO files",
    "convert": "write a data set again as shards of WebDataset, MDS or Parquet",
    "process": "change a data set once by a function of Batches, and write the results as shards",
    "profile": "run a script, and show where its loop spends its time and what it waits for",
    "run": "run a script or notebook written for nvidia.dali.experimental.dynamic with avida in its place",
    "migrate": "rewrite a script of pipeline mode into one with loops",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    open_closed_streams()
    parser = argparse.ArgumentParser(prog="avida", description="Data loading and preprocessing on ragged batches.")
    parser.add_argument("--version", action="version", version=f"avida {avida.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    modules = {}
    for name, text in COMMANDS.items():
        modules[name] = importlib.import_module(f"avida._cli.{name}")
        modules[name].add_arguments(commands.add_parser(name, help=text, description=modules[name].__doc__))
    program = parser.prog
    try:
        try:
            options = parser.parse_args(arguments)
            program = f"{parser.prog} {options.command}"
            return modules[options.command].run(options)
        finally:
            flush_output()
    except NoImagesError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output, `head` perhaps, has seen enough
        return 1
    except (OSError, RuntimeError, ValueError) as error:  # also names that stores do not have
        print(f"{program}: {describe(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def describe(error: OSError | RuntimeError | ValueError) -> str:
    """An error in words, without its number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
