"""Random windows of a fixed size, that do not show one class alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from avida import _core, _ops
from avida._scenes.fields import outline_of
from avida._scenes.scene import Scene
from avida._values.batch import Batch
from avida._values.dtype import int32
from avida._values.tensor import Tensor
from avida._values.typing import KeyedBy
from avida.augment._checks import integer, number, shown
from avida.random._rng import RNG

Images = TypeVar("Images", Batch, Tensor, Scene)

_EXTENTS, _START, _CAST = (_core.op(name) for name in ("scenes.extents", "scenes.random_crop", "cast"))


def random_crop(
    images: Images,
    size: int | Sequence[int],
    *,
    most_of_one_class: float = 1.0,
    fill_value: float | Sequence[float] = 0,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """Crops images to windows of one size, each at a random place.

    Of smaller images all is shown, filled up to the right and below; label maps get ``ignore`` there, or 0.

    Args:
        images: Images or videos, or a Scene.
        size: Height and width, or one number for both.
        most_of_one_class: Of a Scene with a label map: the largest share of the window's pixels that one class may
            have; those of ``ignore`` do not count. Of ten windows, the first that holds it is taken, else the last.
        fill_value: What lies beyond the border: one number, or one for each channel.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each draws the same window in any batch. See `avida.random`.

    Example:
        >>> avida.augment.random_crop(batch, [3, 4]).shape
        [(3, 4, 3), (3, 4, 3)]
    """
    if not isinstance(images, Batch | Tensor | Scene):
        raise TypeError(f"random_crop: expected a Batch, a Tensor or a Scene, got {shown(images)}; see avida.as_batch")
    extents = [size, size] if isinstance(size, int | np.integer) else list(size)
    extents = [integer("random_crop", "size", each, low=1, high=2**30) for each in extents]
    if len(extents) != 2:
        raise ValueError(f"random_crop: expected height and width as size, got {len(extents)} numbers")
    most = number("random_crop", "most_of_one_class", most_of_one_class, low=0, high=1)
    image: Any = images.image if isinstance(images, Scene) else images
    arguments: dict[str, Any] = {"size": extents, "most_of_one_class": most, "rng": rng, "keyed_by": keyed_by}
    inputs = [_EXTENTS(outline_of(image))]
    if most < 1:
        if not isinstance(images, Scene) or images.mask is None:
            raise TypeError("random_crop: expected a Scene with a label map for most_of_one_class")
        inputs.append(_CAST(images.mask.cpu(), dtype=int32))
        if images.ignore is not None:
            arguments["ignore"] = images.ignore
    start = _START(*inputs, **arguments)
    fill = [fill_value] if isinstance(fill_value, int | float) else list(fill_value)
    return _ops.slice(images, start=start, shape=extents, axis_names="HW", out_of_bounds_policy="pad", fill_values=fill)
