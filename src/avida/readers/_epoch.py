"""One epoch of a reader: the iterator over its items."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from avida import _core
from avida._running.background import HandedOver
from avida._running.eval import EvalMode
from avida._running.warn import warn

if TYPE_CHECKING:
    from avida._running.generators import BatchesAhead
    from avida.readers._reader import Reader

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True)
class ReadError:
    """A sample that was skipped because it could not be read."""

    source: str
    index: int
    epoch: int
    message: str
    part: str | None = None
    """The name of its part, in a mixture of readers."""


class Epoch(HandedOver, Iterator[tuple[T, ...]], Generic[T]):
    """One epoch of a reader. ``len(epoch)`` is the number of its items."""

    def __init__(
        self,
        reader: Reader,
        items: _core.ReaderItems,
        indices: Iterable[int] | None,
        ahead: BatchesAhead,
    ) -> None:
        self._reader = reader
        self._items = items  # which the reader begins with the first
        self._indices = None if indices is None else list(indices)
        self._ahead = ahead

    def __iter__(self) -> Self:
        if self._items.has_ended:
            warn("this epoch has ended and has no more items. Call next_epoch() of the reader for each loop over it.")
        return self

    if TYPE_CHECKING:

        def __next__(self) -> tuple[T, ...]: ...

    def _feed(self) -> _core.Feed:
        if not self._items.is_begun:
            self._reader._begin(self._items, self._indices, self._ahead)
        return self._items

    def _make(self, item: tuple) -> Any:
        outputs, _, _ = item
        if self._reader._cache is not None:
            self._reader._cache._tell_trouble()
        if outputs and EvalMode.current() in (EvalMode.sync_cpu, EvalMode.sync_full):
            outputs[0].evaluate()  # raises what went wrong
        return self._reader._item(self._reader._placed(outputs)) if outputs else None  # all samples were left out

    def __repr__(self) -> str:
        items = self._items
        given = f"{items.given} of {len(items)} items taken" if items.is_begun else "not begun"
        return f"Epoch of {self._reader!r}: {given}"

    def __len__(self) -> int:
        if self._items.is_begun:
            return len(self._items)
        return self._reader._items_left(self._items.batch_size or 1, self._indices)

    @property
    def has_given(self) -> bool:
        """Whether there was an item that was not left out."""
        return self._items.has_given

    def goes_on(self, batch_size: int | None) -> bool:
        """Whether there are more items of this size.

        If they are of another size, the next epoch is the rest.
        """
        return self._items.goes_on(batch_size)
