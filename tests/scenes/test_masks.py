"""Masks of objects as polygons and run lengths: drawn, moved and measured as the dense ones, and as COCO's tools do."""

import numpy as np
import pytest
from pycocotools import mask as coco

import avida
from avida.augment import maybe
from tests.scenes.made import arrays, extents

HEIGHT, WIDTH = 50, 70
TRIANGLE, SQUARE = [5.0, 5.0, 40.25, 8.5, 20.0, 40.75], [50.0, 20.0, 60.0, 20.0, 60.0, 30.0, 50.0, 30.0]
IMAGES = avida.as_batch(np.zeros((2, HEIGHT, WIDTH, 3), np.uint8), layout="HWC")
POLYGONS = [[[TRIANGLE, SQUARE], [SQUARE]], []]


def drawn(polygons):
    return coco.decode(coco.merge(coco.frPyObjects(polygons, HEIGHT, WIDTH)))


def described(mask, compressed):
    """Run lengths as COCO's files have them."""
    encoded = coco.encode(np.asfortranarray(mask))
    if compressed:
        return encoded
    flat = mask.ravel(order="F")
    ends = np.flatnonzero(np.diff(flat)) + 1
    counts = np.diff([0, *ends, flat.size]).tolist()
    return {"size": encoded["size"], "counts": counts if flat[0] == 0 else [0, *counts]}


def test_polygons_are_drawn_as_by_coco():
    scene = avida.Scene(IMAGES, masks=POLYGONS, labels=[[1, 2], []])
    assert scene.masks.dtype == avida.float32
    first, second = arrays(scene.masks_as("dense"))
    np.testing.assert_array_equal(first, [drawn([TRIANGLE, SQUARE]), drawn([SQUARE])])
    assert second.shape == (0, HEIGHT, WIDTH)
    arrays_of_corners = [[[np.reshape(part, (-1, 2)) for part in each] for each in sample] for sample in POLYGONS]
    again = avida.Scene(IMAGES, masks=arrays_of_corners)
    np.testing.assert_array_equal(arrays(again.masks)[0], arrays(scene.masks)[0])


def test_random_polygons_are_drawn_as_by_coco():
    rng = np.random.default_rng(0)
    polygons = [[rng.uniform((-10, -10), (80, 60), (rng.integers(3, 9), 2)).ravel().tolist()] for _ in range(40)]
    scene = avida.Scene(IMAGES, masks=[polygons, []])
    np.testing.assert_array_equal(arrays(scene.masks_as("dense"))[0], [drawn(each) for each in polygons])


@pytest.mark.parametrize("compressed", [False, True])
def test_run_lengths(compressed):
    rng = np.random.default_rng(0)
    masks = [drawn([TRIANGLE]), np.ones((HEIGHT, WIDTH), np.uint8), np.zeros((HEIGHT, WIDTH), np.uint8)]
    masks.append(rng.integers(0, 2, (HEIGHT, WIDTH)).astype(np.uint8))
    scene = avida.Scene(IMAGES, masks=[[described(each, compressed) for each in masks], []])
    assert scene.masks.dtype == avida.uint32
    np.testing.assert_array_equal(arrays(scene.masks_as("dense"))[0], masks)
    dictionaries = scene.masks_as("coco")
    assert [each["counts"] for each in dictionaries[0]] == [described(each, True)["counts"] for each in masks]
    np.testing.assert_array_equal(arrays(avida.Scene(IMAGES, masks=dictionaries).masks)[0], arrays(scene.masks)[0])
    dense = avida.Scene(IMAGES, masks=[np.stack(masks), np.zeros((0, HEIGHT, WIDTH), np.uint8)])
    np.testing.assert_array_equal(arrays(dense.masks_as("run_lengths"))[0], arrays(scene.masks)[0])


