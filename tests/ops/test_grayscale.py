"""Images made gray or shifted in colour, against NumPy."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case
from tests.ops.color_reference import stored

COLORS = ["uint8", "uint16", "float16", "float32"]


@op_case("augment.grayscale", layout="HWC", dtypes=COLORS, high=250, rtol=1e-5, atol=1, on=[1, 0])
def grayscale_case(x, on):
    if not on:
        return x
    gray = x.astype(np.float32) @ np.float32([0.299, 0.587, 0.114])
    return stored(np.repeat(gray[..., None], 3, axis=-1), x.dtype)


@op_case(
    "augment.rgb_shift",
    layout="FCHW",
    shapes=[(2, 3, 5, 7), (1, 3, 2, 2)],
    dtypes=COLORS,
    high=1.5,
    rtol=1e-5,
    atol=1,
    shift=[[0.1, 0, -0.25], [0, 0.5, 0]],
)
def shift_case(x, shift):
    top = 1.0 if x.dtype.kind == "f" else float(np.iinfo(x.dtype).max)
    return stored(x.astype(np.float32) + np.float32(shift)[:, None, None] * np.float32(top), x.dtype)


def test_each_sample_by_position():
    images = ndd.as_batch(np.random.default_rng(0).integers(0, 256, (3, 4, 5, 3), np.uint8), layout="HWC")
    made = ndd.augment.grayscale(images, ndd.as_batch([1, 0, 1]))
    for sample, image, on in zip(made, images, [1, 0, 1], strict=True):
        pixels = np.asarray(sample)
        assert (pixels[..., 0] == pixels[..., 2]).all() if on else (pixels == np.asarray(image)).all()


def test_two_channels_are_refused():
    image = ndd.as_tensor(np.zeros((2, 5, 2), np.uint8), layout="HWC")
    with pytest.raises(RuntimeError, match="expected the 3 channels of RGB, got 2"):
        ndd.augment.grayscale(image).evaluate()
    with pytest.raises(RuntimeError, match='expected 3 numbers in "shift", got 1'):
        ndd.augment.rgb_shift(ndd.as_tensor(np.zeros((2, 5, 3), np.uint8), layout="HWC"), shift=[1]).evaluate()
