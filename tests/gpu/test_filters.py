"""Operators on neighbourhoods, which GPUs make in tiles: borders of tiles and of images, alignments, types."""

import numpy as np
import pytest

import avida as ndd

rng = np.random.default_rng(11)
# Odd rows, tiles that end inside images, images smaller than a tile, channels first and last.
SHAPES = [((131, 203, 3), "HWC"), ((64, 192, 4), "HWC"), ((70, 333, 1), "HWC"), ((3, 66, 131), "CHW"), ((19, 21), "HW")]


def numbers(dtype, shape):
    return rng.integers(0, 256, shape).astype(dtype) if dtype == "uint8" else rng.normal(0, 99, shape).astype(dtype)


def check(function, samples, layout, exact, *inputs, **arguments):
    batch = ndd.batch(samples, layout=layout)
    expected = function(batch, *inputs, **arguments)
    for got, wanted in zip(function(batch.gpu(), *inputs, **arguments).tensors, expected.tensors, strict=True):
        tolerance = {"rtol": 0, "atol": 0} if exact else {"rtol": 1e-5, "atol": 1e-3}
        np.testing.assert_allclose(np.asarray(got.cpu()), np.asarray(wanted), **tolerance)


@pytest.mark.parametrize(("source", "to"), [("uint8", "uint8"), ("uint8", "float32"), ("float32", "float32")])
@pytest.mark.parametrize(("shape", "layout"), SHAPES)
def test_gaussian_blur(shape, layout, source, to):
    first = numbers(source, shape)
    cut = np.ascontiguousarray(first[..., 3:-1, :] if layout == "HWC" else first[..., 3:])  # another alignment
    for window in ([11, 11], [3, 1], [1, 5], [17, 19], [41, 3], [61, 67]):
        options = {"window_size": window, "dtype": getattr(ndd, to)}
        check(ndd.gaussian_blur, [first, cut], layout, source == to == "uint8", **options)


def test_samples_with_windows_of_their_own():
    samples = [numbers("uint8", (h, w, 3)) for h, w in ((40, 60), (65, 129), (90, 31))]
    sigma = ndd.batch([np.float32(s) for s in (0.5, 1.5, 4)])
    check(ndd.gaussian_blur, samples, "HWC", True, sigma=sigma)


def test_windows_of_one_size_that_differ():
    """Equal tables are uploaded once for all samples, and only equal ones."""
    samples = [numbers("float32", (90, 120, 1))] * 20
    sigma = ndd.batch([np.float32(s) for s in (9, 15, 9, 12, *range(5, 20), 9)])
    check(ndd.gaussian_blur, samples, "HWC", False, sigma=sigma, window_size=101)


@pytest.mark.parametrize(("source", "to"), [("uint8", "uint8"), ("uint8", "float32"), ("float32", "float32")])
@pytest.mark.parametrize(("shape", "layout"), SHAPES)
def test_laplacian(shape, layout, source, to):
    samples = [numbers(source, shape), numbers(source, shape)[:, 3:].copy()]
    options = {"dtype": getattr(ndd, to)}
    for more in ({}, {"window_size": 7, "smoothing_size": 1}, {"window_size": [5, 3], "scale": [0.5, 2]}):
        exact = source == "uint8" and "scale" not in more
        check(ndd.laplacian, samples, layout, exact, **options, **more)
    check(ndd.laplacian, samples, layout, source == "uint8", window_size=5, normalized_kernel=True, **options)


def test_laplacian_of_the_largest_sums():
    stripes = np.zeros((60, 70, 3), np.uint8)
    stripes[7::9] = stripes[8::9] = stripes[9::9] = 255
    for image in (stripes, 255 - stripes):
        check(ndd.laplacian, [image], "HWC", True, window_size=[11, 3], smoothing_size=1, dtype=ndd.float32)


@pytest.mark.parametrize(("source", "to"), [("uint8", "uint8"), ("uint8", "float32"), ("float32", "float32")])
@pytest.mark.parametrize(("shape", "layout"), SHAPES)
def test_filter(shape, layout, source, to):
    samples = [numbers(source, shape), numbers(source, shape)[:, 3:].copy()]
    for size in ((3, 3), (1, 4), (15, 15), (7, 2)):
        weights = rng.normal(0, 1, size).astype(np.float32)
        for border in ("reflect_101", "reflect_1001", "wrap", "clamp", "constant"):
            options = {"border": border, "dtype": getattr(ndd, to), "anchor": [0, size[1] - 1]}
            check(ndd.filter, samples, layout, to == "uint8", weights, **options)
    for beyond in (77, 0.5):
        check(ndd.filter, samples, layout, to == "uint8", weights, np.float32(beyond), border="constant")
    check(ndd.filter, samples, layout, to == "uint8", weights, mode="valid")


def test_a_filter_for_each_frame():
    frames = numbers("uint8", (4, 30, 41, 3))
    weights = rng.normal(0, 1, (4, 3, 5)).astype(np.float32)
    check(ndd.filter, [frames], "FHWC", True, weights)


@pytest.mark.parametrize("source", ["uint8", "float32"])
@pytest.mark.parametrize(("shape", "layout"), SHAPES)
def test_morphology(shape, layout, source):
    samples = [numbers(source, shape), numbers(source, shape)[:, 3:].copy()]
    for function in (ndd.experimental.dilate, ndd.experimental.erode):
        for size, anchor in (([3, 3], [-1, -1]), ([1, 9], [0, 8]), ([10, 12], [3, 11])):
            for border in ("constant", "replicate", "reflect", "reflect_101", "wrap"):
                check(function, samples, layout, True, mask_size=size, anchor=anchor, border_mode=border)


@pytest.mark.parametrize("source", ["uint8", "float32"])
@pytest.mark.parametrize(("shape", "layout"), SHAPES)
def test_median_blur(shape, layout, source):
    samples = [numbers(source, shape), numbers(source, shape)[:, 3:].copy()]
    for size in ([3, 3], [5, 5], [1, 3], [7, 9]):
        check(ndd.experimental.median_blur, samples, layout, True, window_size=size)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("share", [0.01, 0.5])
def test_nan(dtype, share):
    image = numbers(dtype, (50, 60, 3))
    image[rng.random(image.shape) < share] = np.nan
    image[rng.random(image.shape) < 0.01] = -np.nan
    for function in (ndd.experimental.dilate, ndd.experimental.erode):
        for mask in ([3, 3], [1, 4], [10, 12], [120, 3]):
            check(function, [image], "HWC", True, mask_size=mask)
    for window in ([3, 3], [5, 5], [7, 9], [1, 13]):
        check(ndd.experimental.median_blur, [image], "HWC", True, window_size=window)


def test_infinity():
    image = numbers("float32", (50, 60, 3))
    image[rng.random(image.shape) < 0.1] = np.inf
    image[rng.random(image.shape) < 0.1] = -np.inf
    for function in (ndd.experimental.dilate, ndd.experimental.erode, ndd.experimental.median_blur):
        check(function, [image], "HWC", True)
