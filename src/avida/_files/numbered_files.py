"""Small files that are written as a whole or not at all, and may carry a running number in their name."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import pathlib
import re
import secrets
import string

_NUMBER_FORMAT = re.compile(r"(0[0-9]+)?d?")


class NumberedFiles:
    """The files that a name with ``{seq}`` stands for; a name without it is that of one file."""

    def __init__(self, pattern: str | os.PathLike[str]) -> None:
        self._pattern = os.fspath(pattern)
        if not isinstance(self._pattern, str):
            raise TypeError(f"expected the name of a file, got {self._pattern!r}")
        if not self._pattern:
            raise ValueError("expected the name of a file, got an empty one")
        parts = list(string.Formatter().parse(self._pattern))
        fields = [(field, how) for _, field, how, _ in parts if field is not None]
        if any(field != "seq" for field, _ in fields) or len(fields) > 1:
            raise ValueError(f"a file's name may have one field {{seq}}, got {self._pattern!r}")
        if fields and not _NUMBER_FORMAT.fullmatch(fields[0][1] or ""):
            raise ValueError(f"expected a decimal number such as {{seq:04d}}, got {self._pattern!r}")
        self._is_numbered = bool(fields)
        self._glob = "".join(glob.escape(text) + ("" if field is None else "*") for text, field, _, _ in parts)
        self._regex = "".join(re.escape(text) + ("" if field is None else "([0-9]+)") for text, field, _, _ in parts)

    def newest(self) -> tuple[str, int]:
        """The file with the highest number, and that number."""
        if not self._is_numbered:
            return self._name(0), 0
        found = self._found()
        if not found:
            raise FileNotFoundError(f"there is no file {self._pattern!r}")
        number, path = max(found)
        return path, number

    def write(self, text: str, least: int) -> tuple[str, int]:
        """Makes the next file, or replaces the only one; returns its path and its number, ``least`` or higher."""
        number = max([least, *(number + 1 for number, _ in self._found())]) if self._is_numbered else least
        while True:
            with contextlib.suppress(FileExistsError):  # another process took the number
                _write(pathlib.Path(self._name(number)), text, replace=not self._is_numbered)
                return self._name(number), number
            number += 1

    def _name(self, number: int) -> str:
        return self._pattern.format(seq=number)

    def _found(self) -> list[tuple[int, str]]:
        matches = ((re.fullmatch(self._regex, path, re.DOTALL), path) for path in glob.glob(self._glob))
        return [(int(match[1]), path) for match, path in matches if match and os.path.isfile(path)]


def _write(path: pathlib.Path, text: str, replace: bool) -> None:
    _make_folder(path.parent)
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.replace(temporary, path)
        else:
            _move_to_new_name(temporary, path)
        _sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _move_to_new_name(old: pathlib.Path, new: pathlib.Path) -> None:
    """A rename that raises FileExistsError instead of replacing a file."""
    try:
        os.link(old, new)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
            raise
        if new.exists():  # a file system without links, where two processes may still meet here
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new)) from error
        os.rename(old, new)


def _make_folder(path: pathlib.Path) -> None:
    if not path.is_dir():
        _make_folder(path.parent)
        path.mkdir(exist_ok=True)
        _sync_folder(path.parent)


def _sync_folder(path: pathlib.Path) -> None:
    """New names last through a power cut only when their folder is on the disk too."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
