"""Files, and sets of files, that are written as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pathlib
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from typing import BinaryIO

from avida._core import Descriptor

_PREFIX, _SUFFIX = ".avida-", ".tmp"


def write_file(path: str | os.PathLike[str], content: str | bytes, *, replace: bool = True) -> None:
    """Writes a file such that others see all of it or nothing, and what was there before until then.

    Missing folders are made. Temporary files that killed processes left beside it are removed. A link stays, and the
    file that it leads to is replaced. Devices and pipes, such as ``/dev/null`` and ``/dev/stdout``, are written to.

    Args:
        path: The file.
        content: What to write; text is encoded as UTF-8.
        replace: Whether the file may exist already. Default: ``True``.

    Raises:
        FileExistsError: There is something of that name already, and ``replace`` is false; or it is neither a file nor
            anything that can be written to.
        NotADirectoryError: There is something else where a folder is needed.
    """
    path, data = pathlib.Path(path), content.encode() if isinstance(content, str) else content
    make_folder(path.parent)
    if replace:
        with _naming(path):
            if _is_stream(path):
                _write_to_stream(path, data)
                return
        path = pathlib.Path(os.path.realpath(path)) if path.is_symlink() else path
    with _complete_file(path, replace) as file:
        file.write(data)


@contextlib.contextmanager
def replaced_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which takes its name when the block ends, and never if that raises an error."""
    path = pathlib.Path(path)
    make_folder(path.parent)
    with _complete_file(path, replace=True) as file:
        yield file


@contextlib.contextmanager
def _complete_file(path: pathlib.Path, replace: bool) -> Iterator[BinaryIO]:
    _remove_abandoned(path.parent)
    with _naming(path), _new_temporary(path.parent) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if replace:
                os.replace(file.name, path)
            else:
                _move_to_new_name(file.name, path)
        finally:
            pathlib.Path(file.name).unlink(missing_ok=True)
    _sync(path.parent)


@contextlib.contextmanager
def replaced_files(folder: str | os.PathLike[str], last: str) -> Iterator[str]:
    """A temporary folder whose files replace those of the same names in ``folder`` when the block ends.

    The file ``last`` is missing while others are replaced, so that nobody takes old and new files for one set. What
    killed processes left is removed.
    """
    folder = pathlib.Path(folder)
    _remove_abandoned(folder)
    temporary, lock = _new_temporary_folder(folder)
    with lock:
        try:
            yield str(temporary)
            _move_all(temporary, folder, last)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _is_stream(path: pathlib.Path) -> bool:
    """Whether a path names a device or a pipe, which takes data and which no file may replace."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        found = "a disk" if stat.S_ISBLK(mode) else "a socket"
        raise FileExistsError(errno.EEXIST, f"expected a file, a pipe or a new name, found {found}", str(path))
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _write_to_stream(path: pathlib.Path, data: bytes) -> None:
    try:
        stream = Descriptor(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)  # which waits for no reader of a pipe
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        wanted = "expected a file, or a pipe that somebody reads, found a pipe that nobody reads"
        raise OSError(errno.ENXIO, wanted, str(path)) from error
    with stream, open(stream.fileno(), "wb", closefd=False) as file:
        os.set_blocking(stream.fileno(), True)
        file.write(data)


@contextlib.contextmanager
def _naming(path: pathlib.Path) -> Iterator[None]:
    """Errors name the file that was to be written, and not its temporary, or none."""
    try:
        yield
    except OSError as error:
        if error.filename2 is None:
            error.filename = str(path)
        raise


def _new_temporary(folder: pathlib.Path) -> BinaryIO:
    """A file that is locked for as long as it is open: by that, others know that its writer lives."""
    while True:
        file = open(folder / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}", "xb")  # noqa: SIM115
        with contextlib.suppress(OSError):  # a file system without locks, where nothing is removed either
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # somebody removed it before it was locked


def _new_temporary_folder(folder: pathlib.Path) -> tuple[pathlib.Path, Descriptor]:
    """The same for a folder: its path, and what locks it."""
    while True:
        path = pathlib.Path(tempfile.mkdtemp(_SUFFIX, _PREFIX, folder))
        with contextlib.suppress(FileNotFoundError):  # somebody removed it before it was locked
            lock = Descriptor(path, os.O_RDONLY | os.O_DIRECTORY)
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if path.exists():
                return path, lock


def _remove_abandoned(folder: pathlib.Path) -> None:
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        is_folder = path.is_dir()
        flags = os.O_RDONLY | os.O_DIRECTORY if is_folder else os.O_RDWR | os.O_NONBLOCK
        # Others are locked, somebody else's, or gone.
        with contextlib.suppress(OSError), Descriptor(path, flags | os.O_NOFOLLOW) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path) if is_folder else path.unlink()


def _move_all(source: pathlib.Path, target: pathlib.Path, last: str) -> None:
    files = sorted(source.iterdir(), key=lambda path: path.name == last)
    for file in files:
        _sync(file)
    for file in files:
        if _is_stream(target / file.name):
            found = target / file.name
            raise FileExistsError(errno.EEXIST, "expected a file or a new name, found a device or a pipe", str(found))
    (target / last).unlink(missing_ok=True)
    for file in files:
        file.replace(target / file.name)
    _sync(target)


def _move_to_new_name(old: str, new: pathlib.Path) -> None:
    """A rename that raises FileExistsError instead of replacing a file."""
    try:
        os.link(old, new)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
            raise
        if os.path.lexists(new):  # a file system without links, where two processes may still meet here
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new)) from error
        os.rename(old, new)


def make_folder(path: pathlib.Path) -> None:
    """Makes a folder, and those that it is in, such that they last."""
    if path.is_dir():
        return
    if os.path.lexists(path):
        found = "a file" if path.exists() else "a link that leads nowhere"
        raise NotADirectoryError(errno.ENOTDIR, f"expected a folder, found {found}", str(path))
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    _sync(path.parent)


def _sync(path: pathlib.Path) -> None:
    """Contents of files, and new names in folders, last through a power cut only when they are on the disk."""
    with Descriptor(path, os.O_RDONLY) as descriptor:
        os.fsync(descriptor.fileno())
