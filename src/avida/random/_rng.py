"""The generator of random numbers: a seed and a position, from which every number follows."""

from __future__ import annotations

import multiprocessing.process  # here, since a fork while a thread imports a module leaves the child waiting for it
import operator
import os
import re
import secrets
import threading
from collections.abc import Callable
from typing import Any, SupportsIndex

from avida import _core

_MASK = 2**64 - 1
_POSITIONS = 2**130  # 128 bits of counter, four words for each
_DRAWS_PER_CALL = 7  # what one call of a random operator counts for
_CHILD_KEY = 0x6368696C6472656E  # sets the numbers that choose children's streams apart from the streams themselves
_STATE = re.compile(r"Philox_([0-9A-F]{16})_([0-9A-F]{16}):([0-9A-F]{16})_([0-3])(?:_([0-9A-F]{1,16}))?", re.IGNORECASE)

# One for all generators: held for a moment only, and fork can take it. Reentrant, since signal handlers may draw.
_lock = threading.RLock()
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

    def __init__(self, seed: SupportsIndex | None = None, state: str | bytes | None = None) -> None:
        if seed is not None and state is not None:
            raise ValueError("expected a seed or a state, got both")
        if state is not None:
            self.state = state
        else:
            self.seed = secrets.randbits(64) if seed is None else seed

    @property
    def seed(self) -> int:
        """The seed. Setting it restarts the stream."""
        return self._seed

    @seed.setter
    def seed(self, seed: SupportsIndex) -> None:
        seed = operator.index(seed) & _MASK
        with _lock:
            self._seed, self._position, self._children = seed, 0, 0

    @property
    def state(self) -> str:
        """Seed and position as a string, for ``RNG(state=...)``.

        Setting it moves the generator there.

        The number of child processes is a part of it, once there are some: those that are started after a resume draw
        other numbers than those before it.
        """
        with _lock:
            seed, position, children = self._seed, self._position, self._children
        counter, word = divmod(position, 4)
        children = f"_{children:X}" if children else ""
        return f"Philox_{seed:016X}_{counter >> 64:016X}:{counter & _MASK:016X}_{word}{children}"

    @state.setter
    def state(self, state: str | bytes) -> None:
        if isinstance(state, bytes):
            state = state.decode(errors="replace")
        if not isinstance(state, str):
            raise TypeError(f"expected the state of a generator as a string, got {type(state).__name__}")
        parts = _STATE.fullmatch(state)
        if parts is None:
            raise ValueError(f"{state!r} is not the state of a generator")
        seed, high, low, word, children = (int(part or "0", 16) for part in parts.groups())
        with _lock:
            self._seed, self._position, self._children = seed, ((high << 64) + low) * 4 + word, children

    def get_state(self, *, cuda_stream: Any = None) -> str:
        """The same as :attr:`state`; the stream has no effect."""
        return self.state

    def set_state(self, value: str | bytes) -> None:
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

    def _child_position(self) -> int:
        """Where the newest child process begins: far from this generator, and from other children, in the same stream.

        The seed stays the same, since keyed draws follow from it and must not depend on the process.
        """
        key, parent = self._seed ^ _CHILD_KEY, self._position & _MASK
        high, low = (_core.philox(key, parent, self._children, word) for word in range(2))
        return high << 32 | low

    def __reduce__(self) -> tuple:
        return (RNG, (None, self.state))

    def __repr__(self) -> str:
        return f"RNG(state={self.state!r})"


def get_default_rng() -> RNG:
    """Returns the generator that random operators use by default in this thread.

    In a child process, forked or started by ``multiprocessing``, it begins at another position of the parent's stream,
    which follows from the parent's seed and position and from the number of children since it was seeded.
    """
    if not hasattr(_thread, "rng"):
        _thread.rng = RNG()
        # Processes that multiprocessing spawns get a pickled copy of this dictionary. An environment variable would
        # reach other programs too, and could not tell the children apart.
        multiprocessing.process.current_process()._config["avida.random"] = _Inherited()  # pyright: ignore
    return _thread.rng


def set_seed(seed: SupportsIndex) -> None:
    """Restarts this thread's generator with a seed.

    Child processes that are started later, such as the workers of a PyTorch loader, each draw numbers of their own that
    follow from this seed. Other threads have generators of their own: seed each in the thread that uses it.

    Example:
        >>> avida.random.set_seed(1234)
    """
    get_default_rng().seed = seed


class GroupRNG(RNG):
    """Generators of the samples of a group: a sample draws the same numbers whichever others are in the group.

    A draw for as many samples takes a number from each. Others are made by a generator of the first seed.
    """

    seeds: list[int]

    def __init__(self, seeds: Callable[[], list[int]]) -> None:
        self._make, self._position, self._children = seeds, 0, 0

    def __getattr__(self, name: str) -> Any:
        if name not in ("seeds", "_seed"):
            raise AttributeError(name)
        self.seeds = self._make()  # when something is drawn: most groups draw nothing
        self._seed = self.seeds[0] if self.seeds else 0
        return self.__dict__[name]


class drawing_from:  # noqa: N801
    """Makes it the default generator of this thread in a ``with`` block."""

    def __init__(self, rng: RNG) -> None:
        self.rng = rng

    def __enter__(self) -> None:
        self.before = getattr(_thread, "rng", None)
        _thread.rng = self.rng

    def __exit__(self, *_: object) -> None:
        if self.before is None:
            del _thread.rng
        else:
            _thread.rng = self.before


def _draw(rng: RNG | None) -> tuple[int, int] | tuple[int, int, list[int]]:
    """Takes from a generator what one call of a random operator needs: seed and position, and seeds of samples."""
    given = _given(rng)
    seed, position = given._take(_DRAWS_PER_CALL)
    if isinstance(given, GroupRNG):
        return seed, position & _MASK, given.seeds
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


def repeating(rng: RNG | None, keyed_by: Any) -> Callable[[], None]:
    """For calls that are to draw the same: to be called before each of them."""
    given = _given(rng)
    start, made = given._position, False

    def again() -> None:
        nonlocal made
        if keyed_by is None:
            given._position = start
        elif made:
            _core.repeat_draw(keyed_by)
        made = True

    return again


class _Inherited:
    """Pickled for a process that is being started, it becomes a call that sets that process's generator."""

    def __reduce__(self) -> tuple:
        if not hasattr(_thread, "rng"):
            return dict, ()  # nothing to inherit, and nothing for the child to import
        with _lock:
            _thread.rng._children += 1
            return _inherit, (_thread.rng._seed, _thread.rng._child_position())


def _inherit(seed: int, position: int) -> _Inherited:
    rng = get_default_rng()
    rng.seed = seed
    rng.advance(position)
    return _Inherited()


def _before_fork() -> None:
    _lock.acquire()
    if hasattr(_thread, "rng"):
        _thread.rng._children += 1


def _after_fork_in_child() -> None:
    if hasattr(_thread, "rng"):
        rng = _thread.rng
        rng._position, rng._children = rng._child_position(), 0
    _lock.release()


os.register_at_fork(before=_before_fork, after_in_parent=_lock.release, after_in_child=_after_fork_in_child)
_core.set_random_source(_draw, _seed)
