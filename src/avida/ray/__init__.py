"""Ray Data: stages of Batches, readers as sources, rows for training.

Ray is imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from avida.ray._iterate import iterate
    from avida.ray._read import read
    from avida.ray._stage import Stage

__all__ = ["Stage", "iterate", "read"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"avida.ray._{name.lower()}"), name)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise ModuleNotFoundError(
            f"avida.ray.{name} needs the package {package}, which is not installed: pip install 'avida[ray]'",
            name=package,
        ) from error


def __dir__() -> list[str]:
    return [*globals(), *__all__]
