"""What changes boxes, points and labels, and not images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from avida.torchvision import tv_tensors
from avida.torchvision.transforms.v2 import functional as F  # noqa: N812
from avida.torchvision.transforms.v2._transform import Transform, get_bounding_boxes, get_keypoints
from avida.torchvision.transforms.v2.functional import is_pure_tensor
from avida.torchvision.transforms.v2.functional._boxes import valid_boxes, valid_points

Getter = Callable[[Any], Any] | str | None


class ConvertBoundingBoxFormat(Transform):
    """Converts boxes to a format: "XYXY", "XYWH", "CXCYWH" and others."""

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def __init__(self, format: Any) -> None:
        super().__init__()
        self.format = format

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.convert_bounding_box_format(inpt, new_format=self.format)


class ClampBoundingBoxes(Transform):
    """Cuts boxes to what is inside of their image.

    Args:
        clamping_mode: "soft", "hard" or None; "auto" is what the boxes say.
    """

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def __init__(self, clamping_mode: str | None = "auto") -> None:
        super().__init__()
        self.clamping_mode = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.clamp_bounding_boxes(inpt, clamping_mode=self.clamping_mode)


class ClampKeyPoints(Transform):
    """Moves points outside of their image to its nearest pixel."""

    _transformed_types = (tv_tensors.KeyPoints,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.clamp_keypoints(inpt)


class SetClampingMode(Transform):
    """Says how transforms after it cut boxes: "soft", "hard", or not at all (None)."""

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def __init__(self, clamping_mode: str | None) -> None:
        super().__init__()
        if clamping_mode not in (None, "soft", "hard"):
            raise ValueError(f"clamping_mode must be soft, hard or None, got {clamping_mode}")
        self.clamping_mode = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        made = inpt.clone()
        made.clamping_mode = self.clamping_mode
        return made


def _labels_in(inputs: Any) -> torch.Tensor:
    """The labels of a sample: its second part, or what is called labels, or like it, in the dictionary there."""
    found = inputs[1] if isinstance(inputs, (tuple, list)) else inputs
    if is_pure_tensor(found):
        return found
    if not isinstance(found, Mapping):
        raise ValueError(
            "When using the default labels_getter, the input passed to forward must be a dictionary or a two-tuple "
            f"whose second item is a dictionary or a tensor, but got {inputs} instead."
        )
    exact = [key for key in found if str(key).lower() == "labels"]
    alike = [key for key in found if "label" in str(key).lower()]
    if not alike:
        raise ValueError(
            "Could not infer where the labels are in the sample. Try passing a callable as the labels_getter parameter?"
            "If there are no labels in the sample by design, pass labels_getter=None."
        )
    return found[(exact or alike)[0]]


def _no_labels(inputs: Any) -> None:
    return None


def getter_of_labels(labels_getter: Getter) -> Callable[[Any], Any]:
    """The function that finds labels in a sample."""
    if labels_getter == "default":
        return _labels_in
    if labels_getter is None:
        return _no_labels
    if callable(labels_getter):
        return labels_getter
    raise ValueError(f"labels_getter should either be 'default', a callable, or None, but got {labels_getter}.")


class _Sanitizes(Transform):
    """Drops objects, and their labels with them."""

    labels_getter: Getter
    _labels_getter: Any

    def _objects(self, flat_inputs: list[Any]) -> tuple[Any, torch.Tensor]:
        raise NotImplementedError

    def forward(self, *inputs: Any) -> Any:
        sample = inputs[0] if len(inputs) == 1 else inputs
        labels = self._labels_getter(sample)
        if isinstance(labels, torch.Tensor):
            labels = (labels,)
        for each in labels if isinstance(labels, (tuple, list)) else () if labels is None else (labels,):
            if not isinstance(each, torch.Tensor):
                raise ValueError(
                    f"The labels in the input to forward() must be a tensor or None, got {type(each)} instead."
                )
        flat, spec = tree_flatten(sample)
        objects, valid = self._objects(flat)
        for each in labels or ():
            if objects.shape[0] != each.shape[0]:
                raise ValueError(
                    f"Number of {self._what} (shape={objects.shape}) and must match the number of labels. "
                    f"Found labels with shape={each.shape})."
                )
        params = {"valid": valid, "labels": labels}
        return tree_unflatten([self.transform(each, params) for each in flat], spec)

    _what = "objects"
    _goes: tuple[type, ...] = ()

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if any(inpt is label for label in params["labels"] or ()):
            return inpt[params["valid"]]
        if not isinstance(inpt, self._goes):
            return inpt
        if isinstance(inpt, tv_tensors.Mask) and (inpt.ndim < 1 or inpt.shape[0] != len(params["valid"])):
            return inpt  # of segments, and not of objects
        return tv_tensors.wrap(inpt.as_subclass(torch.Tensor)[params["valid"]], like=inpt)


class SanitizeBoundingBoxes(_Sanitizes):
    """Drops boxes that are too small or outside of their image, with their labels and masks.

    Args:
        min_size: The least width and height.
        min_area: The least area.
        labels_getter: A function that finds the labels in a sample, a tensor or several; "default" looks for them,
            None takes none.
    """

    _what = "boxes"
    _goes = (tv_tensors.BoundingBoxes, tv_tensors.Mask)

    def __init__(self, min_size: float = 1.0, min_area: float = 1.0, labels_getter: Getter = "default") -> None:
        super().__init__()
        if min_size < 1:
            raise ValueError(f"min_size must be >= 1, got {min_size}.")
        if min_area < 1:
            raise ValueError(f"min_area must be >= 1, got {min_area}.")
        self.min_size = min_size
        self.min_area = min_area
        self.labels_getter = labels_getter
        self._labels_getter = getter_of_labels(labels_getter)

    def _objects(self, flat_inputs: list[Any]) -> tuple[Any, torch.Tensor]:
        boxes = get_bounding_boxes(flat_inputs)
        plain = boxes.as_subclass(torch.Tensor)
        return boxes, valid_boxes(plain, boxes.format, boxes.canvas_size, self.min_size, self.min_area)


class SanitizeKeyPoints(_Sanitizes):
    """Drops objects that have points outside of their image, with their labels.

    Args:
        labels_getter: A function that finds the labels in a sample, a tensor or several; "default" looks for them,
            None takes none.
    """

    _what = "keypoints"
    _goes = (tv_tensors.KeyPoints,)

    def __init__(self, labels_getter: Getter = None) -> None:
        super().__init__()
        self.labels_getter = labels_getter
        self._labels_getter = getter_of_labels(labels_getter)

    def _objects(self, flat_inputs: Sequence[Any]) -> tuple[Any, torch.Tensor]:
        points = get_keypoints(flat_inputs)
        return points, valid_points(points, points.canvas_size)
