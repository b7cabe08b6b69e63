import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case
from tests.ops.filter_reference import gaussian_blur

NUMBERS = ["uint8", "int8", "uint16", "int16", "int32", "float16", "float32", "float64"]
SHAPES = [(9, 7, 3), (1, 4, 3), (6, 2, 3)]


def random(shape, dtype="uint8", seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape).astype(dtype)


def assert_close(got, expected):
    got = np.asarray(got)
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    if got.dtype.kind == "f":
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-3)
    else:
        assert np.abs(got.astype(np.int64) - expected.astype(np.int64)).max(initial=0) <= 1


@op_case("gaussian_blur", layout="HWC", shapes=SHAPES, dtypes=NUMBERS, rtol=1e-4, atol=1,
         sigma=[[0.5, 0.5], [1.2, 0.3], [4.0, 2.0], [0.0, 1.0]], window_size=[[3, 3], [5, 1], [21, 9]])  # fmt: skip
def per_axis(x, sigma, window_size):
    return gaussian_blur(x, sigma, window_size)


@op_case("gaussian_blur", layout="CHW", shapes=[(3, 9, 7), (1, 4, 5), (2, 1, 8)], dtypes=["uint8", "float32"],
         rtol=1e-4, atol=1, sigma=[0.4, 1.0, 3.7])  # fmt: skip
def planes(x, sigma):
    return gaussian_blur(x, sigma, axes=(1, 2))


@op_case("gaussian_blur", shapes=[(4, 5, 6), (1, 2, 3), (7, 1, 2)], layout="DHW", dtypes=["uint8", "float32"],
         rtol=1e-4, atol=1, sigma=[0.7], window_size=[[3, 5, 7], [1, 3, 1]])  # fmt: skip
def volumes(x, sigma, window_size):
    return gaussian_blur(x, sigma, window_size, axes=(0, 1, 2))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
@pytest.mark.parametrize(
    ("layout", "axes"),
    [("W", [0]), ("HW", [0, 1]), ("HWC", [0, 1]), ("CHW", [1, 2]), ("FHWC", [1, 2]), ("FCHW", [2, 3]),
     ("CFHW", [2, 3]), ("DHWC", [0, 1, 2]), ("CDHW", [1, 2, 3]), ("FDHWC", [1, 2, 3]), ("FCDHW", [2, 3, 4])],
)  # fmt: skip
def test_layouts(layout, axes, dtype):
    x = random((4, 5, 6, 7, 2)[: len(layout)], dtype)
    out = ndd.gaussian_blur(ndd.tensor(x, layout=layout), sigma=0.8)
    assert out.layout == layout
    assert_close(out, gaussian_blur(x, 0.8, axes=axes))


@pytest.mark.parametrize("dtype", ["uint8", "float32", "uint16"])
@pytest.mark.parametrize("window", [3, 7, 9, 11, 13, 31, 63, 65, 101])
def test_windows_of_any_size(window, dtype):
    x = random((40, 53, 3), dtype)
    assert_close(ndd.gaussian_blur(ndd.tensor(x, layout="HWC"), window_size=window), gaussian_blur(x, 0, window))


@pytest.mark.parametrize("sigma", [0.01, 0.3, 1.0, 10.0])
def test_constant_images_stay_constant(sigma):
    for value in (0, 1, 127, 254, 255):
        x = np.full((33, 50, 3), value, np.uint8)
        np.testing.assert_array_equal(np.asarray(ndd.gaussian_blur(ndd.tensor(x, layout="HWC"), sigma=sigma)), x)


def test_float_output_of_bytes():
    x = random((12, 13, 3))
    out = ndd.gaussian_blur(ndd.tensor(x, layout="HWC"), sigma=1.0, dtype=ndd.float32)
    assert_close(out, gaussian_blur(x, 1.0, dtype="float32"))


def test_one_large_image_is_shared_among_threads():
    x = random((700, 900, 3))
    for dtype in ("uint8", "float32"):
        results = []
        for threads in (1, 2, 5):
            with ndd.EvalContext(num_threads=threads):
                blurred = ndd.gaussian_blur(ndd.tensor(x.astype(dtype), layout="HWC"), sigma=[2.0, 1.0])
                results.append(np.asarray(blurred).tobytes())
        assert len(set(results)) == 1


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (4, 4, 0)])
def test_empty_images(shape):
    x = np.zeros(shape, np.uint8)
    assert np.asarray(ndd.gaussian_blur(ndd.tensor(x, layout="HWC"), sigma=2.0)).shape == shape


@pytest.mark.parametrize(
    "arguments",
    [{}, {"window_size": 0}, {"sigma": -1.0}, {"sigma": float("nan")}, {"sigma": float("inf")}, {"sigma": 1e30},
     {"window_size": 4}, {"window_size": -3}, {"sigma": [1.0, 2.0, 3.0]}, {"sigma": []},
     {"sigma": 1.0, "dtype": ndd.int16}],
)  # fmt: skip
def test_wrong_arguments(arguments):
    with pytest.raises(RuntimeError, match="expected"):
        ndd.gaussian_blur(ndd.tensor(random((4, 5, 3)), layout="HWC"), **arguments).evaluate()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_a_sigma_of_zero_changes_nothing(dtype):
    x = random((9, 11, 3)).astype(dtype)
    tensor = ndd.tensor(x, layout="HWC")
    np.testing.assert_array_equal(np.asarray(ndd.gaussian_blur(tensor, sigma=0.0)), x)
    np.testing.assert_array_equal(np.asarray(ndd.gaussian_blur(tensor, sigma=0, window_size=0)), x)
    rows = np.asarray(ndd.gaussian_blur(tensor, sigma=[0.0, 1.5]))  # along W alone
    alone = np.asarray(ndd.gaussian_blur(tensor[4:5], sigma=[1.0, 1.5]))
    np.testing.assert_allclose(rows[4:5], alone, rtol=1e-5, atol=0 if dtype == "float32" else 1)
    batch = ndd.as_batch([x, x], layout="HWC")
    mixed = ndd.gaussian_blur(batch, sigma=ndd.as_batch([np.float32(0), np.float32(2)]))
    np.testing.assert_array_equal(np.asarray(mixed.tensors[0]), x)
    assert (np.asarray(mixed.tensors[1]) != x).any()


@pytest.mark.parametrize("layout", ["HCW", "HFW", "FC", "DFHWC", "ABDE"])
def test_wrong_layouts(layout):
    x = random((2, 3, 4, 5, 2)[: len(layout)])
    with pytest.raises(RuntimeError, match="expected"):
        ndd.gaussian_blur(ndd.tensor(x, layout=layout), sigma=1.0).evaluate()


@pytest.mark.parametrize("sigma", [0, [0, 1.5]])
def test_no_sigma_beside_a_window_is_refused(sigma):
    """It could mean that nothing is blurred, or that sigma follows from the window."""
    with pytest.raises(RuntimeError, match=r'"sigma" of more than 0 beside a "window_size".*leave out'):
        ndd.gaussian_blur(ndd.tensor(random(SHAPES[0]), layout="HWC"), sigma=sigma, window_size=9).evaluate()
    sigmas = ndd.batch([1.5, 0.0], dtype="float32")
    with pytest.raises(RuntimeError, match=r"sample 1.*more than 0"):
        ndd.gaussian_blur(ndd.batch([random(SHAPES[0])] * 2), sigma=sigmas, window_size=9).evaluate()
