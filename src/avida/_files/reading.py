"""Regular files, read as a whole; nothing else is, since devices may have no end, and pipes no writer."""

from __future__ import annotations

import errno
import os
import stat

from avida._core import Descriptor

_KINDS = {
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a disk",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The content of a file, or of one that a link leads to.

    Raises:
        OSError: It cannot be read, or is something else than a file.
    """
    _check_regular(path, os.stat(path))  # opening a device may do something
    with Descriptor(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY) as descriptor:
        _check_regular(path, os.fstat(descriptor.fileno()))
        with open(descriptor.fileno(), "rb", closefd=False) as file:
            return file.read()


def _check_regular(path: str | os.PathLike[str], found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise OSError(errno.EINVAL, f"expected a regular file, found {kind}", os.fspath(path))
