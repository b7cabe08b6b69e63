"""augment.jigsaw of Scenes: annotations go with the pieces in which they lie."""

import numpy as np
import pytest

import avida
from avida.augment import jigsaw
from tests.scenes.made import SEEDS, arrays, extents, scene


def of(seed, layout="HWC", **others):
    made = scene(seed, layout)
    made = made.replace(rotated=None, **others)
    avida.random.set_seed(seed)
    return made


@pytest.mark.parametrize("layout", ["HWC", "FCHW"])
@pytest.mark.parametrize(("rows", "columns"), [(3, 4), (1, 2), (5, 5)])
def test_a_box_has_the_extents_of_its_mask(layout, rows, columns):
    for seed in SEEDS:
        before = of(seed, layout)
        made = jigsaw(before, rows=rows, columns=columns).evaluate()
        again = jigsaw(of(seed, layout).replace(masks=None), rows=rows, columns=columns)
        for masks, boxes, plain in zip(arrays(made.masks), arrays(made.boxes), arrays(again.boxes), strict=True):
            for mask, box in zip(masks, boxes, strict=True):
                assert extents(mask).tolist() == box.tolist()
            np.testing.assert_array_equal(boxes, plain)  # the same of boxes alone, as the objects fill them


def test_pixels_points_and_label_maps_are_one():
    """Each pixel has its place as its value: a point comes to where its pixel comes."""
    rows, columns = np.indices((61, 83))
    image = np.stack([rows, columns], -1).astype(np.uint8)
    points = np.random.default_rng(0).uniform(0, (83, 61), (40, 1, 2)).astype(np.float32)
    given = avida.Scene(avida.as_tensor(image, layout="HWC"), mask=image[..., 0], keypoints=points)
    made = jigsaw(given, rows=3, columns=3, rng=avida.random.RNG(seed=2))
    assert not np.array_equal(made.image, image)
    np.testing.assert_array_equal(np.asarray(made.image)[..., 0], made.mask)
    assert np.isnan(np.asarray(made.matrix)).all()
    for (x, y), (old_x, old_y) in zip(np.asarray(made.keypoints)[:, 0], points[:, 0], strict=True):
        assert np.asarray(made.image)[int(y), int(x)].tolist() == [int(old_y), int(old_x)]
        assert np.allclose([x % 1, y % 1], [old_x % 1, old_y % 1], atol=1e-4)


def test_polygons_become_run_lengths():
    square = [4.0, 4.0, 30.0, 4.0, 30.0, 20.0, 4.0, 20.0]
    image = np.zeros((40, 60, 3), np.uint8)
    order = [3, 2, 1, 0]
    given = avida.Scene(image, masks=[[square]], boxes="masks")
    made = jigsaw(given, rows=2, columns=2, order=order)
    plain = jigsaw(avida.Scene(image, masks=given.masks_as("dense"), boxes="masks"), rows=2, columns=2, order=order)
    assert made.masks.dtype == avida.uint32
    np.testing.assert_array_equal(made.masks_as("dense"), plain.masks)
    np.testing.assert_array_equal(made.boxes, plain.boxes)
    assert extents(np.asarray(plain.masks)[0]).tolist() == np.asarray(made.boxes)[0].tolist()


def test_what_lies_outside_goes_with_the_nearest_piece():
    given = avida.Scene(np.zeros((40, 40, 3), np.uint8), boxes=[[-30, 2, -20, 6]], keypoints=[[[45, 41]]])
    made = jigsaw(given, rows=2, columns=2, order=[3, 2, 1, 0])
    assert np.asarray(made.boxes).tolist() == [[-10, 22, 0, 26]]
    assert np.asarray(made.keypoints).tolist() == [[[25, 21]]]
    assert len(made.clean().boxes) == 0
    empty = jigsaw(avida.Scene(np.zeros((40, 40, 3), np.uint8), boxes=np.zeros((0, 4), np.float32)))
    assert empty.boxes.shape == (0, 4)


def test_rotated_boxes_are_refused():
    with pytest.raises(ValueError, match="jigsaw: expected no rotated boxes, as the pieces of one lie in no rectangle"):
        jigsaw(scene(), rows=2)
