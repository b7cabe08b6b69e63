"""Batches and Scenes in transforms of `avida.torchvision`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import avida as ndd
from avida.torchvision.transforms import v2


def images(layout: str = "HWC") -> Any:
    random = np.random.default_rng(0)
    made = [random.integers(0, 256, (40 + i, 50, 3), dtype=np.uint8) for i in range(3)]
    return ndd.as_batch(made if layout == "HWC" else [each.transpose(2, 0, 1) for each in made], layout=layout)


def scene() -> Any:
    boxes = [[[1, 2, 30, 31], [2, 3, 10, 10]], [], [[5, 5, 20, 20]]]
    points = [[[[1, 2, 1]], [[3, 4, 0]]], np.zeros((0, 1, 3), np.float32), [[[1, 2, 1]]]]
    masks = [np.full((40 + i, 50), i, np.uint8) for i in range(3)]
    return ndd.Scene(images(), boxes=boxes, keypoints=points, labels=[[7, 8], [], [9]], mask=masks, ignore=255)


def test_each_sample_draws() -> None:
    stack = v2.Compose([v2.RandomResizedCrop(32), v2.ColorJitter(0.4), v2.ToDtype(torch.float32, scale=True)])
    torch.manual_seed(0)
    made = stack(images())
    assert (made.layout, made.dtype) == ("HWC", ndd.float32)
    torch.manual_seed(0)
    for sample, image in zip(made, images(), strict=True):
        alone = stack(image.torch().permute(2, 0, 1))
        assert alone.permute(1, 2, 0).equal(sample.torch())


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_layouts_and_functions(layout: str) -> None:
    batch = images(layout)
    made = v2.functional.resize(batch, [20, 30])
    assert made.layout == layout
    one = v2.Resize([20, 30])(batch.tensors[1])
    assert isinstance(one, ndd.Tensor)
    assert np.array_equal(one.numpy(), made.tensors[1].numpy())


def test_flipped_scene_is_that_of_flip() -> None:
    made, expected = v2.RandomHorizontalFlip(1.0)(scene()), ndd.flip(scene())
    for name in ("image", "boxes", "keypoints", "labels", "mask"):
        for found, other in zip(getattr(made, name), getattr(expected, name), strict=True):
            assert np.array_equal(found.numpy(), other.numpy()), name


def test_scene_is_not_clipped_before_clean() -> None:
    torch.manual_seed(0)
    made = v2.Compose([v2.RandomCrop(20), v2.Resize([40, 40])])(scene())
    assert made.boxes.tensors[0].numpy().min() < 0
    assert made.boxes.tensors[1].shape == (0, 4)
    cleaned = made.clean()
    assert all((each.numpy() >= 0).all() for each in cleaned.boxes)
    function = v2.functional.crop(scene(), 0, 0, 20, 20)
    assert [each.shape for each in function.image] == [(20, 20, 3)] * 3
    assert [each.shape for each in function.mask] == [(20, 20)] * 3


def test_what_cannot_be_in_a_batch() -> None:
    assert [each.size for each in v2.ToPILImage()(images())] == [(50, 40), (50, 41), (50, 42)]
    with pytest.raises(TypeError, match="stays a Scene"):
        v2.ToPILImage()(scene())
    with pytest.raises(ValueError, match="same number of samples"):
        v2.Resize(3)(images(), ndd.as_batch([np.zeros(3)]))
    turned = ndd.Scene(images(), rotated=[[[5, 5, 3, 3, 20]]] * 3)
    with pytest.raises(TypeError, match="rotated"):
        v2.Resize(3)(turned)
