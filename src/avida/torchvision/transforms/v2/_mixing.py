"""What takes away or mixes: erased rectangles, MixUp, CutMix, JPEG."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import PIL.Image
import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from avida.torchvision import tv_tensors
from avida.torchvision.transforms.v2 import functional as F  # noqa: N812
from avida.torchvision.transforms.v2._annotations import getter_of_labels
from avida.torchvision.transforms.v2._geometry import check_scale_and_ratio, draw_part, warn_of_annotation
from avida.torchvision.transforms.v2._transform import (
    ANNOTATIONS,
    RandomTransform,
    Transform,
    has_any,
    numbers_of,
    query_chw,
    query_size,
)
from avida.torchvision.transforms.v2.functional import is_pure_tensor

_PIXELS = (tv_tensors.Image, tv_tensors.Video)


class RandomErasing(RandomTransform):
    """Paints a random rectangle, with probability p.

    Args:
        p: How often.
        scale: The least and the largest share of the area.
        ratio: The least and the largest ratio of height to width.
        value: What to paint it with: a number, one for each channel, or "random" for noise.
        inplace: Whether the tensor itself changes.
    """

    _functional = F.erase
    _arguments = ("inplace",)

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0.0,
        inplace: bool = False,
    ) -> None:
        super().__init__(p=p)
        if not isinstance(value, (numbers.Number, str, tuple, list)):
            raise TypeError("Argument value should be either a number or str or a sequence")
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        if not isinstance(scale, Sequence):
            raise TypeError("Scale should be a sequence")
        if not isinstance(ratio, Sequence):
            raise TypeError("Ratio should be a sequence")
        check_scale_and_ratio(scale, ratio)
        if scale[0] < 0 or scale[1] > 1:
            raise ValueError("Scale should be between 0 and 1")
        self.scale = scale
        self.ratio = ratio
        several: Any = value if isinstance(value, (tuple, list)) else [value]
        self.value = None if isinstance(value, str) else [float(each) for each in several]
        self.inplace = inplace
        self._log_ratio = torch.log(torch.tensor(self.ratio))

    def _call_kernel(self, functional: Callable[..., Any], inpt: Any, *args: Any, **kwargs: Any) -> Any:
        warn_of_annotation(self, inpt)
        return super()._call_kernel(functional, inpt, *args, **kwargs)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        channels, height, width = query_chw(flat_inputs)
        if self.value is not None and len(self.value) not in (1, channels):
            raise ValueError(
                f"If value is a sequence, it should have either a single value or {channels} (number of inpt channels)"
            )
        for _ in range(10):
            h, w = draw_part((height, width), self.scale, self._log_ratio, of_height=True)
            if h >= height or w >= width:
                continue
            if self.value is None:
                colour = torch.empty([channels, h, w], dtype=torch.float32).normal_()
            else:
                colour = torch.tensor(self.value)[:, None, None]
            i = int(torch.randint(0, height - h + 1, (1,)))
            j = int(torch.randint(0, width - w + 1, (1,)))
            return {"i": i, "j": j, "h": h, "w": w, "v": colour}
        return {"i": 0, "j": 0, "h": height, "w": width, "v": None}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt if params["v"] is None else super().transform(inpt, params)


class _MixesSamples(Transform):
    """Mixes the samples of a batch, each with the one before it, and their labels."""

    _labels_getter: Any

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None, labels_getter: Any = "default") -> None:
        super().__init__()
        self.alpha = float(alpha)
        self._dist = torch.distributions.Beta(torch.tensor([alpha]), torch.tensor([alpha]))
        self.num_classes = num_classes
        self._labels_getter = getter_of_labels(labels_getter)

    def forward(self, *inputs: Any) -> Any:
        sample = inputs[0] if len(inputs) == 1 else inputs
        flat, spec = tree_flatten(sample)
        if has_any(flat, PIL.Image.Image, *ANNOTATIONS):
            raise ValueError(
                f"{type(self).__name__}() does not support PIL images, bounding boxes, keypoints and masks."
            )
        labels = self._labels_getter(sample)
        self._check_labels(labels)
        chosen = self._needs_transform_list(flat)
        inputs_of = [each for each, is_chosen in zip(flat, chosen, strict=True) if is_chosen]
        params = {"labels": labels, "batch_size": labels.shape[0], **self.make_params(inputs_of)}
        chosen = [is_chosen or each is labels for each, is_chosen in zip(flat, chosen, strict=True)]
        made = [
            self.transform(each, params) if is_chosen else each for each, is_chosen in zip(flat, chosen, strict=True)
        ]
        return tree_unflatten(made, spec)

    def _check_labels(self, labels: Any) -> None:
        if not isinstance(labels, torch.Tensor):
            raise ValueError(f"The labels must be a tensor, but got {type(labels)} instead.")
        if labels.ndim not in (1, 2):
            raise ValueError(
                "labels should be index based with shape (batch_size,) or probability based with shape "
                f"(batch_size, num_classes), but got a tensor of shape {tuple(labels.shape)} instead."
            )
        if labels.ndim == 2 and self.num_classes not in (None, labels.shape[-1]):
            raise ValueError(
                "When passing 2D labels, the number of elements in last dimension must match num_classes: "
                f"{labels.shape[-1]} != {self.num_classes}. You can Leave num_classes to None."
            )
        if labels.ndim == 1 and self.num_classes is None:
            raise ValueError("num_classes must be passed if the labels are index-based (1D)")

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if inpt is params["labels"]:
            if inpt.ndim == 1:
                inpt = torch.nn.functional.one_hot(inpt, num_classes=self.num_classes or -1)
            return self._mixed(inpt if inpt.is_floating_point() else inpt.float(), params["share"])
        if not (isinstance(inpt, _PIXELS) or is_pure_tensor(inpt)):
            return inpt
        axes = 5 if isinstance(inpt, tv_tensors.Video) else 4
        if inpt.ndim != axes:
            raise ValueError(f"Expected a batched input with {axes} dims, but got {inpt.ndim} dimensions instead.")
        if inpt.shape[0] != params["batch_size"]:
            raise ValueError(
                "The batch size of the image or video does not match the batch size of the labels: "
                f"{inpt.shape[0]} != {params['batch_size']}."
            )
        made = self._mix(inpt.as_subclass(torch.Tensor), params)
        return tv_tensors.wrap(made, like=inpt) if isinstance(inpt, _PIXELS) else made

    def _mixed(self, inpt: torch.Tensor, share: float) -> torch.Tensor:
        return inpt.roll(1, 0).mul_(1.0 - share).add_(inpt.mul(share))

    def _mix(self, inpt: torch.Tensor, params: dict[str, Any]) -> torch.Tensor:
        raise NotImplementedError


class MixUp(_MixesSamples):
    """Mixes each image of a batch with the one before it, and their labels.

    Args:
        alpha: Both parameters of the beta distribution of shares.
        num_classes: How many classes there are, for labels that are numbers of classes.
        labels_getter: A function that finds the labels in a sample; by default the second input.
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        share = float(self._dist.sample(()))
        return {"lam": share, "share": share}

    def _mix(self, inpt: torch.Tensor, params: dict[str, Any]) -> torch.Tensor:
        return self._mixed(inpt, params["share"])


