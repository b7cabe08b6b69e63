"""Random arguments: numbers that an operator draws for each sample when it is called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from avida._scenes.random_arguments import Random
from avida._values.typing import KeyedBy
from avida.augment._checks import number
from avida.random._ops import choice, coin_flip, uniform
from avida.random._ops import normal as draw_normal
from avida.random._rng import RNG


_MOST_INTEGERS = 1 << 20


def between(
    low: float | Sequence[float],
    high: float | Sequence[float],
    *,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Random:
    """An argument: a number from a range, drawn uniformly for each sample.

    Functions that take integers draw from the integers between the two, which are among them if they are integers.

    Args:
        low: The start of the range, or a list of as many as the argument has numbers.
        high: The end of the range, which is not in it, or a list.
        rng: Where the random numbers come from; by default from the generator of the function that gets it.
        keyed_by: Samples that a reader has read: each draws the same number in any batch. See `avida.random`.

    Example:
        >>> from avida.augment import between
        >>> images = avida.rotate(batch, angle=between(-10, 10), fill_value=0)
        >>> images.batch_size
        2
    """
    if isinstance(low, Sequence) or isinstance(high, Sequence):
        return _between_lists(low, high, rng, keyed_by)
    low, high = number("between", "low", low), number("between", "high", high)
    if low > high:
        raise ValueError(f"between: expected low <= high, got {low:g}, {high:g}")

    def draw(**where: Any) -> Any:
        return uniform(range=[low, high], **where) if low < high else choice([low], **where)

    def draw_whole(**where: Any) -> Any:
        first, last = math.ceil(low), math.floor(high)
        if first > last:
            raise ValueError(f"there is no integer from {low:g} to {high:g}")
        if last - first >= _MOST_INTEGERS:
            raise ValueError(f"expected up to {_MOST_INTEGERS} integers to draw from, got {last - first + 1:.3g}")
        return choice(np.arange(first, last + 1, dtype=np.int32), **where)

    return Random("between", (low, high), draw, rng, keyed_by, draw_whole)


def _between_lists(low: Any, high: Any, rng: RNG | None, keyed_by: KeyedBy | None) -> Random:
    if not (isinstance(low, Sequence) and isinstance(high, Sequence) and len(low) == len(high) > 0):
        raise ValueError(f"between: expected two numbers, or two lists of as many, got {low!r:.40} and {high!r:.40}")
    lows, highs = (tuple(number("between", name, v) for v in each) for name, each in (("low", low), ("high", high)))
    if any(a > b for a, b in zip(lows, highs, strict=True)):
        raise ValueError(f"between: expected low <= high, got {list(lows)}, {list(highs)}")
    start = np.array(lows, np.float32)
    extent = np.array(highs, np.float32) - start

    def draw(**where: Any) -> Any:
        return uniform(range=[0.0, 1.0], shape=[len(lows)], **where) * extent + start

    def draw_whole(**where: Any) -> Any:
        raise ValueError("lists of numbers from ranges are not integers; use either")

    return Random("between", (lows, highs), draw, rng, keyed_by, draw_whole)


def either(
    *values: float | Sequence[float],
    p: Sequence[float] | None = None,
    rng: RNG | None = None,
    keyed_by: KeyedBy | None = None,
) -> Random:
    """An argument: one of several values, drawn for each sample.

    Args:
        values: Numbers, or lists of as many numbers each.
        p: How probable each is; by default all are equally so.
        rng: Where the random numbers come from; by default from the generator of the function that gets it.
        keyed_by: Samples that a reader has read: each draws the same value in any batch. See `avida.random`.

    Example:
        >>> from avida.augment import either
        >>> images = avida.rotate(batch, angle=either(0, 90, 180, 270))
        >>> images.batch_size
        2
    """
    if not values:
        raise ValueError("either: expected at least one value, got none")
    items = np.array(values)
    if items.dtype.kind not in "biuf":
        raise TypeError(f"either: expected numbers, or lists of as many numbers each, got {values!r:.80}")
    if p is not None and len(p) != len(values):
        raise ValueError(f"either: expected {len(values)} probabilities, one for each value, got {len(p)}")
    shares = None if p is None else [float(each) for each in p]
    items = items.astype(np.float32 if items.dtype.kind == "f" else np.int32)

    def draw(**where: Any) -> Any:
        return choice(items, p=shares, **where)

    fixed = tuple(tuple(value) if isinstance(value, Sequence) else value for value in values)
    return Random("either", (fixed,) if shares is None else (fixed, tuple(shares)), draw, rng, keyed_by)


def chance(p: float, *, rng: RNG | None = None, keyed_by: KeyedBy | None = None) -> Random:
    """An argument: 1 with a probability, else 0, drawn for each sample.

    Args:
        p: The probability.
        rng: Where the random numbers come from; by default from the generator of the function that gets it.
        keyed_by: Samples that a reader has read: each draws the same number in any batch. See `avida.random`.

    Example:
        >>> from avida.augment import chance
        >>> images = avida.flip(batch, horizontal=chance(0.5))
        >>> images.batch_size
        2
    """
    p = number("chance", "p", p, low=0, high=1)

    def draw(**where: Any) -> Any:
        return coin_flip(probability=p, **where)

    return Random("chance", (p,), draw, rng, keyed_by)


def normal(mean: float, std: float, *, rng: RNG | None = None, keyed_by: KeyedBy | None = None) -> Random:
    """An argument: a normally distributed number, drawn for each sample.

    Args:
        mean: The mean.
        std: The standard deviation.
        rng: Where the random numbers come from; by default from the generator of the function that gets it.
        keyed_by: Samples that a reader has read: each draws the same number in any batch. See `avida.random`.

    Example:
        >>> from avida.augment import normal
        >>> images = avida.rotate(batch, angle=normal(0, 5), fill_value=0)
        >>> images.batch_size
        2
    """
    mean, std = number("normal", "mean", mean), number("normal", "std", std, low=0)

    def draw(**where: Any) -> Any:
        return draw_normal(mean=mean, stddev=std, **where)

    return Random("normal", (mean, std), draw, rng, keyed_by)
