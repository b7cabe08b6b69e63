"""Policies of random augmentations: AutoAugment, RandAugment, TrivialAugment."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from avida._values.typing import FixedInterpType, KeyedBy
from avida.augment._augmentation import Augmentation
from avida.augment._checks import integer, interpolation, number, shown
from avida.augment._chosen import Choice, Images, draw_and_apply
from avida.augment._policies import POLICIES, Policy
from avida.augment._standard import RAND_AUGMENT, TRIVIAL_AUGMENT_WIDE, adapted
from avida.random._rng import RNG
from avida.types import INTERP_LINEAR, INTERP_NN


def auto_augment(
    images: Images,
    policy: str | Policy = "imagenet",
    *,
    fill_value: float = 128,
    interp_type: FixedInterpType = INTERP_NN,
    max_translate_abs: float | None = None,
    max_translate_rel: float | None = None,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """AutoAugment: applies a random sub-policy to each sample.

    Each step of the sub-policy is applied with its own probability.

    Args:
        images: Images (HWC) or videos (FHWC) of bytes, all with 1 channel or all with 3; what happens to a video
            happens to all of its frames.
        policy: ``"imagenet"``, ``"cifar10"``, ``"svhn"``, or a :class:`avida.augment.Policy`.
        fill_value: What appears where an image has moved away.
        interp_type: How shears and rotations interpolate: ``INTERP_NN`` or ``INTERP_LINEAR``.
        max_translate_abs: The longest translation in pixels.
        max_translate_rel: The longest translation as a share of width or height; by default 150 / 331.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same augmentation in any batch. See `avida.random`.

    Example:
        >>> avida.auto_augment(batch, "cifar10", rng=avida.random.RNG(seed=7)).shape
        [(4, 6, 3), (3, 5, 3)]
    """
    name = "auto_augment"
    options = _options(name, fill_value, interp_type)
    if isinstance(policy, str):
        if policy not in POLICIES:
            raise ValueError(f"{name}: expected one of {', '.join(POLICIES)}, or a Policy; got {policy!r}")
        policy = POLICIES[policy]
    elif not isinstance(policy, Policy):
        raise TypeError(f"{name}: expected a name or a Policy, got {shown(policy)}")
    choices = (policy, max_translate_abs, max_translate_rel)
    augmentations = adapted(name, policy.augmentations, (), max_translate_abs, max_translate_rel)
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

    return draw_and_apply(name, images, 1 + 2 * longest, choose, choices, options, rng, keyed_by)


def rand_augment(
    images: Images,
    n: int = 2,
    m: int = 9,
    *,
    num_magnitude_bins: int = 31,
    augmentations: Sequence[Augmentation] | None = None,
    excluded: Sequence[str] = (),
    fill_value: float = 128,
    interp_type: FixedInterpType = INTERP_NN,
    max_translate_abs: float | None = None,
    max_translate_rel: float | None = None,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """RandAugment: applies ``n`` random augmentations of magnitude ``m``.

    They are drawn for each sample, and applied one after the other.

    Args:
        images: Images (HWC) or videos (FHWC) of bytes, all with 1 channel or all with 3; what happens to a video
            happens to all of its frames.
        n: How many augmentations.
        m: The bin of their magnitudes, from 0 to below ``num_magnitude_bins``.
        num_magnitude_bins: Into how many bins magnitudes are divided.
        augmentations: What is drawn from; by default ``avida.augment.RAND_AUGMENT``.
        excluded: Names of augmentations to leave out.
        fill_value: What appears where an image has moved away.
        interp_type: How shears and rotations interpolate: ``INTERP_NN`` or ``INTERP_LINEAR``.
        max_translate_abs: The longest translation in pixels.
        max_translate_rel: The longest translation as a share of width or height; by default 150 / 331.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same augmentations in any batch. See `avida.random`.

    Example:
        >>> avida.rand_augment(batch, n=2, m=9, excluded=["equalize"]).shape
        [(4, 6, 3), (3, 5, 3)]
    """
    name = "rand_augment"
    options = _options(name, fill_value, interp_type)
    bins = integer(name, "num_magnitude_bins", num_magnitude_bins, low=1)
    count = integer(name, "n", n, low=0)
    magnitude = integer(name, "m", m, low=0, high=bins - 1)
    given = RAND_AUGMENT if augmentations is None else augmentations
    found = adapted(name, given, excluded, max_translate_abs, max_translate_rel)
    choices = (*given, *excluded, bins, magnitude, max_translate_abs, max_translate_rel)

    def choose(drawn: np.ndarray) -> list[Choice]:
        pairs = zip(drawn[::2], drawn[1::2], strict=True)
        return [_choice(found[_index(which, len(found))], bins, magnitude, sign) for which, sign in pairs]

    return draw_and_apply(name, images, 2 * count, choose, choices, options, rng, keyed_by)


def trivial_augment(
    images: Images,
    *,
    num_magnitude_bins: int = 31,
    augmentations: Sequence[Augmentation] | None = None,
    excluded: Sequence[str] = (),
    fill_value: float = 128,
    interp_type: FixedInterpType = INTERP_NN,
    max_translate_abs: float | None = None,
    max_translate_rel: float | None = None,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """TrivialAugment: applies one random augmentation of random magnitude.

    It is drawn for each sample, by default from the wide space.

    Args:
        images: Images (HWC) or videos (FHWC) of bytes, all with 1 channel or all with 3; what happens to a video
            happens to all of its frames.
        num_magnitude_bins: Into how many bins magnitudes are divided.
        augmentations: What is drawn from; by default ``avida.augment.TRIVIAL_AUGMENT_WIDE``.
        excluded: Names of augmentations to leave out.
        fill_value: What appears where an image has moved away.
        interp_type: How shears and rotations interpolate: ``INTERP_NN`` or ``INTERP_LINEAR``.
        max_translate_abs: The longest translation in pixels; by default 32.
        max_translate_rel: The longest translation as a share of width or height.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same augmentation in any batch. See `avida.random`.

    Example:
        >>> avida.trivial_augment(batch).shape
        [(4, 6, 3), (3, 5, 3)]
    """
    name = "trivial_augment"
    options = _options(name, fill_value, interp_type)
    bins = integer(name, "num_magnitude_bins", num_magnitude_bins, low=1)
    given = TRIVIAL_AUGMENT_WIDE if augmentations is None else augmentations
    found = adapted(name, given, excluded, max_translate_abs, max_translate_rel)
    choices = (*given, *excluded, bins, max_translate_abs, max_translate_rel)

    def choose(drawn: np.ndarray) -> list[Choice]:
        return [_choice(found[_index(drawn[0], len(found))], bins, _index(drawn[1], bins), drawn[2])]

    return draw_and_apply(name, images, 3, choose, choices, options, rng, keyed_by)


def _index(drawn: float, count: int) -> int:
    """A number below ``count``, from one between 0 and 1."""
    return min(int(drawn * count), count - 1)


def _choice(augmentation: Augmentation, bins: int, magnitude: int, sign: float) -> Choice:
    strength = augmentation.step(magnitude, bins)
    return Choice(augmentation, -strength if augmentation.signed and sign < 0.5 else strength)


def _options(name: str, fill_value: float, interp_type: FixedInterpType) -> dict[str, Any]:
    return {
        "fill_value": number(name, "fill_value", fill_value),
        "interp_type": interpolation(name, interp_type, (INTERP_NN, INTERP_LINEAR)),
    }
