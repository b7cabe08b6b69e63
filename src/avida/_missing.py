"""What errors say about names that are not there: what was meant, perhaps, or where to read on."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

PIPELINE_MODE = {"DataNode", "Pipeline", "fn", "ops", "pipeline", "pipeline_def", "plugin"}
MIGRATION = "docs/migration.md in the repository of avida shows what takes its place"

Function = TypeVar("Function", bound=Callable[..., Any])

REQUIRED: Any = type("Required", (), {"__repr__": lambda _: "REQUIRED"})()
"""The default of arguments that have to be given, so that a misspelt name is reported before the one it leaves out."""
_TAKES_ANY_KEYWORD = 0x08  # inspect.CO_VARKEYWORDS
_ARGUMENTS_ELSEWHERE = {
    "num_threads": "avida.set_num_threads(n) sets it for all",
    "seed": "pass rng=avida.random.RNG(seed=...) to random operators",
}
_ELSEWHERE = ("", ".decoders", ".experimental", ".io.file", ".math", ".noise", ".random", ".readers", ".reductions")
_FARTHER = (".segmentation", ".transforms", ".experimental.decoders", ".experimental.readers", ".types", ".capture")


def suggest_in(*modules: types.ModuleType) -> None:
    """Makes errors about names that these modules do not have suggest one that they have."""
    for module in modules:
        module.__getattr__ = functools.partial(_absent, module.__name__)  # pyright: ignore[reportAttributeAccessIssue]


def _absent(module: str, name: str) -> NoReturn:
    raise AttributeError(f"module {module!r} has no attribute {name!r}{_hint(module, name)}")


def suggests(function: Function) -> Function:
    """Hides ``**unknown`` and ``REQUIRED`` of a function from its signature; it raises :func:`wrong_arguments`."""
    code = function.__code__
    shown = types.FunctionType(code.replace(co_flags=code.co_flags & ~_TAKES_ANY_KEYWORD), {}, function.__name__)
    defaults = function.__kwdefaults__ or {}
    shown.__kwdefaults__ = {name: value for name, value in defaults.items() if value is not REQUIRED}
    shown.__defaults__ = function.__defaults__
    shown.__annotations__ = {name: kind for name, kind in function.__annotations__.items() if name != "unknown"}
    function.__wrapped__ = shown  # pyright: ignore[reportFunctionMemberAccess]
    return function


def unknown_argument(function: Callable[..., object], name: str, *others: str) -> TypeError:
    """The error for an argument that a function or class does not have."""
    import inspect

    known = [parameter for parameter in inspect.signature(function).parameters if parameter != "self"]
    near = nearest(name, known)
    named = f"did you mean {near!r}?" if near else "help() of it lists those that it has"
    hint = _ARGUMENTS_ELSEWHERE.get(name, named)
    return TypeError(f"{function.__name__}() has no argument {name!r}; {hint}")


def wrong_arguments(function: Callable[..., object], unknown: Iterable[str], **required: Any) -> TypeError:
    """The error for arguments that a function does not have, or else for those that it was not given."""
    if unknown:
        return unknown_argument(function, *unknown)
    missing = [name for name, value in required.items() if value is REQUIRED]
    many = "s" if len(missing) > 1 else ""
    names = " and ".join(map(repr, missing))
    return TypeError(f"{function.__name__}() missing {len(missing)} required keyword-only argument{many}: {names}")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that resembles a name most, whatever their case and underscores."""
    import difflib  # only where something went wrong

    plain = {_plain(each): each for each in known}
    found = difflib.get_close_matches(_plain(name), plain, 1, 0.7)
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _hint(module: str, name: str) -> str:
    if name.startswith("_"):  # what Python and its tools look for
        return ""
    if name in PIPELINE_MODE:
        return f": it belongs to pipeline mode, which is no part of avida; {MIGRATION}"
    if near := nearest(name, _names(module)):
        return f"; did you mean {near!r}?"
    for other in (f"avida{suffix}" for suffix in (*_ELSEWHERE, *_FARTHER)):
        for known in _names(other):
            if _plain(known) == _plain(name):
                return f"; did you mean {other}.{known}?"
    return ""


def _names(module: str) -> list[str]:
    return [name for name, value in vars(sys.modules[module]).items() if name[0] != "_" and _is_own(value)]


def _is_own(value: object) -> bool:
    """Whether something is a part of avida, and not what one of its modules imports for itself."""
    if isinstance(value, types.ModuleType):
        return value.__name__.startswith("avida.")
    return (getattr(value, "__module__", None) or type(value).__module__).startswith("avida.")
