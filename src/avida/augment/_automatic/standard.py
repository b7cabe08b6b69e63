"""The augmentations that the papers choose from, as plain data, with their magnitudes."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence

from avida.augment import _ops
from avida.augment._automatic import operations
from avida.augment._automatic.augmentation import Augmentation
from avida.augment._checks import listed, number

_RELATIVE = 150 / 331  # of the width or height: 150 pixels of the images of the AutoAugment paper
_TRANSLATE_X = {on: functools.partial(operations.translate_x, relative=on) for on in (False, True)}
_TRANSLATE_Y = {on: functools.partial(operations.translate_y, relative=on) for on in (False, True)}


def _translations(limit: float, relative: bool) -> tuple[Augmentation, Augmentation]:
    return (
        Augmentation("translate_x", _TRANSLATE_X[relative], (0, limit), signed=True),
        Augmentation("translate_y", _TRANSLATE_Y[relative], (0, limit), signed=True),
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
        Augmentation("solarize", operations.solarize_levels, (255, 0)),
        Augmentation("autocontrast", _ops.autocontrast),
        Augmentation("equalize", operations.equalize),
    )


RAND_AUGMENT = _space(0.3, _translations(_RELATIVE, relative=True), angle=30, factor=0.9, bits=4)
"""RandAugment: Cubuk et al., 2019."""

AUTO_AUGMENT = (*RAND_AUGMENT, Augmentation("invert", _ops.invert))
"""AutoAugment: Cubuk et al., 2018."""

TRIVIAL_AUGMENT_WIDE = _space(0.99, _translations(32, relative=False), angle=135, factor=0.99, bits=2)
"""TrivialAugment, the wide space: Müller and Hutter, 2021."""


_FLOOR, _CEILING = -0.4999, 0.4999  # what makes a rounded number the integer below or above


def _timm(increasing: bool) -> tuple[Augmentation, ...]:
    """Magnitudes from 0 to 10, as in timm.data.auto_augment. They may get stronger or weaker with the number."""
    factors = {
        name: Augmentation(name, function, (0, 0.9), signed=True, offset=1)
        if increasing
        else Augmentation(name, function, (0.1, 1.9))
        for name, function in (
            ("color", operations.color),
            ("contrast", operations.contrast),
            ("brightness", operations.brightness),
            ("sharpness", operations.sharpness),
        )
    }
    bits = ((4, 0), False, _CEILING) if increasing else ((0, 4), False, _FLOOR)
    return (
        Augmentation("autocontrast", _ops.autocontrast),
        Augmentation("equalize", operations.equalize),
        Augmentation("invert", _ops.invert),
        Augmentation("rotate", operations.rotate, (0, 30), signed=True),
        Augmentation("posterize", _ops.posterize, *bits),
        Augmentation("solarize", operations.solarize_levels, (256, 0) if increasing else (0, 256)),
        Augmentation("solarize_add", operations.solarize_add, (0, 110)),
        *factors.values(),
        Augmentation("shear_x", operations.shear_x, (0, 0.3), signed=True),
        Augmentation("shear_y", operations.shear_y, (0, 0.3), signed=True),
        *_translations(0.45, relative=True),
    )


TIMM, TIMM_INCREASING = _timm(increasing=False), _timm(increasing=True)

TIMM_ORIGINAL = (
    *(item for item in TIMM if item.name != "posterize"),
    Augmentation("posterize", _ops.posterize, (4, 8), offset=_FLOOR),
    Augmentation("posterize_increasing", _ops.posterize, (4, 0), offset=_CEILING),
    Augmentation("posterize_least", _ops.posterize, (0, 4), offset=_FLOOR),
)
"""What timm's AutoAugment draws from."""

_DESATURATE = Augmentation("desaturate", operations.color, (0.5, 0))
_BLUR = Augmentation("blur", operations.blur, (0.1, 2))
TIMM_THREE = (next(item for item in TIMM_INCREASING if item.name == "solarize"), _DESATURATE, _BLUR)

AUG_MIX = tuple(
    dataclasses.replace(item, magnitudes=(4, 0)) if item.name == "posterize" else item
    for item in _space(0.3, _translations(1 / 3, relative=True), angle=30, factor=0.9, bits=4)
    if item.name != "identity"
)
"""AugMix: Hendrycks et al., 2019, with all operations, as torchvision has them."""

SPACES = {
    "rand_augment": RAND_AUGMENT,
    "trivial_augment_wide": TRIVIAL_AUGMENT_WIDE,
    "auto_augment": AUTO_AUGMENT,
    "aug_mix": AUG_MIX,
    "timm": TIMM,
    "timm_increasing": TIMM_INCREASING,
    "timm_original": TIMM_ORIGINAL,
    "timm_3a": TIMM_THREE,
    "timm_3a_weighted": (
        *TIMM_THREE,
        *(
            item
            for item in TIMM_INCREASING
            if item.name not in ("solarize", "solarize_add", "translate_x", "translate_y")
        ),
    ),
    "timm_aug_mix": tuple(item for item in TIMM_INCREASING if item.name not in ("invert", "solarize_add")),
}
"""Lists of augmentations by the names that policies in JSON have for them."""


def augmentations_named(name: str, given: Iterable[Augmentation] | str) -> tuple[Augmentation, ...]:
    """The augmentations, which may be given by the name of a list."""
    if not isinstance(given, str):
        return listed(name, "augmentations", given, Augmentation)
    if given not in SPACES:
        raise ValueError(f"{name}: expected augmentations, or one of {', '.join(SPACES)}; got {given!r}")
    return SPACES[given]


def adapted(
    name: str,
    augmentations: Iterable[Augmentation],
    excluded: Sequence[str],
    max_translate_abs: float | None,
    max_translate_rel: float | None,
) -> tuple[Augmentation, ...]:
    """A list of augmentations without those excluded, and with other limits of translation."""
    found = tuple(augmentations)
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
