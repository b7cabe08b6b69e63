"""What an augmentation is: a name, a function, and how strong it can be."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from avida._values.batch import as_batch


@dataclasses.dataclass(frozen=True)
class Augmentation:
    """One thing that may happen to an image.

    Args:
        name: By which policies and ``excluded`` speak of it.
        function: ``function(images, magnitudes)`` gets the samples that are to be changed as a Batch, or as a Scene of
            them, and a magnitude for each as another; ``function(images)`` if there are no magnitudes. It may also have
            the keywords ``fill_value`` and ``interp_type``. It must not draw random numbers or have other effects,
            since a loop may call it ahead. ``None`` changes nothing.
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

    def step(self, bin: float, bins: int) -> float:
        """The magnitude of a bin."""
        weakest, strongest = self.magnitudes or (0, 0)
        return weakest + (strongest - weakest) * bin / max(bins - 1, 1)

    def arguments(self, magnitudes: Any, options: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """What the function gets beside the images, for one or several magnitudes."""
        assert self.function is not None
        known = _parameters(self.function)
        named = {name: value for name, value in options.items() if name in known}
        return [] if self.magnitudes is None else [np.float32(magnitudes) + np.float32(self.offset)], named

    def apply(self, images: Any, magnitudes: np.ndarray, options: Mapping[str, Any]) -> Any:
        """The samples of a Batch or a Scene, changed, each with a magnitude of its own."""
        if self.function is None:
            return images
        strength, named = self.arguments(magnitudes, options)
        changed = self.function(images, *map(as_batch, strength), **named)
        kind, size = type(images), images.batch_size
        if not isinstance(changed, kind) or changed.batch_size != size:
            found = f"{changed.batch_size} samples" if isinstance(changed, kind) else type(changed).__name__
            raise TypeError(
                f"augmentation {self.name!r}: expected a {kind.__name__} of {size} samples as result, got {found}"
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
