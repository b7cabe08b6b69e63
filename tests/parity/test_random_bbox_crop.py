"""Windows that go with boxes: streams differ, so the distributions are compared, and the rules on what each drew."""

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import both

BOXES = np.float32([[0.2, 0.3, 0.5, 0.6], [0.1, 0.1, 0.25, 0.3], [0.7, 0.6, 0.9, 0.95]])
FREE = {"scaling": [0.3, 1.0], "aspect_ratio": [0.5, 2.0]}
CROP = {"allow_no_crop": False}
COUNT = 1024  # the real library takes shapes for batches of a power of two only


def drawn(library, boxes, **arguments):
    """Anchors, shapes, and how many boxes are left."""
    batch = library.batch([boxes] * COUNT)
    out = library.random_bbox_crop(batch, rng=library.random.RNG(seed=11), **arguments)
    anchor, shape = (np.array([np.asarray(x) for x in o]) for o in out[:2])
    return anchor, shape, np.array([len(np.asarray(x)) for x in out[2]])


def assert_same_distribution(ours, theirs):
    """Two samples' Kolmogorov-Smirnov test, which fair samples fail once in some thousand seeds."""
    ours, theirs = np.sort(ours), np.sort(theirs)
    places = np.concatenate([ours, theirs])
    below = [np.searchsorted(x, places, "right") / len(x) for x in (ours, theirs)]
    distance = np.abs(below[0] - below[1]).max()
    assert distance < 2.1 * np.sqrt(1 / len(ours) + 1 / len(theirs))


@pytest.mark.parametrize(
    "arguments",
    [
        FREE,
        FREE | CROP,
        FREE | {"num_attempts": 20},
        FREE | {"thresholds": [0.0, 0.05, 0.2], "num_attempts": 5},
        FREE | CROP | {"thresholds": [0.1], "all_boxes_above_threshold": False, "num_attempts": 5},
        FREE | CROP | {"thresholds": [0.3, 0.6], "threshold_type": "overlap", "num_attempts": 5},
        FREE | CROP | {"bbox_prune_threshold": 0.0},
        FREE | CROP | {"bbox_prune_threshold": 0.6},
        FREE | CROP | {"input_shape": [300, 200]},
        FREE | CROP | {"input_shape": [300, 200], "shape_layout": "HW"},
        CROP | {"scaling": [0.3, 1.0]},
        CROP | {"scaling": [0.3, 1.0], "aspect_ratio": [2.0, 2.0]},
        CROP | {"scaling": [0.5, 1.5], "aspect_ratio": [0.5, 2.0]},
        CROP | {"crop_shape": [120, 60], "input_shape": [200, 100]},
        CROP | {"crop_shape": [120, 60], "input_shape": [100, 200], "shape_layout": "HW"},
        {"crop_shape": [250, 60], "input_shape": [200, 100]},
    ],
)
@pytest.mark.parametrize("boxes", [BOXES, BOXES[:1], BOXES[:0]])
def test_distributions(arguments, boxes):
    ours, theirs = (drawn(library, boxes, **arguments) for library in (avida, dali))
    for a, b in zip(ours[:2], theirs[:2], strict=True):
        for axis in range(2):
            assert_same_distribution(a[:, axis], b[:, axis])
    assert_same_distribution(ours[2], theirs[2])
    assert_same_distribution(ours[1].prod(1), theirs[1].prod(1))


def test_volumes():
    boxes = np.float32([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.5, 0.5, 0.5, 0.9, 0.9, 0.9]])
    for arguments in ({}, {"aspect_ratio": [0.5, 2.0]}, {"aspect_ratio": [0.5, 2.0, 1.0, 2.0, 0.5, 3.0]}):
        ours, theirs = (drawn(library, boxes, scaling=[0.3, 1.0], **CROP, **arguments) for library in (avida, dali))
        for axis in range(3):
            assert_same_distribution(ours[0][:, axis], theirs[0][:, axis])
            assert_same_distribution(ours[1][:, axis], theirs[1][:, axis])


