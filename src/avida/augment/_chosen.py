"""Running a batch of which every sample has chosen another augmentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from avida import _core
from avida._values.batch import Batch
from avida._values.dtype import uint8
from avida._values.tensor import Tensor
from avida._values.typing import KeyedBy
from avida.augment._augmentation import Augmentation
from avida.augment._draw import draw
from avida.random._ops import uniform
from avida.random._rng import RNG

Images = TypeVar("Images", Batch, Tensor)


class Choice(NamedTuple):
    """What happens to one sample."""

    augmentation: Augmentation
    magnitude: float


def draw_and_apply(
    name: str,
    images: Images,
    draws: int,
    choose: Callable[[np.ndarray], Sequence[Choice]],
    choices: tuple[Any, ...],
    options: Mapping[str, Any],
    rng: RNG | None,
    keyed_by: KeyedBy | None,
) -> Images:
    """Draws numbers from 0 to 1 for every sample, lets ``choose`` make choices of them, and carries these out.

    The numbers are drawn at the call, like those of any random operator. All else happens in the background, in order
    with the other operators: nothing waits for the images here. ``choices`` is what ``choose`` depends on: constants
    and frozen objects, by which the call of the next iteration of a loop is recognised.
    """
    if not isinstance(images, Tensor | Batch):  # an array of four axes could be images, or a video
        raise TypeError(f"{name}: expected a Batch or a Tensor, got {type(images).__name__}; see avida.as_batch")
    like = images if isinstance(images, Batch) else None
    numbers = draw(name, uniform, like, rng, keyed_by, range=[0.0, 1.0], shape=[draws])

    def run(values: list[Any]) -> list[Any]:
        samples, rows = values[0], _core.read_only(values[1].cpu())
        if isinstance(samples, Batch):
            return [apply_choices(checked(name, samples), [choose(np.asarray(row)) for row in rows], options)]
        alone = _core.batch_from_tensors([samples], samples._dtype_id, "")
        return [apply_choices(checked(name, alone), [choose(np.asarray(rows))], options)._sample(0)]

    size = -1 if like is None else like.batch_size
    key = (name, choices, tuple(options.items()))
    return _core.python_call(run, name, [images, numbers], [], 1, size, True, key)[0]


def checked(name: str, images: Batch) -> Batch:
    """The images, if they are such; with a layout if they had none."""
    layout = images.layout or {3: "HWC", 4: "FHWC"}.get(images.ndim, "")
    if images.dtype != uint8 or layout not in ("HWC", "FHWC"):
        raise ValueError(
            f"{name}: expected images (HWC) or videos (FHWC) of uint8, got {images.dtype}, "
            f"{images.layout or f'{images.ndim} axes'}"
        )
    channels = sorted({shape[-1] for shape in images.shape})
    if len(channels) > 1 or channels[:1] not in ([], [1], [3]):
        raise ValueError(f"{name}: expected images that all have 1 channel, or 3; got {channels}")
    return images if images.layout else _core.relabel(images, layout)


def apply_choices(images: Batch, choices: Sequence[Sequence[Choice]], options: Mapping[str, Any]) -> Batch:
    """Carries out the choices of each sample, one after the other.

    Samples that have chosen the same are one batch, so that every operator runs once, on all threads.
    """
    shapes = images.shape
    for turn in range(max(map(len, choices), default=0)):
        groups: dict[Augmentation, list[int]] = {}
        for i, chosen in enumerate(choices):
            if turn < len(chosen) and chosen[turn].augmentation.function is not None and 0 not in shapes[i]:
                groups.setdefault(chosen[turn].augmentation, []).append(i)
        samples = list(images)
        for augmentation, members in groups.items():
            magnitudes = np.array([choices[i][turn].magnitude for i in members], np.float32)
            changed = augmentation.apply(images._select(members), magnitudes, options)
            for i, sample in zip(members, changed, strict=True):
                samples[i] = sample
        images = _core.batch_from_tensors(samples, images._dtype_id, images.layout or "")
    return images
