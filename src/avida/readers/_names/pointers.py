"""Pointers that git-LFS leaves in place of files that it has not fetched."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any

from avida.readers._names.paths import expand_paths

_BEGINS, _MOST_BYTES = b"version https://git-lfs", 1024
_MOST_FILES = 10_000  # that are looked at
_FILE_OF_DATABASES = "data.mdb"  # in the folder of an LMDB


def pointer_among(data: Any) -> str | None:
    """What to do about the first of these files, or databases, that is a pointer; None if there is none."""
    path = next(filter(_is_pointer, itertools.islice(_files(data), _MOST_FILES)), None)
    return path and f"{path} is a git-LFS pointer in place of the file: fetch the file itself with `git lfs pull`"


def _files(data: Any) -> Iterator[str]:
    if isinstance(data, list | tuple):
        for each in data:
            yield from _files(each)
    elif isinstance(data, str | os.PathLike):
        path = os.fsdecode(data)
        if os.path.isdir(path):
            yield os.path.join(path, _FILE_OF_DATABASES)
        elif os.path.exists(path):
            yield path
        elif "://" not in path:  # git-LFS knows nothing of stores
            try:
                yield from expand_paths("", [path])
            except RuntimeError:  # wildcards that stand for nothing
                return


def _is_pointer(path: str) -> bool:
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _MOST_BYTES:  # opening a pipe would wait
            return False
        with open(path, "rb") as file:
            return file.read(len(_BEGINS)) == _BEGINS
    except (OSError, ValueError):  # it is not there, or no name of a file
        return False
