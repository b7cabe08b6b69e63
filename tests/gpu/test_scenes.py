"""Scenes whose images are on the GPU: annotations stay on the CPU, and are the same."""

import numpy as np

import avida as ndd
from avida.augment import chance, maybe

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
