"""Writes a data set again as shards of WebDataset, MDS or Parquet; encoded samples are copied as they are.

An interrupted run goes on where it was when the same command is given again.
"""

from __future__ import annotations

import argparse
import functools

from avida._cli.rewriting import engines, options
from avida._cli.rewriting.running import run_job


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="?", help="a folder, or archives by wildcards; none with --reader")
    parser.add_argument("target", help="the folder for the shards")
    options.add_arguments(parser, batch_size=64)


def run(options_: argparse.Namespace) -> int:
    job = options.job_of(options_, options_.source, options_.target, None)
    return run_job(job, functools.partial(engines.local, jobs=options_.jobs))
