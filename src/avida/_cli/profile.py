"""Runs a script, and shows where its loop spends its time and what it waits for.

The script runs as under `avida run`. What was measured is printed when it ends, also after an error or Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys

import avida
from avida._cli import run as run_command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trace", metavar="FILE", help="also write a trace for chrome://tracing or ui.perfetto.dev")
    run_command.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    profile = avida.profile()
    try:
        return run_command.run_within(profile, options)
    finally:
        if profile.lines:
            sys.stdout.flush()
            print(f"\n{profile}")
            if options.trace:
                profile.save(options.trace)
