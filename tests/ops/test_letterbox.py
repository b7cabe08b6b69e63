"""Letterboxes, as Ultralytics makes them with OpenCV."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case

SHAPES = [(5, 7, 3), (9, 4, 3), (6, 6, 3)]


def neighbours(extent, out, keeps_ends):
    """The two rows or columns on both sides of each of the result, and their weights."""
    step = 1 / (out / extent)
    place = ((np.arange(out) + 0.5) * step - 0.5).astype(np.float32)
    first = np.floor(place).astype(np.int64)
    part = (place - first.astype(np.float32)).astype(np.float32)
    if keeps_ends:
        part[(first < 0) | (first >= extent - 1)] = 0
    return (np.clip(first, 0, extent - 1), np.clip(first + 1, 0, extent - 1)), (np.float32(1) - part, part)


def resized_bytes(x, height, width):
    """In the fixed-point arithmetic of OpenCV's INTER_LINEAR for bytes."""
    (upper, lower), rows = neighbours(len(x), height, keeps_ends=False)
    (left, right), columns = neighbours(x.shape[1], width, keeps_ends=True)
    rows, columns = ([np.rint(weights * 2048).astype(np.int64) for weights in both] for both in (rows, columns))
    along = x[:, left].astype(np.int64) * columns[0][:, None] + x[:, right].astype(np.int64) * columns[1][:, None]
    parts = [
        (weights[:, None, None] * (along[at] >> 4)) >> 16 for at, weights in zip((upper, lower), rows, strict=True)
    ]
    return ((parts[0] + parts[1] + 2) >> 2).astype(np.uint8)


def resized_numbers(x, height, width):
    (upper, lower), rows = neighbours(len(x), height, keeps_ends=True)
    (left, right), columns = neighbours(x.shape[1], width, keeps_ends=True)
    along = x[:, left] * columns[0][:, None] + x[:, right] * columns[1][:, None]
    return along[upper] * rows[0][:, None, None] + along[lower] * rows[1][:, None, None]


def letterbox(x, size, fill_value=114, center=True, scale_up=True):
    """The steps that Ultralytics takes, in Python's arithmetic."""
    scale = min(size[0] / x.shape[0], size[1] / x.shape[1])
    scale = scale if scale_up else min(scale, 1.0)
    width, height = round(x.shape[1] * scale), round(x.shape[0] * scale)
    beside, above = size[1] - width, size[0] - height
    if center:
        beside, above = beside / 2, above / 2
    top, left = (round(above - 0.1), round(beside - 0.1)) if center else (0, 0)
    out = np.empty((*size, x.shape[2]), x.dtype)
    out[:] = np.asarray(fill_value).astype(x.dtype)
    shown = resized_bytes(x, height, width) if x.dtype == np.uint8 else resized_numbers(x, height, width)
    out[top : top + height, left : left + width] = shown if shown.dtype == x.dtype else shown.astype(x.dtype)
    return out


SIZES = [[8, 8], [5, 12], [13, 4], [20, 31]]


@op_case("letterbox", layout="HWC", shapes=SHAPES, dtypes=["uint8"], size=SIZES, center=[True, False],
         scale_up=[True, False], fill_value=[[114], [1, 2, 3]])  # fmt: skip
def of_bytes(x, size, center, scale_up, fill_value):
    return letterbox(x, size, fill_value, center, scale_up)


@op_case("letterbox", layout="HWC", shapes=SHAPES, dtypes=["float32", "float64"], rtol=1e-5, size=SIZES)
def of_floats(x, size):
    return letterbox(x, size)


@pytest.mark.parametrize("seed", range(40))
def test_random_sizes(seed):
    """Bit for bit, odd rests too; all sides of an image have an odd rest in some of these."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 256, (*rng.integers(1, 90, 2), rng.choice([1, 3, 4])), dtype=np.uint8)
    size = rng.integers(1, 120, 2).tolist()
    if min(size[0] / x.shape[0], size[1] / x.shape[1]) * min(x.shape[:2]) < 1:
        size = [size[0] + 90, size[1] + 90]  # a side of less than one pixel, which OpenCV refuses
    np.testing.assert_array_equal(np.asarray(ndd.letterbox(x, size=size)), letterbox(x, size))


def test_layouts():
    x = np.random.default_rng(0).integers(0, 256, (2, 7, 9, 3), dtype=np.uint8)
    expected = np.stack([letterbox(frame, [12, 11], [7, 8, 9]) for frame in x])
    arguments = {"size": [12, 11], "fill_value": [7, 8, 9]}
    video = ndd.letterbox(ndd.tensor(x, layout="FHWC"), **arguments)
    np.testing.assert_array_equal(np.asarray(video), expected)
    planes = ndd.letterbox(ndd.tensor(np.ascontiguousarray(np.moveaxis(x, 3, 1)), layout="FCHW"), **arguments)
    np.testing.assert_array_equal(np.moveaxis(np.asarray(planes), 1, 3), expected)
    assert planes.layout == "FCHW"
    gray = ndd.letterbox(ndd.tensor(x[0, :, :, 0].copy(), layout="HW"), size=12)
    np.testing.assert_array_equal(np.asarray(gray), letterbox(x[0, :, :, :1], [12, 12])[..., 0])


def test_points_follow_the_matrix():
    """Of a single bright pixel: it is where the matrix says."""
    x = np.zeros((10, 20, 1), np.uint8)
    x[4, 7] = 255
    batch, matrix = ndd.letterbox(ndd.batch([x, x], layout="HWC"), size=[50, 41], save_matrix=True, fill_value=0)
    points = ndd.coord_transform(np.float32([[7.5, 4.5]]), MT=matrix)
    for image, ((point_x, point_y),) in zip(batch, map(np.asarray, points), strict=True):
        rows, columns, _ = np.nonzero(np.asarray(image) > 100)
        assert abs((columns.min() + columns.max() + 1) / 2 - point_x) < 0.6
        assert abs((rows.min() + rows.max() + 1) / 2 - point_y) < 0.6
    image, matrix = ndd.letterbox(x, size=20, save_matrix=True)
    np.testing.assert_array_equal(np.asarray(matrix), [[1, 0, 0], [0, 1, 5]])
    assert image.shape == (20, 20, 1)


@pytest.mark.parametrize(
    ("shape", "arguments"),
    [
        ((0, 4, 3), {"size": 8}),
        ((4, 4, 3), {"size": [8, 0]}),
        ((4, 4, 3), {"size": [8, 8, 3]}),
        ((4, 4, 3), {"size": 8, "fill_value": [1, 2]}),
    ],
)
def test_refused(shape, arguments):
    with pytest.raises(RuntimeError, match="expected"):
        ndd.letterbox(np.zeros(shape, np.uint8), **arguments).evaluate()
