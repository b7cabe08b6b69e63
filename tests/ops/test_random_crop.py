"""random_crop_generator and random_resized_crop: area, aspect ratio and position of windows."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import RANDOM_ARGUMENTS, RANDOM_INPUTS
from tests.ops.resample_reference import resample, weights

RANDOM_INPUTS["random_crop_generator"] = lambda: [ndd.as_batch([[480 + i, 640, 3] for i in range(50)])]
RANDOM_INPUTS["random_resized_crop"] = lambda: [
    ndd.as_batch([np.random.default_rng(i).random((20 + i, 30, 3), np.float32) for i in range(10)])
]
RANDOM_ARGUMENTS["random_resized_crop"] = {"size": [8, 9]}


def boxes(height, width, count=4000, seed=3, **arguments):
    extents = ndd.as_batch([np.int64([height, width, 3])] * count)
    start, shape = ndd.random_crop_generator(extents, rng=ndd.random.RNG(seed), **arguments)
    return np.concatenate([np.asarray(ndd.as_tensor(start)), np.asarray(ndd.as_tensor(shape))], 1)


def assert_uniform(sample, low, high):
    """A Kolmogorov-Smirnov test that a fair sample fails once in a thousand seeds; the seed is fixed."""
    place = np.sort((sample - low) / (high - low))
    n = len(place)
    distance = max(np.max(np.arange(1, n + 1) / n - place), np.max(place - np.arange(n) / n))
    assert distance * np.sqrt(n) < 1.95


def test_area_and_ratio_are_uniform():
    top, left, height, width = boxes(9000, 9000, random_area=[0.1, 0.3], random_aspect_ratio=[0.5, 2]).T
    assert_uniform(height * width / 9000**2, 0.1, 0.3)
    assert_uniform(np.log(width / height), np.log(0.5), np.log(2))
    assert_uniform(top / (9000 - height), 0, 1)
    assert_uniform(left / (9000 - width), 0, 1)
    assert abs(np.corrcoef(height * width, width / height)[0, 1]) < 0.05


@pytest.mark.parametrize(("height", "width"), [(7, 5), (480, 640), (1, 1), (3, 500), (900, 2)])
def test_windows_lie_inside(height, width):
    top, left, h, w = boxes(height, width, 500).T
    assert (top >= 0).all()
    assert (left >= 0).all()
    assert (top + h <= height).all()
    assert (left + w <= width).all()
    assert (h >= 1).all()
    assert (w >= 1).all()


def test_the_largest_window_when_nothing_fits():
    assert set(map(tuple, boxes(100, 1000, 50, random_area=[0.9, 1.0])[:, 2:])) == {(100, 133)}
    assert set(map(tuple, boxes(100, 100, 50, num_attempts=0))) == {(0, 0, 100, 100)}
    np.testing.assert_array_equal(boxes(0, 10, 3), 0)


@pytest.mark.parametrize(
    "arguments",
    [
        {"random_area": [0.5, 0.2]},
        {"random_area": [0.1, 0.2, 0.3]},
        {"random_area": []},
        {"random_area": [-0.1, 0.2]},
        {"random_area": [float("nan"), 1]},
        {"random_aspect_ratio": [2, 1]},
        {"random_aspect_ratio": [0, 1]},
        {"random_aspect_ratio": [1, float("inf")]},
    ],
)
def test_refused(arguments):
    with pytest.raises(RuntimeError, match="random_"):
        boxes(10, 10, 1, **arguments)
    with pytest.raises(RuntimeError, match="random_"):
        ndd.random_resized_crop(np.zeros((4, 4, 3), np.uint8), size=2, **arguments).evaluate()


@pytest.mark.parametrize("shape", [[10], [10, 20, 3, 4], [], [[10, 20]]])
def test_extents_that_are_not_an_image(shape):
    with pytest.raises(RuntimeError):
        ndd.random_crop_generator(np.array(shape, np.int32))[0].evaluate()
    with pytest.raises(RuntimeError):
        ndd.random_crop_generator(np.float32([10, 20]))[0].evaluate()
    with pytest.raises(RuntimeError, match="extents"):
        ndd.random_crop_generator(np.int32([-10, 20]))[0].evaluate()


def test_random_resized_crop_is_the_window_resized():
    images = [np.random.default_rng(i).integers(0, 256, (40 + i, 60, 3)).astype(np.uint8) for i in range(20)]
    batch = ndd.as_batch(images)
    start, shape = ndd.random_crop_generator(ndd.as_batch([np.int32(x.shape) for x in images]), rng=ndd.random.RNG(8))
    out = ndd.random_resized_crop(batch, size=[9, 14], rng=ndd.random.RNG(8))
    assert out.shape == [(9, 14, 3)] * 20
    for i, x in enumerate(images):
        (top, left), (h, w) = np.asarray(start.tensors[i]), np.asarray(shape.tensors[i])
        expected = resample(x, {0: weights(x.shape[0], 9, top, top + h), 1: weights(60, 14, left, left + w)})
        assert np.abs(np.asarray(out.tensors[i]).astype(int) - expected).max() <= 1


def test_sizes_and_layouts():
    video = np.zeros((4, 20, 30, 3), np.uint8)
    assert ndd.random_resized_crop(video, size=7).shape == (4, 7, 7, 3)
    planes = ndd.random_resized_crop(
        ndd.tensor(video[0].transpose(2, 0, 1), layout="CHW"), size=[7, 8], dtype=ndd.float32
    )
    assert planes.shape == (3, 7, 8)
    assert planes.dtype == ndd.float32
    assert ndd.random_resized_crop(video, size=[0, 5]).shape == (4, 0, 5, 3)
    for size in ([-1, 5], [1, 2, 3], []):
        with pytest.raises(RuntimeError, match="size"):
            ndd.random_resized_crop(video, size=size)
    with pytest.raises(RuntimeError, match="empty"):
        ndd.random_resized_crop(np.zeros((0, 5, 3), np.uint8), size=3).evaluate()
