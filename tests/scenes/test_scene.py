"""Scene: what it takes, what it refuses, and what comes out."""

import copy
import pickle

import numpy as np
import pytest
import torch

import avida
from tests.scenes.made import COUNTS, arrays, scene


@pytest.fixture
def images():
    return avida.as_batch([np.zeros((40, 60, 3), np.uint8), np.zeros((30, 20, 3), np.uint8)], layout="HWC")


def test_members_are_what_was_given():
    made = scene(owners=["a"] and [[i] * count for i, count in enumerate(COUNTS)], image_id=[7, 8, 9, 10, 11])
    assert [len(each) for each in arrays(made.boxes)] == COUNTS
    assert made.boxes.dtype == avida.float32
    assert made.masks.dtype == avida.uint8
    assert [each.item() for each in arrays(made.image_id)] == [7, 8, 9, 10, 11]
    assert list(made.fields) == ["mask", "boxes", "rotated", "masks", "keypoints", "labels", "owners", "image_id"]
    assert repr(made).startswith("Scene(5 samples: image, mask, boxes")
    assert avida.Scene(made.image).boxes is None
    with pytest.raises(AttributeError, match="this Scene has no 'bboxes'; it has image, mask, boxes"):
        print(made.bboxes)
    with pytest.raises(AttributeError, match=r"a Scene does not change; scene.replace\(boxes=...\)"):
        setattr(made, "boxes", None)  # noqa: B010


@pytest.mark.parametrize(
    ("format", "relative", "numbers"),
    [
        ("xyxy", False, [6, 8, 18, 20]),
        ("xywh", False, [6, 8, 12, 12]),
        ("cxcywh", False, [12, 14, 12, 12]),
        ("xyxy", True, [0.1, 0.2, 0.3, 0.5]),
        ("cxcywh", True, [0.2, 0.35, 0.2, 0.3]),
    ],
)
def test_formats(images, format, relative, numbers):
    boxes = [[numbers], []]
    made = avida.Scene(images, boxes=boxes, format=format, relative=relative)
    np.testing.assert_allclose(np.asarray(made.boxes.tensors[0]), [[6, 8, 18, 20]], rtol=1e-6)
    assert made.boxes.tensors[1].shape == (0, 4)
    np.testing.assert_allclose(np.asarray(made.boxes_as(format, relative).tensors[0]), [numbers], rtol=1e-6)
    relative_points = avida.Scene(images, keypoints=[[[[0.5, 0.5]]], [[[0, 1]]]], relative=True)
    np.testing.assert_array_equal(np.concatenate(arrays(relative_points.keypoints)), [[[30, 20]], [[0, 30]]])


WRONG = [
    (
        {"boxes": [[[0, 0, 1, 1]], []], "labels": [[1], [2]]},
        'sample 1: .*as many rows in "labels" as in "boxes", 0, got 1',
    ),
    ({"boxes": [[[0, 0, 1, 1, 1]], []]}, 'expected rows of 4 numbers in "boxes", got the shape'),
    (
        {"boxes": [[[0, 0, 1, 2.0**24]], []]},
        r'sample 0: expected pixels below 2\^24 in "boxes", got 1.* in row 0',
    ),
    ({"boxes": [[], [[0, np.nan, 1, 1]]]}, r'sample 1: expected pixels below 2\^24 in "boxes", got nan'),
    ({"rotated": [[[0, 0, 1, 1]], []]}, "centre, extents, angle"),
    ({"keypoints": [[[1, 2]], []]}, "expected x, y and perhaps visibility"),
    ({"mask": [np.zeros((40, 60), np.uint8), np.zeros((31, 20), np.uint8)]}, 'sample 1: expected "mask" of the image'),
    (
        {"masks": [np.zeros((1, 40, 60), np.uint8), np.zeros((1, 20, 30), np.uint8)]},
        'sample 1: expected "masks" of the',
    ),
    ({"labels": [1, 2]}, 'expected a row for each object in "labels", got one number'),
]


@pytest.mark.parametrize(("fields", "message"), WRONG)
def test_what_does_not_fit_names_sample_and_field(images, fields, message):
    with pytest.raises((ValueError, RuntimeError), match="^Scene: .*" + message):
        avida.Scene(images, **fields).evaluate()


