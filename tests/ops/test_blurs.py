"""Box, defocus, motion blur and unsharp masks against sums over windows in NumPy, and what they refuse."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case
from tests.ops.color_reference import stored

A = ndd.augment
SHAPES = [(12, 14, 3), (9, 8, 1), (11, 11, 4)]
TYPES = ["uint8", "uint16", "float32"]


def filtered(x, kernel):
    """Reflected beyond the border, without the outermost pixels."""
    reach = [n // 2 for n in kernel.shape]
    padded = np.pad(x.astype(np.float64), [(n, n) for n in reach] + [(0, 0)] * (x.ndim - 2), mode="reflect")
    height, width = x.shape[:2]
    total = sum(kernel[dy, dx] * padded[dy : dy + height, dx : dx + width] for dy, dx in np.ndindex(kernel.shape))
    return stored(total, x.dtype)


def line(size, angle, direction):
    radius = size // 2
    kernel = np.zeros((size + 2, size + 2))
    for share in np.linspace(-1, 1, 16 * radius + 1) if radius else [0.0]:
        x = 1 + radius + share * radius * np.cos(np.radians(angle))
        y = 1 + radius - share * radius * np.sin(np.radians(angle))
        for row in (int(y), int(y) + 1):
            for column in (int(x), int(x) + 1):
                kernel[row, column] += (1 - abs(y - row)) * (1 - abs(x - column)) * (1 + direction * share)
    return kernel[1:-1, 1:-1] / kernel[1:-1, 1:-1].sum()


@op_case(
    "augment.motion_blur",
    layout="HWC",
    shapes=SHAPES,
    dtypes=TYPES,
    rtol=1e-4,
    atol=1,
    size=[1, 5, 7],
    angle=[0.0, 90.0, 30.0],
    direction=[0.0, -1.0, 0.5],
)
def motion_case(x, size, angle, direction):
    return filtered(x, line(int(size), angle, direction))


@op_case("augment.defocus", layout="HWC", shapes=SHAPES, dtypes=TYPES, rtol=1e-4, atol=1, radius=[0.0, 1.5, 3.0])
def defocus_case(x, radius):
    reach = int(np.ceil(radius))
    y, x_ = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disk = np.clip(radius + 0.5 - np.hypot(x_, y), 0, 1)
    return filtered(x, disk / disk.sum())


@op_case("augment.box_blur", layout="HWC", shapes=SHAPES, dtypes=TYPES, rtol=1e-4, atol=1, size=[1, 3, [5, 7]])
def box_case(x, size):
    height, width = np.broadcast_to(size, 2)
    return filtered(x, np.full((height, width), 1 / (height * width)))


@op_case(
    "augment.unsharp_mask",
    layout="HWC",
    shapes=SHAPES,
    dtypes=TYPES,
    rtol=1e-3,
    atol=1,
    amount=[0.5, 2.0],
    sigma=[1.0, 1.5],
)
def unsharp_case(x, amount, sigma):
    reach = int(np.ceil(3 * sigma))
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    kernel = -amount * np.outer(bell, bell) / bell.sum() ** 2
    kernel[reach, reach] += 1 + amount
    return filtered(x, kernel)


def test_planes_and_frames_are_blurred_alike():
    image = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    calls = [lambda x: A.motion_blur(x, angle=20), lambda x: A.box_blur(x, size=5), lambda x: A.unsharp_mask(x)]
    for call in calls:
        expected = np.asarray(call(ndd.as_tensor(image, layout="HWC")))
        planes = call(ndd.as_tensor(np.ascontiguousarray(image.transpose(2, 0, 1)), layout="CHW"))
        np.testing.assert_array_equal(np.asarray(planes).transpose(1, 2, 0), expected)
        frames = np.asarray(call(ndd.as_tensor(np.stack([image] * 2), layout="FHWC")))
        np.testing.assert_array_equal(frames, np.stack([expected] * 2))


def test_what_is_refused():
    image = ndd.as_tensor(np.zeros((9, 9, 3), np.uint8), layout="HWC")
    with pytest.raises(RuntimeError, match="expected an odd size from 1 to 255, got 4"):
        A.motion_blur(image, size=4).evaluate()
    with pytest.raises(RuntimeError, match="expected a radius from 0 to 127, got -1"):
        A.defocus(image, radius=-1).evaluate()
    with pytest.raises(RuntimeError, match="expected odd sizes, got 2"):
        A.box_blur(image, size=2).evaluate()
