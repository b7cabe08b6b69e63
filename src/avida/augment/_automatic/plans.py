"""How AutoAugment, RandAugment and TrivialAugment choose: from numbers that a sample has drawn to augmentations."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from avida._values.typing import FixedInterpType
from avida.augment._automatic.augmentation import Augmentation
from avida.augment._automatic.chosen import Choice, Plan
from avida.augment._automatic.standard import RAND_AUGMENT, TRIVIAL_AUGMENT_WIDE, adapted, augmentations_named
from avida.augment._automatic.sub_policies import POLICIES, SubPolicies
from avida.augment._checks import integer, interpolation, number, shown
from avida.types import INTERP_LINEAR, INTERP_NN

_MOST = 1000  # augmentations of a sample
_UNIFORM = 100  # a deviation above which timm draws magnitudes evenly


def auto_augment_plan(
    policy: str | SubPolicies = "imagenet",
    *,
    m_std: float = 0,
    fill_value: float | None = None,
    interp_type: FixedInterpType = INTERP_NN,
    max_translate_abs: float | None = None,
    max_translate_rel: float | None = None,
) -> Plan:
    """The choices of :func:`auto_augment`."""
    name = "auto_augment"
    options = options_of(name, fill_value, interp_type)
    std = number(name, "m_std", m_std, low=0)
    if isinstance(policy, str):
        if policy not in POLICIES:
            raise ValueError(f"{name}: expected one of {', '.join(POLICIES)}, or SubPolicies; got {policy!r}")
        policy = POLICIES[policy]
    elif not isinstance(policy, SubPolicies):
        raise TypeError(f"{name}: expected a name or SubPolicies, got {shown(policy)}")
    key = (policy, std, max_translate_abs, max_translate_rel)
    augmentations = adapted(name, policy.augmentations, (), max_translate_abs, max_translate_rel)
    policy = dataclasses.replace(policy, augmentations=augmentations)
    by_name = {item.name: item for item in augmentations}
    bins, each = policy.num_magnitude_bins, 4 if std else 2

    def choose(drawn: np.ndarray) -> list[Choice]:
        steps = policy.sub_policies[_index(drawn[0], len(policy.sub_policies))]
        numbers = drawn[1:].reshape(-1, each)
        return [
            _choice(by_name[step.augmentation], bins, _noisy(step.magnitude or 0, std, bins - 1, mine[2:]), mine[1])
            for step, mine in zip(steps, numbers, strict=False)
            if mine[0] < step.probability
        ]

    return Plan(name, 1 + each * max(map(len, policy.sub_policies)), choose, key, options)


def rand_augment_plan(
    n: int = 2,
    m: float = 9,
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
) -> Plan:
    """The choices of :func:`rand_augment`."""
    name = "rand_augment"
    options = options_of(name, fill_value, interp_type)
    bins = integer(name, "num_magnitude_bins", num_magnitude_bins, low=1)
    count = integer(name, "n", n, low=0, high=_MOST)
    magnitude = integer(name, "m", m, low=0, high=bins - 1)
    probability, std = number(name, "p", p, low=0, high=1), number(name, "m_std", m_std, low=0)
    given = RAND_AUGMENT if augmentations is None else augmentations_named(name, augmentations)
    found = adapted(name, given, excluded, max_translate_abs, max_translate_rel)
    shares = None if weights is None else _shares(name, weights, count, len(found))
    key = (*given, *excluded, bins, count, magnitude, probability, std, shares, max_translate_abs, max_translate_rel)
    each = (2 if shares is None else 1) + (probability < 1) + 2 * (std > 0)

    def choose(drawn: np.ndarray) -> list[Choice]:
        choices = []
        order = [] if shares is None else np.argsort(np.log(drawn[count * each :]) / shares)[::-1]
        for k, mine in enumerate(drawn[: count * each].reshape(count, each)):
            numbers = list(mine)
            which = _index(numbers.pop(0), len(found)) if shares is None else int(order[k])
            sign = numbers.pop(0)
            if probability == 1 or numbers.pop(0) < probability:
                choices.append(_choice(found[which], bins, _noisy(magnitude, std, bins - 1, numbers), sign))
        return choices

    return Plan(name, count * each + (0 if shares is None else len(found)), choose, key, options)


def trivial_augment_plan(
    *,
    num_magnitude_bins: int = 31,
    augmentations: Sequence[Augmentation] | str | None = None,
    excluded: Sequence[str] = (),
    fill_value: float | None = None,
    interp_type: FixedInterpType = INTERP_NN,
    max_translate_abs: float | None = None,
    max_translate_rel: float | None = None,
) -> Plan:
    """The choices of :func:`trivial_augment`."""
    name = "trivial_augment"
    options = options_of(name, fill_value, interp_type)
    bins = integer(name, "num_magnitude_bins", num_magnitude_bins, low=1)
    given = TRIVIAL_AUGMENT_WIDE if augmentations is None else augmentations_named(name, augmentations)
    found = adapted(name, given, excluded, max_translate_abs, max_translate_rel)
    key = (*given, *excluded, bins, max_translate_abs, max_translate_rel)

    def choose(drawn: np.ndarray) -> list[Choice]:
        return [_choice(found[_index(drawn[0], len(found))], bins, _index(drawn[1], bins), drawn[2])]

    return Plan(name, 3, choose, key, options)


PLANS = {"auto_augment": auto_augment_plan, "rand_augment": rand_augment_plan, "trivial_augment": trivial_augment_plan}


def chain(augmentations: Sequence[Augmentation], depth: int, m: float, bins: int, even: bool, drawn: Any) -> Any:
    """One of AugMix's chains: ``depth`` augmentations, or 1 to 3, of magnitudes up to ``m``."""
    count = depth if depth > 0 else 1 + _index(drawn[0], 3)
    choices = []
    for which, strength, sign in drawn[1:].reshape(-1, 3)[:count]:
        magnitude = strength * m if even else _index(strength, int(m)) if m >= 1 else 0
        choices.append(_choice(augmentations[_index(which, len(augmentations))], bins, magnitude, sign))
    return choices


