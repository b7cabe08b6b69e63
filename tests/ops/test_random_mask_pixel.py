"""segmentation.random_mask_pixel: which pixels are drawn, and how often."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, RANDOM_INPUTS

MASK = np.random.default_rng(1).integers(0, 4, (5, 6))
RANDOM_INPUTS["segmentation.random_mask_pixel"] = lambda: [ndd.as_batch([MASK] * 50)]


def drawn(mask, **arguments):
    batch = ndd.as_batch([mask] * 3000)
    out = ndd.segmentation.random_mask_pixel(batch, rng=ndd.random.RNG(3), **arguments)
    return [tuple(np.asarray(place).tolist()) for place in out]


def places(chosen):
    return set(map(tuple, np.argwhere(chosen).tolist()))


@pytest.mark.parametrize("dtype", ALL)
def test_foreground(dtype):
    mask = MASK.astype(dtype)
    found = drawn(mask, foreground=1)
    assert set(found) == places(mask > 0)
    counts = np.unique(found, axis=0, return_counts=True)[1]
    assert counts.max() < 2 * counts.min(), "all are equally likely"


def test_choices():
    assert set(drawn(MASK)) == places(MASK >= 0)
    assert set(drawn(MASK, foreground=1, threshold=1.5)) == places(MASK > 1.5)
    assert set(drawn(MASK, foreground=1, value=1, threshold=2)) == places(MASK == 1)
    assert set(drawn(MASK, foreground=1, value=9)) == places(MASK >= 0)
    assert set(drawn(MASK[None], foreground=1)) == places(MASK[None] > 0)


def test_empty_masks_are_refused():
    with pytest.raises(RuntimeError, match="expected a mask"):
        ndd.segmentation.random_mask_pixel(np.zeros((0, 3))).evaluate()
