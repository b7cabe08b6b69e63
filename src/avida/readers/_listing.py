"""The listings of folders that files keep from one run to the next."""

from __future__ import annotations

import os
from typing import Any

from avida import _core
from avida._files.alone import alone_with
from avida._files.atomic import write_file
from avida._running.warn import warn
from avida.readers._declared import DeclaredReader


class Listed(DeclaredReader):
    """Takes the files of its folder from a listing that is kept, or lists the folder and keeps that."""

    @classmethod
    def _open(cls, arguments: _core.ReaderArguments, given: dict[str, Any]) -> _core.ReaderSource:
        if not given["index_path"]:
            return super()._open(arguments, given)
        listing = kept_listing(os.fsdecode(given["index_path"]), os.fsdecode(given["file_root"]))
        arguments.set("listing", listing)  # which lives until the reader has its files
        return super()._open(arguments, given)


class NumpyHooks(Listed):
    """Reads arrays of files in folders."""


def kept_listing(path: str, root: str) -> _core.FolderListing:
    """What a file keeps. Where it is not there, one process lists the folder, and others wait for that."""
    if listing := _core.kept_listing(path, root):
        return listing
    file = _core.local_path(path)
    if file is None:
        raise RuntimeError(
            f"there is no listing of {root} at {path}: one can be read from there, but is "
            "made on this machine alone. Make it by index_path=FILE, and bring it there"
        )
    listing = None
    try:
        with alone_with(file):
            if listing := _core.kept_listing(path, root):
                return listing
            listing = _core.folder_listing(root)
            write_file(file, listing.content(path, root))
    except OSError as error:  # the reader works without it
        warn(f"the listing of {root} is not kept: {error}")
    return listing or _core.folder_listing(root)
