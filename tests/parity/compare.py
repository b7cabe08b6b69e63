"""Runs the same code on avida and on the real library and compares what comes out."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida

assert dali is not avida, "avida.as_dali was imported in this process"

DTYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64", "bool"]
ALL_DTYPES = [*DTYPES, "float16"]


def samples_of(value: Any) -> list[np.ndarray]:
    if type(value).__name__ == "Batch":
        return [np.asarray(value.tensors[i]) for i in range(value.batch_size)]
    return [np.asarray(value)]


def assert_same(ours: Any, theirs: Any, rtol: float = 0, atol: float = 0) -> None:
    """Same form, type, layout, shapes and values; exact unless tolerances are given."""
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b, rtol, atol)
        return
    theirs.evaluate()
    assert type(ours).__name__ == type(theirs).__name__
    assert str(ours.dtype) == str(theirs.dtype)
    assert ours.layout == theirs.layout
    assert ours.shape == theirs.shape
    for a, b in zip(samples_of(ours), samples_of(theirs), strict=True):
        if rtol or atol:
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(a, b)


def cases(
    accepted: list[Any], refused: list[Any], error: type[Exception] = RuntimeError
) -> list[tuple[Any, type[Exception] | None]]:
    """Parameters of a test with what `both` is told of each: whether it fails, and how."""
    return [*((case, None) for case in accepted), *((case, error) for case in refused)]


def evaluated(value: Any) -> Any:
    for each in value if isinstance(value, tuple | list) else [value]:
        each.evaluate()
    return value


def both(
    run: Callable[[Any], Any],
    rtol: float = 0,
    atol: float = 0,
    fails: type[Exception] | Literal[False] | None = None,
) -> None:
    """run(library) with both libraries: the same results or, where it `fails`, exceptions of exactly that type."""
    if not fails:
        assert_same(evaluated(run(avida)), run(dali), rtol, atol)
        return
    for library in (avida, dali):
        with pytest.raises(fails) as raised:
            evaluated(run(library))
        assert raised.type is fails, f"{library.__name__}: {raised.value!r}"
