"""What all readers share: shards, shuffling, epochs, state. A format only adds its source."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import operator
import os
import threading
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic, NoReturn, Self, SupportsIndex, TypeVar, Unpack, overload

import numpy as np

from avida import _core
from avida._batch import Batch
from avida._device import Device
from avida._device import device as make_device
from avida._eval import EvalContext, EvalMode
from avida._tensor import Tensor
from avida.readers._options import ReaderOptions, complete
from avida.readers._state import Phase, ReaderState

T = TypeVar("T")

_DEFAULT_DEPTH = 2
_SAMPLE_DEPTH = 32  # single samples are read ahead by more: each is little work
_LAST = ["wrap", "pad", "partial", "drop"]

# One for the places of all readers: held for a moment only, and fork can take it. Collecting garbage within that moment
# may run what reads a state.
_lock = threading.RLock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


@dataclasses.dataclass(frozen=True, slots=True)
class ReadError:
    """A sample that was left out because it could not be read."""

    source: str
    index: int
    epoch: int
    message: str


class Reader:
    """The base of all readers. It stands before an epoch; an iterator over that epoch moves it on to the next."""

    _arguments: tuple[tuple, dict[str, Any]]
    _reads_archives: ClassVar[bool] = False  # they may be told to shuffle in both ways

    def __init__(
        self,
        make_source: Callable[[], _core.ReaderSource],
        max_batch_size: int | None,
        name: str | None,
        device: Any,
        num_inputs: int | None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        self._device = make_device(device) or Device.CPU
        if num_inputs:
            raise ValueError(f"a reader has no inputs, got num_inputs={num_inputs}")
        self._make_source = make_source
        self._name = name
        self._max_batch_size = None if max_batch_size is None else _batch_size(max_batch_size)
        self._shards = _integer(options.get("num_shards"), 1)
        if self._shards < 1:
            raise ValueError(f"num_shards must be at least 1, got {self._shards}")
        self._shard = _integer(options.get("shard_id"), 0)
        if not 0 <= self._shard < self._shards:
            raise ValueError(f"shard_id must be from 0 to {self._shards - 1}, got {self._shard}")
        self._depth = _integer(options.get("prefetch_queue_depth"), _DEFAULT_DEPTH)
        if self._depth < 1:
            raise RuntimeError(f"prefetch_queue_depth must be at least 1, got {self._depth}")
        again = bool(options.get("shuffle_after_epoch"))
        if again and options.get("stick_to_shard"):
            raise RuntimeError("shuffle_after_epoch does not go with stick_to_shard: it sticks to one anyway")
        if again and options.get("random_shuffle") and not self._reads_archives:
            raise RuntimeError("shuffle_after_epoch does not go with random_shuffle: it shuffles all samples anyway")
        self._stick = bool(options.get("stick_to_shard") or again)
        self._last = _last_batch(options.get("last_batch"), bool(options.get("pad_last_batch")))
        self._shuffle = 2 if again else 1 if options.get("random_shuffle") else 0
        self._seed = _integer(options.get("shuffle_after_epoch_seed" if again else "seed"), -1) % 2**64
        self._skip = _one_of("on_error", options.get("on_error", "raise"), ["raise", "skip"]) == "skip"

        self.errors: list[ReadError] = []
        """The samples that ``on_error="skip"`` left out, in the order in which their batches were taken."""
        self._sampler: Iterable[int] | None = None
        self._source: _core.ReaderSource | None = None
        self._move_to(ReaderState(shards=self._shards))
        if not options.get("lazy_init"):
            self._set_up()

    def __init_subclass__(cls) -> None:
        complete(cls)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        known = inspect.signature(cls).parameters
        takes_any = any(parameter.kind == parameter.VAR_KEYWORD for parameter in known.values())
        for name in kwargs:  # before anything else complains of what is missing
            if name not in known and not takes_any:
                raise TypeError(_unknown(name, cls.__name__, known))
        self = super().__new__(cls)
        self._arguments = args, kwargs  # of which another process makes the same reader
        return self

    def __reduce__(self) -> tuple:
        return _make_again, (type(self), *self._arguments, self.get_state(), self._sampler)

    def _set_up(self) -> _core.ReaderSource:
        if self._source is None:
            name = f"readers.{type(self).__name__}"
            try:
                source = self._make_source()
            except (RuntimeError, ValueError) as error:
                text = str(error)
                raise type(error)(text if f"{name}: " in text else f"{name}: {text}") from None
            if source.size < self._shards:
                raise RuntimeError(
                    f"{name}: expected at least one sample for each of {self._shards} shards, got {source.size}"
                )
            self._source = source
        return self._source

    def __len__(self) -> int:
        """The number of samples in the data set, of all shards together."""
        return self._set_up().size

    def __iter__(self) -> NoReturn:
        raise TypeError("a reader is gone through epoch by epoch: for ... in reader.next_epoch(batch_size=...)")

    def __repr__(self) -> str:
        samples = "not opened yet" if self._source is None else f"{self._source.size:,} samples"
        shard = f", shard {self._shard} of {self._shards}" if self._shards > 1 else ""
        return f"readers.{type(self).__name__}({samples}{shard}, epoch {self.epoch})"

    @overload
    def __getitem__(self, index: SupportsIndex) -> tuple[Tensor, ...]: ...
    @overload
    def __getitem__(self, index: slice | Sequence[SupportsIndex]) -> tuple[Batch, ...]: ...
    def __getitem__(self, index: Any) -> tuple:
        """One sample of the data set by its number, or several as Batches: ``reader[3]``, ``reader[[5, 1]]``."""
        source = self._set_up()
        if isinstance(index, slice):
            return self[range(*index.indices(source.size))]
        single = not hasattr(index, "__len__") or getattr(index, "ndim", 1) == 0
        numbers = _numbers([index] if single else index, source.size)
        if not numbers:
            raise ValueError("expected the numbers of samples, got none")
        return self._item(self._placed(_core.read_samples(source, numbers, self.epoch, not single)))

    def _placed(self, outputs: tuple) -> tuple:
        return outputs if self._device == Device.CPU else tuple(output.to_device(self._device) for output in outputs)

    def _item(self, outputs: tuple) -> Any:
        """What users get: the outputs, in the form of this reader."""
        return outputs

    def get_metadata(self) -> dict[str, int]:
        """The number of samples of all shards, without and with padding, and how they are divided."""
        return {
            "epoch_size": len(self),
            "epoch_size_padded": self._plan(self._next).padded_samples,
            "number_of_shards": self._shards,
            "shard_id": self._shard,
            "pad_last_batch": int(self._last == "pad"),
            "stick_to_shard": int(self._stick),
        }

    @property
    def sampler(self) -> Iterable[int] | None:
        """The order of every epoch: an iterable over numbers of samples, or None for the reader's own order.

        It is gone through once for each epoch, and divided among the shards; all shards must have the same. If it has a
        method ``set_epoch``, as PyTorch's samplers have, that is called first. A number may come several times or not
        at all, so that ``torch.utils.data.WeightedRandomSampler`` gives weights to samples.
        """
        return self._sampler

    @sampler.setter
    def sampler(self, sampler: Iterable[int] | None) -> None:
        if sampler is not None and not hasattr(sampler, "__iter__") and not hasattr(sampler, "__getitem__"):
            raise TypeError(f"expected an iterable over numbers of samples, got {type(sampler).__name__}")
        if isinstance(sampler, Iterator):
            raise TypeError("expected an iterable that each epoch can go through anew, got an iterator")
        self._sampler = sampler

    @overload
    def next_epoch(
        self,
        batch_size: None = None,
        ctx: EvalContext | None = None,
        capture: bool = False,
        *,
        indices: Iterable[int] | None = None,
    ) -> Epoch[Tensor]: ...
    @overload
    def next_epoch(
        self,
        batch_size: int,
        ctx: EvalContext | None = None,
        capture: bool = False,
        *,
        indices: Iterable[int] | None = None,
    ) -> Epoch[Batch]: ...
    def next_epoch(
        self,
        batch_size: int | None = None,
        ctx: EvalContext | None = None,
        capture: bool = False,
        *,
        indices: Iterable[int] | None = None,
    ) -> Epoch:
        """An iterator over the next epoch: tuples of Batches, or of Tensors without ``batch_size``.

        The epoch begins with the first item. It may be left at any time; the epoch after it is the same as if it had
        been read to its end. Several iterators may be in use: each goes over an epoch of its own. After
        :meth:`set_state` or :meth:`seek` the first epoch is the rest of the one that was interrupted.

        Args:
            batch_size: The number of samples in a batch. Default: ``max_batch_size`` of the constructor, if any.
            ctx: Accepted for old code, without effect: readers have threads of their own.
            capture: Accepted for old code, without effect: calls are looked at together where that pays.
            indices: The numbers of the samples of this epoch, in place of the order of :attr:`sampler`.
        """
        if batch_size is None:
            batch_size = self._max_batch_size
        else:
            batch_size = _batch_size(batch_size)
            if self._max_batch_size is not None and batch_size > self._max_batch_size:
                raise ValueError(f"batch_size must not exceed max_batch_size={self._max_batch_size}, got {batch_size}")
        return Epoch(self, batch_size, indices)

    @property
    def epoch(self) -> int:
        """The number of the epoch that is being read; of the next one after its end."""
        return self._next.epoch if self._reading is None else self._reading.at.epoch

    def seek(self, epoch: int, position: int = 0) -> None:
        """Makes the next epoch the given one, from behind the first ``position`` samples of this shard."""
        epoch, position = operator.index(epoch), operator.index(position)
        if epoch < 0 or position < 0:
            raise ValueError(f"expected an epoch and a position from 0, got {epoch} and {position}")
        self._move_to(ReaderState(epoch=epoch, done=position, base=epoch, taken=position, shards=self._shards))

    def get_state(self, *, cuda_stream: Any = None) -> ReaderState:
        """Where reading stands: behind the last item that the newest iterator has given out.

        ``str(state)`` is a short text, whatever the size of the data set. The state of any one shard of a run is enough
        to go on with all of them, as long as all stand at the same step. An epoch with an order of your own, from
        ``indices`` or a sampler, can be gone on with if the same order is given again: that of a sampler must follow
        from ``set_epoch``.
        """
        with _lock:
            state = self._next if self._reading is None else self._reading.state(self._reading.at, self._shards)
        samples = 0 if self._source is None else self._source.size
        return dataclasses.replace(state, samples=samples, seed=self._seed, order=self._order_name())

    def set_state(self, state: ReaderState | str | dict[str, Any]) -> None:
        """Makes the next epoch go on where a state was taken, perhaps with another number of shards.

        What another reader of the same data in the same order saved will do. Iterators in use are not affected.
        """
        state = ReaderState.of(state)
        if state.order != self._order_name():
            raise ValueError(f"the state is of a reader with {state.order}, this one has {self._order_name()}")
        if self._shuffle and state.seed != self._seed:
            raise ValueError(f"the state is of a reader with the seed {state.seed}, this one has {self._seed}")
        if state.samples and state.samples != len(self):
            raise ValueError(f"the state is of a data set with {state.samples} samples, this one has {len(self)}")
        if max((phase[0] for phase in state.history), default=state.shards) > len(self):
            raise ValueError(f"the state is of a run with more shards than the {len(self)} samples here")
        if state.shards != self._shards:
            state = dataclasses.replace(state, done=0, taken=0, history=(*state.history, state.as_phase()))
        self._move_to(state)

    def state_dict(self) -> dict[str, Any]:
        """The state as a dictionary of integers, for whatever stores the state of PyTorch objects."""
        return self.get_state().to_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The same as :meth:`set_state`, from what :meth:`state_dict` returned."""
        self.set_state(ReaderState.from_dict(state_dict))

    def _divide(self, part: int, parts: int) -> None:
        """Goes on as one of several parts of its shard, as worker processes do."""
        state, shards = self.get_state(), self._shards * parts
        if len(self) < shards:
            raise RuntimeError(f"expected at least one sample for each of {shards} shards, got {len(self)}")
        self._shards, self._shard = shards, self._shard * parts + part
        self.set_state(state)

    def _order_name(self) -> str:
        kind = ["no shuffling", "random_shuffle", "shuffle_after_epoch"][self._shuffle]
        stick = ", stick_to_shard" if self._stick and self._shuffle != 2 else ""
        sampler = "" if self._sampler is None else ", a sampler"
        return f'{kind}{stick}, last_batch="{self._last}"{sampler}'

    def _move_to(self, state: ReaderState) -> None:
        with _lock:
            self._next = state  # where the next epoch begins
            self._reading: _Reading | None = None  # the newest epoch, once it has begun
            self._newest: weakref.ref[Epoch] | None = None  # weak: who drops an epoch ends its threads
            self._ahead: tuple[int | None, _core.ReaderPrefetcher] | None = None  # left by the last epoch, and its mode

    def _plan(self, start: ReaderState, order: Sequence[int] | None = None) -> _core.ReaderPlan:
        return _core.ReaderPlan(
            samples=len(self) if order is None else len(order),
            shards=self._shards,
            shard=self._shard,
            stick=self._stick,
            last=_LAST.index(self._last if order is None or self._last != "wrap" else "partial"),
            shuffle=self._shuffle if order is None else 0,
            seed=self._seed,
            order=order,
            base=start.base,
            history=start.history,
        )

    def _order(self, indices: Sequence[int] | None) -> Sequence[int] | None:
        """The user's own order of the next epoch, if any."""
        if indices is None and self._sampler is not None:
            set_epoch = getattr(self._sampler, "set_epoch", None)
            if set_epoch is not None:
                set_epoch(self._next.epoch)
            indices = list(self._sampler)
        return None if indices is None else _numbers(indices, len(self))

    def _begin_epoch(
        self, epoch: Epoch, batch_size: int | None, indices: Sequence[int] | None
    ) -> tuple[_core.ReaderPrefetcher | None, int]:
        """What reads the next epoch, and its number of items. Moves on to the epoch after it."""
        source, order, size = self._set_up(), self._order(indices), batch_size or 1
        with _lock:
            start = self._next
            own_order = 0 if order is None else zlib.crc32(np.array(order, np.int64).tobytes()) + 1
            if start.own_order and start.own_order != own_order:
                raise ValueError("the state is of an epoch with an order of its own, and this epoch has another one")
            plan = self._plan(start, order)
            at = plan.cursor(start.epoch, start.done, start.taken, start.batch_size)
            steps = plan.steps(at, size)
            ahead, self._ahead = self._ahead, None
            prefetcher = None
            if steps and order is None and ahead and ahead[0] == batch_size and ahead[1].cursor == at:
                prefetcher = ahead[1]
            elif steps:
                depth = max(self._depth, _SAMPLE_DEPTH) if batch_size is None else self._depth
                prefetcher = _core.ReaderPrefetcher(
                    source, plan, at, size, batch_size is not None, depth, order is not None, self._skip
                )
            wraps = self._last == "wrap" and order is None
            self._reading = _Reading(plan, at, wraps, size, start.history, own_order)
            self._next = self._reading.state(plan.next_epoch(at, size), self._shards)
            self._newest = weakref.ref(epoch)
            return prefetcher, steps

    def _note(self, epoch: Epoch, taken: _core.ReaderCursor, skipped: list[tuple[str, int, int, str]]) -> None:
        """What an iterator tells when it has given out the item at a cursor."""
        with _lock:
            reading = self._reading
            if reading is not None and self._newest is not None and self._newest() is epoch:
                at = reading.plan.behind(taken, reading.batch_size)
                if (at.epoch, at.done) > (reading.at.epoch, reading.at.done):  # several threads may share an epoch
                    reading.at = at
            self.errors += [ReadError(*sample) for sample in skipped]

    def _end_epoch(self, epoch: Epoch, batch_size: int | None, prefetcher: _core.ReaderPrefetcher | None) -> None:
        with _lock:
            if self._newest is not None and self._newest() is epoch:
                self._reading = None
            if prefetcher is not None and not prefetcher.one_epoch:
                self._ahead = batch_size, prefetcher  # what was read ahead already belongs to the next epoch


