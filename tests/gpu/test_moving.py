"""Copies that go in pieces of words: rows of all lengths, at all alignments, of all sizes of elements."""

import itertools

import numpy as np
import pytest

import avida as ndd

rng = np.random.default_rng(5)
WIDTHS = [1, 2, 3, 4, 5, 7, 16, 17, 31, 64, 65]


def numbers(dtype, *shape):
    return rng.integers(0, 250, shape).astype(dtype)


def same(function, arrays, layout=None, **arguments):
    """Of a batch on the GPU and on the CPU."""
    batch = ndd.batch(arrays, layout=layout)
    expected = function(batch, **arguments)
    got = function(batch.gpu(), **arguments)
    for ours, theirs in zip(got.cpu().tensors, expected.tensors, strict=True):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_flip(dtype, channels):
    images = [numbers(dtype, 3, width, channels) for width in WIDTHS]
    planes = [np.ascontiguousarray(image.transpose(2, 0, 1)) for image in images]
    for horizontal, vertical in itertools.product([0, 1], repeat=2):
        same(ndd.flip, images, "HWC", horizontal=horizontal, vertical=vertical)
        same(ndd.flip, planes, "CHW", horizontal=horizontal, vertical=vertical)


def test_flip_of_volumes():
    volumes = [numbers("uint8", 2, 3, 4, width, 3) for width in WIDTHS]
    for flags in itertools.product([0, 1], repeat=3):
        same(ndd.flip, volumes, "FDHWC", depthwise=flags[0], vertical=flags[1], horizontal=flags[2])
    same(ndd.flip, [np.zeros((0, 5, 3), np.uint8), np.zeros((4, 0, 3), np.uint8)], "HWC")


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7])
def test_transpose(dtype, channels):
    for images in ([numbers(dtype, 5, width, channels) for width in WIDTHS], [numbers(dtype, 3, 5, channels)] * 3):
        for perm in itertools.permutations(range(3)):
            same(ndd.transpose, images, perm=list(perm))
    videos = [numbers(dtype, 2, 3, width, channels) for width in (5, 8, 13)]
    for perm in ([0, 3, 1, 2], [3, 0, 1, 2], [1, 3, 0, 2], [0, 2, 3, 1], [1, 2, 3, 0], [3, 1, 0, 2]):
        same(ndd.transpose, videos, perm=perm)


def test_transpose_of_large_planes():
    for dtype, shape in itertools.product(["uint8", "float16", "float32", "float64"], [(70, 130), (64, 64), (33, 257)]):
        same(ndd.transpose, [numbers(dtype, *shape), numbers(dtype, *shape[::-1])], perm=[1, 0])
        same(ndd.transpose, [numbers(dtype, 2, *shape), numbers(dtype, 3, *shape)], perm=[0, 2, 1])
        same(ndd.transpose, [numbers(dtype, *shape, 3), numbers(dtype, *shape[::-1], 3)], perm=[1, 0, 2])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_windows_of_rows(dtype):
    images = [numbers(dtype, 40, 70 + k, 3) for k in range(4)]
    for x, width in itertools.product([0, 1, 2, 3, 5, 6], [1, 5, 6, 16, 33, 64]):
        same(lambda t, a, b: t.slice[3:31, a : a + b], images, a=x, b=width)
        same(lambda t, a, b: t.slice[::-3, a : a + b], images, a=x, b=width)
    same(lambda t: t.slice[:, ::-1], images)
    same(lambda t: t.slice[:, 1::2, ::-1], images)
    same(lambda t: t.slice[:, :, 1], images)


def test_joining():
    for a, b in itertools.product([1, 2, 3, 5, 21, 40], repeat=2):
        x, y = numbers("uint8", 7, a, 3), numbers("uint8", 7, b, 3)
        got = ndd.cat(ndd.tensor(x).gpu(), ndd.tensor(y).gpu(), axis=1)
        np.testing.assert_array_equal(np.asarray(got.cpu()), np.concatenate([x, y], 1))


@pytest.mark.parametrize("policy", ["pad", "edge", "reflect", "reflect_101", "wrap", "trim_to_shape"])
@pytest.mark.parametrize(("dtype", "to"), [("uint8", "uint8"), ("uint8", "float32"), ("float32", "float32")])
def test_windows_beyond_samples(policy, dtype, to):
    options = {"out_of_bounds_policy": policy, "dtype": getattr(ndd, to), "fill_values": [5, 6, 7]}
    images = [numbers(dtype, 9, width, 3) for width in (20, 33, 50, 51)]
    planes = [np.ascontiguousarray(image.transpose(2, 0, 1)) for image in images]
    for x, width in itertools.product([-30, -3, 0, 1, 7], [1, 16, 41, 90]):
        same(ndd.slice, images, "HWC", start=[-2, x], shape=[13, width], axis_names="HW", **options)
        same(ndd.slice, planes, "CHW", start=[-2, x], shape=[13, width], axis_names="HW", **options)
    videos = [numbers(dtype, 2, 3, 5, width, 3) for width in (7, 8, 21)]
    for axes, start, shape in (("FHW", [-1, 2, -3], [3, 7, 9]), ("D", [1], [4]), ("W", [3], [30]), ("F", [1], [2])):
        same(ndd.slice, videos, "FDHWC", start=start, shape=shape, axis_names=axes, **options)


def test_padding():
    images = [numbers(dtype, 5, width, 3) for dtype in ["uint8"] for width in WIDTHS]
    for options in ({}, {"axes": [0, 1], "shape": [9, 70]}, {"axes": [2], "shape": [4]}, {"align": [4, 16, 1]}):
        same(ndd.pad, images, fill_value=9, **options)
