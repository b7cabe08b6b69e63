"""Writes index files of TFRecord, WebDataset (tar) and RecordIO files, and of folders of videos, for fast starts."""

from __future__ import annotations

import argparse
import os
import pathlib
import stat
import struct
import sys
import tarfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import NamedTuple

from avida import _core
from avida._cli.arguments import integer
from avida._files.atomic import write_file
from avida.progress import Progress

_MEGABYTE = 10**6
_RECORDIO_MAGIC = b"\x0a\x23\xd7\xce"

ToldProgress = Callable[[int, int], None]  # bytes that are done, all bytes


class Format(NamedTuple):
    text: Callable[[str, ToldProgress], str]  # the text of the index of a file
    fits: Callable[[pathlib.Path], bool]  # whether a file looks like it
    index_name: Callable[[str], str]


def _is_recordio(path: pathlib.Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == _RECORDIO_MAGIC


def _is_tfrecord(path: pathlib.Path) -> bool:
    """Whether the first record is in the file. Its checksum is verified when the index is made."""
    with path.open("rb") as file:
        header = file.read(12)
        return len(header) == 12 and struct.unpack("<Q", header[:8])[0] + 16 <= os.fstat(file.fileno()).st_size


def _index_webdataset(path: str, progress: ToldProgress) -> str:
    from avida.readers._webdataset import index_webdataset

    return index_webdataset(path, progress)


def _with_other_suffix(name: str) -> str:
    return str(pathlib.PurePath(name).with_suffix(".idx"))


# TFRecord files often have names like train-00001-of-01024: nothing of that may be replaced.
FORMATS = {
    "recordio": Format(_core.index_recordio, _is_recordio, _with_other_suffix),
    "webdataset": Format(_index_webdataset, tarfile.is_tarfile, _with_other_suffix),
    "tfrecord": Format(_core.index_tfrecord, _is_tfrecord, lambda name: name + ".idx"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="the files, each of which gets an index of its own, or folders of videos",
    )
    parser.add_argument(
        "-f", "--format", choices=sorted(FORMATS), help="what the files are (found from their contents)"
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="where the index files go (beside the files)")
    parser.add_argument(
        "-j", "--jobs", type=integer(1, 2**12), default=4, help="how many files to read at a time (%(default)s)"
    )


def run(options: argparse.Namespace) -> int:
    folders = [file for file in options.files if os.path.isdir(file)]
    options.files = [file for file in options.files if file not in folders]
    found, failed = _plan(options)
    failed += sum(not _index_folder(folder, options.output) for folder in folders)
    if not found:
        return 1 if failed else 0
    total = sum(file.stat().st_size for file in found)
    stop = threading.Event()
    with Progress("indexing", total=max(1, total // _MEGABYTE), unit="MB") as bar:
        done = _Done(bar, stop)
        with ThreadPoolExecutor(options.jobs) as pool:
            jobs = {pool.submit(_write_index, file, *how, done): file for file, how in found.items()}
            try:
                for job in as_completed(jobs):
                    try:
                        print(job.result())
                    except (RuntimeError, OSError, ImportError) as error:
                        print(f"avida index: {_named(jobs[job], error)}", file=sys.stderr)
                        failed += 1
            except BaseException:
                stop.set()
                for job in jobs:
                    job.cancel()
                raise
    return 1 if failed else 0


def _index_folder(folder: str, output: str | None) -> bool:
    from avida._cli.index_videos import index_folder

    try:
        return index_folder(pathlib.Path(folder), output)
    except (RuntimeError, OSError) as error:
        print(f"avida index: {_named(pathlib.Path(folder), error)}", file=sys.stderr)
        return False


def _plan(options: argparse.Namespace) -> tuple[dict[pathlib.Path, tuple[str, pathlib.Path]], int]:
    """The format of each file and where its index goes; and how many cannot have one, which are told."""
    files = {pathlib.Path(file).resolve(): pathlib.Path(file) for file in reversed(options.files)}
    found: dict[pathlib.Path, tuple[str, pathlib.Path]] = {}
    owners: dict[pathlib.Path, pathlib.Path] = {}
    failed = 0
    for file in reversed(files.values()):
        try:
            kind = options.format or find_format(file)
            target = pathlib.Path(options.output or file.parent, FORMATS[kind].index_name(file.name))
            if target.resolve() in files:
                raise RuntimeError(f"{file}: its index would replace {target}, one of the files")
            if target.resolve() in owners:
                raise RuntimeError(f"{file}: its index would be {target}, which is that of {owners[target.resolve()]}")
        except (RuntimeError, OSError) as error:
            print(f"avida index: {_named(file, error)}", file=sys.stderr)
            failed += 1
            continue
        owners[target.resolve()] = file
        found[file] = kind, target
    return found, failed


class _Done:
    """Adds up what the threads have done."""

    def __init__(self, bar: Progress, stop: threading.Event) -> None:
        self._bar = bar
        self._stop = stop
        self._lock = threading.Lock()
        self._bytes: dict[pathlib.Path, int] = {}

    def tell(self, file: pathlib.Path, done: int) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt  # out of the search, in this thread only
        with self._lock:
            self._bytes[file] = done
            self._bar.advance(sum(self._bytes.values()) // _MEGABYTE - self._bar.done)


def _write_index(file: pathlib.Path, kind: str, target: pathlib.Path, done: _Done) -> str:
    """Writes the index of one file; returns what there is to say about it."""
    text = FORMATS[kind].text(str(file), lambda bytes_done, _: done.tell(file, bytes_done))
    try:
        write_file(target, text)
    except OSError as error:
        raise OSError(error.errno, f"the index cannot be written: {error.strerror}", str(target)) from error
    done.tell(file, file.stat().st_size)
    return f"{target}: {kind}, {text.count(chr(10)) - (kind == 'webdataset')} samples"


def find_format(file: pathlib.Path) -> str:
    if not stat.S_ISREG(file.stat().st_mode):
        raise RuntimeError(f"{file}: expected a regular file, got a pipe or device")
    for name, kind in FORMATS.items():
        if kind.fits(file):
            return name
    raise RuntimeError(f"{file}: expected a {', '.join(FORMATS)} file, found nothing of the kind; see --format")


def _named(file: pathlib.Path, error: Exception) -> str:
    return str(error) if str(file) in str(error) else f"{file}: {error}"
