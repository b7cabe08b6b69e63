"""Which Parquet files a data set of the Hugging Face Hub has."""

from __future__ import annotations

import re
import urllib.parse

from avida import _core

_CONVERTED = "refs/convert/parquet"  # the branch to which the Hub writes data sets of all formats


def files_of(name: str, config: str | None, split: str, revision: str | None) -> list[str]:
    """Those of a split, sorted: as the Hub has converted them, or, of a revision, the data set's own."""
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
        raise ValueError(f'expected the name of a data set, such as "owner/name", or a Dataset, got {name!r}')
    root = f"hf://datasets/{name}@{urllib.parse.quote(revision or _CONVERTED, safe='')}"
    try:
        listed = _core.list_names(root, True)
    except RuntimeError as error:
        other = '; the Hub converts public data sets only, revision="main" reads the data set\'s own Parquet files'
        raise RuntimeError(f"{error}{'' if revision else other}") from None
    found = sorted(path for path, is_folder in listed if not is_folder and path.endswith(".parquet"))
    paths = _own(found, config, split) if revision else _converted(found, config, split)
    return [f"{root}/{path}" for path in paths]


def _converted(found: list[str], config: str | None, split: str) -> list[str]:
    """Of files such as ``default/train/0000.parquet``."""
    folders: dict[str, dict[str, list[str]]] = {}
    for path in found:
        if path.count("/") == 2:
            each, part, _ = path.split("/")
            folders.setdefault(each, {}).setdefault(part, []).append(path)
    if config is None:
        config = "default" if "default" in folders else next(iter(folders)) if len(folders) == 1 else None
    if config not in folders:
        raise ValueError(
            f"expected one of {', '.join(map(repr, folders)) or 'no names at all'} as config, got {config!r}"
        )
    if split not in folders[config]:
        raise ValueError(
            f"expected one of {', '.join(map(repr, folders[config]))} as split, got {split!r}; "
            '"partial-" means that the Hub has converted the beginning only'
        )
    return folders[config][split]


def _own(found: list[str], config: str | None, split: str) -> list[str]:
    """Of files such as ``data/train-00000-of-00002.parquet``, those that have the split in their name."""
    begin = f"{config}/" if config else ""
    word = re.compile(rf"(?<![^\W_]){re.escape(split)}(?![^\W_])")
    paths = [path for path in found if path.startswith(begin) and word.search(path[len(begin) :])]
    if not paths:
        raise ValueError(
            f"expected Parquet files with {split!r} in their name, found none among {found[:3]}; readers.Parquet reads "
            "files by their names"
        )
    folders = {path.rpartition("/")[0] for path in paths}
    if len(folders) > 1:
        raise ValueError(f"expected config, since there are files of {split!r} in several folders: {sorted(folders)}")
    return paths
