"""Small files that may carry a running number in their name."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import string

from avida._files.atomic import write_file

_NUMBER_FORMAT = re.compile(r"(0[0-9]+)?d?")


class NumberedFiles:
    """The files of a name with ``{seq}``; without it, one file."""

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
        """Writes the next file, or replaces the only one; returns path and number.

        The number is ``least`` or higher.
        """
        number = max([least, *(number + 1 for number, _ in self._found())]) if self._is_numbered else least
        while True:
            with contextlib.suppress(FileExistsError):  # another process took the number
                write_file(self._name(number), text, replace=not self._is_numbered)
                return self._name(number), number
            number += 1

    def _name(self, number: int) -> str:
        return self._pattern.format(seq=number)

    def _found(self) -> list[tuple[int, str]]:
        matches = ((re.fullmatch(self._regex, path, re.DOTALL), path) for path in glob.glob(self._glob))
        return [(int(match[1]), path) for match, path in matches if match and os.path.isfile(path)]
