"""Arguments that name files."""

from __future__ import annotations

import os
from collections.abc import Sequence

Path = str | os.PathLike[str]


def list_of_paths(argument: str, paths: Path | Sequence[Path]) -> list[str]:
    """One or several names, as a list that is not empty."""
    names = [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    if not names:
        raise RuntimeError(f"expected the names of files in {argument}, got an empty list")
    return names
