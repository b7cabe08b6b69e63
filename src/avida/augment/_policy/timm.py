"""Policies from the strings that timm has for automatic augmentation."""

from __future__ import annotations

import re
from typing import Any

from avida.augment._arguments import between

_WEIGHTED = {  # by the names and in the order of SPACES["timm_increasing"]
    "autocontrast": 0.25,
    "equalize": 0.05,
    "invert": 0.05,
    "rotate": 3,
    "posterize": 0.05,
    "solarize": 0.05,
    "solarize_add": 0.05,
    "color": 0.25,
    "contrast": 0.05,
    "brightness": 0.05,
    "sharpness": 0.25,
    "shear_x": 2,
    "shear_y": 2,
    "translate_x": 1,
    "translate_y": 1,
}
_WEIGHTED_3A = [6, 6, 6, 1, 1, 1, 3, 1, 1, 1, 1, 1, 2, 2]  # as SPACES["timm_3a_weighted"]
_POLICIES = {"original": "timm_original", "originalr": "timm_originalr", "v0": "timm_v0", "v0r": "timm_v0r"}
_BINS = 11  # timm counts magnitudes from 0 to 10
_FILTER = {"interp_type": 1}  # INTERP_LINEAR; timm draws bilinear or bicubic for each image


def steps_of(text: str) -> list[Any]:
    """The steps of a policy."""
    if not isinstance(text, str):
        raise TypeError(f"expected a string such as rand-m9-mstd0.5-inc1, got {type(text).__name__}")
    kind, *sections = text.split("-")
    if kind == "rand":
        return [_rand(sections)]
    if kind == "augmix":
        return [_augmix(sections)]
    if kind in _POLICIES:
        given = _numbers(kind, sections, ("mstd",))
        return [("auto_augment", {"policy": _POLICIES[kind], "m_std": given.get("mstd", 0.0), **_FILTER})]
    if kind == "3a":
        _numbers(kind, sections, ("mstd",))  # no step of it has a magnitude that noise would not take to its limit
        blur = ("gaussian_blur", {"sigma": between(0.1, 2)})
        return [("one_of", {}, [("augment.solarize_levels", {"levels": 128}), "augment.grayscale", blur])]
    raise ValueError(f"expected rand-..., augmix-..., {', '.join(_POLICIES)} or 3a; got {text[:60]!r}")


def _rand(sections: list[str]) -> Any:
    chosen = [section[1:] for section in sections if section.startswith("t")]
    given = _numbers("rand", [s for s in sections if not s.startswith("t")], ("m", "n", "p", "mstd", "mmax", "inc"))
    if given.get("mmax", 10) > 10:
        raise ValueError(f"mmax{given['mmax']:g}: expected magnitudes of at most 10")
    increasing = bool(given.get("inc", 0))
    space, weights = {
        "weights": ("timm_increasing", [*_WEIGHTED.values()]),
        "3a": ("timm_3a", None),
        "3aw": ("timm_3a_weighted", _WEIGHTED_3A),
    }.get(chosen[0] if chosen else "", ("timm_increasing" if increasing else "timm", None))
    arguments = {
        "n": int(given.get("n", 2)),
        "m": min(int(given.get("m", 10)), int(given.get("mmax", 10))),
        "num_magnitude_bins": _BINS,
        "augmentations": space,
        "p": given.get("p", 0.5),
        "m_std": given.get("mstd", 0.0),
        **({"weights": weights} if weights else {}),
        **_FILTER,
    }
    return ("rand_augment", arguments)


def _augmix(sections: list[str]) -> Any:
    given = _numbers("augmix", sections, ("m", "w", "d", "a", "b", "mstd"))
    if given.get("b"):
        raise ValueError("b1: timm's approximate blending has no counterpart; leave it out")
    if given.get("mstd", 1000) <= 100:
        raise ValueError(f"mstd{given['mstd']:g}: expected magnitudes that are drawn evenly, as timm's by default")
    arguments = {
        "severity": given.get("m", 3),
        "width": int(given.get("w", 3)),
        "depth": int(given.get("d", -1)),
        "alpha": given.get("a", 1.0),
        "num_magnitude_bins": _BINS,
        "augmentations": "timm_aug_mix",
        "even": True,
        **_FILTER,
    }
    return ("augment.aug_mix", arguments)


def _numbers(kind: str, sections: list[str], known: tuple[str, ...]) -> dict[str, float]:
    """The numbers of the sections, by their letters."""
    found = {}
    for section in sections:
        match = re.fullmatch(r"([a-z]+)(\d+(?:\.\d+)?|inf)", section)
        if match is None or match[1] not in known:
            raise ValueError(f"{kind}: expected sections {', '.join(known)}, each with a number; got {section[:40]!r}")
        found[match[1]] = min(float(match[2]), 1000.0)
    return found
