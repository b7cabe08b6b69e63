"""Bodies that draw random numbers give the same ones as the operators."""

import ctypes

import numpy as np
import pytest

import avida as ndd

from .bodies import run_body, type_numbers

SEED = 12
KEY = (ctypes.c_ulong(SEED), ctypes.c_ulong(0), ctypes.c_uint(0))
N = 5000  # more than a row of draws, and no multiple of a tile


@pytest.mark.parametrize(("dtype", "element"), [("float32", "float"), ("float16", "AnyElement")])
def test_normal(dtype, element):
    options = {"shape": [N], "mean": 3, "stddev": 2, "dtype": getattr(ndd, dtype)}
    expected = np.asarray(ndd.random.normal(**options, rng=ndd.random.RNG(SEED)))
    out = np.zeros_like(expected)
    body, draw = f"DrawItem<{element}, Normal<float>>", (ctypes.c_float(3), ctypes.c_float(2))
    run_body("ops/random/draw_item.h", body, N, out, *type_numbers(dtype), N, KEY, draw)
    np.testing.assert_array_equal(out, expected)


def test_coin_flip():
    expected = np.asarray(ndd.random.coin_flip(shape=[N], probability=0.25, rng=ndd.random.RNG(SEED)))
    out = np.zeros_like(expected)
    number = type_numbers("int32")
    run_body("ops/random/draw_item.h", "DrawItem<int, CoinFlip>", N, out, *number, N, KEY, (ctypes.c_ulong(2**30),))
    np.testing.assert_array_equal(out, expected)
    assert abs(out.mean() - 0.25) < 0.05
