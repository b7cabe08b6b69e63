"""Policies of random augmentations: AutoAugment, RandAugment, TrivialAugment."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from avida._typing import KeyedBy
from avida.augment._augmentation import Augmentation
from avida.augment._chosen import Choice, Images, draw_and_apply
from avida.augment._policies import POLICIES, Policy
from avida.augment._standard import RAND_AUGMENT, TRIVIAL_AUGMENT_WIDE, adapted
from avida.random._rng import RNG
from avida.types import INTERP_NN, DALIInterpType


def auto_augment(
    images: Images,
    policy: str | Policy = "imagenet",
    *,
    fill_value: float = 128,
    interp_type: DALIInterpType = INTERP_NN,
    max_translate_abs: float | None = None,
    max_translate_rel: float | None = None,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """AutoAugment: each sample draws a sub-policy, whose steps are carried out with their probabilities.

    Args:
        images: Images (HWC) or videos (FHWC) of bytes; what happens to a video happens to all of its frames.
        policy: ``"imagenet"``, ``"cifar10"``, ``"svhn"``, or a :class:`avida.augment.Policy`.
        fill_value: What appears where an image has moved away.
        interp_type: How shears and rotations interpolate.
        max_translate_abs: The longest translation in pixels.
        max_translate_rel: The longest translation as a share of width or height; by default 150 / 331.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same augmentation in any batch. See `avida.random`.

    Example:
        >>> avida.auto_augment(batch, "cifar10", rng=avida.random.RNG(seed=7)).shape
        [(4, 6, 3), (3, 5, 3)]
    """
    if isinstance(policy, str):
        if policy not in POLICIES:
            raise ValueError(f"policy: expected one of {', '.join(POLICIES)}, or a Policy; got {policy!r}")
        policy = POLICIES[policy]
    elif not isinstance(policy, Policy):
        raise TypeError(f"policy: expected a name or a Policy, got {type(policy).__name__}")
    augmentations = adapted(policy.augmentations, (), max_translate_abs, max_translate_rel)
    policy = dataclasses.replace(policy, augmentations=augmentations)
    by_name = {item.name: item for item in augmentations}
    longest = max(map(len, policy.sub_policies))

    def choose(drawn: np.ndarray) -> list[Choice]:
        steps = policy.sub_policies[_index(drawn[0], len(policy.sub_policies))]
        return [
            _choice(by_name[step.augmentation], policy.num_magnitude_bins, step.magnitude or 0, sign)
            for step, happens, sign in zip(steps, drawn[1::2], drawn[2::2], strict=False)
            if happens < step.probability
        ]

    options = {"fill_value": fill_value, "interp_type": interp_type}
    return draw_and_apply("auto_augment", images, 1 + 2 * longest, choose, options, rng, keyed_by)


def rand_augment(
    images: Images,
    n: int = 2,
    m: int = 9,
    *,
    num_magnitude_bins: int = 31,
    augmentations: Sequence[Augmentation] = RAND_AUGMENT,
    excluded: Sequence[str] = (),
    fill_value: float = 128,
    interp_type: DALIInterpType = INTERP_NN,
    max_translate_abs: float | None = None,
    max_translate_rel: float | None = None,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """RandAugment: ``n`` augmentations one after the other, drawn for each sample, all of the magnitude ``m``.

    Args:
        images: Images (HWC) or videos (FHWC) of bytes; what happens to a video happens to all of its frames.
        n: How many augmentations.
        m: The bin of their magnitudes, from 0 to below ``num_magnitude_bins``.
        num_magnitude_bins: Into how many bins magnitudes are divided.
        augmentations: What is drawn from.
        excluded: Names of augmentations to leave out.
        fill_value: What appears where an image has moved away.
        interp_type: How shears and rotations interpolate.
        max_translate_abs: The longest translation in pixels.
        max_translate_rel: The longest translation as a share of width or height; by default 150 / 331.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same augmentations in any batch. See `avida.random`.

    Example:
        >>> avida.rand_augment(batch, n=2, m=9, excluded=["equalize"]).shape
        [(4, 6, 3), (3, 5, 3)]
    """
    bins = _checked_bins(num_magnitude_bins)
    if n < 0:
        raise ValueError(f"n: expected a number of augmentations, got {n}")
    if not 0 <= m < bins:
        raise ValueError(f"m: expected a magnitude from 0 to {bins - 1}, got {m}")
    found = adapted(augmentations, excluded, max_translate_abs, max_translate_rel)

    def choose(drawn: np.ndarray) -> list[Choice]:
        return [_choice(found[_index(drawn[k], len(found))], bins, m, drawn[k + 1]) for k in range(0, 2 * n, 2)]

    options = {"fill_value": fill_value, "interp_type": interp_type}
    return draw_and_apply("rand_augment", images, 2 * n, choose, options, rng, keyed_by)


def trivial_augment(
    images: Images,
    *,
    num_magnitude_bins: int = 31,
    augmentations: Sequence[Augmentation] = TRIVIAL_AUGMENT_WIDE,
    excluded: Sequence[str] = (),
    fill_value: float = 128,
    interp_type: DALIInterpType = INTERP_NN,
    max_translate_abs: float | None = None,
    max_translate_rel: float | None = None,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """TrivialAugment: one augmentation of a random magnitude, drawn for each sample; by default of the wide space.

    Args:
        images: Images (HWC) or videos (FHWC) of bytes; what happens to a video happens to all of its frames.
        num_magnitude_bins: Into how many bins magnitudes are divided.
        augmentations: What is drawn from.
        excluded: Names of augmentations to leave out.
        fill_value: What appears where an image has moved away.
        interp_type: How shears and rotations interpolate.
        max_translate_abs: The longest translation in pixels; by default 32.
        max_translate_rel: The longest translation as a share of width or height.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same augmentation in any batch. See `avida.random`.

    Example:
        >>> avida.trivial_augment(batch).shape
        [(4, 6, 3), (3, 5, 3)]
    """
    bins = _checked_bins(num_magnitude_bins)
    found = adapted(augmentations, excluded, max_translate_abs, max_translate_rel)

    def choose(drawn: np.ndarray) -> list[Choice]:
        return [_choice(found[_index(drawn[0], len(found))], bins, _index(drawn[1], bins), drawn[2])]

    options = {"fill_value": fill_value, "interp_type": interp_type}
    return draw_and_apply("trivial_augment", images, 3, choose, options, rng, keyed_by)


def _index(drawn: float, count: int) -> int:
    """A number below ``count``, from one between 0 and 1."""
    return min(int(drawn * count), count - 1)


def _choice(augmentation: Augmentation, bins: int, magnitude: int, sign: float) -> Choice:
    strength = augmentation.step(magnitude, bins)
    return Choice(augmentation, -strength if augmentation.signed and sign < 0.5 else strength)


def _checked_bins(bins: int) -> int:
    if bins < 1:
        raise ValueError(f"num_magnitude_bins: expected at least 1, got {bins}")
    return bins
