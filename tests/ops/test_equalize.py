import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


def equalized(plane):
    counts = np.bincount(plane.ravel(), minlength=256)
    first = plane.min()
    if counts[first] == plane.size:
        return plane
    counts[first] = 0
    scale = np.float32(255) / np.float32(plane.size - np.sum(plane == first))
    return np.rint(np.cumsum(counts).astype(np.float32) * scale).astype(np.uint8)[plane]


@op_case("equalize", layout="HW", shapes=[(30, 41), (5, 2), (1, 1)], dtypes=["uint8"])
def gray_case(x):
    return equalized(x)


@op_case("equalize", layout="HWC", shapes=[(30, 41, 3), (5, 3, 1), (4, 4, 2)], dtypes=["uint8"])
def pixels_case(x):
    return np.stack([equalized(x[..., c]) for c in range(x.shape[-1])], -1)


@op_case("equalize", layout="FCHW", shapes=[(2, 3, 12, 11), (1, 1, 5, 5)], dtypes=["uint8"])
def planes_case(x):
    return np.stack([np.stack([equalized(plane) for plane in frame]) for frame in x])


def test_no_pixels():
    assert np.asarray(ndd.equalize(np.zeros((0, 5), np.uint8))).shape == (0, 5)
    assert np.asarray(ndd.equalize(np.zeros((3, 5, 0), np.uint8))).shape == (3, 5, 0)


def test_other_types_are_refused():
    with pytest.raises(RuntimeError, match="expected uint8, got int16"):
        ndd.equalize(np.zeros((2, 2), np.int16)).evaluate()
