"""The element bodies of pasting, erasing and masking make the same bits as the operators' loops."""

import ctypes

import numpy as np
import pytest

import avida as ndd

from .bodies import run_body

IMAGE = np.random.default_rng(5).integers(1, 255, (13, 17, 3), np.uint8)


def test_paste():
    expected = np.asarray(ndd.paste(IMAGE, ratio=2, fill_value=[7, 8, 9], paste_x=0.3, paste_y=0.8))
    out = np.zeros_like(expected)
    sizes = (34 * 3, 17 * 3, 13, int(np.float32(0.8) * 13), int(np.float32(0.3) * 17) * 3)
    fills = np.uint8([7, 8, 9])
    run_body("ops/paste/paste.h", "Paste<unsigned char>", out.size, out, IMAGE, fills, 3, *sizes)
    np.testing.assert_array_equal(out, expected)


def test_multi_paste():
    other = 255 - IMAGE[:9, :11].copy()
    expected = ndd.multi_paste(
        ndd.as_tensor(IMAGE, layout="HWC"),
        ndd.as_tensor(other, layout="HWC"),
        in_anchors=np.int32([[1, 2], [0, 3]]),
        out_anchors=np.int32([[2, 1], [5, 6]]),
        shapes=np.int32([[8, 9], [4, 7]]),
        output_size=[16, 20],
    )
    expected = np.asarray(expected)
    bounds = [[image.ctypes.data, image.ctypes.data + image.size] for image in (IMAGE, other)]
    regions = np.zeros((2, 9), np.int64)
    regions[0] = [*bounds[0], IMAGE[1:, 2:].ctypes.data, 51, 13 * 51, 2, 3, 8, 27]
    regions[1] = [*bounds[1], other[:, 3:].ctypes.data, 33, 9 * 33, 5, 18, 4, 21]
    out = np.ones_like(expected)
    run_body("ops/paste/multi_paste.h", "MultiPaste", 16 * 4, out, regions, ctypes.c_int(2), 0, 60)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("layout", "axis"), [("HWC", 2), ("CHW", 0)])
def test_erase(layout, axis):
    x = np.ascontiguousarray(np.moveaxis(IMAGE, 2, axis))
    fills = np.uint8([7, 8, 9])
    anchors, shapes = [1, 2, 5, -3], [4, 6, 30, 5]
    expected = ndd.erase(ndd.as_tensor(x, layout=layout), anchor=anchors, shape=shapes, fill_value=[7, 8, 9])
    steps = [51, 3] if layout == "HWC" else [17, 1]
    padding = [0] * 14
    regions = np.int64([[1, 5], [2, 8], [5, 13], [0, 2]])
    out = np.zeros_like(x)
    places = (ctypes.c_int(2), tuple([13, 17, *padding]), tuple(steps + padding))
    channel_step = 1 if layout == "HWC" else 221
    run_body("ops/paste/erase.h", "Erase<unsigned char>", x.size, out, x, *places, regions, 2, fills, 3, channel_step)
    np.testing.assert_array_equal(out, np.asarray(expected))


def test_grid_mask():
    angle, ratio, shift_x, shift_y, tile = np.float32(0.3), np.float32(0.6), np.float32(1.5), np.float32(-2), 5
    expected = ndd.grid_mask(
        ndd.as_tensor(IMAGE, layout="HWC"), angle=angle, ratio=ratio, shift_x=shift_x, shift_y=shift_y, tile=tile
    )
    # The sine and cosine of float are those of double, rounded, or one unit beside them: no pixel here is so close.
    numbers = [np.cos(angle) / 5, np.sin(angle) / 5, shift_x / 5, shift_y / 5, ratio]
    grid = tuple(ctypes.c_float(number) for number in numbers)
    out = np.zeros_like(IMAGE)
    run_body("ops/paste/grid_mask.h", "GridMask<unsigned char>", IMAGE.size, out, IMAGE, grid, 17, 13, 3)
    np.testing.assert_array_equal(out, np.asarray(expected))
    assert 0.1 < (out == 0).mean() < 0.9