def test_polygons_beside_run_lengths_are_drawn():
    mixed = [[[SQUARE], described(drawn([TRIANGLE]), True)], [[TRIANGLE]]]
    scene = avida.Scene(IMAGES, masks=mixed)
    assert scene.masks.dtype == avida.uint32
    first, second = arrays(scene.masks_as("dense"))
    np.testing.assert_array_equal(first, [drawn([SQUARE]), drawn([TRIANGLE])])
    np.testing.assert_array_equal(second, [drawn([TRIANGLE])])


STEPS = [
    ("flip", lambda x: avida.flip(x), 0.02),
    ("crop", lambda x: avida.crop(x, crop=[40, 40]), 0),
    ("resize", lambda x: avida.resize(x, size=[100, 90]), 0.06),
    ("rotate", lambda x: avida.rotate(x, angle=25, fill_value=0), 0.06),
    ("affine", lambda x: avida.augment.affine(x, angle=-30, scale=1.1), 0.06),
    ("elastic", lambda x: avida.augment.elastic(x, alpha=30, sigma=8, rng=avida.random.RNG(3)), 0.06),
    ("optical", lambda x: avida.augment.optical_distortion(x, k=0.3), 0.06),
    ("maybe", lambda x: maybe(x, avida.rotate, p=0.5, angle=20, keep_size=True, rng=avida.random.RNG(1)), 0.06),
]


@pytest.mark.parametrize(("name", "step", "share"), STEPS, ids=[step[0] for step in STEPS])
def test_all_forms_go_the_same_way(name, step, share):
    """Polygons as points, the others as pixels: they differ where an outline crosses pixels."""
    plain = [drawn([TRIANGLE, SQUARE]), drawn([SQUARE])]
    dense = [np.stack(plain), np.zeros((0, HEIGHT, WIDTH), np.uint8)]
    forms = [POLYGONS, [[described(each, True) for each in plain], []], dense]
    polygons, runs, pixels = (step(avida.Scene(IMAGES, masks=form, boxes="masks")) for form in forms)
    for each, dtype in ((polygons, avida.float32), (runs, avida.uint32), (pixels, avida.uint8)):
        assert each.masks.dtype == dtype
    drawn_polygons, from_runs, wanted = (arrays(each.masks_as("dense"))[0] for each in (polygons, runs, pixels))
    np.testing.assert_array_equal(from_runs, wanted)
    assert (drawn_polygons != wanted).sum() <= share * max(wanted.sum(), 1) + 8
    np.testing.assert_array_equal(arrays(runs.boxes)[0], arrays(pixels.boxes)[0])
    clean = [each.clean() for each in (polygons, runs, pixels)]
    for one in clean[:2]:
        assert np.abs(arrays(one.boxes)[0] - arrays(clean[2].boxes)[0]).max(initial=0) <= 1.5


def test_boxes_of_masks_and_what_is_visible():
    made = avida.Scene(IMAGES, masks=POLYGONS, boxes="masks")
    np.testing.assert_allclose(arrays(made.boxes)[0], [[5, 5, 60, 40.75], [50, 20, 60, 30]], rtol=1e-6)
    dense = avida.Scene(IMAGES, masks=arrays(made.masks_as("dense")), boxes="masks")
    for mask, box in zip(arrays(dense.masks)[0], arrays(dense.boxes)[0], strict=True):
        np.testing.assert_array_equal(extents(mask), box)
    cut = avida.crop(avida.Scene(IMAGES, masks=POLYGONS), crop=[50, 55], crop_pos_x=0)  # half of the square is left
    assert len(arrays(cut.clean(min_visible=0.45).masks)[0]) == 2
    assert len(arrays(cut.clean(min_visible=0.55).masks)[0]) == 1
    beside = avida.crop(avida.Scene(IMAGES, masks=POLYGONS, boxes="masks"), crop=[50, 45], crop_pos_x=0).clean()
    np.testing.assert_allclose(arrays(beside.boxes)[0], [[5, 5, 40.25, 40.75]], rtol=1e-5)  # not what lies outside
    replaced = made.replace(masks=[[[SQUARE]], [[SQUARE], [SQUARE]]], boxes="masks")
    assert replaced.boxes.shape == [(1, 4), (2, 4)]


