"""The command line: ``avida info | demo | bench | view | index | profile | run | migrate``.

Each command is one module with these two functions: ``add_arguments(parser)`` and ``run(options) -> exit code``.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from avida._cli.images import NoImagesError

COMMANDS = {
    "info": "what this build can do on this machine",
    "demo": "a folder of images becomes training batches: speed of each stage, and a contact sheet",
    "bench": "images per second on this machine, stage by stage",
    "view": "write a contact sheet of a folder of images, decoded and augmented, or of a video",
    "index": "write index files of TFRecord, WebDataset and RecordIO files",
    "profile": "run a script, and show where its loop spends its time and what it waits for",
    "run": "run a script or notebook written for nvidia.dali.experimental.dynamic with avida in its place",
    "migrate": "rewrite a script of pipeline mode into one with loops",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    parser = argparse.ArgumentParser(prog="avida", description="Data loading and preprocessing on ragged batches.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    modules = {}
    for name, text in COMMANDS.items():
        modules[name] = importlib.import_module(f"avida._cli.{name}")
        modules[name].add_arguments(commands.add_parser(name, help=text, description=modules[name].__doc__))
    options = parser.parse_args(arguments)
    try:
        return modules[options.command].run(options)
    except NoImagesError as error:
        print(f"avida {options.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output, `head` perhaps, has seen enough
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130
