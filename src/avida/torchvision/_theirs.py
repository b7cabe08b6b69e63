"""torchvision itself, where it is installed: what avida has not made comes from there, and that is said once."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any

_said: set[str] = set()
_why_not: BaseException | None = None
_looked = False


def torchvision() -> ModuleType | None:
    """torchvision, or None where it is not installed or cannot be imported."""
    global _why_not, _looked
    if _looked and _why_not is not None:
        return None  # a failed import takes long, and would fail again
    try:
        found = importlib.import_module("torchvision")
    except (
        ImportError,
        RuntimeError,
        OSError,
        AttributeError,
    ) as error:  # the last three: for another PyTorch
        _why_not, found = error, None
    _looked = True
    return found


def from_torchvision(name: str, why: str = "avida has not made it") -> Any:
    """What torchvision has under a dotted name: says once that it is used, or raises that it would be needed."""
    module_name, _, attribute = name.rpartition(".")
    if torchvision() is None:
        raise NotImplementedError(
            f"torchvision.{name}: {why}, and torchvision, which would be used instead, cannot be imported "
            f"({_why_not}); install the torchvision that fits your PyTorch"
        ) from _why_not
    found = getattr(importlib.import_module(f"torchvision.{module_name}".rstrip(".")), attribute)
    _say_once(name, why)
    return found


def _say_once(name: str, why: str) -> None:
    if name not in _said:
        _said.add(name)
        warnings.warn(f"avida.torchvision: torchvision.{name} is used: {why}", stacklevel=4)


def attribute_of(module: str, name: str) -> Any:
    """For `__getattr__` of modules: an attribute that torchvision's module of that name has."""
    if name.startswith("__"):
        raise AttributeError(f"module avida.torchvision.{module} has no attribute {name!r}")
    try:
        return from_torchvision(f"{module}.{name}".lstrip("."))
    except (NotImplementedError, AttributeError) as error:
        raise AttributeError(str(error)) from error


class _Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torchvision's modules where avida has none, such as `avida.torchvision.datasets`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith("avida.torchvision.") or torchvision() is None:
            return None
        is_there = importlib.util.find_spec(fullname.removeprefix("avida.")) is not None
        return importlib.machinery.ModuleSpec(fullname, self) if is_there else None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__.removeprefix("avida.")
        sys.modules[module.__name__] = importlib.import_module(name)
        _say_once(name.removeprefix("torchvision."), "avida has not made it")


sys.meta_path.append(_Modules())  # the last one: it is asked for what nobody else has found
