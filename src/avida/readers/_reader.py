"""What all readers share: shards, shuffling, epochs, state. A format only adds its source."""

from __future__ import annotations

import inspect
import operator
import os
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, ClassVar, NoReturn, Self, SupportsIndex, TypeVar, overload

import numpy as np

from avida import _core
from avida._missing import unknown_argument
from avida._running.eval import EvalContext
from avida._running.generators import BatchesAhead, batches_ahead
from avida._running.warn import warn
from avida._values.batch import Batch
from avida._values.device import Device
from avida._values.device import device as make_device
from avida._values.integers import integer_within
from avida._values.tensor import Tensor
from avida._values.typing import DeviceArg
from avida.distributed import World, world
from avida.readers._blocks import Blocks
from avida.readers._classes import compare_classes
from avida.readers._epoch import Epoch, ReadError
from avida.readers._names.pointers import pointer_among
from avida.readers._state import ReaderState
from avida.storage._cache import Cache

T = TypeVar("T")

_DEFAULT_DEPTH = 2
_SAMPLE_DEPTH = 32  # more single samples are prefetched: each is little work
MOST_DEPTH = 65_536
_LOOP = "for batch in reader.next_epoch(batch_size=64)"

# One lock for the epochs that calls of all readers go through: held briefly, and fork can take it.
_lock = threading.RLock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


class NamesArguments:
    """A class that says which argument was meant, before anything else complains of what is missing."""

    def __new__(cls, *_: Any, **given: Any) -> Self:
        known = inspect.signature(cls).parameters
        takes_any = any(parameter.kind == parameter.VAR_KEYWORD for parameter in known.values())
        for name in given:
            if name not in known and not takes_any:
                if name == "batch_size":
                    raise TypeError(f"{cls.__name__}() has no argument 'batch_size'; give it to each epoch: {_LOOP}")
                raise unknown_argument(cls, name)
        return super().__new__(cls)


class ReadErrors(list[ReadError]):
    """The newest samples that a reader skipped, at most 1,000.

    ``total`` counts all of them.
    """

    total = 0