@pytest.mark.parametrize("prune", [{}, {"bbox_prune_threshold": 0.0}, {"bbox_prune_threshold": 0.4}])
@pytest.mark.parametrize("layout", ["xyXY", "xyWH", "WyxH"])
@pytest.mark.parametrize("library", [avida, dali])
def test_the_rules_hold_for_both(library, layout, prune):
    """What becomes of the boxes follows from the window."""
    columns = dict(zip("xyXY", BOXES.T, strict=True))
    columns |= {"W": columns["X"] - columns["x"], "H": columns["Y"] - columns["y"]}

    def given(columns):
        return np.float32(np.stack([columns[letter] for letter in layout], -1))

    labels = np.int32([5, 6, 7])
    out = library.random_bbox_crop(
        library.batch([given(columns)] * 256),
        library.batch([labels] * 256),
        rng=library.random.RNG(seed=4),
        bbox_layout=layout,
        output_bbox_indices=True,
        **FREE,
        **prune,
    )
    assert [str(o.dtype) for o in out] == ["f32", "f32", "f32", "i32", "i32"]
    for anchor, shape, boxes, names, indices in zip(*[[np.asarray(x) for x in o] for o in out], strict=True):
        moved = ((BOXES.reshape(-1, 2, 2) - anchor) / shape).reshape(-1, 4)
        cut = moved.clip(0, 1)
        if prune:
            inside = (cut[:, 2:] - cut[:, :2]).prod(1) / (moved[:, 2:] - moved[:, :2]).prod(1)
            keep = (inside >= prune["bbox_prune_threshold"]) & (inside > 0)
        else:
            center = (moved[:, :2] + moved[:, 2:]) / 2
            keep = ((center >= 0) & (center <= 1)).all(1)
        assert indices.tolist() == np.flatnonzero(keep).tolist()
        assert names.tolist() == labels[keep].tolist()
        now = dict(zip("xyXY", cut[keep].T, strict=True))
        now |= {"W": now["X"] - now["x"], "H": now["Y"] - now["y"]}
        np.testing.assert_allclose(boxes, given(now), atol=2e-5)


@pytest.mark.parametrize("labels", [None, np.int32([5, 6, 7]), np.int32([[5, 1], [6, 2], [7, 3]])])
@pytest.mark.parametrize("arguments", [{}, {"output_bbox_indices": True}, {"ltrb": True}])
def test_without_a_crop_all_stays(labels, arguments):
    def run(library):
        given = [BOXES] if labels is None else [BOXES, labels]
        return library.random_bbox_crop(*map(library.tensor, given), **arguments)

    both(run)


@pytest.mark.parametrize(
    "arguments",
    [
        {"thresholds": []},
        {"thresholds": [1.5]},
        {"threshold_type": "area"},
        {"num_attempts": 0},
        {"total_num_attempts": 0},
        {"bbox_prune_threshold": -0.5},
        {"scaling": [0.5, 0.3]},
        {"scaling": [0.5]},
        {"aspect_ratio": [2.0, 1.0]},
        {"aspect_ratio": [1.0, 1.0, 1.0]},
        {"bbox_layout": "xyXZ"},
        {"bbox_layout": "xyXY", "ltrb": True},
        {"input_shape": [200]},
        {"input_shape": [200, 100], "shape_layout": "HD"},
        {"crop_shape": [20, 10]},
        {"crop_shape": [20, 10], "input_shape": [200, 100], "scaling": [1.0, 1.0]},
        {"crop_shape": [20, 10], "input_shape": [200, 100], "allow_no_crop": True},
    ],
)
def test_refused(arguments):
    both(lambda library: library.random_bbox_crop(library.tensor(BOXES), **arguments), fails=RuntimeError)


@pytest.mark.parametrize(
    "boxes",
    [BOXES * 3, -BOXES, BOXES * np.float32(np.nan), BOXES[0], BOXES[:, :3].copy(), BOXES.astype(np.float64)],
)
def test_other_boxes_are_refused(boxes):
    both(lambda library: library.random_bbox_crop(library.tensor(boxes)), fails=RuntimeError)


def test_where_no_window_is_possible():
    """The real library gives a window of no size, or searches for ever; avida the whole image, or an error."""
    impossible = {"scaling": [0.3, 1.0], "aspect_ratio": [5.0, 6.0], "allow_no_crop": False}
    shapes = [
        np.asarray(library.random_bbox_crop(library.tensor(BOXES), total_num_attempts=3, quiet=True, **impossible)[1])
        for library in (avida, dali)
    ]
    assert [shape.tolist() for shape in shapes] == [[1, 1], [0, 0]]
    with pytest.raises(RuntimeError, match="total_num_attempts"):
        avida.random_bbox_crop(BOXES, **impossible)[0].evaluate()
