"""How numbers from 0 to 1 tell which functions a sample runs through, and in which order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from avida.augment._checks import integer, number, shown


class Order(NamedTuple):
    """The choice that a combinator makes for each sample."""

    draws: int
    """How many numbers a sample draws for it."""
    functions: Callable[[np.ndarray], np.ndarray]
    """From these numbers, a row for each sample, to rows of the functions that follow one another. -1: none."""
    key: tuple[Any, ...]
    """What it depends on."""


def maybe_order(count: int = 1, *, p: float = 0.5) -> Order:
    """The only function, or none."""
    if count != 1:
        raise ValueError(f"maybe: expected one function, got {count}")
    p = number("maybe", "p", p, low=0, high=1)
    return Order(1, lambda drawn: np.where(drawn < p, 0, -1), (p,))


def one_of_order(count: int, *, p: float = 1.0, weights: Sequence[float] | None = None) -> Order:
    """One of the functions."""
    if weights is None and type(p) in (int, float):
        return _even_order(count, p)  # mostly made anew in each iteration
    return _one_of_order(count, p, weights)


@functools.lru_cache(maxsize=64)
def _even_order(count: int, p: float) -> Order:
    return _one_of_order(count, p, None)


def _one_of_order(count: int, p: float, weights: Sequence[float] | None) -> Order:
    p = number("one_of", "p", p, low=0, high=1)
    _check_count("one_of", count)
    shares = [1.0] * count if weights is None else [number("one_of", "weights", w, low=0) for w in weights]
    if len(shares) != count or not sum(shares) > 0:
        raise ValueError(f"one_of: expected {count} weights, not all of them 0, got {weights}")
    ends = np.cumsum(shares) / sum(shares)
    ends[-1] = 1

    def functions(drawn: np.ndarray) -> np.ndarray:
        return np.where(drawn[:, :1] < p, np.searchsorted(ends, drawn[:, 1:], side="right"), -1)

    return Order(2, functions, (p, *shares))


def some_of_order(count: int, *, n: int | Sequence[int], p: float = 1.0) -> Order:
    """Some of the functions, as they follow one another."""
    p = number("some_of", "p", p, low=0, high=1)
    _check_count("some_of", count)
    limits = [n, n] if isinstance(n, int) else list(n) if isinstance(n, Sequence) and not isinstance(n, str) else [n]
    if len(limits) != 2:
        raise ValueError(f"some_of: expected a number, or the least and the greatest one as n, got {shown(n)}")
    least, most = (integer("some_of", "n", each, low=0) for each in limits)
    if not least <= most <= count:
        raise ValueError(f"some_of: expected from 0 to {count} as n, least first, got {n!r}")

    def functions(drawn: np.ndarray) -> np.ndarray:
        counts = least + np.floor(drawn[:, 1:2] * (most - least + 1))
        ranks = np.argsort(np.argsort(drawn[:, 2:], axis=1, kind="stable"), axis=1)
        return np.where((ranks < counts) & (drawn[:, :1] < p), np.arange(count), -1)

    return Order(2 + count, functions, (p, least, most))


def shuffled_order(count: int, *, p: float = 1.0) -> Order:
    """All functions in random order."""
    p = number("shuffled", "p", p, low=0, high=1)
    _check_count("shuffled", count)

    def functions(drawn: np.ndarray) -> np.ndarray:
        return np.where(drawn[:, :1] < p, np.argsort(drawn[:, 1:], axis=1, kind="stable"), -1)

    return Order(1 + count, functions, (p,))


def _check_count(name: str, count: int) -> None:
    if not count:
        raise ValueError(f"{name}: expected at least one function, got none")
