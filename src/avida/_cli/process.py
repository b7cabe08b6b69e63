"""Changes a data set once by a function of Batches, and writes the results as shards.

SCRIPT is a Python file with a function process(batch), which takes and returns a dictionary of columns. An interrupted
run goes on where it was when the same command is given again.
"""

from __future__ import annotations

import argparse
import functools

from avida._cli.rewriting import engines, options
from avida._cli.rewriting.running import run_job


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", help="the Python file; SCRIPT.py:NAME calls its function NAME in place of process")
    parser.add_argument("--input", metavar="URL", help="a folder, or archives by wildcards; none with --reader")
    parser.add_argument("--output", metavar="DIR", required=True, help="the folder for the shards")
    parser.add_argument(
        "--engine", choices=["local", "ray"], default="local", help="processes of this machine, or Ray (%(default)s)"
    )
    options.add_arguments(parser, batch_size=32)


def run(options_: argparse.Namespace) -> int:
    job = options.job_of(options_, options_.input, options_.output, options_.script)
    engine = engines.ray if options_.engine == "ray" else engines.local
    return run_job(job, functools.partial(engine, jobs=options_.jobs))
