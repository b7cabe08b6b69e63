"""Pictures of Scenes: what is drawn lies where annotations are, and a notebook gets one bounded picture."""

import base64
import io
import pickle
import re

import numpy as np
import pytest
from PIL import Image

import avida
from avida._scenes.drawing import color_of
from avida._values.letters import HEIGHT, written
from tests.scenes.made import scene

GRAY = 90


def one(height=60, width=80, **fields):
    return avida.Scene(avida.as_tensor(np.full((height, width, 3), GRAY, np.uint8), layout="HWC"), **fields)


def changed(picture):
    """Where a picture of a gray image is not gray any more."""
    return (np.asarray(picture).astype(int) != GRAY).any(axis=2)


def near(color, pixel):
    return np.abs(np.asarray(pixel, int) - color).max() < 30


def test_boxes_lie_on_their_edges():
    picture = np.asarray(one(boxes=np.float32([[10, 20, 50, 50]])).draw())
    assert near(color_of(0), picture[35, 10])
    assert near(color_of(0), picture[20, 30])
    seen = changed(picture)
    assert not seen[24:46, 14:46].any()
    assert not seen[:16].any()
    assert not seen[:, :6].any()


def test_rotated_boxes_turn_as_images_do():
    upright = one(200, 200, rotated=np.float32([[100, 100, 80, 40, 0]]))
    turned = avida.rotate(upright, angle=30, fill_value=GRAY, size=[200, 200])
    expected = avida.rotate(upright.draw(), angle=30, fill_value=GRAY, size=[200, 200])
    same = (changed(turned.draw()) & changed(expected)).sum() / (changed(turned.draw()) | changed(expected)).sum()
    assert same > 0.7


def test_masks_points_and_label_maps():
    mask = np.zeros((1, 60, 80), np.uint8)
    mask[0, 10:30, 20:40] = 1
    np.testing.assert_array_equal(changed(one(masks=mask).draw()), mask[0] == 1)
    labels = np.where(np.arange(80)[None] < 40, 0, 7) * np.ones((60, 1), int)
    labels[:10] = 255
    seen = changed(one(mask=avida.as_tensor(labels.astype(np.uint8), layout="HW"), ignore=255).draw())
    np.testing.assert_array_equal(seen, labels != 0)
    points = np.float32([[[20, 20, 2], [60, 40, 1], [40, 30, 0]]])
    picture = np.asarray(one(keypoints=points).draw())
    assert near(color_of(0), picture[20, 20])
    assert not near(color_of(1), picture[40, 60])  # hidden: a ring
    assert not changed(picture)[25:35, 35:45].any()  # missing


def test_names_stand_beside_boxes():
    boxes = np.float32([[10, 30, 70, 55]])
    plain, named = (one(boxes=boxes, **more).draw() for more in ({}, {"labels": [0], "names": ["cat"]}))
    rows = np.nonzero((np.asarray(plain) != np.asarray(named)).any(axis=(1, 2)))[0]
    assert rows.min() >= 10
    assert rows.max() <= 30
    assert written("cat").shape[0] == HEIGHT
    assert written("a very long name", 40).shape[1] <= 40
    assert written("日本").shape == written("??").shape


def test_all_of_a_scene():
    """Of any layout and type, empty, far outside, of sizes that are asked for."""
    for layout, dtype in (("HWC", np.uint8), ("CHW", np.float32), ("HWC", np.uint16)):
        drawn = scene(layout=layout, dtype=dtype).draw()
        assert drawn.shape == [(60, 80, 3), (40, 40, 3), (71, 53, 3), (33, 90, 3), (64, 64, 3)]
    assert [max(each) for each in scene().draw(size=45).shape] == [45, 40, 45, 45, 45]
    assert scene().draw(size=200).shape[1] == (200, 200, 3)
    far = np.float32([[-1e7, 5, 1e7, 90], [-5, -5, 200, 200], [5, 5, 5, 5], [500, 500, 600, 600]])
    one(boxes=far, labels=[0, 1, -2, 3], rotated=np.float32([[1e6, 5, 1e7, 1e7, 1e5]] * 4)).draw()
    many = np.zeros((5000, 4), np.float32)
    assert one(boxes=many, labels=np.zeros(5000, np.int32)).draw().shape == (60, 80, 3)
    video = avida.as_tensor(np.zeros((4, 20, 30, 3), np.uint8), layout="FHWC")
    assert avida.Scene(video, boxes=np.float32([[1, 1, 9, 9]])).draw().shape == (20, 30, 3)


def picture_in(html):
    return Image.open(io.BytesIO(base64.b64decode(re.search(r"base64,([^\"]+)", html)[1])))


def test_notebooks():
    images = avida.as_batch(np.zeros((20, 900, 1200, 3), np.uint8), layout="HWC")
    shown = avida.Scene(images, boxes=[[[5, 5, 500, 500]]] * 20, labels=[[1]] * 20, names={1: "<b>"})
    picture = picture_in(shown._repr_html_())
    assert picture.size == (4 * 256 + 5 * 6, 2 * 192 + 3 * 6)
    assert "the first 8 are shown" in shown._repr_html_()
    assert len(shown._repr_html_()) < 300_000
    assert shown._repr_png_().startswith(b"\x89PNG")
    assert picture_in(one()._repr_html_()).size == (480, 360)
    nothing = avida.Scene(avida.as_tensor(np.zeros((3, 4, 7), np.float32), layout="HWC"))
    assert nothing._repr_html_() is nothing._repr_png_() is None
    with pytest.raises(ValueError, match="expected images to draw on"):
        nothing.draw()


def test_names_stay():
    made = scene(names=["a", "b", "c", "d"])
    expected = dict(enumerate("abcd"))
    assert made.names == avida.flip(made).clean().names == pickle.loads(pickle.dumps(made)).names == expected
    assert avida.augment.maybe(made, avida.flip, p=0.5).names == expected
    assert made.replace(labels=None).names == expected
    assert scene().names == {}
