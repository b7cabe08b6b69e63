"""The element bodies of noise make the same bits as the operators' loops."""

import ctypes

import numpy as np
import pytest

import avida as ndd

from .bodies import C_TYPES, run_body

SEED = 11
KEY = (ctypes.c_ulong(SEED), ctypes.c_ulong(0), ctypes.c_uint(0))
N = 5000  # more than a row of draws, and no multiple of a tile


def noisy(name, x, layout=None, **arguments):
    function = getattr(ndd.noise, name)
    return np.asarray(function(ndd.as_tensor(x, layout=layout), rng=ndd.random.RNG(SEED), **arguments))


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int64"])
def test_gaussian(dtype):
    wide = dtype == "int64"
    number = ctypes.c_double if wide else ctypes.c_float
    x = (np.arange(N) % 251).astype(dtype)
    out = np.zeros_like(x)
    body = f"GaussianNoise<{C_TYPES[dtype]}, {'double' if wide else 'float'}>"
    run_body("ops/noise/gaussian.h", body, N, out, x, N, KEY, (number(2), number(30)))
    np.testing.assert_array_equal(out, noisy("gaussian", x, mean=2, stddev=30))


@pytest.mark.parametrize(("layout", "pixels"), [("HWC", (N // 3, 3, 1)), ("CHW", (N // 3, 3, N // 3))])
def test_salt_and_pepper(layout, pixels):
    x = (np.arange(N // 3 * 3) % 200 + 20).astype(np.uint8).reshape((1, -1, 3) if layout == "HWC" else (3, 1, -1))
    out = np.zeros_like(x)
    words = (ctypes.c_ulong(round(0.25 * 0.75 * 2**32)), ctypes.c_ulong(round(0.25 * 2**32)))
    values = (ctypes.c_ubyte(1), ctypes.c_ubyte(250))
    body = "SaltAndPepper<unsigned char>"
    run_body("ops/noise/salt_and_pepper.h", body, N, out, x, pixels, KEY, words, *values)
    expected = noisy("salt_and_pepper", x, layout, prob=0.25, salt_vs_pepper=0.25, pepper_val=1, salt_val=250)
    np.testing.assert_array_equal(out, expected)
    assert {1, 250} < set(out.ravel())


@pytest.mark.parametrize(("dtype", "factor"), [("uint8", 2.0), ("float32", 0.5), ("int32", 0.001)])
def test_shot(dtype, factor):
    x = (np.arange(N) % 251).astype(dtype)
    out = np.zeros_like(x)
    real = "double" if dtype == "int32" else "float"
    run_body("ops/noise/shot.h", f"ShotNoise<{C_TYPES[dtype]}, {real}>", N, out, x, KEY, float(np.float32(factor)))
    np.testing.assert_array_equal(out, noisy("shot", x, factor=factor))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_shot_of_bytes(dtype):
    x = (np.arange(N) % 251).astype(dtype)
    out = np.zeros_like(x)
    run_body("ops/noise/shot.h", f"ShotNoiseOfBytes<{C_TYPES[dtype]}>", N, out, x, N, KEY, 20.0)
    np.testing.assert_array_equal(out, noisy("shot", x, factor=20))
