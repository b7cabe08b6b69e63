"""The files of a data set, as readers of single files take them: ``file_root``, ``file_list`` or ``files``."""

from __future__ import annotations

import os
from collections.abc import Sequence

from avida import _core

Path = str | os.PathLike[str]


def check_files(file_root: Path | None, file_list: Path | None, files: Path | Sequence[Path] | None) -> None:
    if file_root is None and files is None and file_list is None:
        raise RuntimeError("expected file_root, file_list or files")
    if files is not None and file_list is not None:
        raise RuntimeError("expected file_list or files, got both")


def names_of(files: Path | Sequence[Path]) -> list[str]:
    names = [os.fspath(file) for file in ([files] if isinstance(files, str | os.PathLike) else files)]
    if not names:
        raise RuntimeError("expected the names of files, got an empty list")
    return names


def folder_of(file_root: Path | None) -> str:
    return "" if file_root is None else os.fspath(file_root)


def unlabelled_files(
    file_root: Path | None, file_list: Path | None, files: Path | Sequence[Path] | None, file_filter: str
) -> _core.FileList:
    """Those that are named, or else those in ``file_root`` and its folders whose names match."""
    root = folder_of(file_root)
    if files is not None:
        return _core.FileList.from_names(names_of(files), None, root)
    if file_list is not None:
        return _core.FileList.from_text(os.fspath(file_list), root, False)
    return _core.FileList.from_tree(root, file_filter)
