"""augment.autocontrast against NumPy."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case
from tests.ops.color_reference import stored

COLORS = ["uint8", "uint16", "float32"]


def stretched(x, axes):
    top = 1.0 if x.dtype.kind == "f" else float(np.iinfo(x.dtype).max)
    low, high = (fold(x, axis=axes, keepdims=True).astype(np.float64) for fold in (np.min, np.max))
    width = np.where(high > low, high - low, top)
    return stored(np.where(high > low, (x - low) * (top / width), x), x.dtype)


@op_case(
    "augment.autocontrast",
    layout="HWC",
    shapes=[(15, 17, 3), (6, 5, 1), (9, 8, 4), (7, 3, 2), (1, 1, 3)],
    dtypes=COLORS,
    low=20,
    rtol=1e-3,
    atol=1,
)
def pixels_case(x):
    return stretched(x, (0, 1))


@op_case(
    "augment.autocontrast",
    layout="FCHW",
    shapes=[(2, 3, 15, 7), (1, 6, 4, 4)],
    dtypes=["uint8", "float32"],
    low=20,
    rtol=1e-3,
    atol=1,
)
def planes_case(x):
    return stretched(x, (2, 3))


def test_no_pixels():
    assert np.asarray(ndd.augment.autocontrast(np.zeros((0, 5), np.uint8))).shape == (0, 5)


def test_many_channels_come_first():
    image = ndd.as_tensor(np.zeros((4, 5, 6), np.uint8), layout="HWC")
    with pytest.raises(RuntimeError, match="expected up to 4 channels that are last, got 6: give them first, as CHW"):
        ndd.augment.autocontrast(image).evaluate()
