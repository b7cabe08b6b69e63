"""The functions that policies can name, and their arguments."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import re
import types
from collections.abc import Callable
from typing import Any

_MODULES = {
    "": "avida._ops",
    "augment.": "avida.augment",
    "experimental.": "avida.experimental",
    "noise.": "avida.noise",
}
_SAMPLES = ("data", "images", "input", "signal")
"""How functions of one input call it. Others cannot be steps."""
_OF_CALLS = ("batch_size", "device", "keyed_by", "rng", "unknown")
"""Parameters of all calls."""


@functools.cache
def functions() -> dict[str, Callable[..., Any]]:
    """All functions that can be a step, by their names."""
    found = {}
    for prefix, module in _MODULES.items():
        for name, function in vars(importlib.import_module(module)).items():
            if isinstance(function, types.FunctionType) and not name.startswith("_"):
                parameters = [*inspect.signature(function).parameters]
                if parameters and parameters[0] in _SAMPLES and function.__module__.startswith("avida."):
                    found[prefix + name] = function
    return found


@functools.cache
def names() -> dict[Callable[..., Any], str]:
    """The name of each function."""
    return {function: name for name, function in reversed(functions().items())}


def function_named(name: str) -> Callable[..., Any]:
    """The function of that name."""
    known = functions()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        raise ValueError(f"there is no operator of this name{f'; did you mean {close[0]}?' if close else ''}")
    return known[name]


@functools.cache
def arguments_of(function: Callable[..., Any]) -> dict[str, str]:
    """Its arguments beside the samples, each with its type as written."""
    parameters = [*inspect.signature(function).parameters.values()][1:]
    return {each.name: str(each.annotation) for each in parameters if each.name not in _OF_CALLS}


@functools.cache
def draws_itself(function: Callable[..., Any]) -> bool:
    """Whether it draws random numbers."""
    return "rng" in inspect.signature(function).parameters


@functools.cache
def whole_numbers(function: Callable[..., Any]) -> list[str]:
    """Its arguments that are integers."""
    types_of = arguments_of(function).items()
    return [name for name, written in types_of if re.search(r"\b(IntArg|IntsArg|FixedInts|int)\b", written)]


def check_arguments(function: Callable[..., Any], given: Any) -> None:
    """Whether it has such arguments."""
    known = arguments_of(function)
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            raise ValueError(f"there is no argument {name!r}{f'; did you mean {close[0]}?' if close else ''}")
