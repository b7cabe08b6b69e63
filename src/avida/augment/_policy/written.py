"""Values of arguments as JSON has them, and the other way."""

from __future__ import annotations

import enum
import json
import math
from typing import Any, NoReturn

import numpy as np

from avida._scenes.random_arguments import Random
from avida._values.dtype import DType
from avida.augment._arguments import between, chance, either, normal

_MOST_BYTES = 1 << 22
_MOST_NESTED = 8
_RANDOM = {"between": between, "either": either, "chance": chance, "normal": normal}


def parsed(text: str | bytes) -> Any:
    """What a text in JSON holds."""
    if not isinstance(text, str | bytes):
        raise TypeError(f"expected JSON as a string, got {type(text).__name__}")
    if len(text) > _MOST_BYTES:
        raise ValueError(f"expected at most {_MOST_BYTES} characters of JSON, got {len(text)}")
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("this JSON is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def to_written(value: Any, nested: int = 0) -> Any:
    """An argument as JSON has it: numbers, strings, lists, and random arguments as an object."""
    if nested > _MOST_NESTED:
        raise ValueError(f"expected lists of up to {_MOST_NESTED} levels")
    if isinstance(value, Random):
        return _random_to_written(value)
    if isinstance(value, DType | np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return str(value) if isinstance(value, DType) else np.dtype(value).name
    if isinstance(value, enum.Enum):
        return to_written(value.value)
    if isinstance(value, np.ndarray | np.generic) and not isinstance(value, str):
        return to_written(value.tolist())
    if isinstance(value, list | tuple):
        return [to_written(each, nested + 1) for each in value]
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise ValueError(f"expected a number of 64 bits, got {value:.3g}")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"expected a finite number, got {value}")
        return value
    raise TypeError(
        f"expected a number, a string, a list of those, or a random argument such as between(0, 1); got "
        f"{type(value).__name__}"
    )


def _random_to_written(value: Random) -> dict[str, Any]:
    formula = value.formula
    if formula is None:
        raise ValueError(
            f"{value!r} has a generator or a key of its own, which cannot be written; pass it to the policy"
        )
    name, arguments = formula
    if name == "either":
        written = {"either": to_written(arguments[0])}
        return {**written, "p": to_written(arguments[1])} if len(arguments) > 1 else written
    return {name: arguments[0] if name == "chance" else to_written(arguments)}


def from_written(value: Any) -> Any:
    """An argument from what JSON has; random ones are made again."""
    if isinstance(value, Random):
        return value
    if not isinstance(value, dict):
        return to_written(value)
    name = next(iter(value), None)
    if name not in _RANDOM or set(value) - {name} - ({"p"} if name == "either" else set()):
        kinds = ", ".join(f'{{"{each}": ...}}' for each in _RANDOM)
        raise ValueError(f"expected a random argument as one of {kinds}; got an object of {[*value][:4]}")
    given = to_written(value[name])
    given = given if isinstance(given, list) else [given]
    return _RANDOM[name](*given, **({"p": to_written(value["p"])} if "p" in value else {}))
