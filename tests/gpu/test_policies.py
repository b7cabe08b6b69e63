"""Policies, their records and presets on a GPU: as on the CPU, with annotations that stay on the CPU."""

import numpy as np
import pytest

import avida
from avida import augment
from avida.augment import Policy, aug_mix, between, chance, presets, record

RANDOM = np.random.default_rng(0)
IMAGES = [RANDOM.integers(0, 256, (40 + i, 60, 3), np.uint8) for i in range(8)]
POLICY = Policy([
    ("rotate", {"angle": between(-10, 10), "fill_value": 0}),
    ("one_of", {"p": 0.9}, [("gaussian_blur", {"sigma": between(0.5, 2)}), ("flip", {"horizontal": chance(0.5)})]),
    ("rand_augment", {"augmentations": "timm_increasing", "n": 1, "m": 5, "excluded": ["shear_x", "shear_y"]}),
    ("resize", {"size": [24, 30]}),
])  # fmt: skip


def images():
    return avida.as_batch(IMAGES, layout="HWC")


def scene(pixels):
    return avida.Scene(pixels, boxes=[[[5, 5, 30, 25]]] * 8, labels=[[1]] * 8)


def rng():
    return avida.random.RNG(seed=3)


def near(found, expected):
    for one, other in zip(found.cpu(), expected, strict=True):
        difference = np.abs(np.asarray(one).astype(float) - np.asarray(other).astype(float))
        assert difference.max(initial=0) <= 3
        assert difference.mean() < 0.1


def test_policies_and_records():
    with record() as on_cpu:
        expected = POLICY(scene(images()), rng=rng())
    with record() as on_gpu:
        found = POLICY(scene(images().gpu()), rng=rng())
    assert on_gpu[0] == on_cpu[0]
    assert str(found.image.device).startswith("gpu")
    assert str(found.boxes.device) == "cpu"
    near(found.image, expected.image)
    near(found.boxes, expected.boxes)
    again = Policy.from_json(on_gpu[0][2])(images().gpu()._select([2]))
    (other,) = [image for k, image in enumerate(expected.image) if k == 2]
    near(again, [other])


@pytest.mark.parametrize("function", [avida.rand_augment, avida.trivial_augment, avida.auto_augment, aug_mix])
def test_automatic_augmentation(function):
    plain = {} if function in (avida.auto_augment, aug_mix) else {"excluded": ["shear_x", "shear_y"]}  # as said below
    made = function(images().gpu(), rng=rng(), **plain)
    assert str(made.device).startswith("gpu")
    if plain:
        near(made, function(images(), rng=rng(), **plain))


@pytest.mark.parametrize("axis", ["x", "y"])
def test_shears_differ_at_ties_alone(axis):
    """As DALI, the CPU goes along a row by adding, and the GPU multiplies for each pixel: positions round otherwise.

    With nearest neighbours that is seen where two pixels are as near, which a shear by 0.2 has in each fifth row.
    """
    shear = getattr(augment, f"shear_{axis}")
    found = shear(images().gpu(), factor=0.2).cpu()
    for one, other in zip(found, shear(images(), factor=0.2), strict=True):
        rows, columns = np.indices(one.shape[:2]) + 0.5
        place = columns + 0.2 * rows if axis == "x" else rows + 0.2 * columns
        differs = (np.asarray(one) != np.asarray(other)).any(axis=-1)
        assert np.abs(place - np.round(place))[differs].max(initial=0) < 1e-3


@pytest.mark.parametrize("name", ["imagenet_train", "timm_train", "ssd", "detr", "yolo"])
def test_presets(name):
    preset = getattr(presets, name)
    options = {"size": 32} if name != "detr" else {}
    if name == "timm_train":
        options["auto_augment"] = POLICY
    detects = name in ("ssd", "detr", "yolo")
    given = [scene(each) if detects else each for each in (images().gpu(), images())]
    found, expected = (preset(each, rng=rng(), **options) for each in given)
    near(found.image if detects else found, expected.image if detects else expected)
    if detects:
        near(found.boxes, expected.boxes)
