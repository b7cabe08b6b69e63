"""The bodies of operators on boxes and points agree with the operators."""

import ctypes

import numpy as np
import pytest

import avida as ndd

from .bodies import run_body, type_numbers

rng = np.random.default_rng(9)
BOXES = np.sort(rng.uniform(0, 1, (12, 2, 2)).astype(np.float32), axis=1).reshape(12, 4)


def floats(*numbers):
    return tuple(ctypes.c_float(number) for number in numbers)


def test_coord_flip():
    expected = np.asarray(ndd.coord_flip(BOXES[:, :3].copy(), flip_x=1, flip_y=0, flip_z=1, center_x=0.25))
    out = np.zeros_like(expected)
    points = BOXES[:, :3].copy()
    center = floats(0.5, 1, 1)
    run_body("ops/bbox/coord_flip.h", "CoordFlip", 36, out, points, 3, center, (True, False, True))
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("ltrb", [False, True])
def test_bb_flip(ltrb):
    expected = np.asarray(ndd.bb_flip(BOXES, horizontal=1, vertical=1, ltrb=ltrb))
    out = np.zeros_like(BOXES)
    run_body("ops/bbox/bb_flip.h", "BbFlip", 12, out, BOXES, True, True, ltrb)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("ltrb", [False, True])
def test_bbox_paste(ltrb):
    expected = np.asarray(ndd.bbox_paste(BOXES, ratio=2, paste_x=0.25, paste_y=1, ltrb=ltrb))
    out = np.zeros_like(BOXES)
    run_body("ops/bbox/bbox_paste.h", "BboxPaste", 48, out, BOXES, *floats(0.5), floats(0.125, 0.5), ltrb)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("offset", [False, True])
def test_box_encoder(offset):
    anchors = np.sort(rng.uniform(0, 1, (40, 2, 2)).astype(np.float32), axis=1).reshape(40, 4)
    labels = np.arange(1, 13, dtype=np.int32)
    means, stds = [0.1, 0.2, 0.3, 0.4], [0.5, 1, 2, 3]
    options = {"anchors": anchors.ravel().tolist(), "criteria": 0.3, "offset": offset, "means": means, "stds": stds}
    expected = [np.asarray(each) for each in ndd.box_encoder(BOXES, labels, **options)]
    best = np.zeros(12, np.int64)
    run_body("ops/bbox/box_encoder.h", "BestAnchor", 12, best, BOXES, anchors, 40)
    out = [np.ones_like(each) for each in expected]
    code = (offset, *floats(1), floats(*means), floats(*stds))
    params = (*out, BOXES, anchors, labels, best, 12, *floats(0.3), code)
    run_body("ops/bbox/box_encoder.h", "EncodeAnchor", 40, *params)
    np.testing.assert_array_equal(out[1], expected[1])
    np.testing.assert_allclose(out[0], expected[0], rtol=1e-6)
    assert 0 < (expected[1] == 0).sum() < 40


def test_bbox_rotate():
    expected = np.asarray(
        ndd.bbox_rotate(BOXES, angle=30, input_shape=[480, 640], keep_size=True, remove_threshold=0.95, mode="expand")
    )
    out, kept = np.zeros_like(BOXES), np.zeros(12, np.bool_)
    angle = 30 * np.pi / 180
    turn = (float(np.cos(angle)), float(np.sin(angle)), (640.0, 480.0), (640.0, 480.0))
    run_body("ops/bbox/bbox_rotate.h", "BboxRotate", 12, out, BOXES, kept, turn, True, True, 1.0, *floats(0.95))
    np.testing.assert_array_equal(out[kept], expected)
    assert 0 < kept.sum() < 12


def test_coord_transform():
    matrix, shift = rng.normal(0, 1, (3, 4)).astype(np.float32), rng.normal(0, 1, 3).astype(np.float32)
    points = rng.integers(-90, 90, (20, 4)).astype(np.int16)
    expected = np.asarray(ndd.coord_transform(points, M=matrix, T=shift))
    out = np.zeros_like(expected)
    types = type_numbers("float32", "int16")
    body = "CoordTransform<AnyElement, AnyElement>"
    run_body("ops/geometry/coord_transform.h", body, 60, out, points, *types, matrix, shift, 3, 4)
    np.testing.assert_array_equal(out, expected)