def test_what_is_wrong_at_the_call(images):
    with pytest.raises(ValueError, match="expected boxes for each of 2 images, got 1"):
        avida.Scene(images, boxes=[[[0, 0, 1, 1]]])
    with pytest.raises(TypeError, match="the image is a Batch, boxes is a single sample"):
        avida.Scene(images, boxes=avida.as_tensor(np.zeros((1, 4))))
    with pytest.raises(TypeError, match="run lengths of each object in masks, got two axes of f64"):
        avida.Scene(images, masks=[np.zeros((1, 8)), np.zeros((1, 8))])
    with pytest.raises(ValueError, match="this Scene has no boxes"):
        avida.Scene(images).boxes_as("xywh")


def test_no_objects_have_the_types_of_others(images):
    names = ("boxes", "rotated", "masks", "keypoints", "labels")
    empty = avida.Scene(images, **{name: [[], []] for name in names}).evaluate()
    assert {name: value.shape for name, value in empty.fields.items()} == {
        "boxes": [(0, 4)] * 2,
        "rotated": [(0, 5)] * 2,
        "masks": [(0, 40, 60), (0, 30, 20)],
        "keypoints": [(0, 1, 3)] * 2,
        "labels": [(0,)] * 2,
    }
    assert [empty.fields[name].dtype for name in names] == [scene().fields[name].dtype for name in names]
    assert empty.torch()[1][0]["labels"].dtype == torch.int64
    some = avida.Scene(images, keypoints=[[], [[[1, 2], [3, 4]]]], masks=[[], np.ones((1, 30, 20), np.uint8)])
    assert some.keypoints.shape == [(0, 2, 2), (1, 2, 2)]
    assert some.masks.shape == [(0, 40, 60), (1, 30, 20)]


def test_fields_of_the_image(images):
    made = avida.Scene(images, boxes=[[], []], image_id=[7, 8], weather=[1, 2], per_image="weather")
    assert [int(each) for each in arrays(made.evaluate().weather)] == [1, 2]


def test_what_is_wrong_is_said(images):
    boxes = [[[0, 0, 1, 1]], []]
    with pytest.raises(ValueError, match="Scene: expected one of xyxy, xywh, cxcywh as format, got 'yxyx'"):
        avida.Scene(images, format="yxyx")  # type: ignore
    with pytest.raises(ValueError, match="boxes_as: expected one of xyxy"):
        avida.Scene(images, boxes=boxes).boxes_as("yxyx")  # type: ignore
    with pytest.raises(ValueError, match='"matrix" is something else of every Scene; give the field another name'):
        avida.Scene(images, matrix=boxes)
    for share in (-0.1, 1.1, np.nan, 50):
        with pytest.raises(ValueError, match="clean: expected a share from 0 to 1 as min_visible, got"):
            avida.Scene(images, boxes=boxes).clean(min_visible=share)


def test_replace_takes_what_a_scene_takes():
    array = np.zeros((10, 12, 3), np.uint8)
    made = avida.Scene(array, mask=np.zeros((10, 12, 1), np.uint8), boxes=[[0, 0, 1, 1]])
    assert np.asarray(made.replace(image=array + 1).image).max() == 1
    assert list(made.replace(boxes=None).fields) == ["mask"]
    flat = made.replace(mask=np.zeros((10, 12), np.uint8))
    assert avida.resize(flat, size=[4, 6]).mask.shape == (4, 6)


def test_replace_checks_again(images):
    made = avida.Scene(images, boxes=[[[0, 0, 1, 1]], []])
    with pytest.raises(RuntimeError, match='expected as many rows in "labels"'):
        made.replace(labels=[[1], [2]]).evaluate()
    assert np.asarray(made.replace(labels=[[1], []]).labels.tensors[0]) == [1]
    assert made.replace(image=images).image is images


def test_clean_drops_rows_of_all_fields():
    for seed in range(10):
        made = avida.crop(scene(seed, number=[np.arange(count) for count in COUNTS]), crop=[20, 25], crop_pos_x=0)
        clean = made.clean(min_visible=0.3, min_size=4)
        parts = (made.image, made.boxes, clean.boxes, clean.number, clean.labels, made.labels, clean.keypoints)
        for image, boxes, kept, numbers, labels, before, points in zip(*map(arrays, parts), strict=True):
            size = np.array([image.shape[1], image.shape[0]] * 2)
            clipped = np.clip(boxes, 0, size)
            extents, whole = clipped[:, 2:] - clipped[:, :2], boxes[:, 2:] - boxes[:, :2]
            wanted = (extents.prod(1) >= 0.3 * whole.prod(1)) & (extents.min(1, initial=99) >= 4)
            np.testing.assert_array_equal(numbers, np.flatnonzero(wanted))
            np.testing.assert_array_equal(kept, clipped[wanted])
            np.testing.assert_array_equal(labels, before[wanted])
            inside = (points[..., :2] >= 0).all(-1) & (points[..., :2] < size[:2]).all(-1)
            np.testing.assert_array_equal(points[..., 2] > 0, inside)