@dataclasses.dataclass
class _Reading:
    """An epoch that has begun, and where it stands."""

    plan: _core.ReaderPlan
    at: _core.ReaderCursor
    wraps: bool
    batch_size: int
    history: tuple[Phase, ...]
    own_order: int

    def state(self, at: _core.ReaderCursor, shards: int) -> ReaderState:
        # Without wrapping, an epoch has nothing to do with those before it.
        return ReaderState(
            epoch=at.epoch,
            done=at.done,
            base=self.plan.base if self.wraps else at.epoch,
            taken=self.plan.taken(at),
            shards=shards,
            batch_size=self.batch_size,
            history=tuple(phase for phase in self.history if self.wraps or phase[3] == at.epoch),
            own_order=self.own_order if at.done > 0 else 0,
        )


class Epoch(Iterator[tuple[T, ...]], Generic[T]):
    """One epoch of a reader. ``len(epoch)`` is the number of its items."""

    def __init__(self, reader: Reader, batch_size: int | None, indices: Iterable[int] | None) -> None:
        self._reader = reader
        self._batch_size = batch_size
        self._indices = None if indices is None else list(indices)
        self._prefetcher: _core.ReaderPrefetcher | None = None
        self._left: int | None = None  # items to come; None before the first
        self._length = 0
        self._lock = threading.Lock()

    def __next__(self) -> tuple[T, ...]:
        item: tuple = ()
        while not item:  # all samples of a batch may be left out
            item = self._take()
        if EvalMode.current() in (EvalMode.sync_cpu, EvalMode.sync_full):
            item[0].evaluate()  # raises what went wrong
        return self._reader._item(self._reader._placed(item))

    def _take(self) -> tuple[T, ...]:
        with self._lock:
            if self._left is None:
                self._prefetcher, self._length = self._reader._begin_epoch(self, self._batch_size, self._indices)
                self._left = self._length
            prefetcher = self._prefetcher
            if prefetcher is None or self._left == 0:
                self._end()
                raise StopIteration
            self._left -= 1
        try:
            item, skipped, at = prefetcher.take()
        except BaseException:  # the wait was interrupted: the item is still to come
            self._left += 1
            raise
        self._reader._note(self, at, skipped)
        return item

    def _end(self) -> None:
        prefetcher, self._prefetcher = self._prefetcher, None
        self._reader._end_epoch(self, self._batch_size, prefetcher)

    def __repr__(self) -> str:
        left = "not begun" if self._left is None else f"{self._length - self._left} of {self._length} items taken"
        return f"Epoch of {self._reader!r}: {left}"

    def __len__(self) -> int:
        if self._left is not None:
            return self._length
        reader = self._reader
        own = self._indices if self._indices is not None else reader._sampler
        if own is not None and not hasattr(own, "__len__"):
            raise TypeError("the sampler has no length; once the epoch has begun, its length is known")
        start = reader._next
        plan = reader._plan(start, None if own is None else range(len(own)))  # pyright: ignore[reportArgumentType]
        at = plan.cursor(start.epoch, start.done, start.taken, start.batch_size)
        return plan.steps(at, self._batch_size or 1)


