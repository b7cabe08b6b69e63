"""Whether two results are the same: structure, types, metadata, and numbers within what torchvision grants."""

from __future__ import annotations

from typing import Any

import PIL.Image
import torch
from torch.utils._pytree import tree_flatten

from avida.torchvision import tv_tensors


def outcome(function: Any, *args: Any, **kwargs: Any) -> Any:
    """What a call gives, or its error."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return error


def assert_alike(found: Any, expected: Any, *, mean: float = 0.3, most: float = 1.01, places: float = 1e-3) -> None:
    """Pixels differ by at most this much, of 255; coordinates by `places`."""
    if isinstance(expected, Exception):
        assert type(found) is type(expected), f"expected {expected!r}, got {found!r}"
        return
    assert not isinstance(found, Exception), repr(found)
    leaves, structure = tree_flatten(found)
    others, expected_structure = tree_flatten(expected)
    assert structure == expected_structure
    for leaf, other in zip(leaves, others, strict=True):
        assert type(leaf) is type(other)
        if isinstance(leaf, tv_tensors.TVTensor):
            assert leaf.__dict__ == other.__dict__
        if isinstance(leaf, PIL.Image.Image):
            assert (leaf.mode, leaf.size) == (other.mode, other.size)
            leaf, other = (tv_tensors.Image(each) for each in (leaf, other))
        if isinstance(leaf, torch.Tensor):
            _assert_numbers_alike(leaf, other, mean, most, places)
        else:
            assert leaf == other


def _assert_numbers_alike(leaf: torch.Tensor, other: Any, mean: float, most: float, places: float) -> None:
    is_place = isinstance(leaf, (tv_tensors.BoundingBoxes, tv_tensors.KeyPoints))
    assert (leaf.shape, leaf.dtype) == (other.shape, other.dtype)
    if leaf.numel() == 0:
        return
    leaf, other = leaf.as_subclass(torch.Tensor), other.as_subclass(torch.Tensor)
    differences = (leaf.double() - other.double()).abs()
    if is_place:
        assert differences.max() <= places
        return
    if leaf.is_floating_point():
        differences = differences * 255
    assert differences.mean() <= mean
    assert differences.max() <= most
