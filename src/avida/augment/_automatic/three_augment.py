"""3-Augment: gray, solarized or blurred, and then with other colours."""

from __future__ import annotations

import functools

from avida._values.typing import KeyedBy
from avida.augment._arguments import between
from avida.augment._automatic.chosen import Images
from avida.augment._checks import number
from avida.augment._policy.policy import Policy
from avida.random._rng import RNG


def three_augment(
    images: Images, jitter: float = 0.3, *, rng: RNG | None = None, keyed_by: KeyedBy | None = None
) -> Images:
    """3-Augment: gray, solarized or blurred images, with other colours.

    This is what DeiT III was trained with (Touvron et al., 2022), beside crops and flips.

    Args:
        images: RGB images or videos, or Scenes of them, of uint8, uint16 or floats (colours from 0 to 1).
        jitter: How strong ``color_jitter`` is for brightness, contrast and saturation.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same augmentation in any batch. See `avida.random`.

    Example:
        >>> avida.augment.three_augment(batch).shape
        [(4, 6, 3), (3, 5, 3)]
    """
    return _policy(number("three_augment", "jitter", jitter, low=0))(images, rng=rng, keyed_by=keyed_by)


@functools.lru_cache(maxsize=16)
def _policy(jitter: float) -> Policy:
    blur = ("gaussian_blur", {"sigma": between(0.1, 2)})
    steps = [("one_of", {}, ["augment.grayscale", ("augment.solarize_levels", {"levels": 128}), blur])]
    colors = {"brightness": jitter, "contrast": jitter, "saturation": jitter}
    return Policy([*steps, ("augment.color_jitter", colors)] if jitter else steps)
