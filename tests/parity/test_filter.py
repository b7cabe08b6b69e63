"""gaussian_blur, laplacian and filter."""

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import assert_same, both


def photo(shape, dtype="uint8", seed=0):
    """Smooth slopes with some noise."""
    rng = np.random.default_rng(seed)
    grid = np.meshgrid(*[np.arange(n) for n in shape], indexing="ij")
    slopes = sum(np.sin(g / (3 + 5 * rng.random()) + rng.random()) for g in grid)
    x = 120 + 30 * slopes + rng.normal(0, 8, shape)
    return np.clip(x, 0, 255).astype(dtype)


def random(shape, dtype="uint8", seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape).astype(dtype)


DTYPES = ["uint8", "int16", "float32", "uint16", "int32", "float64"]
LAYOUTS = ["W", "HW", "HWC", "CHW", "FHWC", "FCHW", "CFHW", "DHW", "DHWC", "CDHW", "FDHWC", "FCDHW", "XYZ", "ABC"]


def tolerance(dtype):
    return {"rtol": 1e-4, "atol": 1e-3} if dtype.startswith("float") else {"atol": 1}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("make", [photo, random])
@pytest.mark.parametrize(
    "arguments",
    [{"sigma": 0.5}, {"sigma": 1.0}, {"sigma": [2.0, 0.7]}, {"sigma": 5.0}, {"window_size": 3}, {"window_size": [1, 9]},
     {"sigma": 3.0, "window_size": 5}, {"sigma": [1.0, 0.0], "window_size": [0, 3]}, {"window_size": 71},
     {"sigma": 1e-6}],
)  # fmt: skip
def test_gaussian_blur(arguments, make, dtype):
    x = make((45, 61, 3), dtype)
    both(lambda ndd: ndd.gaussian_blur(ndd.tensor(x, layout="HWC"), **arguments), **tolerance(dtype))


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, dtype):
    x = random((4, 5, 6, 7, 2)[: len(layout)], dtype)
    both(lambda ndd: ndd.gaussian_blur(ndd.tensor(x, layout=layout), sigma=0.8), **tolerance(dtype))
    both(lambda ndd: ndd.laplacian(ndd.tensor(x, layout=layout), dtype=ndd.float32), **tolerance("float32"))


@pytest.mark.parametrize("channels", [1, 4])
def test_channels_and_batches(channels):
    x = [photo((30, 20, channels)), random((7, 33, channels)), random((1, 1, channels))]
    sigma = [np.float32([1, 2]), np.float32([0.5, 0.3]), np.float32([9, 1])]
    both(lambda ndd: ndd.gaussian_blur(ndd.batch(x, layout="HWC"), sigma=ndd.batch(sigma)), atol=1)
    both(lambda ndd: ndd.gaussian_blur(ndd.batch(x, layout="HWC"), window_size=7, dtype=ndd.float32), rtol=1e-4)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "float32"])
