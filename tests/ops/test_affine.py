"""augment.affine and augment.perspective against NumPy, and where things go."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import RANDOM_INPUTS, op_case
from tests.ops.warp_reference import affine, centres, look_up

A = ndd.augment


def matrix(extents, out_extents, angle, scale, shear, translate, rel_translate=(0, 0)):
    """From the output to the input: the inverse of scaling, shearing and turning, about the centres."""
    turn, (x, y) = -np.radians(angle), np.radians(shear)
    turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    along_y, along_x = np.array([[1, 0], [-np.tan(y), 1]]), np.array([[1, -np.tan(x)], [0, 1]])
    forward = turned @ along_y @ along_x @ np.diag(scale)
    back = np.linalg.inv(forward)
    moved = np.asarray(out_extents) / 2 + translate + np.multiply(rel_translate, out_extents)
    return np.hstack([back, (np.asarray(extents) / 2 - back @ moved)[:, None]])


@op_case(
    "augment.affine",
    layout="HWC",
    shapes=[(9, 11, 3), (6, 5, 1), (8, 8, 4)],
    dtypes=["uint8", "uint16", "float32"],
    rtol=1e-3,
    atol=1,
    angle=[0.0, 30.0],
    scale=[[1.0, 1.0], [0.5, 1.25]],
    shear=[[0.0, 0.0], [10.0, -5.0]],
    translate=[[0.0, 0.0], [2.0, -1.5]],
    fill_value=[[7.0]],
)
def affine_case(x, angle, scale, shear, translate, fill_value):
    size = x.shape[:2]
    return look_up(x, affine(matrix(size[::-1], size[::-1], angle, scale, shear, translate), size), fill=fill_value)


@op_case(
    "augment.affine",
    layout="HWC",
    dtypes=["uint8"],
    atol=1,
    angle=[20.0],
    size=[[6, 9], [8]],
    rel_translate=[[0.1, -0.2]],
    border=["clamp"],
    interp_type=["linear"],
)
def size_case(x, angle, size, rel_translate, border, interp_type):
    size = [int(size[0]), int(size[-1])]
    found = matrix(x.shape[1::-1], size[::-1], angle, (1, 1), (0, 0), (0, 0), rel_translate)
    return look_up(x, affine(found, size))


def perspective_places(corners, extents):
    """By the equations of four pairs of points, solved by least squares."""
    ends = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * extents
    goes = np.reshape(corners, (4, 2)) * extents
    rows, values = [], []
    for (u, v), (x, y) in zip(goes, ends, strict=True):
        rows += [[u, v, 1, 0, 0, 0, -x * u, -x * v], [0, 0, 0, u, v, 1, -y * u, -y * v]]
        values += [x, y]
    m = np.append(np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0], 1).reshape(3, 3)
    x, y = centres(extents[::-1])
    down = m[2, 0] * x + m[2, 1] * y + m[2, 2]
    return [(row[0] * x + row[1] * y + row[2]) / down for row in m[:2]]


RANDOM_INPUTS["augment.perspective"] = lambda: [ndd.as_batch(np.arange(600, dtype=np.uint8).reshape(2, 10, 10, 3))]
CORNERS = [0.1, 0.05, 0.8, 0.2, 0.9, 1.1, -0.1, 0.7]


def smooth(height=40, width=60):
    y, x = np.mgrid[:height, :width]
    return np.uint8(np.stack([120 + 100 * np.sin(x / 9), 100 + 90 * np.cos(y / 7), (x + y) * 2], axis=-1))


def test_perspective_takes_corners_to_places():
    image = smooth()
    expected = look_up(image, perspective_places(CORNERS, (60, 40)), fill=0).astype(int)
    made = np.asarray(A.perspective(ndd.as_tensor(image, layout="HWC"), corners=CORNERS)).astype(int)
    difference = np.abs(made - expected)
    assert difference.mean() < 0.1
    assert np.quantile(difference, 0.99) <= 3


def test_random_corners_lie_inwards():
    white = np.full((60, 64, 48), 255, np.uint8)
    made = np.asarray(A.perspective(ndd.as_batch(white, layout="HW"), distortion=0.5, rng=ndd.random.RNG(4)).torch())
    assert made[:, 16:-16, 12:-12].min() == 255  # corners move by a quarter at most
    assert len({sample.tobytes() for sample in made}) == 60
    assert (made == 0).any()


@pytest.mark.parametrize("layout", ["HWC", "CHW", "FHWC", "FCHW", "HW"])
def test_layouts(layout):
    """Channels, planes and frames are moved alike."""
    image = smooth()
    order = {"HWC": (0, 1, 2), "CHW": (2, 0, 1)}.get(layout[-3:], (0, 1))
    expected = np.asarray(A.affine(ndd.as_tensor(image, layout="HWC"), angle=30, scale=1.2))
    given = image[..., 0] if layout == "HW" else np.transpose(image, order)
    expected = expected[..., 0] if layout == "HW" else np.transpose(expected, order)
    if layout[0] == "F":
        given, expected = np.stack([given] * 2), np.stack([expected] * 2)
    made = A.affine(ndd.as_tensor(np.ascontiguousarray(given), layout=layout), angle=30, scale=1.2)
    np.testing.assert_array_equal(np.asarray(made), expected)


def test_a_turn_is_that_of_rotate():
    image = ndd.as_tensor(smooth(), layout="HWC")
    expected = np.asarray(ndd.rotate(image, angle=25, keep_size=True, fill_value=0)).astype(int)
    assert np.abs(np.asarray(A.affine(image, angle=25)).astype(int) - expected).max() <= 1


def test_what_is_refused():
    image = ndd.as_tensor(smooth(), layout="HWC")
    with pytest.raises(ValueError, match="expected a matrix that can be inverted"):
        A.affine(image, scale=0).evaluate()
    with pytest.raises(RuntimeError, match="expected one number or two, for x and y, as shear, got 3"):
        A.affine(image, shear=[1, 2, 3]).evaluate()
    with pytest.raises(RuntimeError, match='expected x and y of 4 "corners", got 4 numbers'):
        A.perspective(image, corners=[0, 0, 1, 1]).evaluate()