def _make_again(
    reader: type[Reader], args: tuple, kwargs: dict[str, Any], state: ReaderState, sampler: Iterable[int] | None
) -> Reader:
    made = reader(*args, **kwargs)
    made.sampler = sampler
    made.set_state(state)
    return made


def _unknown(option: str, reader: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(option, known, 1)
    return f"{reader}() has no argument {option!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def _integer(value: SupportsIndex | None, default: int) -> int:
    if isinstance(value, str | float):
        raise ValueError(f"expected an integer, got {value!r}")
    return default if value is None else operator.index(value)


def _one_of(name: str, value: Any, choices: Sequence[str]) -> str:
    if value not in choices:
        raise ValueError(f"expected one of {', '.join(map(repr, choices))} as {name}, got {value!r}")
    return value


def _last_batch(last_batch: str | None, pad: bool) -> str:
    if last_batch is None:
        return "pad" if pad else "wrap"
    if pad and last_batch != "pad":
        raise ValueError(f"pad_last_batch=True contradicts last_batch={last_batch!r}")
    return _one_of("last_batch", last_batch, _LAST)


def _batch_size(value: SupportsIndex) -> int:
    size = operator.index(value)
    if not 1 <= size <= _core.MAX_BATCH_SIZE:
        raise RuntimeError(f"batch_size must be from 1 to {_core.MAX_BATCH_SIZE}, got {size}")
    return size


def _numbers(indices: Iterable[SupportsIndex], size: int) -> list[int]:
    """Numbers of samples, counted from the end where they are negative."""
    given = list(indices)
    if any(isinstance(index, bool | np.bool_) for index in given):
        raise TypeError("expected numbers of samples, got bools; np.flatnonzero makes numbers of a mask")
    numbers = [operator.index(index) for index in given]
    for number in numbers:
        if not -size <= number < size:
            raise IndexError(f"expected the number of one of {size} samples, got {number}")
    return [number % size for number in numbers]
