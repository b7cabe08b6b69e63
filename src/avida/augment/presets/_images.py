"""Presets for classification and self-supervision."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from avida import _core, _ops
from avida._scenes.scene import Scene
from avida._values.batch import Batch, as_batch
from avida._values.tensor import as_tensor
from avida._values.typing import KeyedBy
from avida.augment import _ops as augment_ops
from avida.augment._arguments import between, either
from avida.augment._checks import integer, number
from avida.augment._combinators import maybe
from avida.augment._policy.policy import Policy
from avida.augment.presets._common import coin, decoded, erased, to_input
from avida.random._rng import RNG

_CUBIC = 2  # INTERP_CUBIC


def imagenet_train(
    images: Any,
    size: int = 224,
    *,
    auto_augment: Callable[..., Any] | None = None,
    erase: float = 0.0,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Any:
    """ImageNet as torchvision trains it: random windows, mirrored at random.

    It follows ``references/classification/presets.py``.

    Args:
        images: Image files, or images of bytes (HWC, RGB): a Batch, a Tensor or a Scene.
        size: Height and width of the result.
        auto_augment: Applied to the window: a :class:`avida.augment.Policy`, or a function such as
            `avida.trivial_augment`.
        erase: The probability that a rectangle is erased.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that a reader has read: each gets the same in any batch. See `avida.random`.

    Returns:
        float32, 3 x size x size.

    Example:
        >>> avida.augment.presets.imagenet_train(batch, size=32).shape
        [(3, 32, 32), (3, 32, 32)]
    """
    size = integer("imagenet_train", "size", size, low=1)
    draws: dict[str, Any] = {"rng": rng, "keyed_by": keyed_by}
    x = _ops.random_resized_crop(decoded(images), size=[size, size], **draws)
    if auto_augment is not None:
        x = auto_augment(x, **draws)
    return erased(to_input(x, mirror=coin(0.5, **draws)), erase, noise=False, **draws)


def imagenet_eval(images: Any, size: int = 224, *, resize: int = 256) -> Any:
    """ImageNet as torchvision evaluates it: the middle of the image, normalised.

    Args:
        images: Image files, or images of bytes (HWC, RGB): a Batch, a Tensor or a Scene.
        size: Height and width of the result.
        resize: The shorter side before the middle is taken.

    Returns:
        float32, 3 x size x size.

    Example:
        >>> avida.augment.presets.imagenet_eval(batch, size=32, resize=36).shape
        [(3, 32, 32), (3, 32, 32)]
    """
    return _middle("imagenet_eval", images, size, resize, "linear")


def timm_train(
    images: Any,
    size: int = 224,
    *,
    auto_augment: str | Callable[..., Any] | None = "rand-m9-mstd0.5-inc1",
    color_jitter: float = 0.4,
    erase: float = 0.25,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Any:
    """ImageNet as timm trains it: random windows, RandAugment, erased by noise.

    It follows ``timm.data.create_transform(is_training=True)``.

    Args:
        images: Image files, or images of bytes (HWC, RGB): a Batch, a Tensor or a Scene.
        size: Height and width of the result.
        auto_augment: A string of timm's, a :class:`avida.augment.Policy`, a function, or None.
        color_jitter: How strong brightness, contrast and saturation change where there is no ``auto_augment``.
        erase: The probability that a rectangle becomes noise.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that a reader has read: each gets the same in any batch. See `avida.random`.

    Returns:
        float32, 3 x size x size.

    Example:
        >>> avida.augment.presets.timm_train(batch, size=32).shape
        [(3, 32, 32), (3, 32, 32)]
    """
    size = integer("timm_train", "size", size, low=1)
    draws: dict[str, Any] = {"rng": rng, "keyed_by": keyed_by}
    filters = either(1, _CUBIC, rng=rng, keyed_by=keyed_by)  # timm's "random"
    x = _ops.random_resized_crop(decoded(images), size=[size, size], interp_type=filters, **draws)
    if auto_augment is not None:
        policy = Policy.from_timm(auto_augment) if isinstance(auto_augment, str) else auto_augment
        x = policy(x, **draws)
    elif color_jitter:
        x = augment_ops.color_jitter(
            x, **dict.fromkeys(("brightness", "contrast", "saturation"), color_jitter), **draws
        )
    return erased(to_input(x, mirror=coin(0.5, **draws)), erase, noise=True, **draws)


def timm_eval(images: Any, size: int = 224, *, crop_pct: float = 0.875) -> Any:
    """ImageNet as timm evaluates it: the middle of the image, by cubic filters.

    Args:
        images: Image files, or images of bytes (HWC, RGB): a Batch, a Tensor or a Scene.
        size: Height and width of the result.
        crop_pct: The share of the shorter side that is shown.

    Returns:
        float32, 3 x size x size.

    Example:
        >>> avida.augment.presets.timm_eval(batch, size=28).shape
        [(3, 28, 28), (3, 28, 28)]
    """
    share = number("timm_eval", "crop_pct", crop_pct, low=1e-3, high=1)
    return _middle("timm_eval", images, size, math.floor(size / share), "cubic")


def _middle(name: str, images: Any, size: int, resize: int, filter: Literal["linear", "cubic"]) -> Any:
    size = integer(name, "size", size, low=1)
    shorter = integer(name, "resize", resize, low=size)
    x = _ops.resize(decoded(images), resize_shorter=shorter, interp_type=filter, size_rounding="torchvision")
    start = _middle_start(x, size)
    return to_input(_ops.slice(x, start=start, shape=[size, size], axis_names="HW"))


def _middle_start(x: Any, size: int) -> Any:
    """Where the middle begins, as torchvision rounds it: to the even one of two neighbours."""
    image = x.image if isinstance(x, Scene) else x
    batch = isinstance(image, Batch)

    def starts(values: list[Any]) -> list[Any]:
        shapes = values[0].shape if batch else [values[0].shape]
        rows = np.round((np.array([shape[:2] for shape in shapes]).reshape(-1, 2) - size) / 2).astype(np.int32)
        return [as_batch(rows) if batch else as_tensor(rows[0])]

    samples = image.batch_size if isinstance(image, Batch) else -1
    return _core.python_call(starts, "middle", [_core.outline(image)], [], 1, samples, True, ("middle", size))[0]


def simclr(
    images: Any, size: int = 224, *, strength: float = 1.0, rng: RNG | None = None, keyed_by: KeyedBy | None = None
) -> tuple[Any, Any]:
    """SimCLR: two views of each image (Chen et al., 2020).

    Args:
        images: Image files, or images of bytes (HWC, RGB): a Batch, a Tensor or a Scene.
        size: Height and width of the views.
        strength: Of the change of colours.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that a reader has read: each gets the same in any batch. See `avida.random`.

    Returns:
        Two of float32, 3 x size x size, normalised.

    Example:
        >>> one, other = avida.augment.presets.simclr(batch, size=32)
        >>> one.shape == other.shape == [(3, 32, 32), (3, 32, 32)]
        True
    """
    size = integer("simclr", "size", size, low=1)
    strong = number("simclr", "strength", strength, low=0)
    colors = {"brightness": 0.8 * strong, "contrast": 0.8 * strong, "saturation": 0.8 * strong}
    view = functools.partial(
        _view,
        size=size,
        area=(0.08, 1.0),
        colors={**colors, "hue": min(0.2 * strong, 0.5)},
        window=size // 10 | 1,
        rng=rng,
        keyed_by=keyed_by,
    )
    source = decoded(images)
    return view(source, blur=0.5), view(source, blur=0.5)


def dino(
    images: Any,
    size: int = 224,
    local_size: int = 96,
    local_crops: int = 8,
    *,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> list[Any]:
    """DINO: two large views of each image, and several small ones.

    After Caron et al., 2021. It follows ``DataAugmentationDINO`` of the paper's code.

    Args:
        images: Image files, or images of bytes (HWC, RGB): a Batch, a Tensor or a Scene.
        size: Height and width of the large views, which show 0.4 to 1 of the image.
        local_size: Height and width of the small views, which show 0.05 to 0.4.
        local_crops: How many small views.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that a reader has read: each gets the same in any batch. See `avida.random`.

    Returns:
        The views, the large ones first: float32, channels first, normalised.

    Example:
        >>> views = avida.augment.presets.dino(batch, size=32, local_size=16)
        >>> [view.shape[0] for view in views[:3]], len(views)
        ([(3, 32, 32), (3, 32, 32), (3, 16, 16)], 10)
    """
    size, small = (integer("dino", name, v, low=1) for name, v in (("size", size), ("local_size", local_size)))
    count = integer("dino", "local_crops", local_crops, low=0)
    colors = {"brightness": 0.4, "contrast": 0.4, "saturation": 0.2, "hue": 0.1}
    view = functools.partial(_view, colors=colors, interp_type="cubic", rng=rng, keyed_by=keyed_by)
    source = decoded(images)
    large = functools.partial(view, source, size=size, area=(0.4, 1.0))
    local = functools.partial(view, source, size=small, area=(0.05, 0.4))
    return [large(blur=1.0), large(blur=0.1, solarize=0.2), *(local(blur=0.5) for _ in range(count))]


def _view(
    x: Any,
    size: int,
    area: tuple[float, float],
    colors: dict[str, Any],
    blur: float,
    solarize: float = 0.0,
    window: int | None = None,
    interp_type: Literal["linear", "cubic"] = "linear",
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Any:
    draws: dict[str, Any] = {"rng": rng, "keyed_by": keyed_by}
    x = _ops.random_resized_crop(x, size=[size, size], random_area=list(area), interp_type=interp_type, **draws)
    x = maybe(x, augment_ops.color_jitter, p=0.8, **draws, **colors)
    x = augment_ops.grayscale(x, coin(0.2, **draws))
    sized: dict[str, Any] = {} if window is None else {"window_size": window}
    x = maybe(x, _ops.gaussian_blur, p=blur, sigma=between(0.1, 2), **draws, **sized)
    if solarize:
        x = maybe(x, augment_ops.solarize, p=solarize, threshold=128, **draws)
    return to_input(x, mirror=coin(0.5, **draws))
