"""Running a batch of which every sample has chosen another augmentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from avida import _core
from avida._scenes.parts import parts_of, rebuilt
from avida._scenes.scene import Scene
from avida._values.batch import Batch
from avida._values.dtype import DType, uint8, uint16
from avida._values.tensor import Tensor
from avida._values.typing import KeyedBy
from avida.augment._automatic.augmentation import Augmentation
from avida.augment._automatic.operations import gray_or
from avida.augment._draw import draw
from avida.augment._groups import batch_in, check_value, in_background, merged, selected
from avida.random._ops import uniform
from avida.random._rng import RNG

Images = TypeVar("Images", Batch, Tensor, Scene)


class Choice(NamedTuple):
    """What happens to one sample."""

    augmentation: Augmentation
    magnitude: float


class Plan(NamedTuple):
    """How samples choose their augmentations."""

    name: str
    draws: int
    """How many numbers from 0 to 1 a sample draws."""
    choose: Callable[[np.ndarray], Sequence[Choice]]
    """What these stand for: augmentations that follow one another."""
    key: tuple[Any, ...]
    """What ``choose`` depends on: constants and frozen objects, by which the call of the next iteration is known."""
    options: Mapping[str, Any]
    """Arguments of the augmentations that have them."""


def draw_and_apply(plan: Plan, images: Images, rng: RNG | None, keyed_by: KeyedBy | None) -> Images:
    """Draws numbers for every sample, and carries out what the plan chooses by them.

    The numbers are drawn at the call, like those of any random operator. All else happens in the background, in order
    with the other operators: nothing waits for the images here.
    """
    check_value(plan.name, images)
    like = batch_in(images)
    numbers = draw(plan.name, uniform, like, rng, keyed_by, range=[0.0, 1.0], shape=[max(plan.draws, 1)])

    def run(parts: list[Any], rows: np.ndarray, _: list[Any]) -> list[Any]:
        return apply_choices(plan, images, parts, [plan.choose(row) for row in rows])

    key = (plan.key, tuple(plan.options.items()))
    return in_background(plan.name, images, run, numbers, key=key, pure=True)[0]


def checked(name: str, images: Batch) -> Batch:
    """The images, if they are such; with a layout if they had none."""
    layout = images.layout or {3: "HWC", 4: "FHWC"}.get(images.ndim, "")
    colors = images.dtype in (uint8, uint16) or (images.dtype.kind == DType.Kind.float and images.dtype.bits < 64)
    if not colors or layout not in ("HWC", "FHWC", "CHW", "FCHW"):
        raise ValueError(
            f"{name}: expected images (HWC, CHW) or videos (FHWC, FCHW) of uint8, uint16 or floats, got "
            f"{images.dtype}, {images.layout or f'{images.ndim} axes'}"
        )
    channels = sorted({shape[layout.index("C")] for shape in images.shape})
    if len(channels) > 1:
        raise ValueError(f"{name}: expected images that all have as many channels, got {channels}")
    return images if images.layout else _core.relabel(images, layout)


def apply_choices(
    plan: Plan,
    x: Any,
    parts: list[Any],
    choices: Sequence[Sequence[Choice]],
    done: Callable[[int, Choice, Mapping[str, Any]], None] | None = None,
) -> list[Any]:
    """Carries out the choices of each sample, one after the other; ``done`` is told of each.

    Samples that have chosen the same are one batch, so that every operator runs once, on all threads.
    """
    parts = [checked(plan.name, parts[0]), *parts[1:]]
    shapes = parts[0].shape
    options = dict(plan.options)
    if options.get("fill_value", 0) is None:
        options["fill_value"] = gray_or(None, parts[0])
    for turn in range(max(map(len, choices), default=0)):
        members: dict[Augmentation, list[int]] = {}
        for i, chosen in enumerate(choices):
            if turn < len(chosen) and chosen[turn].augmentation.function is not None and 0 not in shapes[i]:
                members.setdefault(chosen[turn].augmentation, []).append(i)
        groups = []
        for augmentation, group in members.items():
            magnitudes = np.array([choices[i][turn].magnitude for i in group], np.float32)
            changed = augmentation.apply(rebuilt(x, selected(parts, group)), magnitudes, options)
            groups.append((group, parts_of(changed)))
            if done is not None:
                for i in group:
                    done(i, choices[i][turn], options)
        parts = merged(parts, groups)
    return parts