class CutMix(_MixesSamples):
    """Puts a random rectangle of the image before it into each image of a batch, and mixes their labels.

    Args:
        alpha: Both parameters of the beta distribution of shares.
        num_classes: How many classes there are, for labels that are numbers of classes.
        labels_getter: A function that finds the labels in a sample; by default the second input.
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        share = float(self._dist.sample(()))
        height, width = query_size(flat_inputs)
        x, y = int(torch.randint(width, (1,))), int(torch.randint(height, (1,)))
        half = 0.5 * math.sqrt(1.0 - share)
        columns, rows = int(half * width), int(half * height)
        x1, y1 = max(0, x - columns), max(0, y - rows)
        x2, y2 = min(width, x + columns), min(height, y + rows)
        kept = float(1.0 - (x2 - x1) * (y2 - y1) / (width * height))
        return {"box": (x1, y1, x2, y2), "lam_adjusted": kept, "share": kept}

    def _mix(self, inpt: torch.Tensor, params: dict[str, Any]) -> torch.Tensor:
        x1, y1, x2, y2 = params["box"]
        made = inpt.clone()
        made[..., y1:y2, x1:x2] = inpt.roll(1, 0)[..., y1:y2, x1:x2]
        return made


class JPEG(Transform):
    """Adds the artefacts of JPEG.

    Args:
        quality: From 1 to 100: one number, or the least and the largest.
    """

    _functional = F.jpeg

    def __init__(self, quality: int | Sequence[int]) -> None:
        super().__init__()
        if isinstance(quality, bool):
            raise TypeError("quality can't be bool")
        if isinstance(quality, int):
            quality = [quality, quality]
        else:
            numbers_of(quality, "quality", (2,))
        whole = all(isinstance(each, int) for each in quality)
        if not (whole and 1 <= quality[0] <= quality[1] <= 100):
            raise ValueError(f"quality must be an integer from 1 to 100, got {quality =}")
        self.quality = quality

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"quality": int(torch.randint(self.quality[0], self.quality[1] + 1, ()))}