class Reader(NamesArguments):
    """The base of all readers.

    A reader has a next epoch; an iterator over that epoch moves the reader on to the epoch after it.
    """

    _arguments: tuple[tuple, dict[str, Any]]
    _reads_archives: ClassVar[bool] = False  # they may be told to shuffle in both ways
    _has_blocks: ClassVar[bool] = False  # its source has
    _located: Mapping[str, Any] = {}  # arguments that say where the data is
    _cache: Cache | None = None  # what is read goes through it
    _epochs_apart: bool = False  # nothing is prefetched beyond the end of an epoch

    def __init__(
        self,
        make_source: Callable[[], _core.ReaderSource],
        max_batch_size: int | None,
        name: str | None,
        device: DeviceArg | None,
        num_inputs: int | None,
        **options: Any,
    ) -> None:
        self._device = make_device(device) or Device.CPU
        if num_inputs:
            raise ValueError(f"a reader has no inputs, got num_inputs={num_inputs}")
        self._make_source = make_source
        self._name = name
        self._max_batch_size = None if max_batch_size is None else _batch_size(max_batch_size)
        self._world = world() if options.get("shards") == "auto" else None  # which must not change
        self._shards, self._shard = _shards_of(options, self._world)
        self._depth = _integer(options.get("prefetch_queue_depth"), _DEFAULT_DEPTH)
        if not 1 <= self._depth <= MOST_DEPTH:
            raise RuntimeError(f"prefetch_queue_depth must be from 1 to {MOST_DEPTH} batches, got {self._depth}")
        again = bool(options.get("shuffle_after_epoch"))
        if again and options.get("stick_to_shard"):
            raise RuntimeError("shuffle_after_epoch cannot be combined with stick_to_shard, which it implies")
        if again and options.get("random_shuffle") and not self._reads_archives:
            raise RuntimeError("shuffle_after_epoch cannot be combined with random_shuffle; pass one of them")
        self._stick = bool(options.get("stick_to_shard") or again)
        self._last = _last_batch(options.get("last_batch"), bool(options.get("pad_last_batch")))
        shuffle = options.get("random_shuffle")
        self._shuffle = "shuffle_after_epoch" if again else "random_shuffle" if shuffle else "no shuffling"
        self._blocks = shuffle if isinstance(shuffle, Blocks) else None
        if self._blocks and not self._has_blocks:
            raise ValueError(f"{self._title()} has no blocks to shuffle; these readers have: {_readers_with_blocks()}")
        self._block_order: _core.ReaderBlocks | None = None
        seed = options.get("shuffle_after_epoch_seed" if again else "seed")
        self._has_own_seed = seed is not None  # else it takes up that of a state
        start = ReaderState(shards=self._shards, seed=_integer(seed, -1) % 2**64)
        self._skip = _one_of("on_error", options.get("on_error", "raise"), ["raise", "skip"]) == "skip"

        self.errors = ReadErrors()
        """The samples that ``on_error="skip"`` left out, in the order in which their batches were taken: a list of the
        newest 1,000. ``errors.total`` counts all of them."""
        self._sampler: Iterable[int] | None = None
        self._source: _core.ReaderSource | None = None
        self._part, self._parts = 0, 1  # see _divide
        self._position = _core.ReaderPosition(start)
        self._called: Epoch | None = None  # the epoch that calls go through
        self._loop = _core.UserLoop()  # knows what the last epoch's loop did
        if not options.get("lazy_init"):
            self._set_up()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls, *args, **kwargs)
        self._arguments = args, kwargs  # of which another process makes the same reader
        return self

    def __reduce__(self) -> tuple:
        return _make_again, (type(self), *self._arguments, self.get_state(), self._sampler)

    def _set_up(self) -> _core.ReaderSource:
        if self._source is None:
            name = self._title()
            # Of an archive with an index nothing is read before the first sample, which then seems damaged.
            if self._reads_archives and (pointer := self._pointer()):
                raise RuntimeError(f"{name}: {pointer}")
            try:
                source = self._make_source()
            except (RuntimeError, ValueError) as error:
                text = self._pointer() or str(error)
                raise type(error)(text if f"{name}: " in text else f"{name}: {text}") from None
            if source.size < self._shards:
                if pointer := self._pointer():
                    raise RuntimeError(f"{name}: {pointer}")
                raise RuntimeError(
                    f"{name}: expected at least one sample for each of {self._shards} shards, got {source.size} "
                    f"from {self._data_name()}"
                )
            if self._blocks:
                self._block_order = _core.ReaderBlocks(source.blocks, source.size, self._blocks.window)
            self._source = source
            compare_classes(self, name, source.classes, "classes" in self._arguments[1])
        return self._source

    @property
    def classes(self) -> Sequence[str] | Mapping[int, str] | None:
        """The names of the labels, where the data has them: ``reader.classes[label]``.

        ``File`` and the readers of videos have a list, of the folders in ``file_root``; ``COCO`` has a dictionary, of
        the categories that the annotations name. It is ``None`` for all other data, since nothing there names labels.
        Two readers, of training and of validation data, have the same labels if this is equal.
        """
        return self._set_up().classes

    def _pointer(self) -> str | None:
        """What to do if a file of the data was not fetched by git-LFS."""
        return pointer_among(list(self._located.values()))

    def _data_name(self) -> str:
        """The arguments that say where the data is."""
        given = [f"{name}={_shortened(value)}" for name, value in self._located.items()]
        return ", ".join(given) or "its data"

    def __len__(self) -> int:
        """The number of samples in the data set, of all shards together."""
        return self._set_up().size

    def __iter__(self) -> NoReturn:
        raise TypeError(f"Readers are not iterable. Iterate over one epoch: {_LOOP}")

    def __repr__(self) -> str:
        samples = "not opened yet" if self._source is None else f"{self._source.size:,} samples"
        shard = f", shard {self._shard} of {self._shards}" if self._shards > 1 else ""
        return f"{self._title()}({samples}{shard}, epoch {self.epoch})"

    def _title(self) -> str:
        return f"readers.{type(self).__name__}"

    @overload
    def __getitem__(self, index: SupportsIndex) -> tuple[Tensor, ...]: ...
    @overload
    def __getitem__(self, index: slice | Sequence[SupportsIndex]) -> tuple[Batch, ...]: ...
    def __getitem__(self, index: Any) -> tuple:
        """Reads samples by index: ``reader[3]``, ``reader[[5, 1]]``, ``reader[:10]``.

        One index gives Tensors, several give Batches.
        """
        source = self._set_up()
        if isinstance(index, slice):
            return self[range(*index.indices(source.size))]
        single = not hasattr(index, "__len__") or getattr(index, "ndim", 1) == 0
        numbers = _numbers([index] if single else index, source.size)
        if not numbers:
            raise ValueError("expected indices of samples, got an empty list")
        return self._item(self._placed(_core.read_samples(source, numbers, self.epoch, not single)))

    def _placed(self, outputs: tuple) -> tuple:
        return outputs if self._device == Device.CPU else tuple(output.to_device(self._device) for output in outputs)

    def _item(self, outputs: tuple) -> Any:
        """What users get: the outputs, in the form of this reader."""
        return outputs

    def _item_form(self, outputs: int) -> Any:
        """What items look like, as one of the numbers of outputs; None where that is not known yet."""
        return self._item(tuple(range(outputs)))

    def get_metadata(self, batch_size: int | None = None) -> dict[str, int]:
        """Returns the number of samples, without and with padding, and of shards.

        None of them depends on ``batch_size``, which is accepted for compatibility.
        """
        return {
            "epoch_size": len(self),
            "epoch_size_padded": self._schedule(self._position.next).padded_samples,
            "number_of_shards": self._shards,
            "shard_id": self._shard,
            "pad_last_batch": int(self._last == "pad"),
            "stick_to_shard": int(self._stick),
        }

    @property
    def sampler(self) -> Iterable[int] | None:
        """An iterable over sample indices that sets the order of every epoch, or None.

        It is iterated once for each epoch, and its indices are divided among the shards; all shards must have the same
        sampler. If it has a method ``set_epoch``, as PyTorch's samplers have, that is called first. An index may occur
        several times or not at all, as with ``torch.utils.data.WeightedRandomSampler``.
        """
        return self._sampler

    @sampler.setter
    def sampler(self, sampler: Iterable[int] | None) -> None:
        if sampler is not None and not hasattr(sampler, "__iter__") and not hasattr(sampler, "__getitem__"):
            raise TypeError(f"expected an iterable over indices of samples, got {type(sampler).__name__}")
        if isinstance(sampler, Iterator):
            raise TypeError("expected an iterable that can be iterated once for each epoch, got an iterator")
        self._sampler = sampler

    @overload
    def next_epoch(
        self,
        batch_size: None = None,
        ctx: EvalContext | None = None,
        capture: bool = False,
        *,
        compile: bool = False,
        ahead: SupportsIndex | None = None,
        indices: Iterable[int] | None = None,
    ) -> Epoch[Tensor]: ...
    @overload
    def next_epoch(
        self,
        batch_size: int,
        ctx: EvalContext | None = None,
        capture: bool = False,
        *,
        compile: bool = False,
        ahead: SupportsIndex | None = None,
        indices: Iterable[int] | None = None,
    ) -> Epoch[Batch]: ...
    def next_epoch(
        self,
        batch_size: int | None = None,
        ctx: EvalContext | None = None,
        capture: bool = False,
        *,
        compile: bool = False,
        ahead: SupportsIndex | None = None,
        indices: Iterable[int] | None = None,
    ) -> Epoch:
        """Iterates over the next epoch: Batches, or Tensors without ``batch_size``.

        The epoch begins with the first item. It may be left at any time; the epoch after it is the same as if it had
        been read to its end. Several iterators may be in use: each goes over an epoch of its own. After
        :meth:`set_state` or :meth:`seek` the first epoch is the rest of the one that was interrupted.

        Args:
            batch_size: The number of samples in a batch. Default: ``max_batch_size`` of the constructor, if any.
            capture: Prepares two batches ahead, not one. The loop obeys no rules, in contrast to DALI.
            compile: The same as ``capture``.
            ahead: How many batches to prepare ahead: the calls that the loop made for the batches before are made for
                the next ones while the loop is busy or waits. Results are the same for any number; ``0`` prepares none.
                Default: ``1``, or ``2`` with ``capture``; ``4`` where the loop decodes images on a GPU.
            indices: The indices of the samples of this epoch, in place of the order of :attr:`sampler`.
            Ignored, accepted for compatibility: ctx.

        Returns:
            An iterator over tuples, one element for each output of the reader. Each is a Batch, or a Tensor for single
            samples. Readers of named features return dictionaries.

        Raises:
            ValueError: ``batch_size`` is not positive, or larger than ``max_batch_size``.

        Example:
            >>> import pathlib, tempfile
            >>> folder = tempfile.TemporaryDirectory()
            >>> _ = pathlib.Path(folder.name, "a.jpg").write_bytes(b"123")
            >>> reader = avida.readers.File(files=[folder.name + "/a.jpg"])
            >>> for files, labels in reader.next_epoch(batch_size=1):
            ...     print(files.shape, files.dtype)
            [(3,)] u8
        """
        size = self._max_batch_size if batch_size is None else self._checked_batch_size(batch_size)
        return self._new_epoch(size, indices, batches_ahead(ahead, capture or compile))

    def _new_epoch(self, size: int | None, indices: Iterable[int] | None, ahead: BatchesAhead) -> Epoch:
        if self._world and (now := world()) != self._world:
            raise RuntimeError(
                f"{self._title()}: the reader was made as {self._world}, and this process is now {now}: make the "
                "reader after the processes know of one another, and again when their number changes; its state goes on"
            )
        return Epoch(self, _core.ReaderItems(self._position, self.errors, size), indices, ahead)

    def _checked_batch_size(self, batch_size: int) -> int:
        size = _batch_size(batch_size)
        if self._max_batch_size is not None and size > self._max_batch_size:
            raise ValueError(f"batch_size must not exceed max_batch_size={self._max_batch_size}, got {size}")
        return size

    @overload
    def __call__(self, *, batch_size: None = None) -> tuple[Tensor, ...]: ...
    @overload
    def __call__(self, *, batch_size: int) -> tuple[Batch, ...]: ...
    def __call__(self, *, batch_size: int | None = None) -> Any:
        """Returns the next batch, or the next sample without ``batch_size``.

        After the last item of an epoch comes the first one of the next. Calls go through epochs of their own: iterators
        of :meth:`next_epoch` neither take items from them nor move them on.

        Raises:
            RuntimeError: An epoch has ended without one item that could be read.

        Example:
            >>> import pathlib, tempfile
            >>> folder = tempfile.TemporaryDirectory()
            >>> for name in ["a.jpg", "b.jpg"]:
            ...     _ = pathlib.Path(folder.name, name).write_bytes(b"123")
            >>> reader = avida.readers.File(files=["a.jpg", "b.jpg"], file_root=folder.name)
            >>> [reader()[1].item() for _ in range(5)]
            [0, 1, 0, 1, 0]
        """
        size = None if batch_size is None else self._checked_batch_size(batch_size)
        while True:
            epoch = self._epoch_of_calls(size)
            item = next(epoch, None)
            if item is not None:
                return item
            if not epoch.has_given:
                raise RuntimeError(f"{self._title()}: epoch {self.epoch - 1} has no item that can be read")

    def _epoch_of_calls(self, batch_size: int | None) -> Epoch:
        """The epoch that calls go through: a new one at its end, the rest of it where the batch size changes."""
        with _lock:
            if self._called is None or not self._called.goes_on(batch_size):
                self._called = self._new_epoch(batch_size, None, batches_ahead(None, False))
            return self._called

    @property
    def epoch(self) -> int:
        """The number of the epoch that is being read; of the next one after its end."""
        return self._position.state.epoch

    def seek(self, epoch: int, position: int = 0) -> None:
        """Moves to an epoch, after the first ``position`` samples of this shard."""
        epoch, position = integer_within("epoch", epoch, 0), integer_within("position", position, 0)
        seed = self._position.next.seed
        place = {"epoch": epoch, "done": position, "base": epoch, "taken": position}
        self._position.move_to(ReaderState(**place, shards=self._shards, seed=seed))

    def get_state(self, *, cuda_stream: Any = None) -> ReaderState:
        """Returns the position: after the last item that the newest iterator returned.

        ``str(state)`` is a short text, whatever the size of the data set. The state of one shard is enough to resume
        all of them, as long as all are at the same step. An epoch with an order of your own, from ``indices`` or a
        sampler, can be resumed if the same order is given again: that of a sampler must follow from ``set_epoch``.
        """
        state = self._position.state
        samples = 0 if self._source is None else self._source.size
        return state.of_data(samples, state.seed, self._order_name())

    def set_state(self, state: ReaderState | str | bytes | dict[str, Any]) -> None:
        """Resumes at a state, perhaps with another number of shards.

        The state may be that of another reader, if it reads the same data in the same order. A reader that was made
        without a seed takes up that of the state. Iterators in use are not affected.
        """
        state, seed = ReaderState.of(state), self._position.next.seed
        if state.order != self._order_name():
            raise ValueError(f"the state is of a reader with {state.order}, this one has {self._order_name()}")
        shuffles = self._shuffle != "no shuffling"
        if shuffles and self._has_own_seed and state.seed != seed:
            raise ValueError(f"the state is of a reader with the seed {state.seed}, this one has {seed}")
        if state.samples and state.samples != len(self):
            raise ValueError(f"the state is of a data set with {state.samples} samples, this one has {len(self)}")
        if any(phase.shards > len(self) for phase in (*state.history, state)):
            raise ValueError(f"the state is of a run with more shards than the {len(self)} samples here")
        state = state.of_data(len(self), state.seed if shuffles else seed, state.order)
        self._position.move_to(state.divided_by(self._shards))

    def state_dict(self) -> dict[str, Any]:
        """Returns the state as a dictionary of integers, as PyTorch objects do."""
        return self.get_state().to_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The same as :meth:`set_state`, from what :meth:`state_dict` returned."""
        self.set_state(ReaderState.from_dict(state_dict))

    def _divide(self, part: int, parts: int) -> None:
        """Takes every ``parts``-th item of each epoch, beginning with item ``part``, as worker processes do.

        States count rounds of ``parts`` items, so that the parts agree about where the next round begins.
        """
        self._position.move_to(self._position.next)  # what was prefetched is of no use
        self._part, self._parts = part, parts

    def _become_shard(self, shard: int, shards: int, epoch: int, seed: int) -> None:
        """Reads each sample of one of several shards once, in an epoch; what is open stays open."""
        self._shard, self._shards, self._last = shard, shards, "partial"
        self._position.move_to(ReaderState(epoch=epoch, base=epoch, shards=shards, seed=seed))

    @property
    def _own_order(self) -> int:
        """A checksum of the user's own order of the epoch that is being read; 0 without one."""
        return self._position.own_order

    def _skip_to(self, epoch: int, batch_size: int | None) -> None:
        """Makes the next epoch a later one, as reading all epochs before it in batches of that size does."""
        self._position.move_to(self._state_before(epoch, batch_size or 1))

    def _state_before(self, epoch: int, batch_size: int) -> ReaderState:
        wraps = self._last == "wrap" and self._sampler is None
        return self._position.next.moved_to(epoch, 0, batch_size, wraps)

    def _epoch_length(self, epoch: int, batch_size: int) -> int:
        """The number of items of the next epoch, with those that were taken of it before a state was set, or of a later
        epoch."""
        start = self._position.next
        if epoch > start.epoch:
            start = self._state_before(epoch, batch_size)
        return -(-start.done // batch_size) + self._items_left(batch_size, None, start)

    def _items_left(self, batch_size: int, indices: Sequence[int] | None, start: ReaderState | None = None) -> int:
        """The number of items from a position, or that of the reader, to the end of its epoch."""
        order = self._sampler if indices is None else indices
        if order is not None and not isinstance(order, Sized):
            raise TypeError("the sampler has no length; once the epoch has begun, its length is known")
        start = start or self._position.next
        return self._reading(start, None if order is None else range(len(order)), batch_size).items

    def _order_name(self) -> str:
        stick = ", stick_to_shard" if self._stick and self._shuffle != "shuffle_after_epoch" else ""
        sampler = "" if self._sampler is None else ", a sampler"
        blocks = f", {self._blocks}" if self._blocks else ""
        return f'{self._shuffle}{blocks}{stick}, last_batch="{self._last}"{sampler}'

    def _schedule(self, start: ReaderState, order: Sequence[int] | None = None) -> _core.ReaderSchedule:
        return _core.ReaderSchedule(
            start,
            len(self),
            shard=self._shard,
            stick=self._stick,
            last=self._last,
            shuffle=self._shuffle,
            blocks=self._block_order,
            order=order,
        )

    def _reading(
        self, start: ReaderState, order: Sequence[int] | None, batch_size: int, own_order: int = 0
    ) -> _core.Reading:
        return _core.Reading(self._schedule(start, order), start, batch_size, self._part, self._parts, own_order)

    def _order(self, indices: Sequence[int] | None, epoch: int) -> Sequence[int] | None:
        """The user's own order of an epoch, if any."""
        if indices is None and self._sampler is not None:
            set_epoch = getattr(self._sampler, "set_epoch", None)
            if set_epoch is not None:
                set_epoch(epoch)
            indices = list(self._sampler)
        return None if indices is None else _numbers(indices, len(self))

    def _begin(self, items: _core.ReaderItems, indices: Sequence[int] | None, ahead: BatchesAhead) -> None:
        """Gives the next epoch to items that have none yet, and moves on to the epoch after it."""
        source, batch_size = self._set_up(), items.batch_size or 1
        while not items.is_begun:  # another thread may be faster
            start = self._position.next
            order = self._order(indices, start.epoch)
            own_order = 0 if order is None else zlib.crc32(np.array(order, np.int64).tobytes()) + 1
            if start.own_order and start.own_order != own_order:
                raise ValueError("the state is of an epoch with an order of its own, and this epoch has another one")
            reading = self._reading(start, order, batch_size, own_order)
            if reading.batches == 0 and start.done == 0 and self._last == "drop":
                warn(
                    f'this epoch is empty: last_batch="drop" leaves out batches that are not full, and this shard has '
                    f"fewer than batch_size={batch_size} samples. Use a smaller batch_size or another last_batch."
                )
            one_epoch = self._epochs_apart or order is not None or self._parts > 1
            depth = self._items_prefetched(items.batch_size, ahead.number)
            items.begin(reading, source, depth, one_epoch, self._skip, self._loop, *ahead)

    def _items_prefetched(self, batch_size: int | None, ahead: int) -> int:
        """How many items are read before they are asked for."""
        return max(self._depth, _SAMPLE_DEPTH if batch_size is None else 0, ahead + 1)


def _make_again(
    reader: type[Reader], args: tuple, kwargs: dict[str, Any], state: ReaderState, sampler: Iterable[int] | None
) -> Reader:
    made = reader(*args, **kwargs)
    made.sampler = sampler
    made.set_state(state)
    return made


def _readers_with_blocks() -> str:
    kinds, names = [Reader], set[str]()
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if kind._has_blocks:
            names.add(kind.__name__)
    return ", ".join(sorted(names))


def _shortened(value: Any) -> str:
    if isinstance(value, str | os.PathLike):
        return repr(os.fspath(value))
    names = [repr(os.fspath(each)) for each in value]
    return f"[{', '.join(names[:3])}{', ...' if len(names) > 3 else ''}]"


def _shards_of(options: Mapping[str, Any], found: World | None) -> tuple[int, int]:
    """The number of shards, and that of this reader."""
    count, shard, shards = options.get("num_shards"), options.get("shard_id"), options.get("shards")
    if shards is not None:
        if count is not None or shard is not None:
            raise TypeError("expected shards, or num_shards and shard_id, got both")
        place = found or shards
        if not isinstance(place, World):
            raise TypeError(f'expected "auto" or a World in shards, got {shards!r}')
        return place.size, place.rank
    count, shard = _integer(count, 1), _integer(shard, 0)
    if count < 1:
        raise ValueError(f"num_shards must be at least 1, got {count}")
    if not 0 <= shard < count:
        raise ValueError(f"shard_id must be from 0 to {count - 1}, got {shard}")
    return count, shard


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
    return _one_of("last_batch", last_batch, _core.LAST_BATCHES)


def _batch_size(value: SupportsIndex) -> int:
    size = operator.index(value)
    if not 1 <= size <= _core.MAX_BATCH_SIZE:
        raise RuntimeError(f"batch_size must be from 1 to {_core.MAX_BATCH_SIZE}, got {size}")
    return size


def _numbers(indices: Iterable[SupportsIndex], size: int) -> list[int]:
    """Numbers of samples, counted from the end where they are negative."""
    given = list(indices)
    if any(isinstance(index, bool | np.bool_) for index in given):
        raise TypeError("expected indices of samples, got bools; np.flatnonzero(mask) returns the indices of a mask")
    numbers = [operator.index(index) for index in given]
    for number in numbers:
        if not -size <= number < size:
            raise IndexError(f"expected an index from {-size} to {size - 1}, for {size} samples, got {number}")
    return [number % size for number in numbers]
