"""segmentation.random_object_bbox: which objects are found and drawn."""

from collections import Counter

import numpy as np
import pytest

import avida as ndd
from tests.op_case import INTEGERS, RANDOM_INPUTS

MASK = np.zeros((6, 8), np.uint8)
MASK[0:2, 0:3] = MASK[3, 4:8] = MASK[5, 0] = 1
MASK[4:6, 2:4] = 2
MASK[0, 6] = 3
# For each label, start and end of the objects.
OBJECTS = {1: [(0, 0, 2, 3), (3, 4, 4, 8), (5, 0, 6, 1)], 2: [(4, 2, 6, 4)], 3: [(0, 6, 1, 7)]}
ALL = (0, 0, 6, 8)

RANDOM_INPUTS["segmentation.random_object_bbox"] = lambda: [ndd.as_batch([MASK] * 50)]


def drawn(mask, count=2000, format="box", **arguments):
    """How often each result comes."""
    out = ndd.segmentation.random_object_bbox(
        ndd.as_batch([mask] * count), rng=ndd.random.RNG(4), format=format, **arguments
    )
    results = [[*map(np.asarray, o)] for o in (out if isinstance(out, tuple) else (out,))]
    made = Counter(tuple(np.concatenate([x.ravel() for x in one]).tolist()) for one in zip(*results, strict=True))
    return {key: number / count for key, number in made.items()}


def assert_shares(found, expected):
    assert found.keys() == expected.keys()
    for key, share in expected.items():
        assert abs(found[key] - share) < 0.045, key


def shares(weights, objects=OBJECTS):
    total = sum(weights.values())
    return {
        (*box, label): weight / total / len(objects[label])
        for label, weight in weights.items()
        for box in objects[label]
    }


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_class_then_one_of_its_objects(dtype):
    assert_shares(drawn(MASK.astype(dtype), output_class=True), shares({1: 1, 2: 1, 3: 1}))


def test_booleans_have_one_class():
    boxes = [box for boxes in OBJECTS.values() for box in boxes]
    mask = MASK.astype(bool)
    mask[4:6, 2:4] = False
    boxes.remove((4, 2, 6, 4))
    assert_shares(drawn(mask, output_class=True), {(*box, 1): 0.25 for box in boxes})


def test_formats():
    first = np.zeros((3, 4), np.int32)
    first[1:, 2] = 5
    assert drawn(first, 1, "box") == {(1, 2, 3, 3): 1}
    assert drawn(first, 1, "start_end") == {(1, 2, 3, 3): 1}
    assert drawn(first, 1, "anchor_shape") == {(1, 2, 2, 1): 1}
    start, shape, label = ndd.segmentation.random_object_bbox(first, output_class=True)
    assert (start.shape, shape.shape, label.shape) == ((2,), (2,), ())
    assert start.dtype == shape.dtype == label.dtype == ndd.int32


def test_choices():
    everything = {box: 0.2 for boxes in OBJECTS.values() for box in boxes}
    assert_shares(drawn(MASK, ignore_class=True), everything)
    assert_shares(drawn(MASK, ignore_class=True, k_largest=2), {(0, 0, 2, 3): 0.5, (3, 4, 4, 8): 0.25 + 0.25})
    largest = {label: boxes[:1] for label, boxes in OBJECTS.items()}
    assert_shares(drawn(MASK, k_largest=1, output_class=True), shares({1: 1, 2: 1, 3: 1}, largest))
    assert_shares(drawn(MASK, threshold=[2, 2]), {(0, 0, 2, 3): 0.5, (4, 2, 6, 4): 0.5})
    assert_shares(drawn(MASK, threshold=2), {(0, 0, 2, 3): 0.5, (4, 2, 6, 4): 0.5})
    assert_shares(drawn(MASK, threshold=[1, 4], k_largest=1), {(3, 4, 4, 8): 1})
    assert_shares(drawn(MASK, threshold=[7, 1], output_class=True), {(*ALL, 0): 1})
    assert_shares(drawn(MASK, classes=[1, 2], output_class=True), shares({1: 1, 2: 1}))
    assert_shares(drawn(MASK, classes=[1, 1, 2, 9], output_class=True), shares({1: 2, 2: 1}))
    assert_shares(drawn(MASK, classes=[9], output_class=True), {(*ALL, 0): 1})
    assert_shares(drawn(MASK, classes=[3, 1], class_weights=[1, 2], output_class=True), shares({3: 1, 1: 2}))
    assert_shares(drawn(MASK, class_weights=[1, 2, 3], output_class=True), shares({1: 1, 2: 2, 3: 3}))
    assert_shares(drawn(MASK, class_weights=[1, 0, 3, 9], output_class=True), shares({1: 1, 3: 3}))
    assert_shares(drawn(MASK, class_weights=[0, 0, 0], output_class=True), {(*ALL, 0): 1})


