"""Policies of random augmentations: AutoAugment, RandAugment, TrivialAugment."""

from __future__ import annotations

from collections.abc import Sequence

from avida._values.typing import FixedInterpType, KeyedBy
from avida.augment._automatic.augmentation import Augmentation
from avida.augment._automatic.chosen import Images, draw_and_apply
from avida.augment._automatic.plans import auto_augment_plan, rand_augment_plan, trivial_augment_plan
from avida.augment._automatic.sub_policies import SubPolicies
from avida.random._rng import RNG
from avida.types import INTERP_NN


def auto_augment(
    images: Images,
    policy: str | SubPolicies = "imagenet",
    *,
    m_std: float = 0,
    fill_value: float | None = None,
    interp_type: FixedInterpType = INTERP_NN,
    max_translate_abs: float | None = None,
    max_translate_rel: float | None = None,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """AutoAugment: applies a random sub-policy to each sample.

    Each step of the sub-policy is applied with its own probability.

    Args:
        images: Images (HWC, CHW) or videos (FHWC, FCHW) of uint8, uint16 or floats (colours from 0 to 1), all with as
            many channels, or Scenes of them. What happens to a video happens to all of its frames, and boxes, masks
            and points move with the pixels.
        policy: ``"imagenet"``, ``"cifar10"``, ``"svhn"``, one of timm's (``"timm_original"``, ``"timm_originalr"``,
            ``"timm_v0"``, ``"timm_v0r"``), or :class:`avida.augment.SubPolicies`.
        m_std: The standard deviation of noise on magnitudes, in bins. Above 100, they are drawn from 0 to that of the
            step.
        fill_value: What appears where an image has moved away; by default mid-gray, which is 128 of 255.
        interp_type: How shears and rotations interpolate: ``INTERP_NN`` or ``INTERP_LINEAR``.
        max_translate_abs: The longest translation in pixels.
        max_translate_rel: The longest translation as a share of width or height; by default 150 / 331.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same augmentation in any batch. See `avida.random`.

    Example:
        >>> avida.auto_augment(batch, "cifar10", rng=avida.random.RNG(seed=7)).shape
        [(4, 6, 3), (3, 5, 3)]
    """
    plan = auto_augment_plan(
        policy,
        m_std=m_std,
        fill_value=fill_value,
        interp_type=interp_type,
        max_translate_abs=max_translate_abs,
        max_translate_rel=max_translate_rel,
    )
    return draw_and_apply(plan, images, rng, keyed_by)


def rand_augment(
    images: Images,
    n: int = 2,
    m: int = 9,
    *,
    num_magnitude_bins: int = 31,
    augmentations: Sequence[Augmentation] | str | None = None,
    excluded: Sequence[str] = (),
    p: float = 1.0,
    m_std: float = 0,
    weights: Sequence[float] | None = None,
    fill_value: float | None = None,
    interp_type: FixedInterpType = INTERP_NN,
    max_translate_abs: float | None = None,
    max_translate_rel: float | None = None,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """RandAugment: applies ``n`` random augmentations of magnitude ``m``.

    They are drawn for each sample, and applied one after the other.

    Args:
        images: Images (HWC, CHW) or videos (FHWC, FCHW) of uint8, uint16 or floats (colours from 0 to 1), all with as
            many channels, or Scenes of them. What happens to a video happens to all of its frames, and boxes, masks
            and points move with the pixels.
        n: How many augmentations.
        m: The bin of their magnitudes, from 0 to below ``num_magnitude_bins``.
        num_magnitude_bins: Into how many bins magnitudes are divided.
        augmentations: What is drawn from: a list, or the name of one in ``avida.augment.SPACES``; by default
            ``avida.augment.RAND_AUGMENT``.
        excluded: Names of augmentations to leave out.
        p: The probability that one that was drawn is applied.
        m_std: The standard deviation of noise on magnitudes, in bins. Above 100, they are drawn from 0 to ``m``.
        weights: How often each augmentation is drawn, in proportion to the others. With weights, those of a sample
            differ.
        fill_value: What appears where an image has moved away; by default mid-gray, which is 128 of 255.
        interp_type: How shears and rotations interpolate: ``INTERP_NN`` or ``INTERP_LINEAR``.
        max_translate_abs: The longest translation in pixels.
        max_translate_rel: The longest translation as a share of width or height; by default 150 / 331.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same augmentations in any batch. See `avida.random`.

    Example:
        >>> avida.rand_augment(batch, n=2, m=9, excluded=["equalize"]).shape
        [(4, 6, 3), (3, 5, 3)]
    """
    plan = rand_augment_plan(
        n,
        m,
        num_magnitude_bins=num_magnitude_bins,
        augmentations=augmentations,
        excluded=excluded,
        p=p,
        m_std=m_std,
        weights=weights,
        fill_value=fill_value,
        interp_type=interp_type,
        max_translate_abs=max_translate_abs,
        max_translate_rel=max_translate_rel,
    )
    return draw_and_apply(plan, images, rng, keyed_by)


def trivial_augment(
    images: Images,
    *,
    num_magnitude_bins: int = 31,
    augmentations: Sequence[Augmentation] | str | None = None,
    excluded: Sequence[str] = (),
    fill_value: float | None = None,
    interp_type: FixedInterpType = INTERP_NN,
    max_translate_abs: float | None = None,
    max_translate_rel: float | None = None,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Images:
    """TrivialAugment: applies one random augmentation of random magnitude.

    It is drawn for each sample, by default from the wide space.

    Args:
        images: Images (HWC, CHW) or videos (FHWC, FCHW) of uint8, uint16 or floats (colours from 0 to 1), all with as
            many channels, or Scenes of them. What happens to a video happens to all of its frames, and boxes, masks
            and points move with the pixels.
        num_magnitude_bins: Into how many bins magnitudes are divided.
        augmentations: What is drawn from: a list, or the name of one in ``avida.augment.SPACES``; by default
            ``avida.augment.TRIVIAL_AUGMENT_WIDE``.
        excluded: Names of augmentations to leave out.
        fill_value: What appears where an image has moved away; by default mid-gray, which is 128 of 255.
        interp_type: How shears and rotations interpolate: ``INTERP_NN`` or ``INTERP_LINEAR``.
        max_translate_abs: The longest translation in pixels; by default 32.
        max_translate_rel: The longest translation as a share of width or height.
        rng: Where the random numbers come from; by default this thread's generator.
        keyed_by: Samples that came from a reader: each gets the same augmentation in any batch. See `avida.random`.

    Example:
        >>> avida.trivial_augment(batch).shape
        [(4, 6, 3), (3, 5, 3)]
    """
    plan = trivial_augment_plan(
        num_magnitude_bins=num_magnitude_bins,
        augmentations=augmentations,
        excluded=excluded,
        fill_value=fill_value,
        interp_type=interp_type,
        max_translate_abs=max_translate_abs,
        max_translate_rel=max_translate_rel,
    )
    return draw_and_apply(plan, images, rng, keyed_by)
