"""The policies that AutoAugment found, as plain data: for each sub-policy two augmentations, one after the other."""

from __future__ import annotations

import dataclasses
from typing import Any

from avida.augment._automatic.augmentation import Augmentation
from avida.augment._automatic.standard import AUTO_AUGMENT, TIMM_ORIGINAL


@dataclasses.dataclass(frozen=True)
class Step:
    """An augmentation that is carried out with some probability.

    Args:
        augmentation: Its name.
        probability: How likely it is, from 0 to 1.
        magnitude: The number of a bin of its magnitudes; ``None`` where it has no strength.
    """

    augmentation: str
    probability: float
    magnitude: int | None = None

    def __str__(self) -> str:
        strength = "" if self.magnitude is None else f" {self.magnitude}"
        return f"{self.augmentation}{strength} ({self.probability:g})"


@dataclasses.dataclass(frozen=True)
class SubPolicies:
    """Sub-policies, of which every sample draws one.

    Args:
        sub_policies: The steps of each sub-policy, which follow one another.
        augmentations: What the names of the steps stand for; by default ``avida.augment.AUTO_AUGMENT``.
        num_magnitude_bins: Into how many bins magnitudes are divided.

    Example:
        >>> from avida.augment import Step, SubPolicies
        >>> policy = SubPolicies([[Step("rotate", 0.7, 2), Step("invert", 0.1)]])
        >>> print(policy)
        rotate 2 (0.7), invert (0.1)
        >>> augmented = avida.auto_augment(batch, policy)
    """

    sub_policies: tuple[tuple[Step, ...], ...]
    augmentations: tuple[Augmentation, ...] = dataclasses.field(default_factory=lambda: AUTO_AUGMENT)
    num_magnitude_bins: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "sub_policies", tuple(tuple(steps) for steps in self.sub_policies))
        object.__setattr__(self, "augmentations", tuple(self.augmentations))
        if not self.sub_policies:
            raise ValueError("SubPolicies: expected at least one sub-policy, got none")
        known = {item.name: item for item in self.augmentations}
        for step in (step for steps in self.sub_policies for step in steps):
            if step.augmentation not in known:
                raise ValueError(f"SubPolicies: expected one of {', '.join(known)}; got {step.augmentation!r}")
            if not 0 <= step.probability <= 1:
                raise ValueError(f"step {step}: expected a probability from 0 to 1, got {step.probability}")
            if known[step.augmentation].magnitudes is None:
                if step.magnitude is not None:
                    raise ValueError(f"step {step}: expected no magnitude, got {step.magnitude}")
            elif step.magnitude is None or not 0 <= step.magnitude < self.num_magnitude_bins:
                raise ValueError(
                    f"step {step}: expected a magnitude from 0 to {self.num_magnitude_bins - 1}, got {step.magnitude}"
                )

    def __str__(self) -> str:
        return "\n".join(", ".join(map(str, steps)) for steps in self.sub_policies)


def _policy(text: str, **options: Any) -> SubPolicies:
    """From the form in which the paper's tables give it: name, probability, magnitude; twice in a line."""

    def step(name: str, probability: str, magnitude: str) -> Step:
        return Step(name, float(probability), None if magnitude == "-" else int(magnitude))

    rows = [line.split() for line in text.strip().splitlines()]
    return SubPolicies(tuple((step(*row[:3]), step(*row[3:])) for row in rows), **options)


IMAGENET = _policy("""
    posterize    0.4 8   rotate       0.6 9
    solarize     0.6 5   autocontrast 0.6 -
    equalize     0.8 -   equalize     0.6 -
    posterize    0.6 7   posterize    0.6 6
    equalize     0.4 -   solarize     0.2 4
    equalize     0.4 -   rotate       0.8 8
    solarize     0.6 3   equalize     0.6 -
    posterize    0.8 5   equalize     1.0 -
    rotate       0.2 3   solarize     0.6 8
    equalize     0.6 -   posterize    0.4 6
    rotate       0.8 8   color        0.4 0
    rotate       0.4 9   equalize     0.6 -
    equalize     0.0 -   equalize     0.8 -
    invert       0.6 -   equalize     1.0 -
    color        0.6 4   contrast     1.0 8
    rotate       0.8 8   color        1.0 2
    color        0.8 8   solarize     0.8 7
    sharpness    0.4 7   invert       0.6 -
    shear_x      0.6 5   equalize     1.0 -
    color        0.4 0   equalize     0.6 -
    equalize     0.4 -   solarize     0.2 4
    solarize     0.6 5   autocontrast 0.6 -
    invert       0.6 -   equalize     1.0 -
    color        0.6 4   contrast     1.0 8
    equalize     0.8 -   equalize     0.6 -
""")

