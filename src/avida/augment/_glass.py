"""Ground glass: blurred, scattered, and blurred again."""

from __future__ import annotations

from typing import TypeVar

from avida._ops import gaussian_blur
from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida._values.typing import FloatArg, IntArg, KeyedBy
from avida.augment._ops import scatter
from avida.random._rng import RNG

Images = TypeVar("Images", Batch, Tensor)


def glass_blur(
    images: Images,
    sigma: FloatArg = 0.7,
    reach: IntArg = 4,
    *,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """Blurs images as ground glass does.

    A Gaussian blurs them before and after each pixel is taken from a place near it.

    Args:
        images: Images or videos.
        sigma: The standard deviation of both Gaussians, in pixels; one number, or one for each sample.
        reach: How many rows and columns away a pixel may come from.
        rng: Where the random numbers come from.
        keyed_by: Samples that a reader has read: each draws the same in any batch. See `avida.random`.

    Example:
        >>> avida.augment.glass_blur(image, sigma=0.5, reach=2).shape == image.shape
        True
    """
    blurred = gaussian_blur(images, sigma=sigma)
    return gaussian_blur(scatter(blurred, reach=reach, rng=rng, keyed_by=keyed_by), sigma=sigma)
