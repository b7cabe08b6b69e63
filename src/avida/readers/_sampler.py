"""Orders of samples for ``reader.sampler``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike


class WeightedSampler:
    """Draws samples in proportion to their weights, independently in each epoch.

    Unlike a sampler with a generator of its own, it follows from the seed and the epoch alone: all shards draw alike,
    and a resumed run continues exactly.

    Args:
        weights: A number for each sample of the data set; they need not sum up to one.
        num_samples: How many are drawn for an epoch. Default: as many as there are weights.
        replacement: Whether a sample may come several times in an epoch.
        seed: What the draws follow from, beside the epoch.

    Example:
        >>> sampler = avida.readers.WeightedSampler([0, 1, 0, 1], num_samples=6)
        >>> set(sampler) == {1, 3}
        True
    """

    def __init__(
        self, weights: ArrayLike, num_samples: int | None = None, *, replacement: bool = True, seed: int = 0
    ) -> None:
        self._weights = np.asarray(weights, dtype=np.float64)
        if self._weights.ndim != 1 or not np.isfinite(self._weights).all() or (self._weights < 0).any():
            raise ValueError("expected a list of finite weights from 0")
        if not self._weights.sum() > 0:
            raise ValueError("expected a weight above 0, got none")
        self._count = len(self._weights) if num_samples is None else int(num_samples)
        possible = np.count_nonzero(self._weights)
        if self._count < 1 or (not replacement and self._count > possible):
            raise ValueError(f"cannot draw {self._count} of {possible} samples without replacement")
        self._replacement = replacement
        self._seed = seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch whose order the next iterator has."""
        self._epoch = epoch

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        generator = np.random.Generator(np.random.Philox(key=[self._seed % 2**64, self._epoch]))
        if self._replacement:
            sums = np.cumsum(self._weights)
            drawn = np.searchsorted(sums, generator.random(self._count) * sums[-1], side="right")
            last = np.flatnonzero(self._weights)[-1]  # rounding must not lead behind it
            return iter(np.minimum(drawn, last).tolist())
        # The largest keys log(u) / weight are a draw without replacement (Efraimidis and Spirakis, 2006).
        with np.errstate(divide="ignore"):
            keys = np.log(1 - generator.random(len(self._weights))) / self._weights
        keys[self._weights == 0] = -np.inf
        return iter(np.argsort(-keys, kind="stable")[: self._count].tolist())
