"""What an augmentation is: a name, a function, and how strong it can be."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from avida._values.batch import Batch, as_batch


@dataclasses.dataclass(frozen=True)
class Augmentation:
    """One thing that may happen to an image.

    Args:
        name: By which policies and ``excluded`` speak of it.
        function: ``function(images, magnitudes)`` gets the samples that are to be changed as a Batch, and a magnitude
            for each of them as another; ``function(images)`` if there are no magnitudes. It may also have the keywords
            ``fill_value`` and ``interp_type``. It must not draw random numbers or have other effects, since a loop may
            call it ahead. ``None`` changes nothing.
        magnitudes: The weakest and the strongest; what lies between is divided evenly. ``None``: it has no strength.
        signed: The sign of the magnitude is drawn.
        offset: What is added to the magnitude after that, as 1 for factors.

    Example:
        >>> blur = avida.augment.Augmentation("blur", lambda images, m: avida.gaussian_blur(images, sigma=m), (0.5, 3))
        >>> [blur.step(bin, bins=6) for bin in range(6)]
        [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    """

    name: str
    function: Callable[..., Any] | None
    magnitudes: tuple[float, float] | None = None
    signed: bool = False
    offset: float = 0.0

    def __post_init__(self) -> None:
        if self.function is not None and not callable(self.function):
            raise TypeError(f"augmentation {self.name!r}: expected a function, got {self.function!r}")
        if self.magnitudes is None:
            return
        if len(self.magnitudes) != 2:
            raise ValueError(
                f"augmentation {self.name!r}: expected the weakest and the strongest magnitude, got {self.magnitudes!r}"
            )
        object.__setattr__(self, "magnitudes", tuple(self.magnitudes))

    def step(self, bin: int, bins: int) -> float:
        """The magnitude of a bin."""
        weakest, strongest = self.magnitudes or (0, 0)
        return weakest + (strongest - weakest) * bin / max(bins - 1, 1)

    def apply(self, images: Batch, magnitudes: np.ndarray, options: Mapping[str, Any]) -> Batch:
        """The samples of a batch, changed, each with a magnitude of its own."""
        if self.function is None:
            return images
        known = _parameters(self.function)
        keywords = {name: value for name, value in options.items() if name in known}
        parameters = [] if self.magnitudes is None else [as_batch(magnitudes.astype(np.float32) + self.offset)]
        changed = self.function(images, *parameters, **keywords)
        if not isinstance(changed, Batch) or changed.batch_size != images.batch_size:
            found = f"{changed.batch_size} samples" if isinstance(changed, Batch) else type(changed).__name__
            raise TypeError(
                f"augmentation {self.name!r}: expected a Batch of {images.batch_size} samples as result, got {found}"
            )
        return changed


@functools.lru_cache(maxsize=256)  # to find them out takes longer than most operators
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


def augmentation(
    *, magnitudes: tuple[float, float] | None = None, signed: bool = False, offset: float = 0.0, name: str | None = None
) -> Callable[[Callable[..., Any]], Augmentation]:
    """Makes an :class:`Augmentation` from a function.

    Example:
        >>> @avida.augment.augmentation(magnitudes=(0.5, 3))
        ... def blur(images, sigma):
        ...     return avida.gaussian_blur(images, sigma=sigma)
        >>> blur.name
        'blur'
    """
    return lambda function: Augmentation(name or function.__name__, function, magnitudes, signed, offset)
