"""Arithmetic, of which neighbours are made at once: all lengths, alignments and mixtures of types."""

import itertools
import operator

import numpy as np
import pytest

import avida as ndd

rng = np.random.default_rng(8)
DTYPES = ["uint8", "int32", "float32", "float16", "int64", "bool"]


def numbers(dtype, *shape):
    return rng.integers(0, 2 if dtype == "bool" else 90, shape).astype(dtype)


def check(function, *arrays):
    """Samples of one shape lie without gaps: at any address."""
    batches = [ndd.batch([array, array, array]) for array in arrays]
    got, expected = function(*(batch.gpu() for batch in batches)), function(*batches)
    assert got.dtype == expected.dtype
    for ours, theirs in zip(got.cpu().tensors, expected.tensors, strict=True):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("dtype", DTYPES)
def test_mixed_types(dtype):
    for other, length in itertools.product(DTYPES, [1, 3, 4, 5, 16, 33]):
        x, y = numbers(dtype, length), numbers(other, length)
        for function in (operator.mul, operator.gt, operator.eq):
            check(function, x, y)
            check(function, x, y[:1])
            check(function, x[:1], y)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32"])
def test_numbers_and_broadcasting(dtype):
    for height, width in itertools.product([1, 2, 5], [1, 4, 7]):
        x = numbers(dtype, height, width, 3)
        check(lambda t: t * 2 + 1, x)
        check(lambda t: 300 - t * 0.5, x)
        check(operator.mul, x, numbers("float32", 3))
        check(operator.add, x, numbers("uint8", height, 1, 1))
        check(operator.add, numbers("int16", width, 1), x)
        check(ndd.math.clamp, x, numbers("int32", 1, width, 1), numbers("uint8", 1))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", "float64", "bool"])
def test_lookup_table(dtype):
    keys, values = list(range(0, 250, 2)), [float(key % 120) for key in range(125)]
    options = {"keys": keys, "values": values, "default_value": 3.0, "dtype": getattr(ndd, dtype)}
    for length in (1, 3, 15, 16, 17, 31, 33, 64, 100):
        check(lambda t: ndd.lookup_table(t, **options), rng.integers(0, 256, length).astype(np.uint8))
        check(lambda t: ndd.lookup_table(t, **options), rng.integers(0, 256, length).astype(np.int16))
