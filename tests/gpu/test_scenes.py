"""Scenes whose images are on the GPU: annotations stay on the CPU, and are the same."""

import numpy as np
import pytest

import avida as ndd
from avida.augment import chance, maybe
from tests.augment.test_scene_mixes import IDS as MIX_IDS
from tests.augment.test_scene_mixes import MIXES, seeded
from tests.augment.test_scene_mixes import scene as mixed_scene
from tests.scenes.made import scene
from tests.scenes.test_geometry import EXACT, IDS, moved

IMAGES = np.random.default_rng(0).integers(0, 255, (3, 60, 80, 3)).astype(np.uint8)
FIELDS = {
    "mask": list(IMAGES[..., 0]),
    "boxes": [[[1, 2, 30, 40]], [], [[5, 5, 9, 9], [0, 0, 80, 60]]],
    "labels": [[1], [], [2, 3]],
    "masks": [np.ones((n, 60, 80), bool) for n in (1, 0, 2)],
}


def pipeline(scene):
    ndd.random.set_seed(1)
    scene = ndd.rotate(scene, angle=30, fill_value=0)
    scene = ndd.random_resized_crop(scene, size=[40, 40])
    scene = ndd.flip(scene, horizontal=chance(0.5))
    return maybe(scene, ndd.flip, p=0.5, vertical=1).clean(min_visible=0.1)


def test_annotations_are_those_of_the_cpu():
    images = ndd.as_batch(IMAGES, layout="HWC")
    on_cpu, on_gpu = pipeline(ndd.Scene(images, **FIELDS)), pipeline(ndd.Scene(images, **FIELDS).gpu())
    assert str(on_gpu.image.device) == "gpu:0"
    for name, value in on_cpu.fields.items():
        assert str(on_gpu.fields[name].device) == "cpu"
        for ours, theirs in zip(on_gpu.fields[name], value, strict=True):
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
    for ours, theirs in zip(on_gpu.image.cpu(), on_cpu.image, strict=True):
        assert np.abs(np.asarray(ours).astype(int) - np.asarray(theirs)).max() <= 1


def test_masks_may_be_there_too():
    images, mask = ndd.as_batch(IMAGES, layout="HWC").gpu(), ndd.as_batch(IMAGES[..., 0], layout="HW").gpu()
    scene = ndd.rotate(ndd.Scene(images, mask=mask, boxes=FIELDS["boxes"]), angle=20, fill_value=0)
    assert str(scene.mask.device) == "gpu:0"
    assert scene.mask.cpu().shape == [shape[:2] for shape in scene.image.shape]


@pytest.mark.parametrize(("name", "arguments", "near"), EXACT, ids=IDS)
def test_each_transform_moves_the_same(name, arguments, near):
    """What the CPU makes of annotations, which the tests of scenes compare with drawn masks."""
    before = scene(6)
    on_cpu, on_gpu = moved(name, arguments, before), moved(name, arguments, before.gpu())
    assert str(on_gpu.image.device) == "gpu:0"
    for field, value in on_cpu.fields.items():
        for ours, theirs in zip(on_gpu.fields[field], value, strict=True):
            np.testing.assert_array_equal(np.asarray(ours.cpu()), np.asarray(theirs))
    for ours, theirs in zip(on_gpu.image.cpu(), on_cpu.image, strict=True):
        apart = np.abs(np.asarray(ours).astype(float) - np.asarray(theirs))
        assert np.mean(apart > 1) < 0.005  # bent lines may end at another pixel


@pytest.mark.parametrize("mix", MIXES, ids=MIX_IDS)
def test_mixes(mix):
    made = [seeded(mix, given) for given in (mixed_scene(1), mixed_scene(1).gpu())]
    assert str(made[1].image.device) == "gpu:0"
    for field, value in made[0].fields.items():
        for ours, theirs in zip(made[1].fields[field], value, strict=True):
            np.testing.assert_array_equal(np.asarray(ours.cpu()), np.asarray(theirs))
    for ours, theirs in zip(made[1].image.cpu(), made[0].image, strict=True):
        assert np.abs(np.asarray(ours).astype(int) - np.asarray(theirs)).max() <= 1


def test_remap_with_maps_on_the_gpu():
    rows, columns = np.indices((50, 70), np.float32)
    maps = [ndd.as_batch(np.stack([each + 5] * 5)) for each in (columns, rows)]
    before = ndd.resize(scene(2), size=[60, 80])
    on_cpu = ndd.experimental.remap(before, *maps)
    on_gpu = ndd.experimental.remap(before.gpu(), *(each.gpu() for each in maps))
    for ours, theirs in zip(on_gpu.boxes, on_cpu.boxes, strict=True):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
