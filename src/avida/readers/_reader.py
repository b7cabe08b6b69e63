"""What all readers share: shards, shuffling, epochs. A format only adds its source."""

from __future__ import annotations

import difflib
import inspect
import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, SupportsIndex, TypeVar, Unpack, overload

from avida import _core
from avida._batch import Batch
from avida._device import device as make_device
from avida._eval import EvalMode
from avida._tensor import Tensor
from avida.readers._options import ReaderOptions, complete

T = TypeVar("T")

_DEFAULT_DEPTH = 2
_SAMPLE_DEPTH = 32  # single samples are read ahead by more: each is little work


class Reader:
    """The base of all readers. It stands before an epoch; an iterator over that epoch moves it on to the next."""

    def __init__(
        self,
        make_source: Callable[[], _core.ReaderSource],
        max_batch_size: int | None,
        name: str | None,
        device: Any,
        num_inputs: int | None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        make_device(device)
        if num_inputs:
            raise ValueError(f"a reader has no inputs, got num_inputs={num_inputs}")
        for option in options:
            if option not in ReaderOptions.__annotations__:
                raise TypeError(_unknown(option, type(self)))
        self._make_source = make_source
        self._name = name
        self._max_batch_size = None if max_batch_size is None else _batch_size(max_batch_size)
        self._shards = _integer("num_shards", options.get("num_shards"), 1, least=1)
        self._shard = _integer("shard_id", options.get("shard_id"), 0)
        if not 0 <= self._shard < self._shards:
            raise ValueError(f"shard_id must be from 0 to {self._shards - 1}, got {self._shard}")
        self._depth = _integer("prefetch_queue_depth", options.get("prefetch_queue_depth"), _DEFAULT_DEPTH, least=1)
        again = bool(options.get("shuffle_after_epoch"))
        if again and (options.get("random_shuffle") or options.get("stick_to_shard")):
            raise RuntimeError("shuffle_after_epoch goes neither with random_shuffle nor with stick_to_shard")
        self._stick = bool(options.get("stick_to_shard") or again)
        self._pad = bool(options.get("pad_last_batch"))
        self._shuffle = 2 if again else 1 if options.get("random_shuffle") else 0
        self._seed = _integer("seed", options.get("shuffle_after_epoch_seed" if again else "seed"), -1) % 2**64
        self._cursor = _core.ReaderCursor()
        self._ahead: tuple[int | None, _core.ReaderPrefetcher] | None = None  # left by the last epoch, and its mode
        self._ready: tuple[_core.ReaderSource, _core.ReaderPlan] | None = None
        if not options.get("lazy_init"):
            self._set_up()

    def __init_subclass__(cls) -> None:
        complete(cls)

    def _set_up(self) -> tuple[_core.ReaderSource, _core.ReaderPlan]:
        if self._ready is None:
            source = self._make_source()
            if source.size < self._shards:
                raise RuntimeError(f"expected at least one sample for each of {self._shards} shards, got {source.size}")
            plan = _core.ReaderPlan(
                source.size, self._shards, self._shard, self._stick, self._pad, self._shuffle, self._seed
            )
            self._ready = source, plan
        return self._ready

    def get_metadata(self) -> dict[str, int]:
        """The number of samples of all shards, without and with padding, and how they are divided."""
        source, plan = self._set_up()
        return {
            "epoch_size": source.size,
            "epoch_size_padded": plan.padded_samples,
            "number_of_shards": self._shards,
            "shard_id": self._shard,
            "pad_last_batch": int(self._pad),
            "stick_to_shard": int(self._stick),
        }

    @overload
    def next_epoch(self, batch_size: None = None) -> Epoch[Tensor]: ...
    @overload
    def next_epoch(self, batch_size: int) -> Epoch[Batch]: ...
    def next_epoch(self, batch_size: int | None = None) -> Epoch:
        """An iterator over the next epoch: tuples of Batches, or of Tensors without ``batch_size``.

        The epoch begins with the first item. It may be left at any time; the epoch after it is the same as if it had
        been read to its end. Several iterators may be in use: each goes over an epoch of its own.
        """
        if batch_size is not None:
            batch_size = _batch_size(batch_size)
            if self._max_batch_size is not None and batch_size > self._max_batch_size:
                raise ValueError(f"batch_size must not exceed max_batch_size={self._max_batch_size}, got {batch_size}")
        return Epoch(self, batch_size)

    def _begin_epoch(self, batch_size: int | None) -> tuple[_core.ReaderPrefetcher, int]:
        """What reads the next epoch, and its number of items. Moves on to the epoch after it."""
        source, plan = self._set_up()
        start, size = self._cursor, batch_size or 1
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] == batch_size and ahead[1].cursor == start:
            prefetcher = ahead[1]
        else:
            depth = max(self._depth, _SAMPLE_DEPTH) if batch_size is None else self._depth
            prefetcher = _core.ReaderPrefetcher(source, plan, start, size, batch_size is not None, depth)
        self._cursor = plan.next_epoch(start, size)
        return prefetcher, plan.steps(start.epoch, size)


class Epoch(Iterator[tuple[T, ...]], Generic[T]):
    """One epoch of a reader. ``len(epoch)`` is the number of its items."""

    def __init__(self, reader: Reader, batch_size: int | None) -> None:
        self._reader = reader
        self._batch_size = batch_size
        self._prefetcher: _core.ReaderPrefetcher | None = None
        self._left: int | None = None  # items to come; None before the first
        self._length = 0
        self._lock = threading.Lock()

    def __next__(self) -> tuple[T, ...]:
        with self._lock:
            if self._left is None:
                self._prefetcher, self._length = self._reader._begin_epoch(self._batch_size)
                self._left = self._length
            prefetcher = self._prefetcher
            if prefetcher is None or self._left == 0:
                self._end()
                raise StopIteration
            self._left -= 1
        try:
            item = prefetcher.take()
        except BaseException:  # the wait was interrupted: the item is still to come
            self._left += 1
            raise
        if EvalMode.current() in (EvalMode.sync_cpu, EvalMode.sync_full):
            item[0].evaluate()  # raises what went wrong
        return item

    def _end(self) -> None:
        """What was read ahead already belongs to the next epoch."""
        if self._prefetcher is not None:
            self._reader._ahead, self._prefetcher = (self._batch_size, self._prefetcher), None

    def __len__(self) -> int:
        if self._left is not None:
            return self._length
        _, plan = self._reader._set_up()
        return plan.steps(self._reader._cursor.epoch, self._batch_size or 1)


def _unknown(option: str, reader: type[Reader]) -> str:
    names = [name for name in inspect.signature(reader).parameters if name != "self"]
    near = difflib.get_close_matches(option, names, 1)
    return f"readers.{reader.__name__} has no argument {option!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def _integer(name: str, value: Any, default: int, least: int | None = None) -> int:
    number = default if value is None else int(value)
    if least is not None and number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    return number


def _batch_size(value: SupportsIndex) -> int:
    size = operator.index(value)
    if not 1 <= size <= _core.MAX_BATCH_SIZE:
        raise RuntimeError(f"batch_size must be from 1 to {_core.MAX_BATCH_SIZE}, got {size}")
    return size
