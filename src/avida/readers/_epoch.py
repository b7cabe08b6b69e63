"""One epoch of a reader: the iterator over its items, and where it stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from avida import _core
from avida._running.ahead import HandedOver
from avida._running.eval import EvalMode
from avida._running.warn import warn
from avida.readers._state import ReaderState

if TYPE_CHECKING:
    from avida.readers._reader import Reader

T = TypeVar("T")

_MOST_ERRORS = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class ReadError:
    """A sample that was skipped because it could not be read."""

    source: str
    index: int
    epoch: int
    message: str


@dataclasses.dataclass
class Reading:
    """An epoch that has begun, and where it stands."""

    plan: _core.ReaderPlan
    start: _core.ReaderCursor
    wraps: bool
    batch_size: int
    begun_from: ReaderState
    own_order: int
    others_behind: int  # items that other worker processes take after each item of this one
    last: _core.ReaderCursor | None = None  # of the items that were given out
    items: int = 0  # that were given out

    @property
    def at(self) -> _core.ReaderCursor:
        if self.last is None:
            return self.start
        return self.plan.behind(moved_on(self.plan, self.last, self.batch_size, self.others_behind), self.batch_size)

    def state(self, at: _core.ReaderCursor) -> ReaderState:
        start = self.begun_from
        if (at.epoch, at.done) == (start.epoch, start.done):
            return start
        state = start.moved_to(at.epoch, at.done, self.batch_size, self.wraps)
        if at.done > 0:
            state = dataclasses.replace(state, own_order=self.own_order)
        if state.shards > 1 or not self.wraps:
            return state
        return dataclasses.replace(state, taken=self.plan.taken(state.as_phase()), stretches=())


class Epoch(HandedOver, Iterator[tuple[T, ...]], Generic[T]):
    """One epoch of a reader. ``len(epoch)`` is the number of its items."""

    def __init__(self, reader: Reader, batch_size: int | None, indices: Iterable[int] | None, ahead: int) -> None:
        self._reader = reader
        self._batch_size = batch_size
        self._ahead = ahead
        self._indices = None if indices is None else list(indices)
        self._items: _core.Feed | None = None  # None before the first
        self._reading: Reading | None = None
        self._prefetcher: Any = None
        self._length = 0
        self._has_items = False  # one was given out
        self._ended = False

    def __iter__(self) -> Self:
        if self._ended:
            warn("this epoch has ended and has no more items. Call next_epoch() of the reader for each loop over it.")
        return self

    if TYPE_CHECKING:

        def __next__(self) -> tuple[T, ...]: ...

    def _feed(self) -> _core.Feed:
        while self._items is None:
            self._reader._begin_epoch(self)
        return self._items

    def _make(self, item: tuple) -> Any:
        outputs, _, _ = item
        if outputs and EvalMode.current() in (EvalMode.sync_cpu, EvalMode.sync_full):
            outputs[0].evaluate()  # raises what went wrong
        return self._reader._item(self._reader._placed(outputs)) if outputs else None  # all samples were left out

    def _commit(self, item: tuple, made: Any) -> None:
        _, skipped, at = item
        reader, reading = self._reader, self._reading
        assert reading is not None
        errors, new, count = reader.errors, [ReadError(*sample) for sample in skipped], len(skipped)
        is_last = reading.last is None or at.done >= reading.last.done  # several threads may share an epoch
        # Only what calls no Python code from here on, so that no exception comes in between.
        if new:
            errors[:] = [*errors, *new][-_MOST_ERRORS:]
            errors.total += count
        reading.items += 1
        if made is not None:
            self._has_items = True
        if is_last:
            reading.last = at

    def _end(self) -> bool:
        self._reader._end_epoch(self)
        return False

    def __repr__(self) -> str:
        given = "not begun" if self._reading is None else f"{self._reading.items} of {self._length} items taken"
        return f"Epoch of {self._reader!r}: {given}"

    def __len__(self) -> int:
        if self._items is not None:
            return self._length
        order = self._reader._sampler if self._indices is None else self._indices
        return self._reader._steps(self._reader._next, order, self._batch_size or 1)


def moved_on(plan: _core.ReaderPlan, at: _core.ReaderCursor, batch_size: int, items: int) -> _core.ReaderCursor:
    """The cursor some items later; at most the last one of the epoch."""
    for _ in range(items):
        next_one = plan.after(at, batch_size)
        if next_one.epoch != at.epoch:
            break
        at = next_one
    return at
