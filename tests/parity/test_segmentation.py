"""Masks: streams differ, so what is possible is compared."""

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida

MASK = np.random.default_rng(1).integers(0, 4, (4, 5))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64", "float32", "bool"])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"foreground": 1},
        {"foreground": 1, "threshold": 1.5},
        {"foreground": 1, "value": 1},
        {"foreground": 1, "value": 9},
        {"foreground": 1, "threshold": 7.0},
    ],
)
def test_random_mask_pixel(dtype, arguments):
    mask = MASK.astype(dtype)
    drawn = []
    for library in (avida, dali):
        out = library.segmentation.random_mask_pixel(
            library.batch([mask] * 600), rng=library.random.RNG(seed=5), **arguments
        )
        assert str(out.dtype) in ("i64", "int64")
        drawn.append({tuple(np.asarray(place).tolist()) for place in out})
    assert drawn[0] == drawn[1]