def _shares(name: str, weights: Sequence[float], count: int, known: int) -> tuple[float, ...]:
    shares = tuple(number(name, "weights", each, low=0) for each in weights)
    if len(shares) != known or min(shares) <= 0:
        raise ValueError(f"{name}: expected {known} weights above 0, one for each augmentation, got {weights}")
    if count > known:
        raise ValueError(f"{name}: expected n of at most {known}, since weighted augmentations differ; got {count}")
    return shares


def _index(drawn: float, count: int) -> int:
    """A number below ``count``, from one between 0 and 1."""
    return min(int(drawn * count), count - 1)


def _noisy(magnitude: float, std: float, top: float, drawn: Any) -> float:
    """A magnitude with noise, from two numbers between 0 and 1."""
    if not std:
        return magnitude
    if std > _UNIFORM:
        return magnitude * float(drawn[0])
    noise = math.sqrt(-2 * math.log(1 - min(float(drawn[0]), 1 - 1e-9))) * math.cos(2 * math.pi * float(drawn[1]))
    return min(max(magnitude + std * noise, 0), top)


def _choice(augmentation: Augmentation, bins: int, magnitude: float, sign: float) -> Choice:
    strength = augmentation.step(magnitude, bins)
    return Choice(augmentation, -strength if augmentation.signed and sign < 0.5 else strength)


def options_of(name: str, fill_value: float | None, interp_type: FixedInterpType) -> dict[str, Any]:
    """Arguments of augmentations, checked."""
    return {
        "fill_value": None if fill_value is None else number(name, "fill_value", fill_value),
        "interp_type": interpolation(name, interp_type, (INTERP_NN, INTERP_LINEAR)),
    }
