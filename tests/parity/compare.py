"""Runs the same code on avida and on the real library and compares what comes out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import nvidia.dali.experimental.dynamic as dali

import avida

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


def both(run: Callable[[Any], Any], rtol: float = 0, atol: float = 0) -> None:
    """run(library) with both libraries: the same results, or exceptions of the same type."""
    try:
        theirs = run(dali)
        for value in theirs if isinstance(theirs, tuple | list) else [theirs]:
            value.evaluate()
    except Exception as error:
        try:
            ours = run(avida)
            for value in ours if isinstance(ours, tuple | list) else [ours]:
                value.evaluate()
        except Exception as ours_error:
            assert type(ours_error) is type(error), f"{ours_error!r} but the real library: {error!r}"
            return
        raise AssertionError(f"the real library raises {error!r}, avida gives {ours}") from error
    assert_same(run(avida), theirs, rtol, atol)
