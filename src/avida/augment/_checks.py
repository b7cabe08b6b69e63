"""Checks of arguments at the call: what is drawn later must not decide whether they are looked at."""

from __future__ import annotations

import enum
import math
import numbers
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from avida._values.enums import by_name
from avida.types import DALIInterpType

Item = TypeVar("Item")


def number(name: str, argument: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number within limits."""
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected a number as {argument}, got {shown(value)}")
    found = float(value)
    if not (low <= found <= high and math.isfinite(found)):
        raise ValueError(f"{name}: expected {argument} {_limits(low, high)}, got {found:g}")
    return found


def integer(name: str, argument: str, value: Any, low: int, high: float = math.inf) -> int:
    """An integer within limits."""
    if not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}: expected an integer as {argument}, got {shown(value)}")
    found = int(value)
    if not low <= found <= high:
        raise ValueError(f"{name}: expected {argument} {_limits(low, high)}, got {found}")
    return found


def interpolation(name: str, value: Any, known: Sequence[DALIInterpType] = tuple(DALIInterpType)) -> DALIInterpType:
    """One of the known ways to interpolate, by its number or name."""
    found = by_name(DALIInterpType, value) if isinstance(value, str) else value
    if not isinstance(found, numbers.Integral) or found not in known:
        names = ", ".join(each.name for each in known)
        raise ValueError(f"{name}: expected one of {names} as interp_type; got {shown(value)}")
    return DALIInterpType(int(found))


def listed(name: str, argument: str, values: Any, kind: type[Item]) -> tuple[Item, ...]:
    """The items of a list, all of one type."""
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise TypeError(f"{name}: expected a list of {kind.__name__} as {argument}, got {shown(values)}")
    items = tuple(values)
    for item in items:
        if not isinstance(item, kind):
            raise TypeError(f"{name}: expected a list of {kind.__name__} as {argument}, got {shown(item)} in it")
    return items


def shown(value: Any) -> str:
    """A value as messages show it: what could be long is only named by its type."""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, numbers.Number):
        return str(value)
    return repr(value) if isinstance(value, str | None) else type(value).__name__


def _limits(low: float, high: float) -> str:
    if high < math.inf:
        return f"from {low:g} to {high:g}"
    return "to be finite" if low == -math.inf else f"of at least {low:g}"
