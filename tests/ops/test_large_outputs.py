"""Outputs that are larger than the cache, which are stored past it, have the same bits as small ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import avida as ndd
from avida import augment

OPERATORS: dict[str, Callable[[Any], Any]] = {
    "adjust_colors": lambda x: augment.adjust_colors(x, brightness=1.2, contrast=0.7, saturation=1.3),
    "brightness": lambda x: ndd.brightness(x, brightness=1.3),
    "equalize": ndd.equalize,
    "erase": lambda x: ndd.erase(x, anchor=[20, 30], shape=[80, 80]),
    "flip": ndd.flip,
    "flip, vertical": lambda x: ndd.flip(x, horizontal=0, vertical=1),
    "grayscale": augment.grayscale,
    "invert": augment.invert,
    "pad": lambda x: ndd.pad(x, axis_names="HW", align=[64, 64]),
    "transpose": lambda x: ndd.transpose(x, perm=[1, 0, 2]),
}


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(5)
    return [rng.integers(0, 256, (481, 643, 3), dtype=np.uint8) for _ in range(13)] * 2  # 24 MB


@pytest.mark.parametrize("name", OPERATORS)
def test_large_and_small_outputs_are_the_same(name, images):
    operator = OPERATORS[name]
    large = operator(ndd.as_batch(images, layout="HWC"))
    for i in 0, 7, 25:
        small = operator(ndd.tensor(images[i], layout="HWC"))
        np.testing.assert_array_equal(np.asarray(large.tensors[i]), np.asarray(small))


def test_large_dropouts_change_nothing_outside_of_holes(images):
    made = augment.coarse_dropout(ndd.as_batch(images, layout="HWC"), holes=3, fill_value=7)
    for image, dropped in zip(images[:3], made.tensors[:3], strict=True):
        changed = np.asarray(dropped) != image
        assert changed.any()
        assert (np.asarray(dropped)[changed] == 7).all()


def test_windows_of_whole_pixels_are_moved_by_resizing(images):
    x = ndd.tensor(images[0], layout="HWC")
    for top, left, height, width in (0, 5, 481, 600), (11, 0, 300, 643), (3, 4, 50, 60):
        made = ndd.resize(x, roi_start=[top, left], roi_end=[top + height, left + width], size=[height, width])
        np.testing.assert_array_equal(np.asarray(made), images[0][top : top + height, left : left + width])
