"""Operators on neighbourhoods, which GPUs make in tiles: borders of tiles and of images, alignments, types."""

import numpy as np
import pytest

import avida as ndd

rng = np.random.default_rng(11)
# Odd rows, tiles that end inside images, images smaller than a tile, channels first and last.
SHAPES = [((131, 203, 3), "HWC"), ((64, 192, 4), "HWC"), ((70, 333, 1), "HWC"), ((3, 66, 131), "CHW"), ((19, 21), "HW")]


def numbers(dtype, shape):
    return rng.integers(0, 256, shape).astype(dtype) if dtype == "uint8" else rng.normal(0, 99, shape).astype(dtype)


def check(function, samples, layout, exact, **arguments):
    batch = ndd.batch(samples, layout=layout)
    expected = function(batch, **arguments)
    for got, wanted in zip(function(batch.gpu(), **arguments).tensors, expected.tensors, strict=True):
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


@pytest.mark.parametrize(("source", "to"), [("uint8", "uint8"), ("uint8", "float32"), ("float32", "float32")])
@pytest.mark.parametrize(("shape", "layout"), SHAPES)
def test_laplacian(shape, layout, source, to):
    samples = [numbers(source, shape), numbers(source, shape)[:, 3:].copy()]
    options = {"dtype": getattr(ndd, to)}
    for more in ({}, {"window_size": 7, "smoothing_size": 1}, {"window_size": [5, 3], "scale": [0.5, 2]}):
        exact = source == "uint8" and "scale" not in more
        check(ndd.laplacian, samples, layout, exact, **options, **more)
    check(ndd.laplacian, samples, layout, source == "uint8", window_size=5, normalized_kernel=True, **options)
