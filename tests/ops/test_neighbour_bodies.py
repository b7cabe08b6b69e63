"""Few elements are made one by one, many in rows: both must give the same bits."""

import numpy as np
import pytest

import avida as ndd
from tests.ops.test_gaussian_blur import random

ORDERED = ["uint8", "int8", "uint16", "int16", "int32", "uint32", "float16", "float32", "float64"]
SUMMED = ["uint8", "int16", "uint16", "float16", "float32"]


def assert_same(run, dtype, size, layout="HW"):
    """The element in the middle of a patch as large as the window sees no border, so that it is that of the image."""
    x = random([s + 9 for s in size[:-1]] + [size[-1] + 99], dtype)
    image = np.asarray(run(ndd.tensor(x, layout=layout)))
    assert np.prod(size) < 64 < x.size
    for corner in np.random.default_rng(1).integers(0, 9, (20, len(size))):
        patch = x[tuple(slice(c, c + s) for c, s in zip(corner, size, strict=True))]
        made = np.asarray(run(ndd.tensor(np.ascontiguousarray(patch), layout=layout)))
        middle = tuple(s // 2 for s in size)
        expected = image[tuple(c + m for c, m in zip(corner, middle, strict=True))]
        assert made[middle].tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", SUMMED)
@pytest.mark.parametrize("out", ["float32", None])
def test_gaussian_blur(dtype, out):
    to = {"dtype": ndd.float32} if out else {}
    assert_same(lambda x: ndd.gaussian_blur(x, sigma=1.0, **to), dtype, (7, 7))
    assert_same(lambda x: ndd.gaussian_blur(x, sigma=[0.9, 0.4], window_size=[5, 1], **to), dtype, (5, 1))
    assert_same(lambda x: ndd.gaussian_blur(x, window_size=3, **to), dtype, (3, 3, 3), "DHW")


@pytest.mark.parametrize("dtype", SUMMED)
@pytest.mark.parametrize(
    "arguments",
    [{}, {"window_size": 5}, {"window_size": 7}, {"window_size": [7, 3]}, {"smoothing_size": 1}, {"scale": 0.3},
     {"scale": [0.5, -2.0]}, {"window_size": 5, "normalized_kernel": True}],
)  # fmt: skip
def test_laplacian(dtype, arguments):
    assert_same(lambda x: ndd.laplacian(x, **arguments), dtype, (7, 7))
    assert_same(lambda x: ndd.laplacian(x, dtype=ndd.float32, **arguments), dtype, (7, 7))
    if "window_size" not in arguments and not isinstance(arguments.get("scale"), list):
        assert_same(lambda x: ndd.laplacian(x, **arguments), dtype, (3, 3, 3), "DHW")


@pytest.mark.parametrize("dtype", SUMMED)
@pytest.mark.parametrize("size", [(3, 3), (5, 7), (4, 2), (1, 9), (9, 1), (3, 3, 3)])
def test_filter(dtype, size):
    by = np.random.default_rng(0).uniform(-0.2, 0.4, size).astype(np.float32)
    assert_same(lambda x: ndd.filter(x, by), dtype, size, "DHW"[-len(size) :])
    assert_same(lambda x: ndd.filter(x, by, dtype=ndd.float32), dtype, size, "DHW"[-len(size) :])


@pytest.mark.parametrize("dtype", ORDERED)
@pytest.mark.parametrize("size", [(3, 3), (5, 5), (7, 7), (1, 5)])
def test_median_blur(dtype, size):
    assert_same(lambda x: ndd.experimental.median_blur(x, window_size=list(size)), dtype, size)


@pytest.mark.parametrize("dtype", ORDERED)
@pytest.mark.parametrize("size", [(3, 3), (6, 4), (1, 7), (8, 7)])
def test_morphology(dtype, size):
    assert_same(lambda x: ndd.experimental.dilate(x, mask_size=list(size)), dtype, size)
    assert_same(lambda x: ndd.experimental.erode(x, mask_size=list(size)), dtype, size)
