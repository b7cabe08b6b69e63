"""Which Python objects can be the source of an ExternalSource, and how their items are read."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from avida._values.batch import Batch


def is_iterable(source: Any) -> bool:
    return inspect.isgeneratorfunction(source) or hasattr(source, "__iter__") or hasattr(source, "__getitem__")


def has_numbers(source: Any) -> bool:
    """Whether its items are source[0] to source[len(source) - 1]."""
    if isinstance(source, type) or not hasattr(source, "__len__") or not hasattr(source, "__getitem__"):
        return False
    torch = sys.modules.get("torch.utils.data")
    if torch is not None and isinstance(source, torch.IterableDataset):  # which inherits __getitem__
        return False
    return not hasattr(source, "iloc")  # a Series of pandas is indexed by label


def class_names(source: Any) -> list[str] | None:
    """The names of labels: of torchvision's folders, or of the one column of classes of Hugging Face."""
    features = getattr(source, "features", None)
    if isinstance(features, Mapping):
        named = [feature.names for feature in features.values() if hasattr(feature, "str2int")]
        return list(named[0]) if len(named) == 1 else None
    names = getattr(source, "classes", None)
    is_named = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    return list(names) if names and is_named else None


def continues(source: Any) -> bool:
    """Whether it cannot begin again at its first item: an iterator, or a function."""
    return isinstance(source, Iterator) or not is_iterable(source)


def gives_batches(source: Any) -> bool:
    """Whether there are Batches in a list of items."""
    if not isinstance(source, list | tuple):
        return False
    return any(isinstance(part, Batch) for item in source for part in (item if isinstance(item, tuple) else (item,)))


def _is_table(source: Any) -> bool:
    return type(source).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow") and hasattr(source, "columns")


def opener(source: Any, cycle: Any) -> Callable[[], Callable[[], Any]]:
    """What begins an epoch: it returns a function that returns the next item."""
    if isinstance(source, Mapping | str) or _is_table(source):
        instead = "a list of texts or paths" if isinstance(source, str) else "its rows, as a list of dictionaries"
        raise TypeError(f"expected an iterable over items, got {type(source).__name__}; give {instead}")
    if inspect.isgeneratorfunction(source):
        return lambda: source().__next__
    if has_numbers(source) and not hasattr(source, "__iter__"):  # it need not raise IndexError at its end
        return lambda: map(source.__getitem__, range(len(source))).__next__
    if is_iterable(source):
        if inspect.isgenerator(source) and cycle not in (None, False, "no"):
            raise TypeError("a generator cannot begin again; give the function that makes it")
        return lambda: iter(source).__next__
    if not callable(source):
        raise TypeError(f"expected an iterable, a function or a generator function, got {type(source).__name__}")
    if cycle is not None:
        raise ValueError("a function cannot begin again: cycle is for iterables and generator functions")
    if _required_parameters(source):
        raise ValueError(f"expected a function without parameters, got one with {_required_parameters(source)}")
    return lambda: source


def _required_parameters(function: Callable) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions do not tell
        return []
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in variable]
