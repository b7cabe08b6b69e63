"""The augmentations that the papers choose from, as plain data, with their magnitudes."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence

from avida.augment import _operations as operations
from avida.augment import _ops
from avida.augment._augmentation import Augmentation
from avida.augment._checks import listed, number

_RELATIVE = 150 / 331  # of the width or height: 150 pixels of the images of the AutoAugment paper


def _translations(limit: float, relative: bool) -> tuple[Augmentation, Augmentation]:
    def translate_x(images, distance, *, fill_value=128):
        return operations.translate(images, x=distance, relative=relative, fill_value=fill_value)

    def translate_y(images, distance, *, fill_value=128):
        return operations.translate(images, y=distance, relative=relative, fill_value=fill_value)

    return (
        Augmentation("translate_x", translate_x, (0, limit), signed=True),
        Augmentation("translate_y", translate_y, (0, limit), signed=True),
    )


def _space(
    shear: float, translations: tuple[Augmentation, Augmentation], angle: float, factor: float, bits: int
) -> tuple[Augmentation, ...]:
    factors = functools.partial(Augmentation, magnitudes=(0, factor), signed=True, offset=1)
    return (
        Augmentation("identity", None),
        Augmentation("shear_x", operations.shear_x, (0, shear), signed=True),
        Augmentation("shear_y", operations.shear_y, (0, shear), signed=True),
        *translations,
        Augmentation("rotate", operations.rotate, (0, angle), signed=True),
        factors("brightness", operations.brightness),
        factors("color", operations.color),
        factors("contrast", operations.contrast),
        factors("sharpness", operations.sharpness),
        Augmentation("posterize", _ops.posterize, (8, bits)),
        Augmentation("solarize", _ops.solarize, (255, 0)),
        Augmentation("autocontrast", _ops.autocontrast),
        Augmentation("equalize", operations.equalize),
    )


RAND_AUGMENT = _space(0.3, _translations(_RELATIVE, relative=True), angle=30, factor=0.9, bits=4)
"""RandAugment: Cubuk et al., 2019."""

AUTO_AUGMENT = (*RAND_AUGMENT, Augmentation("invert", _ops.invert))
"""AutoAugment: Cubuk et al., 2018."""

TRIVIAL_AUGMENT_WIDE = _space(0.99, _translations(32, relative=False), angle=135, factor=0.99, bits=2)
"""TrivialAugment, the wide space: Müller and Hutter, 2021."""


def adapted(
    name: str,
    augmentations: Iterable[Augmentation],
    excluded: Sequence[str],
    max_translate_abs: float | None,
    max_translate_rel: float | None,
) -> tuple[Augmentation, ...]:
    """A list of augmentations without those excluded, and with other limits of translation."""
    found = listed(name, "augmentations", augmentations, Augmentation)
    names = [item.name for item in found]
    without = set(listed(name, "excluded", excluded, str))
    if unknown := without - set(names):
        raise ValueError(f"{name}: expected some of {', '.join(names)} as excluded; got {', '.join(sorted(unknown))}")
    found = tuple(item for item in found if item.name not in without)
    limits = {"max_translate_abs": max_translate_abs, "max_translate_rel": max_translate_rel}
    given = {argument: number(name, argument, each, low=0) for argument, each in limits.items() if each is not None}
    if len(given) > 1:
        raise ValueError(f"{name}: expected max_translate_abs or max_translate_rel, got both")
    for argument, limit in given.items():
        others = {item.name: item for item in _translations(limit, argument == "max_translate_rel")}
        found = tuple(
            dataclasses.replace(item, function=others[item.name].function, magnitudes=(0, limit))
            if item.name in others
            else item
            for item in found
        )
    if not found:
        raise ValueError(f"{name}: expected at least one augmentation, got none")
    return found
