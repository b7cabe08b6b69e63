"""The functions that policies can name, and their arguments."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import types
from collections.abc import Callable, Mapping
from typing import Any

from avida._scenes.random_arguments import Random

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
_MIX_SAMPLES = ("augment.copy_paste", "augment.cutmix", "augment.mixup", "augment.mosaic", "permute_batch")
"""Of a step, samples depend on no others."""
_OF_BATCHES = re.compile(r"(float|int|str)\b|Fixed|Literal|Sequence")
"""The types of arguments that cannot differ between samples."""


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
    return {name: function for name, function in found.items() if name not in _MIX_SAMPLES}


@functools.cache
def names() -> dict[Callable[..., Any], str]:
    """The name of each function."""
    return {function: name for name, function in reversed(functions().items())}


def function_named(name: str) -> Callable[..., Any]:
    """The function of that name."""
    known = functions()
    if name in _MIX_SAMPLES:
        raise ValueError("steps do not mix samples: call this function before or after the policy")
    if name not in known:
        import difflib  # only where something went wrong

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


def check_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Whether it has such arguments, and those that are random can differ between samples."""
    known = arguments_of(function)
    for name, value in given.items():
        if name not in known:
            import difflib  # only where something went wrong

            close = difflib.get_close_matches(name, known, n=1)
            raise ValueError(f"there is no argument {name!r}{f'; did you mean {close[0]}?' if close else ''}")
        if isinstance(value, Random) and _OF_BATCHES.match(known[name]):
            raise ValueError(f"argument {name!r} is the same for the whole batch and cannot be {value!r}")
