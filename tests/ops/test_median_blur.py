import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case
from tests.ops.filter_reference import windows
from tests.ops.test_gaussian_blur import random

TYPES = ["uint8", "int8", "uint16", "int16", "int32", "uint32", "float16", "float32", "float64", "bool"]


def median(x, size, axes=(0, 1)):
    found = windows(x, size, axes, border="clamp")
    return np.sort(found.reshape(*x.shape, -1))[..., size[0] * size[1] // 2]


@op_case("experimental.median_blur", layout="HWC", shapes=[(9, 7, 3), (1, 4, 3), (6, 2, 3)], dtypes=TYPES,
         window_size=[[3, 3], [1, 1], [3, 1], [1, 5], [5, 5], [3, 7]])  # fmt: skip
def images(x, window_size):
    return median(x, window_size)


@pytest.mark.parametrize(("layout", "axes"), [("HW", (0, 1)), ("CHW", (1, 2)), ("FHWC", (1, 2)), ("FCHW", (2, 3))])
def test_layouts(layout, axes):
    x = random((4, 5, 6, 7)[: len(layout)])
    out = ndd.experimental.median_blur(ndd.tensor(x, layout=layout), window_size=[3, 5])
    np.testing.assert_array_equal(np.asarray(out), median(x, [3, 5], axes))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
@pytest.mark.parametrize("size", [[3, 3], [5, 5], [7, 9], [11, 11], [13, 13], [23, 21], [1, 201]])
def test_windows_of_any_size(size, dtype):
    x = random((24, 71, 3), dtype)
    out = ndd.experimental.median_blur(ndd.tensor(x, layout="HWC"), window_size=size)
    np.testing.assert_array_equal(np.asarray(out), median(x, size))


@pytest.mark.parametrize("channels", [1, 3, 32, 33])
def test_rows_of_any_length(channels):
    for width in range(128 // channels, 200 // channels + 2):
        x = random((4, width, channels))
        out = ndd.experimental.median_blur(ndd.tensor(x, layout="HWC"))
        np.testing.assert_array_equal(np.asarray(out), median(x, [3, 3]))


@pytest.mark.parametrize("shape", [(26, 500, 3), (13, 1100), (3, 4, 3), (2, 70)])
def test_large_windows_of_bytes(shape):
    x = random(shape)
    image = ndd.tensor(x, layout="HWC"[: len(shape)])
    out = ndd.experimental.median_blur(image, window_size=[11, 13])
    np.testing.assert_array_equal(np.asarray(out), median(x, [11, 13]))


def test_one_large_image_is_shared_among_threads():
    x = random((300, 400, 3))
    for size in (3, 13):
        results = []
        for threads in (1, 2, 5):
            with ndd.EvalContext(num_threads=threads):
                out = ndd.experimental.median_blur(ndd.tensor(x, layout="HWC"), window_size=size)
                results.append(np.asarray(out).tobytes())
        assert len(set(results)) == 1


def test_windows_of_very_many_elements():
    x = random((6, 70))
    out = np.asarray(ndd.experimental.median_blur(ndd.tensor(x, layout="HW"), window_size=[201, 203]))
    np.testing.assert_array_equal(out[:, ::23], median(x, [201, 203])[:, ::23])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(24, 40), (6, 7)])
def test_nan_is_larger_than_all_numbers(shape, dtype):
    rng = np.random.default_rng(0)
    x = rng.normal(0, 9, shape).astype(dtype)
    x[rng.random(shape) < 0.4] = np.nan
    x[rng.random(shape) < 0.1] = -np.nan
    x[rng.random(shape) < 0.1] = np.inf
    for size in ([3, 3], [5, 5], [1, 7], [21, 23]):
        out = np.asarray(ndd.experimental.median_blur(ndd.tensor(x, layout="HW"), window_size=size))
        np.testing.assert_array_equal(out, median(x, size))


@pytest.mark.parametrize("size", [0, 4, -3, [3, 3, 3], [], 2**31 - 1])
def test_wrong_sizes(size):
    with pytest.raises(RuntimeError, match="expected"):
        ndd.experimental.median_blur(ndd.tensor(random((4, 5, 3)), layout="HWC"), window_size=size).evaluate()


def test_types_that_cannot_be_compared():
    with pytest.raises(RuntimeError, match="expected elements"):
        ndd.experimental.median_blur(ndd.tensor(random((4, 5), "int64"), layout="HW")).evaluate()


def test_empty_images():
    x = ndd.tensor(np.zeros((4, 0, 3), np.uint8), layout="HWC")
    assert np.asarray(ndd.experimental.median_blur(x)).shape == (4, 0, 3)
