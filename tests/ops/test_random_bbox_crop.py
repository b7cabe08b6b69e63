"""random_bbox_crop: the windows that are drawn, and the boxes in them."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import RANDOM_ARGUMENTS, RANDOM_INPUTS

BOXES = np.float32([[0.2, 0.3, 0.5, 0.6], [0.1, 0.1, 0.25, 0.3], [0.7, 0.6, 0.9, 0.95]])
CORNER = np.float32([[0, 0, 0.2, 0.2]])
NONE = BOXES[:0]
FREE = {"scaling": [0.3, 1], "aspect_ratio": [0.5, 2]}
RANDOM_INPUTS["random_bbox_crop"] = lambda: [ndd.as_batch([BOXES[i % 3 :] for i in range(50)])]
RANDOM_ARGUMENTS["random_bbox_crop"] = {"scaling": [0.3, 1.0]}


def drawn(boxes, count=1500, seed=3, labels=None, **arguments):
    """Anchors and shapes as arrays, the others as lists."""
    inputs = [ndd.as_batch([x] * count) for x in (boxes, labels) if x is not None]
    anchor, shape, *others = ndd.random_bbox_crop(*inputs, rng=ndd.random.RNG(seed), **arguments)
    return [
        np.asarray(ndd.as_tensor(anchor)),
        np.asarray(ndd.as_tensor(shape)),
        *[[*map(np.asarray, o)] for o in others],
    ]


def is_whole(anchor, shape):
    return (anchor == 0).all(1) & (shape == 1).all(1)


def overlaps(boxes, anchor, shape):
    """For each window and box, what they share, divided by the box and by what both cover."""
    end = anchor + shape
    shared = np.minimum(boxes[:, 2:], end[:, None]) - np.maximum(boxes[:, :2], anchor[:, None])
    shared = np.maximum(shared, 0).prod(2)
    box, window = (boxes[:, 2:] - boxes[:, :2]).prod(1), shape.prod(1)[:, None]
    return shared / box, shared / (box + window - shared)


@pytest.mark.parametrize("prune", [None, 0.0, 0.3, 1.0])
def test_boxes_follow_the_window(prune):
    given = {} if prune is None else {"bbox_prune_threshold": prune}
    labels = np.int32([5, 6, 7])
    anchor, shape, boxes, names, indices = drawn(BOXES, labels=labels, output_bbox_indices=True, **FREE, **given)
    inside = overlaps(BOXES, anchor, shape)[0]
    centers = ((BOXES[:, :2] + BOXES[:, 2:]) / 2 - anchor[:, None]) / shape[:, None]
    keep = ((centers >= 0) & (centers <= 1)).all(2) if prune is None else (inside >= prune - 1e-6) & (inside > 0)
    for i in range(len(anchor)):
        if prune == 1 and (abs(inside[i] - 1) < 1e-5).any():
            continue  # rounding decides
        assert indices[i].tolist() == np.flatnonzero(keep[i]).tolist()
        assert names[i].tolist() == labels[keep[i]].tolist()
        expected = (BOXES[keep[i]] - np.tile(anchor[i], 2)) / np.tile(shape[i], 2)
        np.testing.assert_allclose(boxes[i], expected.clip(0, 1), atol=1e-5)
        assert len(boxes[i])


@pytest.mark.parametrize("kind", ["overlap", "iou"])
@pytest.mark.parametrize("every", [True, False])
def test_thresholds_are_met(kind, every):
    boxes = BOXES[:2]
    anchor, shape, _ = drawn(
        boxes,
        thresholds=[0.2],
        threshold_type=kind,
        all_boxes_above_threshold=every,
        allow_no_crop=False,
        num_attempts=20,
        scaling=[0.2, 0.6],
        aspect_ratio=[0.5, 2],
    )
    value = overlaps(boxes, anchor, shape)[kind == "iou"]
    value = value.min(1) if every else value.max(1)
    assert value.min() >= 0.2 - 1e-5
    assert value.min() < 0.3, "no more is asked for"


def test_windows_lie_inside_and_have_the_ratios():
    anchor, shape, _ = drawn(NONE, allow_no_crop=False, **FREE)
    ratio = shape[:, 0] / shape[:, 1]
    assert 0.5 <= ratio.min() < 0.55
    assert 1.9 < ratio.max() <= 2
    assert 0.3 <= shape.min() < 0.32
    assert 0.98 < shape.max() <= 1
    assert anchor.min() >= 0
    assert (anchor + shape).max() <= 1
    place = anchor / (1 - shape)
    assert abs(place.mean(0) - 0.5).max() < 0.03


def test_windows_larger_than_the_image_cover_it():
    anchor, shape, _ = drawn(NONE, allow_no_crop=False, scaling=[1.2, 1.5])
    assert anchor.max() <= 0
    assert (anchor + shape).min() >= 1 - 1e-6


@pytest.mark.parametrize("ratio", [0.5, 1, 3])
def test_one_ratio(ratio):
    _, shape, _ = drawn(NONE, allow_no_crop=False, scaling=[0.3, 0.9], aspect_ratio=[ratio, ratio])
    np.testing.assert_allclose(shape[:, 0] / shape[:, 1], ratio, rtol=1e-4)
    assert shape.max(1).min() >= 0.3
    assert shape.max() <= 0.9 + 1e-6
    _, shape, _ = drawn(
        NONE, allow_no_crop=False, scaling=[0.3, 0.9], aspect_ratio=[ratio, ratio], input_shape=[200, 100]
    )
    np.testing.assert_allclose(2 * shape[:, 0] / shape[:, 1], ratio, rtol=1e-4)
    assert shape.max() <= 0.9 + 1e-6


def test_input_shape_counts_for_the_ratio():
    for layout, extents in (("WH", [300, 100]), ("HW", [100, 300])):
        _, shape, _ = drawn(NONE, allow_no_crop=False, input_shape=extents, shape_layout=layout, **FREE)
        ratio = 3 * shape[:, 0] / shape[:, 1]
        assert ratio.min() >= 0.5 - 1e-5
        assert ratio.max() <= 2 + 1e-5


def test_the_whole_image_is_as_likely_as_a_threshold():
    for thresholds, share in (([0.0], 1 / 2), ([0.0, 0.01, 0.02], 1 / 4)):
        anchor, shape, _ = drawn(NONE, thresholds=thresholds, scaling=[0.3, 0.9])
        assert abs(is_whole(anchor, shape).mean() - share) < 0.04
    anchor, shape, boxes = drawn(BOXES)
    assert is_whole(anchor, shape).all()
    np.testing.assert_array_equal(boxes[0], BOXES)


def test_windows_of_some_pixels():
    anchor, shape, boxes = drawn(BOXES, crop_shape=[196, 60], input_shape=[200, 100])
    assert (shape == [196, 60]).all()
    assert set(anchor[:, 0]) == {0, 1, 2, 3, 4}
    assert set(anchor[:, 1]) <= set(range(41))
    assert len(set(anchor[:, 1])) > 30
    scale = np.float32([200, 100, 200, 100])
    for i in range(50):
        pixels = (BOXES * scale - np.tile(anchor[i], 2)) / np.tile(shape[i], 2)
        center = (pixels[:, :2] + pixels[:, 2:]) / 2
        pixels = pixels[((center >= 0) & (center <= 1)).all(1)]
        np.testing.assert_allclose(boxes[i], pixels.clip(0, 1), atol=1e-5)
    anchor, _, _ = drawn(NONE, crop_shape=[203, 60], input_shape=[200, 100])
    assert set(anchor[:, 0]) == {-3, -2, -1, 0}
    extents = ndd.as_batch([[10, 10], [20, 10]])
    anchor, shape, _ = ndd.random_bbox_crop(ndd.as_batch([NONE] * 2), crop_shape=extents, input_shape=extents)
    assert [x.tolist() for x in map(np.asarray, shape)] == [[10, 10], [20, 10]]


@pytest.mark.parametrize("layout", ["xyXY", "xyWH", "XyxY", "HWyx"])
def test_box_layouts(layout):
    """Whatever the order of the numbers, the result is the same in that order."""

    def reordered(x):
        columns = dict(zip("xyXY", x.T, strict=True))
        columns |= {"W": columns["X"] - columns["x"], "H": columns["Y"] - columns["y"]}
        return np.float32(np.stack([columns[letter] for letter in layout], -1))

    expected = drawn(BOXES, 50, **FREE)
    out = drawn(reordered(BOXES), 50, bbox_layout=layout, **FREE)
    for i in range(50):
        np.testing.assert_allclose(out[0][i], expected[0][i])
        np.testing.assert_allclose(out[2][i], reordered(expected[2][i]), atol=1e-5)
    if layout in ("xyXY", "xyWH"):
        again = drawn(reordered(BOXES), 50, ltrb=layout == "xyXY", **FREE)
        np.testing.assert_array_equal(again[2][0], out[2][0])


def test_volumes():
    boxes = np.float32([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.5, 0.5, 0.5, 0.9, 0.9, 0.9]])
    ranges = [0.5, 2, 0.5, 1, 0.5, 3]
    anchor, shape, out = drawn(boxes, 300, scaling=[0.3, 1], aspect_ratio=ranges, allow_no_crop=False)
    assert anchor.shape == shape.shape == (300, 3)
    for (a, b), low, high in zip([(0, 1), (0, 2), (1, 2)], ranges[::2], ranges[1::2], strict=True):
        ratio = shape[:, a] / shape[:, b]
        assert ratio.min() >= low - 1e-5
        assert ratio.max() <= high + 1e-5
    for i in range(300):
        moved = (boxes - np.tile(anchor[i], 2)) / np.tile(shape[i], 2)
        center = (moved[:, :3] + moved[:, 3:]) / 2
        moved = moved[((center >= 0) & (center <= 1)).all(1)]
        np.testing.assert_allclose(out[i], moved.clip(0, 1), atol=1e-5)
    _, shape, _ = drawn(boxes[:0], 50, scaling=[0.3, 0.9], allow_no_crop=False)
    assert np.ptp(shape, 1).max() < 1e-5
    _, shape, _ = drawn(boxes[:0], 50, scaling=[0.3, 1], aspect_ratio=[2, 2, 4, 4, 2, 2], allow_no_crop=False)
    np.testing.assert_allclose(shape[:, 0] / shape[:, 2], 4, rtol=1e-4)


def test_searches_end():
    never = {"thresholds": [1.0], "scaling": [0.3, 0.9], "allow_no_crop": False}
    with pytest.raises(RuntimeError, match="total_num_attempts"):
        drawn(BOXES, 1, **never)
    anchor, shape, boxes = drawn(BOXES, 300, total_num_attempts=5, quiet=True, **never)
    assert shape.max() <= 0.9
    few = overlaps(BOXES, anchor, shape)[1].min(1).mean()
    anchor, shape, _ = drawn(BOXES, 300, total_num_attempts=200, **never)
    assert overlaps(BOXES, anchor, shape)[1].min(1).mean() > few, "the best one is taken"
    assert all(map(len, boxes))
    impossible = {"aspect_ratio": [5, 6], "scaling": [0.3, 1], "allow_no_crop": False, "total_num_attempts": 3}
    anchor, shape, _ = drawn(BOXES, 5, **impossible)
    assert is_whole(anchor, shape).all()


def test_boxes_at_the_border_and_without_area():
    boxes = np.float32([[0, 0, 1, 1], [1, 1, 1, 1], [0.5, 0.2, 0.5, 0.9]])
    for prune in ({}, {"bbox_prune_threshold": 0.1}):
        np.testing.assert_array_equal(drawn(boxes, 1, **prune)[2][0], boxes)
    rounded = np.float32([[0.1, 0.1, 1.0000005, 0.9]])
    np.testing.assert_allclose(drawn(rounded, 1)[2][0], [[0.1, 0.1, 1, 0.9]])
    assert drawn(NONE, 3, labels=np.int32([]), output_bbox_indices=True)[2][0].shape == (0, 4)


@pytest.mark.parametrize(
    "box",
    [
        [0.1, 0.1, 1.1, 0.5],
        [-0.1, 0.1, 0.5, 0.5],
        [0.5, 0.1, 0.4, 0.5],
        [np.nan, 0.1, 0.4, 0.5],
        [0.1, 0.1, 0.4, np.inf],
        [5, 5, 6, 6],
    ],
)
def test_boxes_outside(box):
    with pytest.raises(RuntimeError, match=r"sample 1: .*expected boxes within 0 to 1"):
        ndd.random_bbox_crop(ndd.as_batch([BOXES, np.float32([box])]))[0].evaluate()


@pytest.mark.parametrize(
    "arguments",
    [
        {"thresholds": []},
        {"thresholds": [1.5]},
        {"thresholds": [np.nan]},
        {"threshold_type": "area"},
        {"num_attempts": 0},
        {"total_num_attempts": 0},
        {"bbox_prune_threshold": -0.5},
        {"bbox_prune_threshold": np.nan},
        {"scaling": [0.5, 0.3]},
        {"scaling": [-1, 1]},
        {"scaling": [0.5]},
        {"scaling": [np.nan, 1]},
        {"scaling": [0, np.inf]},
        {"aspect_ratio": [2, 1]},
        {"aspect_ratio": [0, 0]},
        {"aspect_ratio": [1, 1, 1]},
        {"bbox_layout": "xyXZ"},
        {"bbox_layout": "xyzXYZ"},
        {"bbox_layout": "xyXY", "ltrb": True},
        {"input_shape": [200]},
        {"input_shape": [0, 100]},
        {"input_shape": [200, 100], "shape_layout": "HD"},
        {"input_shape": [200, 100, 3], "shape_layout": "HWC"},
        {"crop_shape": [20, 10]},
        {"crop_shape": [20, 10], "input_shape": [200, 100], "scaling": [1, 1]},
        {"crop_shape": [20, 10], "input_shape": [200, 100], "aspect_ratio": [1, 1]},
        {"crop_shape": [20, 10], "input_shape": [200, 100], "allow_no_crop": True},
        {"crop_shape": [0, 10], "input_shape": [200, 100]},
    ],
)
def test_refused(arguments):
    with pytest.raises(RuntimeError, match=r"expected|must be"):
        ndd.random_bbox_crop(BOXES, **arguments)[0].evaluate()


@pytest.mark.parametrize(
    "inputs",
    [
        (BOXES[0],),
        (BOXES[:, :3].copy(),),
        (BOXES.astype(np.float64),),
        (BOXES, np.int32([1, 2])),
        (BOXES, np.int16([1, 2, 3])),
        (BOXES, np.int32(1)),
    ],
)
def test_wrong_inputs(inputs):
    with pytest.raises(RuntimeError, match="expected"):
        ndd.random_bbox_crop(*inputs)[0].evaluate()