def test_background():
    zeros = {0: [ALL, (4, 4, 6, 8)]}
    assert_shares(drawn(MASK, background=1, output_class=True), shares({0: 1, 2: 1, 3: 1}, OBJECTS | zeros))
    weighted = drawn(MASK, background=2, class_weights=[1, 2, 3], output_class=True)
    assert_shares(weighted, shares({0: 1, 1: 2, 3: 3}, OBJECTS | zeros))
    half = {key: share / 2 for key, share in shares({1: 1, 2: 1, 3: 1}).items()}
    assert_shares(drawn(MASK, foreground_prob=0.5, output_class=True), half | {(*ALL, 0): 0.5})
    mask = MASK.astype(np.int32)
    for classes, background in (([1], 0), ([0, 5], -1), ([-5, 0], -6), ([0, -(2**31)], 2**31 - 1)):
        assert drawn(mask, 1, classes=classes, foreground_prob=0.0, output_class=True) == {(*ALL, background): 1}


def flooded(mask, background):
    """The boxes of all objects, found by walking from element to element."""
    left = {tuple(place) for place in np.argwhere(mask != background).tolist()}
    found = []
    while left:
        todo = [left.pop()]
        object_ = []
        while todo:
            place = todo.pop()
            object_.append(place)
            for axis in range(mask.ndim):
                for step in (-1, 1):
                    beside = (*place[:axis], place[axis] + step, *place[axis + 1 :])
                    if beside in left and mask[beside] == mask[place]:
                        left.remove(beside)
                        todo.append(beside)
        found.append((*np.min(object_, 0).tolist(), *(np.max(object_, 0) + 1).tolist()))
    return set(found)


@pytest.mark.parametrize("shape", [(40,), (12, 17), (1, 33), (33, 1), (5, 6, 7), (3, 2, 4, 3)])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
def test_objects_of_any_form(shape, dtype):
    rng = np.random.default_rng([*shape, *map(ord, dtype)])
    mask = (rng.random(shape) ** 2 * 3).astype(dtype)
    expected = flooded(mask, 0)
    assert set(drawn(mask, 30 * len(expected), ignore_class=True)) == expected


def test_spirals():
    """Stretches that only meet at the end."""
    mask = np.ones((41, 41), np.uint8)
    place, step, seen = np.array([1, 1]), np.array([0, 2]), np.zeros((41, 41), bool)
    while True:
        ahead = place + step
        if not ((ahead > 0).all() and (ahead < 40).all()) or seen[tuple(ahead)]:
            step = np.array([step[1], -step[0]])
            ahead = place + step
            if seen[tuple(ahead)]:
                break
        seen[tuple(place)] = True
        mask[tuple(place)] = mask[tuple((place + ahead) // 2)] = mask[tuple(ahead)] = 0
        place = ahead
    for background in (0, 1):
        assert set(drawn(mask, 20, background=background, ignore_class=True)) == flooded(mask, background)


def test_long_rows():
    """Rows are read in words; changes may be anywhere in them."""
    rng = np.random.default_rng(0)
    for dtype in ("uint8", "uint16", "int32", "int64"):
        for width in (1, 7, 8, 9, 64, 65):
            mask = np.repeat(rng.integers(0, 3, width), rng.integers(1, 12, width))[:width].astype(dtype)
            expected = flooded(mask, 0) or {(0, width)}
            assert set(drawn(mask, 40 * len(expected), ignore_class=True)) == expected


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)])
def test_empty_masks(shape):
    out = ndd.segmentation.random_object_bbox(np.zeros(shape, np.uint8), format="box", output_class=True)
    assert np.asarray(out[0]).tolist() == [*[0] * len(shape), *shape]
    assert np.asarray(out[1]) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"format": "corners"},
        {"k_largest": 0},
        {"threshold": [2, 2, 2]},
        {"threshold": []},
        {"classes": [0, 1], "background": 1},
        {"classes": [0, 1], "class_weights": [1]},
        {"class_weights": [-1, 2]},
        {"class_weights": [np.nan]},
        {"class_weights": [np.inf]},
        {"ignore_class": True, "output_class": True},
        {"ignore_class": True, "classes": [1]},
        {"ignore_class": True, "class_weights": [1]},
    ],
)
def test_refused(arguments):
    with pytest.raises(RuntimeError, match=r"expected|must be"):
        ndd.segmentation.random_object_bbox(MASK, **arguments)[0].evaluate()


def test_masks_that_are_none():
    for mask in (MASK.astype(np.float32), np.uint8(3), MASK.astype(np.int64) << 40):
        with pytest.raises(RuntimeError, match="expected"):
            ndd.segmentation.random_object_bbox(mask)[0].evaluate()
