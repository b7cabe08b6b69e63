"""Masks: streams differ, so what is possible is compared."""

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import both, cases

MASK = np.random.default_rng(1).integers(0, 4, (4, 5))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64", "float32", "bool"])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"foreground": 1},
        {"foreground": 1, "threshold": 1.5},
        {"foreground": 1, "value": 1},
        {"foreground": 1, "value": 9},
        {"foreground": 1, "threshold": 7.0},
    ],
)
def test_random_mask_pixel(dtype, arguments):
    mask = MASK.astype(dtype)
    drawn = []
    for library in (avida, dali):
        out = library.segmentation.random_mask_pixel(
            library.batch([mask] * 600), rng=library.random.RNG(seed=5), **arguments
        )
        assert str(out.dtype) in ("i64", "int64")
        drawn.append({tuple(np.asarray(place).tolist()) for place in out})
    assert drawn[0] == drawn[1]


OBJECTS = np.zeros((6, 8), np.uint8)
OBJECTS[0:2, 0:3] = OBJECTS[3, 4:8] = OBJECTS[5, 0] = 1
OBJECTS[4:6, 2:4] = 2
OBJECTS[0, 6] = 3
CLASS = {"output_class": True}


def objects(library, mask, count, arguments):
    """How often each result comes."""
    out = library.segmentation.random_object_bbox(
        library.batch([mask] * count), rng=library.random.RNG(seed=5), **arguments
    )
    outputs = out if isinstance(out, tuple | list) else (out,)
    assert {str(o.dtype) for o in outputs} == {"i32"}
    rows = [[tuple(np.asarray(x).ravel().tolist()) for x in o] for o in outputs]
    found, counts = np.unique(
        [sum(row, ()) + tuple(map(len, row)) for row in zip(*rows, strict=True)], axis=0, return_counts=True
    )
    return {tuple(row): number / count for row, number in zip(found.tolist(), counts.tolist(), strict=True)}


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int32", "uint32", "bool"])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        CLASS,
        {"format": "start_end"},
        {"format": "box"} | CLASS,
        {"ignore_class": True},
        {"ignore_class": True, "k_largest": 2},
        {"k_largest": 1} | CLASS,
        {"threshold": [2, 2]} | CLASS,
        {"threshold": 2} | CLASS,
        {"threshold": [9, 9]} | CLASS,
        {"threshold": [1, 4], "k_largest": 1} | CLASS,
        {"foreground_prob": 0.3} | CLASS,
        {"background": 1} | CLASS,
        {"background": 9} | CLASS,
        {"classes": [1, 2]} | CLASS,
        {"classes": [1, 1, 7]} | CLASS,
        {"classes": [0, 1], "foreground_prob": 0.5} | CLASS,
        {"classes": [7]} | CLASS,
        {"classes": [3, 1], "class_weights": [1.0, 2.0]} | CLASS,
        {"class_weights": [1.0, 2.0, 3.0]} | CLASS,
        {"class_weights": [1.0, 0.0, 3.0, 5.0], "threshold": [1, 2]} | CLASS,
        {"class_weights": [1.0, 2.0, 3.0], "background": 2} | CLASS,
        {"cache_objects": True},
    ],
)
def test_random_object_bbox(dtype, arguments):
    if dtype != "uint8" and len(arguments) > 1:
        return  # types and choices have nothing to do with each other
    ours, theirs = (objects(library, OBJECTS.astype(dtype), 1024, arguments) for library in (avida, dali))
    assert ours.keys() == theirs.keys()
    assert all(abs(ours[key] - theirs[key]) < 0.08 for key in ours)


@pytest.mark.parametrize("shape", [(30,), (9, 11), (4, 5, 6)])
def test_objects_of_noise(shape):
    mask = np.random.default_rng(3).integers(0, 3, shape).astype(np.uint8)
    ours, theirs = (objects(library, mask, 2048, {"ignore_class": True}) for library in (avida, dali))
    assert len(ours.keys() ^ theirs.keys()) <= 2, "all are likely, but one may be missed"


@pytest.mark.parametrize(
    "arguments",
    [
        {"format": "corners"},
        {"k_largest": 0},
        {"threshold": [2, 2, 2]},
        {"classes": [0, 1], "background": 0},
        {"classes": [1, 2], "class_weights": [1.0]},
        {"ignore_class": True, "output_class": True},
        {"ignore_class": True, "classes": [1]},
        {"ignore_class": True, "class_weights": [1.0]},
    ],
)
def test_random_object_bbox_refuses(arguments):
    both(
        lambda library: library.segmentation.random_object_bbox(library.tensor(OBJECTS), **arguments),
        fails=RuntimeError,
    )


def test_masks_without_objects():
    for mask in (np.zeros((0, 3), np.uint8), np.zeros((3, 3), np.uint8)):
        both(
            lambda library, mask=mask: library.segmentation.random_object_bbox(library.tensor(mask), output_class=True)
        )
    for mask in (np.uint8(1), OBJECTS.astype(np.float32)):
        both(
            lambda library, mask=mask: library.segmentation.random_object_bbox(library.tensor(mask)), fails=RuntimeError
        )


POLYGONS = np.int32([[0, 0, 3], [1, 3, 7], [2, 7, 10]])
VERTICES = np.arange(26).reshape(13, 2)


def ids(*numbers):
    return np.int32(numbers)


@pytest.mark.parametrize("reindex", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int64", "float64", "uint8", "bool"])
@pytest.mark.parametrize(
    ("wanted", "fails"),
    cases(
        [
            ids(1),
            ids(2, 0),
            ids(1, 0, 2),
            ids(),
        ],
        refused=[
            ids(5),
            ids(2, 2),
            np.int64([1]),
            ids(1)[0],
        ],
    ),
)
def test_select_masks(wanted, fails, dtype, reindex):
    vertices = VERTICES.astype(dtype)
    both(
        lambda library: library.segmentation.select_masks(
            *map(library.tensor, (wanted, POLYGONS, vertices)), reindex_masks=reindex
        ),
        fails=fails,
    )


@pytest.mark.parametrize(
    ("polygons", "fails"),
    cases(
        [
            np.int32([[1, 3, 5]]),
            np.int32([[1, 3, 3]]),
            np.int32([[0, 0, 100], [1, 3, 7]]),
        ],
        refused=[
            np.int32([[1, 7, 3]]),
            np.int32([[1, 3, 14]]),
            np.int32([[1, -1, 4]]),
            np.int32([[1, 0]]),
            np.int32([1, 0, 3]),
            np.int64([[1, 3, 5]]),
        ],
    ),
)
def test_polygons(polygons, fails):
    both(
        lambda library: library.segmentation.select_masks(*map(library.tensor, (ids(1), polygons, VERTICES))),
        fails=fails,
    )


def test_masks_of_several_parts():
    """The real library gives the last part alone."""
    polygons = np.int32([[1, 0, 3], [0, 3, 7], [1, 7, 10]])
    ours, theirs = (
        np.asarray(library.segmentation.select_masks(*map(library.tensor, (ids(1), polygons, VERTICES)))[0])
        for library in (avida, dali)
    )
    assert ours.tolist() == [[1, 0, 3], [1, 3, 6]]
    assert theirs.tolist() == [[1, 0, 3]]
