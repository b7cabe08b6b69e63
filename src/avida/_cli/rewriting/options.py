"""The arguments that `avida convert` and `avida process` share."""

from __future__ import annotations

import argparse
import re

import avida
from avida._cli.arguments import integer
from avida._cli.rewriting.rows import From
from avida._cli.rewriting.shards import Job
from avida._shards.formats import COMPRESSIONS, FORMATS

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def add_arguments(parser: argparse.ArgumentParser, batch_size: int) -> None:
    parser.add_argument("--to", choices=FORMATS, default="webdataset", help="the format of the shards (%(default)s)")
    parser.add_argument(
        "--shard-size", type=size, default="256MB", metavar="SIZE", help="about how large they are (%(default)s)"
    )
    parser.add_argument("--compression", choices=COMPRESSIONS, help="of the shards of MDS (none)")
    parser.add_argument(
        "--reader",
        metavar="READER",
        help="what reads the data: 'readers.MXNet(path=...)', or SCRIPT.py:FUNCTION, which returns a reader",
    )
    parser.add_argument(
        "--columns", metavar="NAME[=NEW],...", help="the columns to take, perhaps under other names (all)"
    )
    parser.add_argument("--limit", type=integer(1, 2**63 - 1), help="only so many samples, from the first")
    parser.add_argument(
        "-j", "--jobs", type=integer(1, 2**12), default=avida.get_num_threads(), help="worker processes (%(default)s)"
    )
    parser.add_argument(
        "--batch-size", type=integer(1, 2**20), default=batch_size, help="samples that are read together (%(default)s)"
    )
    parser.add_argument(
        "--on-error",
        choices=["raise", "skip"],
        default="raise",
        help="end at a sample that fails, or leave it out and list it in errors.txt (%(default)s)",
    )


def job_of(options: argparse.Namespace, source: str | None, target: str, script: str | None) -> Job:
    """The job that was asked for. Raises RuntimeError for what does not go together."""
    if (source is None) == (options.reader is None):
        raise RuntimeError("expected a data set or --reader, got " + ("neither" if source is None else "both"))
    if options.compression and options.to != "mds":
        raise RuntimeError(f"--compression is for --to mds, got --to {options.to}")
    target = target.removeprefix("file://")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", target):
        raise RuntimeError(f"{target}: shards are written to folders of this machine: write to one, and upload it")
    return Job(
        From(source, options.reader, options.columns, script),
        target,
        options.to,
        options.compression,
        options.shard_size,
        options.batch_size,
        options.limit,
        options.on_error == "skip",
    )


def size(text: str) -> int:
    """Bytes, of a text such as 256MB."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([A-Za-z]*)", text)
    if not found or found[2].upper() not in _UNITS or (count := int(float(found[1]) * _UNITS[found[2].upper()])) < 1:
        raise argparse.ArgumentTypeError(f"expected a size such as 256MB, got {text!r}")
    return count
