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


DIRECTIONS = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx]


def vng(x, blue_position):
    """A variable number of gradients: Chang, Cheung and Pang (1999)."""
    padded = np.pad(x.astype(np.int64), 2, mode="reflect")
    h, w = x.shape
    y, col = np.indices(x.shape)
    blue_row = (y + 1 + blue_position[0]) % 2 == 0
    is_green = blue_row != ((col + 1 + blue_position[1]) % 2 == 0)

    def at(dy, dx):
        return padded[2 + dy : 2 + dy + h, 2 + dx : 2 + dx + w]

    def change(dy, dx, pairs):
        return sum(abs(at(*a) - at(a[0] - 2 * dy, a[1] - 2 * dx)) for a in pairs)

    def short_change(pairs):
        return sum(abs(at(*a) - at(*b)) for a, b in pairs)

    def direction(dy, dx):
        """Twice the change, and twice the own colour, and the missing two; in green pixels that of the row is first."""
        gradient = 2 * change(dy, dx, [(dy, dx), (2 * dy, 2 * dx)])
        own, near = at(0, 0) + at(2 * dy, 2 * dx), 2 * at(dy, dx)
        if dy == 0 or dx == 0:
            sides = [(dy + dx, dx + dy), (dy - dx, dx - dy)]
            beyond = [(a + dy, b + dx) for a, b in sides]
            gradient += change(dy, dx, sides + beyond)
            side, far = (sum(at(*a) for a in pair) for pair in (sides, beyond))
            of_green = [gradient, own, near, far] if dy == 0 else [gradient, own, far, near]
            return np.where(is_green, of_green, [gradient, own, near, side])
        corners = [(2 * dy, dx), (dy, 2 * dx)]
        along = [((dy, 0), (0, -dx)), ((0, dx), (-dy, 0)), ((2 * dy, dx), (dy, 0)), ((dy, 2 * dx), (0, dx))]
        four = (at(dy, 0) + at(0, dx) + at(2 * dy, dx) + at(dy, 2 * dx)) // 2
        of_green = [
            gradient + 2 * change(dy, dx, corners),
            near,
            at(0, dx) + at(2 * dy, dx),
            at(dy, 0) + at(dy, 2 * dx),
        ]
        return np.where(is_green, of_green, [gradient + short_change(along), own, four, near])

    gradients, *colors = np.stack([direction(dy, dx) for dy, dx in DIRECTIONS], 1)
    smooth = gradients < gradients.min(0) + np.maximum(gradients.max(0) // 2, 1)
    own, first, second = ((color * smooth).sum(0).astype(np.float32) for color in colors)
    scale = np.float32(1) / (2 * smooth.sum(0)).astype(np.float32)
    first, second = (np.clip(x + np.rint((color - own) * scale), 0, 255) for color in (first, second))
    of_row, green = np.where(is_green, first, x), np.where(is_green, x, first)
    return np.stack([np.where(blue_row, second, of_row), green, np.where(blue_row, of_row, second)], -1).astype(x.dtype)


@op_case(
    "debayer",
    layout="HW",
    shapes=[(10, 70), (8, 8), (8, 300), (12, 30), (6, 40), (40, 4)],
    dtypes=["uint8"],
    blue_position=[[0, 0], [0, 1], [1, 0], [1, 1]],
    algorithm=["vng_ocv"],
)
def gradients_case(x, blue_position, algorithm):
    return vng(x, blue_position) if min(x.shape) >= 8 else bayer(x, blue_position, "bilinear_ocv")


def test_gradients_blur_edges_less():
    x = np.full((16, 40), 50, np.uint8)
    x[:, 20:] = 200

    def error(algorithm):
        made = np.asarray(ndd.debayer(x, blue_position=[0, 0], algorithm=algorithm))
        return np.abs(made.astype(int) - x[..., None]).mean()

    assert error("vng_ocv") < 0.8 * error("bilinear_ocv")


def test_gradients_of_videos():
    x = np.random.default_rng(0).integers(0, 256, (3, 8, 40, 1), np.uint8)
    made = ndd.debayer(ndd.tensor(x, layout="FHWC"), blue_position=[1, 0], algorithm="VNG_OCV")
    assert made.layout == "FHWC"
    for frame, one in zip(np.asarray(made), x[..., 0], strict=True):
        np.testing.assert_array_equal(frame, vng(one, [1, 0]))


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
        (np.zeros((8, 8), np.uint16), {"algorithm": "vng_ocv"}, "uint8 for .* got uint16"),
    ],
)
def test_errors(x, arguments, message):
    with pytest.raises(RuntimeError, match=message):
        ndd.debayer(x, **({"blue_position": [0, 0]} | arguments)).evaluate()
