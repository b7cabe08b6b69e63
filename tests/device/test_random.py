"""Bodies that draw random numbers give the same ones as the operators."""

import ctypes

import numpy as np
import pytest

import avida as ndd

from .bodies import C_TYPES, run_body

SEED = 12
KEY = (ctypes.c_ulong(SEED), ctypes.c_ulong(0), ctypes.c_uint(0))
N = 5000  # more than a row of draws, and no multiple of a tile


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_normal(dtype):
    options = {"shape": [N], "mean": 3, "stddev": 2, "dtype": getattr(ndd, dtype)}
    expected = np.asarray(ndd.random.normal(**options, rng=ndd.random.RNG(SEED)))
    out = np.zeros_like(expected)
    draw = (ctypes.c_float(3), ctypes.c_float(2))
    run_body("ops/random/draw_item.h", f"DrawItem<{C_TYPES[dtype]}, Normal<float>>", N, out, N, KEY, draw)
    np.testing.assert_array_equal(out, expected)


def test_coin_flip():
    expected = np.asarray(ndd.random.coin_flip(shape=[N], probability=0.25, rng=ndd.random.RNG(SEED)))
    out = np.zeros_like(expected)
    body = f"DrawItem<{C_TYPES[expected.dtype.name]}, CoinFlip>"
    run_body("ops/random/draw_item.h", body, N, out, N, KEY, (ctypes.c_ulong(2**30),))
    np.testing.assert_array_equal(out, expected)
    assert abs(out.mean() - 0.25) < 0.05
