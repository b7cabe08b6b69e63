"""Operators on neighbourhoods whose types or axes are not for tiles: items give the bits of the loops over rows."""

import numpy as np
import pytest

import avida as ndd
from tests.gpu.test_filters import check
from tests.ops.test_gaussian_blur import random

ORDERED = ["int8", "uint16", "int16", "int32", "uint32", "float16", "float64"]
SUMMED = ["int16", "uint16", "float16"]


@pytest.mark.parametrize("dtype", [*SUMMED, "uint8", "float32"])
@pytest.mark.parametrize("out", ["float32", None])
def test_gaussian_blur(dtype, out, is_fake):
    to = {"dtype": ndd.float32} if out else {}
    check(ndd.gaussian_blur, [random((9, 11, 12), dtype)], "DHW", is_fake, window_size=3, **to)
    for arguments in ({"sigma": 1.0}, {"sigma": [0.9, 0.4], "window_size": [5, 1]}):
        check(ndd.gaussian_blur, [random((16, 106), dtype), random((3, 2), dtype)], "HW", is_fake, **arguments, **to)


@pytest.mark.parametrize("dtype", [*SUMMED, "uint8", "float32"])
@pytest.mark.parametrize(
    "arguments",
    [{}, {"window_size": 5}, {"window_size": 7}, {"smoothing_size": 1}, {"scale": 0.3}, {"scale": [0.5, -2.0, 3.0]},
     {"window_size": 5, "normalized_kernel": True}],
)  # fmt: skip
def test_laplacian(dtype, arguments, is_fake):
    volume = [random((9, 11, 12), dtype)]
    check(ndd.laplacian, volume, "DHW", is_fake, **arguments)
    check(ndd.laplacian, volume, "DHW", is_fake, dtype=ndd.float32, **arguments)


@pytest.mark.parametrize("dtype", [*SUMMED, "uint8", "float32"])
@pytest.mark.parametrize("size", [(3, 3, 3), (1, 5, 7), (4, 2, 1)])
def test_filter(dtype, size, is_fake):
    by = np.random.default_rng(0).uniform(-0.2, 0.4, size).astype(np.float32)
    volume = [random((9, 11, 12), dtype)]
    check(ndd.filter, volume, "DHW", is_fake, by)
    check(ndd.filter, volume, "DHW", is_fake, by, dtype=ndd.float32)


@pytest.mark.parametrize("dtype", ORDERED)
def test_median_blur(dtype):
    for size in ([3, 3], [5, 5], [7, 7], [1, 5]):
        check(
            ndd.experimental.median_blur,
            [random((16, 106), dtype), random((2, 3), dtype)],
            "HW",
            True,
            window_size=size,
        )


@pytest.mark.parametrize("dtype", ORDERED)
@pytest.mark.parametrize("function", [ndd.experimental.dilate, ndd.experimental.erode])
def test_morphology(dtype, function):
    for size in ([3, 3], [6, 4], [1, 7], [8, 7]):
        check(function, [random((16, 106), dtype), random((2, 3), dtype)], "HW", True, mask_size=size)
