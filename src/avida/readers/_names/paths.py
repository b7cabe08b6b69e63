"""Arguments that name files."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from typing import Any

from avida import _core

Path = str | os.PathLike[str]


def expand_paths(
    argument: str, paths: Any, *, wildcards: bool = True, root: Path | None = None
) -> str | list[str] | Any:
    """The files that are meant: braces and wildcards are expanded where no file has the name itself.

    ``train-{000..123}.tar`` and ``{a,b}.tar`` stand for all of these names, ``*.tar`` for those that there are, sorted.
    Stores are not asked whether they have a name with braces.
    """
    names = [paths] if isinstance(paths, str | os.PathLike) else paths
    special = re.compile(r"[{*?[]" if wildcards else r"\{").search
    if not isinstance(names, list | tuple) or not any(special(os.fsdecode(name)) for name in names):
        return paths
    files: list[str] = []
    for name in map(os.fsdecode, names):
        files += _expand(argument, name, wildcards, root) if special(name) else [name]
    return files


def _expand(argument: str, path: str, wildcards: bool, root: Path | None) -> list[str]:
    in_store = re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path)
    if not in_store and os.path.exists(os.path.join(root or "", path)):
        return [path]
    files = []
    for name in expand_braces(path):
        if wildcards and glob.has_magic(name) and (in_store or not os.path.exists(name)):
            found = _found_in_store(name) if in_store else sorted(glob.glob(name))
            if not found:
                raise RuntimeError(f"expected files that match {name!r} in {argument}, found none")
            files += found
        else:
            files.append(name)
    return files


def _found_in_store(pattern: str) -> list[str]:
    """The names in a store that match a pattern, sorted. No wildcard matches a slash."""
    folder = pattern[: re.search(r"[*?[]", pattern).start()].rpartition("/")[0] + "/"  # pyright: ignore[reportOptionalMemberAccess]
    parts = pattern[len(folder) :].split("/")
    names = [name for name, is_folder in _core.list_names(folder, len(parts) > 1) if not is_folder]
    return [folder + name for name in names if _fit(name.split("/"), parts)]


def _fit(names: list[str], patterns: list[str]) -> bool:
    return len(names) == len(patterns) and all(map(fnmatch.fnmatchcase, names, patterns))


def expand_braces(text: str) -> list[str]:
    """All texts that ``{1..3}``, ``{001..120}``, ``{a,b}`` and combinations of them stand for, as in a shell."""
    start = text.find("{")
    while start >= 0:
        parts, end = _split_braces(text, start)
        choices = _range(parts[0]) if len(parts) == 1 else [each for part in parts for each in expand_braces(part)]
        if choices:
            return [text[:start] + choice + rest for choice in choices for rest in expand_braces(text[end:])]
        start = text.find("{", start + 1)
    return [text]


def _split_braces(text: str, start: int) -> tuple[list[str], int]:
    """What commas separate between the brace at ``start`` and its partner, and where the text continues behind it."""
    parts, begin, depth = [], start + 1, 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0 or (depth == 1 and text[i] == ","):
            parts.append(text[begin:i])
            begin = i + 1
        if depth == 0:
            return parts, i + 1
    return [""], start + 1  # it has no partner


def _range(text: str) -> list[str]:
    """The numbers or letters of ``first..last`` or ``first..last..step``, or nothing."""
    letters = re.fullmatch(r"([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z])", text)
    if letters:
        first, last = (ord(letter) for letter in letters.groups() if letter)
        return [chr(code) for code in (range(first, last + 1) if first <= last else range(first, last - 1, -1))]
    found = re.fullmatch(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?", text)
    if not found:
        return []
    first, last, step = int(found[1]), int(found[2]), abs(int(found[3] or 1)) or 1
    is_padded = any(re.match(r"-?0\d", end) for end in found.groups()[:2])
    width = max(len(found[1]), len(found[2])) if is_padded else 0
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    return [f"{number:0{width}d}" for number in numbers]
