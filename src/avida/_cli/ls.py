"""Lists what is in a folder: on this machine, in S3, GCS, Azure or on the Hugging Face Hub."""

from __future__ import annotations

import argparse
import os

import avida
from avida import _core


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="a name such as s3://bucket/train or hf://datasets/OWNER/NAME, or a path")
    parser.add_argument("--deep", action="store_true", help="the files of all folders under it")
    add_store_arguments(parser)


def add_store_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--endpoint", metavar="URL", help="the address of the service, such as http://127.0.0.1:9000")
    parser.add_argument("--anonymous", action="store_true", help="without credentials, for public data")


def run(options: argparse.Namespace) -> int:
    configure_store(options, options.folder)
    names = avida.storage.ls(options.folder, deep=options.deep)
    if not names and not os.path.isdir(_core.local_path(options.folder) or ""):
        if not avida.storage.exists(options.folder):
            raise RuntimeError(f"{options.folder}: there is no object of this name, and none in a folder of this name")
        names = [options.folder]
    for name in names:
        print(name)
    return 0


def configure_store(options: argparse.Namespace, name: str | None) -> None:
    """Reaches the store of a name as the options say."""
    if name and (options.endpoint or options.anonymous):
        avida.storage.configure(name, endpoint=options.endpoint, anonymous=options.anonymous or None)
