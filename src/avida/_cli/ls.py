"""Lists what is in a folder: on this machine, in S3, GCS, Azure or on the Hugging Face Hub."""

from __future__ import annotations

import argparse

import avida


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="a name such as s3://bucket/train or hf://datasets/OWNER/NAME, or a path")
    parser.add_argument("--deep", action="store_true", help="the files of all folders under it")
    parser.add_argument("--endpoint", metavar="URL", help="the address of the service, such as http://127.0.0.1:9000")
    parser.add_argument("--anonymous", action="store_true", help="without credentials, for public data")


def run(options: argparse.Namespace) -> int:
    if options.endpoint or options.anonymous:
        avida.storage.configure(options.folder, endpoint=options.endpoint, anonymous=options.anonymous or None)
    for name in avida.storage.ls(options.folder, deep=options.deep):
        print(name)
    return 0
