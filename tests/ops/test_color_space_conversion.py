import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case
from tests.ops.color_reference import stored

RGB, BGR, GRAY, YCBCR = range(4)
FROM_RGB = np.array([[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]]) / 255
OFFSET = np.array([16, 128, 128])


def to_rgb(x, space):
    x = x.astype(np.float64)
    if space == YCBCR:
        return (x - OFFSET) @ np.linalg.inv(FROM_RGB).T
    return np.repeat(x, 3, -1) if space == GRAY else x[..., ::-1] if space == BGR else x


def converted(x, image_type, output_type):
    if image_type == YCBCR and output_type == GRAY:
        return stored((x[..., :1] - 16.0) * 255 / 219, np.uint8)
    colors = to_rgb(x, image_type)
    if output_type == GRAY:
        return stored(colors @ [[0.299], [0.587], [0.114]], np.uint8)
    if output_type == YCBCR:
        return stored(colors @ FROM_RGB.T + OFFSET, np.uint8)
    return stored(colors[..., ::-1] if output_type == BGR else colors, np.uint8)


SPACES = {"image_type": [RGB, BGR, YCBCR], "output_type": [RGB, BGR, GRAY, YCBCR]}


@op_case("color_space_conversion", layout="HWC", dtypes=["uint8"], high=256, atol=1, **SPACES)
def colors_case(x, image_type, output_type):
    return converted(x, image_type, output_type)


@op_case(
    "color_space_conversion",
    layout="HWC",
    shapes=[(5, 7, 1), (2, 2, 1)],
    dtypes=["uint8"],
    high=256,
    atol=1,
    image_type=[GRAY],
    output_type=[RGB, BGR, GRAY, YCBCR],
)
def gray_case(x, image_type, output_type):
    return converted(x, image_type, output_type)


@op_case(
    "color_space_conversion",
    layout="FCHW",
    shapes=[(2, 3, 5, 7), (1, 3, 40, 30)],
    dtypes=["uint8"],
    high=256,
    atol=1,
    image_type=[RGB],
    output_type=[GRAY, YCBCR],
)
def planes_case(x, image_type, output_type):
    return converted(x.transpose(0, 2, 3, 1), image_type, output_type).transpose(0, 3, 1, 2)


def test_order_of_channels_is_exact():
    x = np.random.default_rng(0).integers(0, 256, (40, 50, 3), np.uint8)
    made = ndd.color_space_conversion(x, image_type=ndd.types.RGB, output_type=ndd.types.BGR)
    np.testing.assert_array_equal(np.asarray(made), x[..., ::-1])


@pytest.mark.parametrize(
    ("x", "spaces", "message"),
    [
        (np.zeros((2, 2, 3), np.float32), (RGB, GRAY), "expected uint8, got float32"),
        (np.zeros((2, 2, 1), np.uint8), (RGB, GRAY), "expected 3 channels, got 1"),
        (np.zeros((2, 2, 3), np.uint8), (GRAY, RGB), "expected 1 channels, got 3"),
        (np.zeros((2, 2, 3), np.uint8), (RGB, 4), 'must be "rgb", "bgr", "gray" or "ycbcr", got 4'),
    ],
)
def test_errors(x, spaces, message):
    with pytest.raises(RuntimeError, match=message):
        ndd.color_space_conversion(x, image_type=spaces[0], output_type=spaces[1]).evaluate()
