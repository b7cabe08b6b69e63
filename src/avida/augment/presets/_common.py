"""What presets share: reading files, colours of ImageNet, the last step, and rectangles of noise."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from avida import _core, _ops
from avida._scenes.scene import Scene
from avida._values.batch import Batch, as_batch
from avida._values.dtype import uint8
from avida._values.tensor import Tensor
from avida._values.typing import KeyedBy
from avida.augment._arguments import chance
from avida.augment._checks import number
from avida.augment._combinators import maybe
from avida.decoders._ops import image as decode_image
from avida.noise._ops import gaussian
from avida.random._ops import uniform
from avida.random._rng import RNG

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of the colours of ImageNet, in RGB from 0 to 1."""


def decoded(x: Any) -> Any:
    """Images in RGB: files are decoded."""
    image = x.image if isinstance(x, Scene) else x
    if not isinstance(image, Batch | Tensor):
        return x
    if image.dtype != uint8 or image.layout not in (None, "", "HWC"):
        raise TypeError(
            f"presets: expected image files, or images of bytes (uint8, HWC), got {image.dtype} {image.layout or ''}; "
            "avida.cast and avida.transpose make them"
        )
    if image.ndim == 1:
        image = decode_image(image)
        return x._showing(image) if isinstance(x, Scene) else image
    return x


def to_input(x: Any, mirror: Any = 0, mean: Any = MEAN, std: Any = STD) -> Any:
    """Bytes as the network takes them: float32, channels first, normalised."""
    scaled: dict[str, Any] = {"mean": [255 * each for each in mean], "std": [255 * each for each in std]}
    return _ops.crop_mirror_normalize(x, mirror=mirror, **scaled)


def coin(p: float, rng: RNG | None, keyed_by: KeyedBy | None) -> Any:
    """1 with a probability, else 0."""
    return chance(p, rng=rng, keyed_by=keyed_by) if p else 0


def erased(x: Any, p: float, noise: bool, rng: RNG | None, keyed_by: KeyedBy | None) -> Any:
    """Random erasing (Zhong et al., 2017): a rectangle becomes gray, or normal noise.

    Its share of the image is from 0.02 to 1/3, its aspect ratio from 0.3 to 3.3. Images are normalised, channels first.
    """
    p = number("presets", "erase", p, low=0, high=1)
    return maybe(x, functools.partial(_erase, noise=noise), p=p, rng=rng, keyed_by=keyed_by) if p else x


def _erase(x: Batch, noise: bool) -> Batch:
    drawn = uniform(like=x, range=[0.0, 1.0], shape=[40])

    def places(values: list[Any]) -> list[Any]:
        rows = [np.asarray(row) for row in _core.read_only(values[1].cpu())]
        made = [_rectangle(shape[-2:], row) for shape, row in zip(values[0].shape, rows, strict=True)]
        return [as_batch(np.array([each[k] for each in made], np.float32)) for k in (0, 1)]

    start, size = _core.python_call(places, "erase", [_core.outline(x), drawn], [], 2, x.batch_size, True, ("erase",))
    at = {"anchor": start, "shape": size, "axis_names": "HW"}
    if not noise:
        return _ops.erase(x, fill_value=0, **at)
    inside = 1 - _ops.erase(x * 0 + 1, fill_value=0, **at)
    return _ops.erase(x, fill_value=0, **at) + gaussian(x * 0, stddev=1.0) * inside


def _rectangle(extents: Any, drawn: np.ndarray) -> tuple[list[int], list[int]]:
    """The first of ten that fits, as start and size; else none."""
    height, width = extents
    for area, ratio, y, x in drawn.reshape(10, 4):
        target = (0.02 + (1 / 3 - 0.02) * area) * height * width
        aspect = np.exp(np.log(0.3) + (np.log(3.3) - np.log(0.3)) * ratio)
        h, w = round(float(np.sqrt(target * aspect))), round(float(np.sqrt(target / aspect)))
        if h < height and w < width:
            return [int(y * (height - h + 1)), int(x * (width - w + 1))], [h, w]
    return [0, 0], [0, 0]
