"""Which files are meant by names of files, of folders and patterns, and the values that their folders stand for."""

from __future__ import annotations

import os
import re
import urllib.parse
from collections.abc import Sequence
from typing import Any

from avida import _core
from avida.readers._names.paths import Path, expand_paths

_SUFFIXES = (".parquet", ".parq", ".pq")


def find_files(argument: str, paths: Path | Sequence[Path]) -> list[tuple[str, dict[str, str]]]:
    """The files, and for each the values of the partitions in whose folders it lies: ``year=2024/part-0.parquet``."""
    expanded: Any = expand_paths(argument, paths)
    names = [expanded] if isinstance(expanded, str | os.PathLike) else list(expanded)
    files: list[tuple[str, dict[str, str]]] = []
    for name in map(os.fsdecode, names):
        if name.lower().endswith(_SUFFIXES) and not os.path.isdir(name.removeprefix("file://")):
            files.append((name, {}))
        elif (found := _files_in(name)) is not None:
            files += found
        else:
            files.append((name, {}))
    if not files:
        raise RuntimeError(f"expected files of Parquet in {argument}={paths!r}, found none")
    return files


def _files_in(folder: str) -> list[tuple[str, dict[str, str]]] | None:
    """The files in a folder and those under it, sorted by name; None if it is a file."""
    local = folder.removeprefix("file://")
    in_store = re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", local)
    if _is_object(folder) if in_store else not os.path.isdir(local):
        return None
    prefix = folder if folder.endswith("/") else folder + "/"
    found = []
    for name, is_folder in _core.list_names(folder, True):
        hidden = any(part.startswith(("_", ".")) for part in name.split("/"))  # what other programs leave there
        if not is_folder and not hidden and name.lower().endswith(_SUFFIXES):
            found.append((prefix + name, _partitions(name)))
    return sorted(found)


def _is_object(name: str) -> bool:
    try:
        return _core.object_exists(name)
    except ValueError:  # the root of a store has no name of an object
        return False


def _partitions(name: str) -> dict[str, str]:
    values = {}
    for folder in name.split("/")[:-1]:
        key, separator, value = folder.partition("=")
        if separator and key:
            values[urllib.parse.unquote(key)] = urllib.parse.unquote(value)
    return values


def typed(files: list[tuple[str, dict[str, str]]]) -> list[dict[str, int | str]]:
    """The values of partitions: integers where all of a key are, else texts."""
    keys = list(files[0][1])
    for name, values in files:
        if list(values) != keys:
            raise ValueError(f"{name}: expected folders of the partitions {keys}, found {list(values)}")
        for key, value in values.items():
            if value == "__HIVE_DEFAULT_PARTITION__":
                raise ValueError(f"{name}: the partition {key!r} is null; name the folders that have a value in paths")
    whole = {key for key in keys if all(re.fullmatch(r"-?\d{1,18}", values[key]) for _, values in files)}
    return [{key: int(value) if key in whole else value for key, value in values.items()} for _, values in files]
