"""Readers in PyTorch: data sets for its loaders, nodes for torchdata.

PyTorch is imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from avida.pytorch import nodes
    from avida.pytorch._datasets import Dataset, IterableDataset

__all__ = ["Dataset", "IterableDataset", "nodes"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        if name == "nodes":
            return importlib.import_module("avida.pytorch.nodes")
        return getattr(importlib.import_module("avida.pytorch._datasets"), name)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise ModuleNotFoundError(
            f"avida.pytorch.{name} needs the package {package}, which is not installed", name=package
        ) from error


def __dir__() -> list[str]:
    return [*globals(), *__all__]