def test_nothing_is_lost_before_clean(images):
    """What leaves the image and comes back is whole again."""
    made = avida.Scene(images, boxes=[[[0, 0, 10, 10]], []])
    gone = avida.slice(made, start=[5, 5], shape=[10, 10], axis_names="HW")
    np.testing.assert_array_equal(np.asarray(gone.boxes.tensors[0]), [[-5, -5, 5, 5]])
    assert gone.clean(min_visible=0.5).boxes.tensors[0].shape == (0, 4)
    assert gone.clean(min_visible=0.25).boxes.tensors[0].shape == (1, 4)


@pytest.mark.parametrize("kind", ["rotated", "masks", "keypoints"])
def test_clean_without_boxes(kind):
    image = np.zeros((20, 20, 3), np.uint8)
    masks = np.zeros((2, 20, 20), bool)
    masks[0, :5] = True
    given = {
        "rotated": [[10, 10, 4, 4, 45], [30, 10, 8, 8, 0]],
        "masks": masks,
        "keypoints": [[[1, 1, 2], [3, 3, 2]], [[21, 3, 2], [3, -3, 2]]],
    }
    assert np.asarray(avida.Scene(image, **{kind: given[kind]}, labels=[5, 6]).clean().labels).tolist() == [5]
    half = avida.Scene(image, rotated=[[20, 10, 8, 8, 45]], labels=[1])
    assert np.asarray(half.clean(min_visible=0.49).labels).tolist() == [1]
    assert np.asarray(half.clean(min_visible=0.51).labels).tolist() == []


def test_torch():
    made = scene(image_id=[7, 8, 9, 10, 11])
    images, targets = made.torch(boxes="xywh")
    assert [tuple(image.shape) for image in images] == made.image.shape
    for target, count, number in zip(targets, COUNTS, range(7, 12), strict=True):
        assert target["boxes"].shape == (count, 4)
        assert target["boxes"].dtype == torch.float32
        assert target["labels"].dtype == torch.int64
        assert target["masks"].dtype == torch.bool
        assert target["image_id"].item() == number
    images, targets = avida.resize(made, size=[32, 48]).torch()
    assert images.shape == (5, 32, 48, 3)
    image, targets = avida.Scene(np.zeros((4, 5, 3), np.uint8), labels=[1]).torch()
    assert image.shape == (4, 5, 3)
    assert targets[0]["labels"].tolist() == [1]


def test_single_samples():
    made = avida.Scene(np.zeros((40, 60, 3), np.uint8), boxes=[[0, 0, 10, 10]], mask=np.zeros((40, 60, 1), np.uint8))
    made = avida.flip(avida.resize(made, size=[20, 30]))
    np.testing.assert_array_equal(np.asarray(made.boxes), [[25, 0, 30, 5]])
    assert made.mask.shape == (20, 30, 1)
    np.testing.assert_array_equal(np.asarray(made.matrix), [[-0.5, 0, 30], [0, 0.5, 0], [0, 0, 1]])
    with pytest.raises(TypeError, match="single sample"):
        print(made.batch_size)


def test_ignored_pixels_come_from_outside():
    made = avida.Scene(np.zeros((10, 10, 3), np.uint8), mask=np.ones((10, 10), np.uint8), ignore=255)
    assert set(np.unique(np.asarray(avida.rotate(made, angle=30).mask))) == {1, 255}
    assert set(np.unique(np.asarray(avida.letterbox(made, size=[20, 10]).mask))) == {1, 255}
    padded = avida.crop(made, crop=[12, 12], out_of_bounds_policy="pad")
    assert (np.asarray(padded.mask) == 255).sum() == 144 - 100


def test_matrix_of_nothing(images):
    np.testing.assert_array_equal(np.asarray(avida.Scene(images).matrix), [np.eye(3)] * 2)


def test_copies_are_the_same():
    made = scene()
    assert copy.copy(made) is made
    again = pickle.loads(pickle.dumps(avida.flip(made)))
    for name in ("boxes", "matrix", "image"):
        for a, b in zip(arrays(getattr(again, name)), arrays(getattr(avida.flip(made), name)), strict=True):
            np.testing.assert_array_equal(a, b)
