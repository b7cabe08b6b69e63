"""A generator that is advanced ahead of the loop over it, by the loop's own thread."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sized
from typing import Any, NamedTuple, SupportsIndex, TypeVar

from avida._running.background import raised_by_signal_handler
from avida._values.integers import integer_within

_MOST_AHEAD = 64
T = TypeVar("T")


def ahead(iterable: Iterable[T], depth: SupportsIndex = 2) -> AheadOfLoop[T]:
    """Advances a generator ahead of the loop over it, so that its calls run early.

    Operators return at once and run in the background: when the loop gets an item, the calls that make the next
    ``depth`` items have been made, and run while the loop is busy or waits. It needs no thread: each item that the loop
    takes advances the generator by one. Loops over readers whose calls repeat themselves do not need it; it is for
    generators whose calls cannot be predicted.

    What the generator raises is raised where its item would be taken. A generator that nobody else holds is closed when
    the loop is left.

    Code in the generator runs ahead of the loop: ``reader.get_state()`` there counts the item that is about to be
    yielded, outside it counts ``depth`` items too many. So take the state in the generator and yield it with the item.

    Args:
        iterable: Usually a generator, which is called: ``ahead(batches())``.
        depth: How many items to be ahead, from 0 to 64. ``0`` advances nothing ahead.

    Returns:
        An iterator over the items. It has a length if the iterable has one; ``close()`` drops what was made ahead, and
        closes the generator.

    Example:
        >>> def batches(reader):
        ...     for (numbers,) in reader.next_epoch(batch_size=2):
        ...         yield numbers * 10, reader.get_state()
        >>> reader = avida.ExternalSource(range(5))
        >>> for numbers, state in avida.ahead(batches(reader), depth=2):
        ...     print([x.item() for x in numbers], state.epoch, state.done)
        [0, 10] 0 2
        [20, 30] 0 4
        [40] 1 0
    """
    return AheadOfLoop(iterable, integer_within("depth", depth, 0, _MOST_AHEAD))


class BatchesAhead(NamedTuple):
    """How many batches are prepared ahead."""

    number: int
    grows: bool
    """Whether there may be more where the loop decodes images on a GPU."""


def batches_ahead(ahead: SupportsIndex | None, capture: bool) -> BatchesAhead:
    """What the arguments of ``next_epoch`` ask for."""
    if ahead is None:
        return BatchesAhead(2 if capture else 1, True)
    return BatchesAhead(integer_within("ahead", ahead, 0, _MOST_AHEAD), False)


class AheadOfLoop(Iterator[T]):
    """The iterator that :func:`ahead` returns.

    No exception loses an item, not even one that a signal handler raises, unless it ends the generator itself: between
    a ``for`` and its first statement, and between statements that only store, CPython runs no handler.
    """

    def __init__(self, iterable: Iterable[T], depth: int) -> None:
        if inspect.isgeneratorfunction(iterable):
            name = iterable.__name__
            raise TypeError(f"expected an iterable, got the generator function {name}; call it: ahead({name}())")
        if not hasattr(iterable, "__iter__") and not hasattr(iterable, "__getitem__"):
            raise TypeError(f"expected an iterable, got {type(iterable).__name__}")
        self._iterable = iterable
        self._source = iter(iterable)
        self._depth = depth
        self._made: tuple[T, ...] = ()  # and not given out yet
        self._error: BaseException | None = None  # of the item after these
        self._ended = False

    def __next__(self) -> T:
        if self._error is None:
            self._advance()
        if not self._made:
            if self._error is None:
                raise StopIteration
            try:
                raise self._error
            finally:
                self._error = None
        item, self._made = self._made[0], self._made[1:]
        return item

    def _advance(self) -> None:
        try:
            while len(self._made) <= self._depth and not self._ended:
                for item in self._source:
                    self._made += (item,)
                    break
                else:
                    self._ended = True
        except BaseException as error:
            self._error = error  # at once: a signal handler may interrupt what follows
            if isinstance(error, KeyboardInterrupt) or raised_by_signal_handler(error):
                self._error = None
                raise

    def __len__(self) -> int:
        """The length of the iterable."""
        if not isinstance(self._iterable, Sized):
            raise TypeError(f"object of type {type(self._iterable).__name__} has no len()")
        return len(self._iterable)

    def __bool__(self) -> bool:
        return True

    def close(self) -> None:
        """Drops what was made ahead, and closes the generator; there are no more items."""
        self._ended, self._made, self._error = True, (), None
        close: Any = getattr(self._source, "close", None)
        if close is not None:
            close()