def test_torch_gets_pixels():
    torch = pytest.importorskip("torch")
    _, targets = avida.Scene(IMAGES, masks=POLYGONS).torch()
    assert targets[0]["masks"].dtype == torch.bool
    assert targets[0]["masks"].shape == (2, HEIGHT, WIDTH)


def test_boxes_around_ellipses_in_turned_boxes():
    """As the mask of an ellipse has them."""
    rows, columns = np.indices((120, 160)) + 0.5
    mask = (((columns - 80) / 40) ** 2 + ((rows - 60) / 20) ** 2 < 1).astype(np.uint8)
    image = np.zeros((120, 160, 3), np.uint8)
    matrix = np.float32([[0.9, 0.2, 4], [-0.1, 0.9, 8], [0.001, 0.0015, 1]])
    for step in (
        lambda x: avida.rotate(x, angle=40, fill_value=0),
        lambda x: avida.experimental.warp_perspective(x, matrix=matrix),
    ):
        wanted = step(avida.Scene(image, masks=mask[None], boxes="masks"))
        made = step(avida.Scene(image, boxes=[[40, 40, 120, 80]], box_shape="ellipse"))
        assert np.abs(np.asarray(made.boxes) - np.asarray(wanted.boxes)).max() < 1
    upright = avida.flip(avida.Scene(image, boxes=[[40, 40, 120, 80]], box_shape="ellipse"))
    np.testing.assert_array_equal(np.asarray(upright.boxes), [[40, 40, 120, 80]])


WRONG = [
    ([[[[1.0, 2.0, 3.0]]], []], "sample 0: expected x and y of each corner"),
    ([[], [{"size": [3, 3], "counts": [4]}]], "sample 1: expected run lengths of 3 x 3 pixels"),
    ([[], [{"counts": [4]}]], 'sample 1: expected "size"'),
    ([[], [{"size": [3, 3], "counts": "\x7f"}]], "sample 1: the string of run lengths"),
    ([[], [{"size": [3, 3], "counts": "o" * 20}]], "sample 1: the string of run lengths"),
    ([[], [{"size": [3, 3], "counts": [9]}]], 'sample 1: expected "masks" of the image\'s size'),
    ([[], [[[1.0, 2.0, 2.0**25, 3.0, 4.0, 5.0]]]], 'sample 1: expected pixels below 2\\^24 in "masks"'),
    (avida.as_batch(np.uint32([[[50, 70, 9]]] * 2)), 'expected run lengths of all pixels in "masks", got 9'),
    (avida.as_batch(np.float32(np.zeros((2, 1, 3, 5)))), "expected x and y of the corners of polygons"),
]


@pytest.mark.parametrize(("masks", "message"), WRONG)
def test_what_is_damaged_names_the_sample(masks, message):
    with pytest.raises((ValueError, RuntimeError), match=message):
        avida.Scene(IMAGES, masks=masks).evaluate()


def test_what_masks_cannot_become():
    with pytest.raises(ValueError, match="this Scene has no masks"):
        avida.Scene(IMAGES).masks_as("dense")
    with pytest.raises(ValueError, match="masks of pixels have no corners"):
        avida.Scene(IMAGES, masks=np.zeros((2, 1, HEIGHT, WIDTH), np.uint8)).masks_as("polygons")
    with pytest.raises(ValueError, match="expected one of dense, polygons, run_lengths, coco as form"):
        avida.Scene(IMAGES).masks_as("bitmap")  # type: ignore
    with pytest.raises(ValueError, match='or "masks" where there are masks'):
        avida.Scene(IMAGES, boxes="masks")
    with pytest.raises(ValueError, match="expected one of corners, ellipse as box_shape"):
        avida.Scene(IMAGES, box_shape="circle")  # type: ignore
