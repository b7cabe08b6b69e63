"""AugMix: a blend of the image and of several chains of augmentations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from avida import _ops
from avida._values.batch import as_batch
from avida._values.dtype import DType
from avida._values.typing import FixedInterpType, KeyedBy
from avida.augment._automatic.augmentation import Augmentation
from avida.augment._automatic.chosen import Images, Plan, apply_choices
from avida.augment._automatic.plans import chain, options_of
from avida.augment._automatic.standard import AUG_MIX, augmentations_named
from avida.augment._checks import integer, number
from avida.augment._draw import draw
from avida.augment._groups import batch_in, check_value, in_background, rows_of
from avida.random._ops import beta, uniform
from avida.random._rng import RNG
from avida.types import INTERP_NN

_DEEPEST = 3  # of chains whose depth is drawn


def aug_mix(
    images: Images,
    severity: float = 3,
    width: int = 3,
    depth: int = -1,
    alpha: float = 1.0,
    *,
    num_magnitude_bins: int = 10,
    augmentations: Sequence[Augmentation] | str | None = None,
    even: bool = False,
    fill_value: float | None = None,
    interp_type: FixedInterpType = INTERP_NN,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """AugMix: blends each image with chains of random augmentations of it.

    Boxes, masks and points of a Scene stay where they are, since the image shows through.

    Args:
        images: Images (HWC, CHW) or videos (FHWC, FCHW) of uint8, uint16 or floats (colours from 0 to 1), all with as
            many channels, or Scenes of them.
        severity: Magnitudes are drawn from the bins below it.
        width: How many chains are blended.
        depth: How many augmentations a chain has; by default 1 to 3, drawn for each.
        alpha: Shares of chains are drawn from a Dirichlet distribution of this parameter, that of the image from a beta
            distribution.
        num_magnitude_bins: Into how many bins magnitudes are divided.
        augmentations: What is drawn from: a list, or the name of one in ``avida.augment.SPACES``; by default
            ``avida.augment.AUG_MIX``.
        even: Magnitudes are drawn evenly from 0 to that of the bin ``severity``, as timm does.
        fill_value: What appears where an image has moved away; by default mid-gray, which is 128 of 255.
        interp_type: How shears and rotations interpolate: ``INTERP_NN`` or ``INTERP_LINEAR``.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same augmentation in any batch. See `avida.random`.

    Example:
        >>> avida.augment.aug_mix(batch, severity=5).shape
        [(4, 6, 3), (3, 5, 3)]
    """
    name = "aug_mix"
    check_value(name, images)
    bins = integer(name, "num_magnitude_bins", num_magnitude_bins, low=1)
    strength = number(name, "severity", severity, low=1, high=bins)
    chains, deep = integer(name, "width", width, low=1, high=64), integer(name, "depth", depth, low=-1, high=64)
    spread = number(name, "alpha", alpha)
    if spread <= 0:
        raise ValueError(f"{name}: expected alpha above 0, got {spread:g}")
    space = AUG_MIX if augmentations is None else augmentations_named(name, augmentations)
    each = 1 + 3 * (deep if deep > 0 else _DEEPEST)
    key = (space, strength, chains, deep, spread, bins, bool(even))
    plan = Plan(name, chains * each, lambda row: [], key, options_of(name, fill_value, interp_type))

    def drawn(operator: Any, **arguments: Any) -> Any:
        return draw(name, operator, batch_in(images), rng, keyed_by, **arguments)

    numbers = drawn(uniform, range=[0.0, 1.0], shape=[plan.draws])
    # The share of all chains, and of what the chains before have left, that of the next: a Dirichlet distribution.
    shares = [drawn(beta, alpha=spread, beta=spread * max(k, 1)) for k in range(chains)]

    def run(parts: list[Any], rows: np.ndarray, others: list[Any]) -> list[Any]:
        choices = [[chain(space, deep, strength, bins, even, row) for row in rows[:, k::chains]] for k in range(chains)]
        made = [apply_choices(plan, parts[0], parts[:1], chosen)[0] for chosen in choices]
        weights = _weights([rows_of(value).reshape(len(rows)) for value in others])
        return [_blended(parts[0], made, weights), *parts[1:]]

    return in_background(name, images, run, numbers, shares, key=(key, tuple(plan.options.items())), pure=True)[0]


def _weights(drawn: list[np.ndarray]) -> np.ndarray:
    """From what is drawn for each of the chains, their shares and that of the image: a row for each."""
    mix, *sticks = drawn
    left, weights = np.array(mix, np.float64), []
    for stick in sticks[::-1]:  # the first has as many others before it as its number says
        weights.append(left * stick)
        left = left * (1 - stick)
    return np.stack([*weights, left, 1 - np.asarray(mix, np.float64)]).astype(np.float32)


def _blended(image: Any, made: list[Any], weights: np.ndarray) -> Any:
    if not image.batch_size:
        return image
    blend = image * as_batch(weights[-1])
    for one, weight in zip(made, weights, strict=False):
        blend = blend + one * as_batch(weight)
    same = image.dtype.kind == DType.Kind.float and blend.dtype == image.dtype
    return blend if same else _ops.cast(blend, dtype=image.dtype)