@pytest.mark.parametrize(
    "arguments",
    [{}, {"window_size": 5}, {"window_size": [3, 7]}, {"smoothing_size": 1}, {"window_size": 5, "smoothing_size": 3},
     {"scale": 0.25}, {"scale": [0.5, -2.0]}, {"normalized_kernel": True, "window_size": 9}],
)  # fmt: skip
def test_laplacian(arguments, dtype):
    x = photo((33, 41, 3)).astype(dtype)
    both(lambda ndd: ndd.laplacian(ndd.tensor(x, layout="HWC"), **arguments), rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("layout", ["HW", "HWC", "CHW", "FHWC"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [("gaussian_blur", {"sigma": 0.5}), ("gaussian_blur", {"window_size": 7}), ("laplacian", {}),
     ("laplacian", {"window_size": 5}), ("laplacian", {"scale": 0.25, "smoothing_size": 1})],
)  # fmt: skip
def test_float16(name, arguments, layout):
    """avida rounds once: it is within one unit of the real library in float32, which in float16 rounds every axis."""
    x = photo([{"F": 2, "C": 3, "H": 20, "W": 24}[axis] for axis in layout], "float16")

    def run(ndd, dtype="float16"):
        return getattr(ndd, name)(ndd.tensor(x.astype(dtype), layout=layout), **arguments).evaluate()

    ours, halves, exact = run(avida), run(dali), np.asarray(run(dali, "float32"))
    np.testing.assert_allclose(np.asarray(ours), exact, rtol=2**-10, atol=1e-2)
    assert_same(ours, halves, atol=2**-8 * np.abs(exact).max())


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float32"])
@pytest.mark.parametrize("border", ["reflect_101", "reflect_1001", "wrap", "clamp", "constant", "Clamp", "none"])
@pytest.mark.parametrize("size", [(1, 1), (3, 3), (2, 5), (5, 4), (50, 31)])
def test_filter(size, border, dtype):
    x = photo((23, 31, 3)).astype(dtype)
    by = np.random.default_rng(0).uniform(-0.1, 1, size).astype(np.float32)
    by /= by.sum()
    both(
        lambda ndd: ndd.filter(ndd.tensor(x, layout="HWC"), by, border=border),
        **tolerance(dtype),
        fails=border == "none" and RuntimeError,
    )


@pytest.mark.parametrize("dtype", ["uint8", "int16"])
def test_filter_of_halves(dtype):
    """The real library rounds halves to even numbers, avida away from zero."""
    x = np.arange(0 if dtype == "uint8" else -100, 100).reshape(4, -1, 1).astype(dtype)
    half = np.float32([[0.5]])
    both(lambda ndd: ndd.filter(ndd.tensor(x, layout="HWC"), half), atol=1)
    ours, theirs = (np.asarray(ndd.filter(ndd.tensor(x, layout="HWC"), half)) for ndd in (avida, dali))
    np.testing.assert_array_equal(theirs, np.rint(x / 2))
    np.testing.assert_array_equal(ours, np.trunc(x / 2 + np.sign(x) * 0.5))


@pytest.mark.parametrize("anchor", [-1, 0, 1, 2, 3, [0, 3], [1, -1], [-2, 0], [0, 4], [0, 0, 0]])
@pytest.mark.parametrize("mode", ["same", "valid", "full"])
def test_filter_anchors_and_modes(anchor, mode):
    x, by = random((9, 8, 3)), np.random.default_rng(0).uniform(0, 0.16, (3, 4)).astype(np.float32)
    both(
        lambda ndd: ndd.filter(ndd.tensor(x, layout="HWC"), by, anchor=anchor, mode=mode),
        atol=1,
        fails=(mode == "full" or anchor in (3, [-2, 0], [0, 4], [0, 0, 0])) and RuntimeError,
    )


@pytest.mark.parametrize("layout", ["HW", "HWC", "CHW", "FHW", "FHWC", "FCHW"])
def test_filter_layouts_types_and_fill_values(layout):
    x = random([{"F": 2, "C": 3, "H": 5, "W": 6}[axis] for axis in layout])
    by = np.full((3, 3), 1 / 9, np.float32)
    both(lambda ndd: ndd.filter(ndd.tensor(x, layout=layout), by, dtype=ndd.float32), rtol=1e-4)
    both(lambda ndd: ndd.filter(ndd.tensor(x, layout=layout), by, np.uint8(99), border="constant"), atol=1)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"sigma": -1.0}, {"sigma": float("nan")}, {"window_size": 4}, {"window_size": -3},
     {"sigma": [1.0, 2.0, 3.0]}, {"sigma": 1.0, "dtype": "int16"}],
)  # fmt: skip
def test_wrong_arguments(arguments):
    x = random((9, 8, 3))

    def run(ndd):
        given = arguments | ({"dtype": ndd.int16} if "dtype" in arguments else {})
        return ndd.gaussian_blur(ndd.tensor(x, layout="HWC"), **given)

    both(run, fails=RuntimeError)
    for sizes in ({"window_size": 1}, {"window_size": 4}, {"smoothing_size": 0}, {"scale": [1.0, 2.0, 3.0]}):
        both(lambda ndd, sizes=sizes: ndd.laplacian(ndd.tensor(x, layout="HWC"), **sizes), fails=RuntimeError)
