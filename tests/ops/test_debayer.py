import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


def neighbours(x):
    """Means of the four sides, the four corners, left and right, above and below; borders are made good later."""
    p = np.pad(x.astype(np.int64), 1)
    up, down, left, right = p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]
    corners = p[:-2, :-2] + p[:-2, 2:] + p[2:, :-2] + p[2:, 2:]
    across, along = (left + right + 1) // 2, (up + down + 1) // 2
    edges = np.where(np.abs(left - right) > np.abs(up - down), along, across)
    return (left + right + up + down + 2) // 4, (corners + 2) // 4, across, along, edges


def bayer(x, blue_position, algorithm):
    sides, corners, across, along, edges = neighbours(x)
    green = edges if algorithm == "edgeaware_ocv" else sides
    y, col = np.indices(x.shape)
    blue_row = (y + 1 + blue_position[0]) % 2 == 0
    blue_col = (col + 1 + blue_position[1]) % 2 == 0
    is_green = blue_row != blue_col
    own, other = np.where(is_green, across, x), np.where(is_green, along, corners)
    made = np.stack([np.where(blue_row, other, own), np.where(is_green, x, green), np.where(blue_row, own, other)], -1)
    return np.pad(made[1:-1, 1:-1], ((1, 1), (1, 1), (0, 0)), mode="edge").astype(x.dtype)


@op_case(
    "debayer",
    layout="HW",
    shapes=[(8, 70), (4, 4), (6, 10)],
    dtypes=["uint8", "uint16"],
    high=60000,
    blue_position=[[0, 0], [0, 1], [1, 0], [1, 1]],
    algorithm=["bilinear_ocv", "edgeaware_ocv"],
)
def colors_case(x, blue_position, algorithm):
    return bayer(x, blue_position, algorithm)


@op_case(
    "debayer",
    layout="HW",
    shapes=[(8, 70), (4, 4), (6, 10)],
    dtypes=["uint8", "uint16"],
    high=60000,
    atol=3,
    blue_position=[[0, 0], [0, 1], [1, 0], [1, 1]],
    algorithm=["gray_ocv"],
)
def gray_case(x, blue_position, algorithm):
    return np.rint(bayer(x, blue_position, algorithm) @ np.float64([[0.299], [0.587], [0.114]])).astype(x.dtype)


def test_videos():
    x = np.random.default_rng(0).integers(0, 256, (3, 6, 8), np.uint8)
    made = ndd.debayer(ndd.tensor(x, layout="FHW"), blue_position=[0, 1])
    assert made.layout == "FHWC"
    for frame, one in zip(np.asarray(made), x, strict=True):
        np.testing.assert_array_equal(frame, bayer(one, [0, 1], "bilinear_ocv"))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (2, 2), (2, 8)])
def test_without_neighbours_all_is_zero(shape):
    made = np.asarray(ndd.debayer(np.full(shape, 9, np.uint8), blue_position=[0, 0]))
    np.testing.assert_array_equal(made, np.zeros((*shape, 3), np.uint8))


@pytest.mark.parametrize(
    ("x", "arguments", "message"),
    [
        (np.zeros((4, 5), np.uint8), {}, "even height and width, got 4 x 5"),
        (np.zeros((4, 4, 3), np.uint8), {}, "one channel, got 3"),
        (np.zeros((4, 4), np.float32), {}, "uint8 or uint16, got float32"),
        (np.zeros((4, 4), np.uint8), {"blue_position": [0]}, "2 numbers"),
        (np.zeros((4, 4), np.uint8), {"blue_position": [0, -1]}, "0 or 1"),
        (np.zeros((4, 4), np.uint8), {"algorithm": "nearest"}, 'got "nearest"'),
    ],
)
def test_errors(x, arguments, message):
    with pytest.raises(RuntimeError, match=message):
        ndd.debayer(x, **({"blue_position": [0, 0]} | arguments)).evaluate()
