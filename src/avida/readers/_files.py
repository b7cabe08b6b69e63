"""The files of a data set, as readers of single files take them: ``file_root``, ``file_list`` or ``files``."""

from __future__ import annotations

import os
from collections.abc import Sequence

from avida import _core
from avida.readers._paths import Path, list_of_paths


def check_files(
    file_root: Path | None, file_list: Path | None, files: Path | Sequence[Path] | None, confine: bool | None
) -> None:
    if file_root is None and files is None and file_list is None:
        raise RuntimeError("expected file_root, file_list or files")
    if files is not None and file_list is not None:
        raise RuntimeError("expected file_list or files, got both")
    if confine and file_list is None:
        raise RuntimeError("confine needs file_list: names in files are your own, and file_root alone names no files")


def folder_of(file_root: Path | None) -> str:
    return "" if file_root is None else os.fspath(file_root)


def unlabelled_files(
    file_root: Path | None,
    file_list: Path | None,
    files: Path | Sequence[Path] | None,
    file_filter: str,
    confine: bool | None,
) -> _core.FileList:
    """Those that are named, or else those in ``file_root`` and its folders whose names match."""
    root = folder_of(file_root)
    if files is not None:
        return _core.FileList.from_names(list_of_paths("files", files), None, root)
    if file_list is not None:
        return _core.FileList.from_text(os.fspath(file_list), root, False, bool(confine))
    return _core.FileList.from_tree(root, file_filter)