CIFAR10 = _policy("""
    invert       0.1 -   contrast     0.2 6
    rotate       0.7 2   translate_x  0.3 9
    sharpness    0.8 1   sharpness    0.9 3
    shear_y      0.5 8   translate_y  0.7 9
    autocontrast 0.5 -   equalize     0.9 -
    shear_y      0.2 7   posterize    0.3 7
    color        0.4 3   brightness   0.6 7
    sharpness    0.3 9   brightness   0.7 9
    equalize     0.6 -   equalize     0.5 -
    contrast     0.6 7   sharpness    0.6 5
    color        0.7 7   translate_x  0.5 8
    equalize     0.3 -   autocontrast 0.4 -
    translate_y  0.4 3   sharpness    0.2 6
    brightness   0.9 6   color        0.2 8
    solarize     0.5 2   invert       0.0 -
    equalize     0.2 -   autocontrast 0.6 -
    equalize     0.2 -   equalize     0.6 -
    color        0.9 9   equalize     0.6 -
    autocontrast 0.8 -   solarize     0.2 8
    brightness   0.1 3   color        0.7 0
    solarize     0.4 5   autocontrast 0.9 -
    translate_y  0.9 9   translate_y  0.7 9
    autocontrast 0.9 -   solarize     0.8 3
    equalize     0.8 -   invert       0.1 -
    translate_y  0.7 9   autocontrast 0.9 -
""")

SVHN = _policy("""
    shear_x      0.9 4   invert       0.2 -
    shear_y      0.9 8   invert       0.7 -
    equalize     0.6 -   solarize     0.6 6
    invert       0.9 -   equalize     0.6 -
    equalize     0.6 -   rotate       0.9 3
    shear_x      0.9 4   autocontrast 0.8 -
    shear_y      0.9 8   invert       0.4 -
    shear_y      0.9 5   solarize     0.2 6
    invert       0.9 -   autocontrast 0.8 -
    equalize     0.6 -   rotate       0.9 3
    shear_x      0.9 4   solarize     0.3 3
    shear_y      0.8 8   invert       0.7 -
    equalize     0.9 -   translate_y  0.6 6
    invert       0.9 -   equalize     0.6 -
    contrast     0.3 3   rotate       0.8 4
    invert       0.8 -   translate_y  0.0 2
    shear_y      0.7 6   solarize     0.4 8
    invert       0.6 -   rotate       0.8 4
    shear_y      0.3 7   translate_x  0.9 3
    shear_x      0.1 6   invert       0.6 -
    solarize     0.7 2   translate_y  0.6 7
    shear_y      0.8 4   invert       0.8 -
    shear_x      0.7 9   translate_y  0.8 3
    shear_y      0.8 5   autocontrast 0.7 -
    shear_x      0.7 2   invert       0.1 -
""")

TIMM_POLICY_ORIGINAL = dataclasses.replace(IMAGENET, augmentations=TIMM_ORIGINAL, num_magnitude_bins=11)
"""timm's form of the paper's policy: magnitudes are tenths, and weaker with the number where timm's are."""

TIMM_POLICY_V0 = _policy(
    """
    equalize       0.8 -   shear_y        0.8 4
    color          0.4 9   equalize       0.6 -
    color          0.4 1   rotate         0.6 8
    solarize       0.8 3   equalize       0.4 -
    solarize       0.4 2   solarize       0.6 2
    color          0.2 0   equalize       0.8 -
    equalize       0.4 -   solarize_add   0.8 3
    shear_x        0.2 9   rotate         0.6 8
    color          0.6 1   equalize       1.0 -
    invert         0.4 -   rotate         0.6 0
    equalize       1.0 -   shear_y        0.6 3
    color          0.4 7   equalize       0.6 -
    posterize_least 0.4 6   autocontrast   0.4 -
    solarize       0.6 8   color          0.6 9
    solarize       0.2 4   rotate         0.8 9
    rotate         1.0 7   translate_y    0.8 9
    shear_x        0.0 0   solarize       0.8 4
    shear_y        0.8 0   color          0.6 4
    color          1.0 0   rotate         0.6 2
    equalize       0.8 -   equalize       0.0 -
    equalize       1.0 -   autocontrast   0.6 -
    shear_y        0.4 7   solarize_add   0.6 7
    posterize_least 0.8 2   solarize       0.6 10
    solarize       0.6 8   equalize       0.6 -
    color          0.8 6   rotate         0.4 5
""",
    augmentations=TIMM_ORIGINAL,
    num_magnitude_bins=11,
)


def _renamed(policy: SubPolicies, before: str, after: str) -> SubPolicies:
    """The policy with another augmentation in place of one."""
    return dataclasses.replace(
        policy,
        sub_policies=tuple(
            tuple(dataclasses.replace(s, augmentation=after) if s.augmentation == before else s for s in steps)
            for steps in policy.sub_policies
        ),
    )


POLICIES = {
    "imagenet": IMAGENET,
    "cifar10": CIFAR10,
    "svhn": SVHN,
    "timm_original": TIMM_POLICY_ORIGINAL,
    "timm_originalr": _renamed(TIMM_POLICY_ORIGINAL, "posterize", "posterize_increasing"),
    "timm_v0": TIMM_POLICY_V0,
    "timm_v0r": _renamed(TIMM_POLICY_V0, "posterize_least", "posterize_increasing"),
}
