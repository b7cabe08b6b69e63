"""The generator of random numbers: a seed and a position, from which every number follows."""

from __future__ import annotations

import operator
import os
import re
import secrets
import threading
from typing import Any, SupportsIndex

from avida import _core

_MASK = 2**64 - 1
_POSITIONS = 2**130  # 128 bits of counter, four words for each
_DRAWS_PER_CALL = 7  # what one call of a random operator counts for
_STATE = re.compile(r"Philox_([0-9A-F]{16})_([0-9A-F]{16}):([0-9A-F]{16})_([0-3])", re.IGNORECASE)

_lock = threading.Lock()  # one for all generators: held for a moment only, and fork can take it
_thread = threading.local()


class RNG:
    """A stream of random numbers, given by a seed and a position.

    A random operator takes its numbers where the generator stands at the call, and moves it on by a fixed amount: the
    results are the same in every mode and for any number of threads.

    Args:
        seed: Any integer, of which 64 bits count; by default a random one.
        state: Where another generator stood: its ``state``. Not together with ``seed``.

    Example:
        >>> rng = avida.random.RNG(seed=1234)
        >>> avida.batch_permutation(batch_size=3, rng=rng).batch_size
        3
    """

    def __init__(self, seed: SupportsIndex | None = None, state: str | None = None) -> None:
        if seed is not None and state is not None:
            raise ValueError("expected a seed or a state, got both")
        if state is not None:
            self.state = state
        else:
            self.seed = secrets.randbits(64) if seed is None else seed

    @property
    def seed(self) -> int:
        """The seed. Setting it starts the stream anew."""
        return self._seed

    @seed.setter
    def seed(self, seed: SupportsIndex) -> None:
        seed = operator.index(seed) & _MASK
        with _lock:
            self._seed, self._position = seed, 0

    @property
    def state(self) -> str:
        """Seed and position as a string, for ``RNG(state=...)`` or for setting this attribute later."""
        with _lock:
            seed, position = self._seed, self._position
        counter, word = divmod(position, 4)
        return f"Philox_{seed:016X}_{counter >> 64:016X}:{counter & _MASK:016X}_{word}"

    @state.setter
    def state(self, state: str) -> None:
        if not isinstance(state, str):
            raise TypeError(f"expected the state of a generator as a string, got {type(state).__name__}")
        parts = _STATE.fullmatch(state)
        if parts is None:
            raise ValueError(f"{state!r} is not the state of a generator")
        seed, high, low, word = (int(part, 16) for part in parts.groups())
        with _lock:
            self._seed, self._position = seed, ((high << 64) + low) * 4 + word

    def get_state(self, *, cuda_stream: Any = None) -> str:
        """The same as :attr:`state`; the stream has no effect."""
        return self.state

    def set_state(self, value: str) -> None:
        """The same as setting :attr:`state`."""
        self.state = value

    def __call__(self) -> int:
        """Draws an integer from 0 to 2**32 - 1."""
        seed, position = self._take(1)
        counter, word = divmod(position, 4)
        return _core.philox(seed, counter >> 64, counter & _MASK, word)

    def advance(self, n: SupportsIndex) -> None:
        """Moves on as ``n`` draws would."""
        n = operator.index(n)
        if n < 0:
            raise ValueError(f"a generator cannot go back, got {n}")
        self._take(n)

    def clone(self) -> RNG:
        """Another generator at the same place of the same stream."""
        return RNG(state=self.state)

    def _take(self, n: int) -> tuple[int, int]:
        """Moves on by n draws; returns the seed and the position before."""
        with _lock:
            seed, position = self._seed, self._position
            self._position = (position + n) % _POSITIONS
        return seed, position

    def __reduce__(self) -> tuple:
        return (RNG, (None, self.state))

    def __repr__(self) -> str:
        return f"RNG(state={self.state!r})"


def get_default_rng() -> RNG:
    """The generator that random operators use in this thread unless they are given one."""
    if not hasattr(_thread, "rng"):
        _thread.rng, _thread.seeded = RNG(), False
    return _thread.rng


def set_seed(seed: SupportsIndex) -> None:
    """Starts this thread's generator anew, from the given seed.

    Example:
        >>> avida.random.set_seed(1234)
    """
    get_default_rng().seed = seed
    _thread.seeded = True


def _draw(rng: RNG | None) -> tuple[int, int]:
    """Takes from a generator what one call of a random operator needs: seed and position."""
    seed, position = _given(rng)._take(_DRAWS_PER_CALL)
    return seed, position & _MASK


def _seed(rng: RNG | None) -> int:
    """All that a keyed call needs. The generator stays where it is: batches of another size make other calls."""
    return _given(rng).seed


def _given(rng: RNG | None) -> RNG:
    if rng is None:
        return get_default_rng()
    if not isinstance(rng, RNG):
        raise ValueError(f"rng must be an avida.random.RNG, got {type(rng).__name__}")
    return rng


def _after_fork() -> None:
    _lock.release()
    # Worker processes that nobody seeded should not all draw the same numbers.
    if not getattr(_thread, "seeded", True):
        del _thread.rng


os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork)
_core.set_random_source(_draw, _seed)
