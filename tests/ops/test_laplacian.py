import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case
from tests.ops.filter_reference import laplacian
from tests.ops.test_gaussian_blur import assert_close, random


@op_case("laplacian", layout="HWC", shapes=[(9, 7, 3), (1, 4, 3), (6, 2, 3)], rtol=1e-4, high=7,
         dtypes=["uint8", "int16", "uint16", "int32", "float32", "float64"],
         window_size=[[3, 3], [5, 3]], smoothing_size=[[1, 1], [3, 5]], scale=[[1.0, 1.0], [0.5, -2.0]])  # fmt: skip
def per_axis(x, window_size, smoothing_size, scale):
    return laplacian(x, window_size, smoothing_size, scale)


@op_case("laplacian", layout="CHW", shapes=[(3, 9, 7), (1, 4, 5), (2, 1, 8)], dtypes=["uint8", "float32"], rtol=1e-4,
         window_size=[[3, 3], [5, 3]], normalized_kernel=[True, False], dtype=[ndd.float32])  # fmt: skip
def planes(x, window_size, normalized_kernel, dtype):
    return laplacian(x, window_size, normalized=normalized_kernel, axes=(1, 2), dtype="float32")


@op_case("laplacian", layout="DHW", shapes=[(4, 5, 6), (1, 2, 3), (7, 1, 2)], dtypes=["int32", "int16"], atol=1,
         window_size=[[3, 5, 7]], smoothing_size=[[1, 3, 5], [3, 3, 3]], scale=[[1.0, 0.5, 0.25]])  # fmt: skip
def volumes(x, window_size, smoothing_size, scale):
    return laplacian(x, window_size, smoothing_size, scale, axes=(0, 1, 2))


def test_of_a_single_point():
    x = np.zeros((5, 5), np.float32)
    x[2, 2] = 1
    out = np.asarray(ndd.laplacian(ndd.tensor(x, layout="HW"), smoothing_size=1))
    np.testing.assert_array_equal(out[1:4, 1:4], [[0, 1, 0], [1, -4, 1], [0, 1, 0]])
    assert np.abs(out).sum() == 8


@pytest.mark.parametrize(
    ("layout", "axes"),
    [("W", [0]), ("HW", [0, 1]), ("FHWC", [1, 2]), ("FCHW", [2, 3]), ("DHWC", [0, 1, 2]), ("FCDHW", [2, 3, 4])],
)
def test_layouts(layout, axes):
    x = random((4, 5, 6, 7, 2)[: len(layout)])
    out = ndd.laplacian(ndd.tensor(x, layout=layout), dtype=ndd.float32)
    assert_close(out, laplacian(x, axes=axes, dtype="float32"))


@pytest.mark.parametrize("size", [9, 23])
def test_large_windows(size):
    x = random((6, 40), "float32")
    out = ndd.laplacian(ndd.tensor(x, layout="HW"), window_size=size, normalized_kernel=True)
    assert_close(out, laplacian(x, size, normalized=True))


def test_empty_images():
    assert np.asarray(ndd.laplacian(ndd.tensor(np.zeros((0, 4, 3), np.uint8), layout="HWC"))).shape == (0, 4, 3)


@pytest.mark.parametrize(
    "arguments",
    [{"window_size": 1}, {"window_size": 4}, {"window_size": -3}, {"window_size": 1001}, {"smoothing_size": 0},
     {"smoothing_size": 2}, {"window_size": [3, 5, 7]}, {"scale": [1.0, 2.0, 3.0]}, {"dtype": ndd.int16},
     {"scale": 2.0, "normalized_kernel": True}, {"scale": float("nan")}, {"scale": [1.0, float("inf")]}],
)  # fmt: skip
def test_wrong_arguments(arguments):
    with pytest.raises(RuntimeError, match="expected"):
        ndd.laplacian(ndd.tensor(random((4, 5, 3)), layout="HWC"), **arguments).evaluate()
