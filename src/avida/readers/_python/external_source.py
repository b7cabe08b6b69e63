"""ExternalSource: Python code as a reader."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn, Self, SupportsIndex

from avida import _core
from avida._running.background import HandedOver, run_in_background
from avida._running.eval import EvalContext
from avida._running.generators import BatchesAhead, batches_ahead
from avida._running.warn import warn
from avida._values.batch import Batch
from avida._values.device import Device
from avida._values.device import device as make_device
from avida._values.integers import integer_within
from avida._values.outputs import Form, Outputs
from avida._values.typing import DeviceArg, DTypeArg
from avida.distributed import World
from avida.readers._epoch import ReadError
from avida.readers._python.indexed import IndexedReader
from avida.readers._python.items import Collected, Items, Separate, count_samples
from avida.readers._python.sources import class_names, continues, gives_batches, has_numbers, is_iterable, opener
from avida.readers._reader import MOST_DEPTH, NamesArguments
from avida.readers._state import ReaderState

_DEFAULT_DEPTH = 2
_ORDER = "ExternalSource"
_CYCLES = (None, False, True, "no", "quiet", "raise")


class ExternalSource(NamesArguments):
    """Takes data from a Python iterable or callable.

    An item of the source is a sample, a Batch, a tuple with one of them for each output, or a dictionary of outputs,
    which is returned as a dictionary. Tuples and dictionaries may have such parts, as ``(image, {"boxes": boxes})``; a
    list is one array, or a Batch. A ``Table`` or ``RecordBatch`` of PyArrow is a dictionary of Batches.

    A sample is anything that can become a Tensor: numbers, arrays, Pillow images, ``bytes`` (as uint8) and strings
    (their UTF-8 bytes). The content of a file is also what data sets of Hugging Face have for it,
    ``{"bytes": ..., "path": ...}``. Pillow images with a palette become RGB or RGBA; their indices of colours are asked
    for by the layout "HW".

    Exceptions of the source are raised where the item is used, with their own traceback. Each sample has an index, so
    that ``keyed_by`` and ``sources`` work as with other readers; samples that another reader has read keep their
    identity.

    A source with ``__len__`` and ``__getitem__``, such as a list of samples or a dataset of PyTorch or Hugging Face, is
    read by index: epochs can be shuffled, divided into shards and resumed without reading the samples before, and
    ``len(reader)``, ``reader[i]``, ``seek`` and ``sampler`` work as with other readers. One thread at a time calls the
    source, or as many as ``num_threads`` says; ``__getitems__`` is called for several samples where there is one.

    Args:
        source: An iterable; an object with ``__len__`` and ``__getitem__``; a function that returns the next item and
            raises ``StopIteration`` after the last; or a generator function, which is called once for each epoch.
        num_outputs: The number of outputs of an item. Default: those of the tuples that the source gives. With ``1`` a
            tuple is one array.
        cycle: What a call does after the last item: ``"no"`` raises ``StopIteration`` from then on, ``"quiet"`` begins
            again, ``"raise"`` raises once and then begins again. For iterables only.
        device: Where the outputs are.
        layout: The layout of all outputs, a list with one for each output, or a dictionary by key: ``"boxes"`` or, in
            full, ``"objects.boxes"`` for the boxes in a part that is a dictionary.
        dtype: The element type of the outputs, in the same forms. Without it, the samples of a batch must agree.
        prefetch_queue_depth: The number of items that a background thread prefetches, at most 65,536. ``0``: none, the
            source runs in the calling thread. Default: 2 within ``next_epoch`` and ``captured``, and 0 for calls.
        num_shards: The number of shards that the samples are divided into. This and the following arguments need a
            source that is read by index, and apply to ``next_epoch``. Default: ``1``.
        shard_id: The shard to read. Default: ``0``.
        shards: In place of both: what ``avida.distributed.world()`` returns, or "auto", which also notices when that
            changes.
        stick_to_shard: Read the same shard in every epoch, instead of the next one each time. Default: ``False``.
        random_shuffle: Shuffle all samples in each epoch. Default: ``False``.
        seed: The seed of ``random_shuffle``. Default: the same order in every run.
        last_batch: What to do with an incomplete last batch: "partial", "wrap", "pad" or "drop", as for other readers.
            Default: "partial".
        on_error: What to do when the source raises an exception for a sample: "raise", or "skip", which leaves the
            sample out and adds it to ``errors``. Default: "raise".
        num_threads: How many threads may call a source that is read by index at the same time, for the samples of a
            batch. They live as long as an epoch. Default: ``1``.
        name: What samples are called in ``sources`` and messages: a key of the source's dictionaries, or a function of
            an item. Default: ``ExternalSource[index]``.

    Example:
        >>> squares = avida.ExternalSource([i * i for i in range(5)])
        >>> squares().item(), squares().item()
        (0, 1)
        >>> [[x.item() for x in numbers] for (numbers,) in squares.next_epoch(batch_size=2)]
        [[0, 1], [4, 9], [16]]
        >>> rows = [{"text": "a cat", "label": 3}, {"text": "dogs", "label": 1}]
        >>> next(avida.ExternalSource(rows).next_epoch(batch_size=2))["text"].shape
        [(5,), (4,)]
    """

    def __init__(
        self,
        source: Callable[[], Any] | Iterable[Any] | Any,
        num_outputs: int | None = None,
        *,
        cycle: Literal["no", "quiet", "raise"] | bool | None = None,
        device: DeviceArg | None = "cpu",
        layout: str | Sequence[str | None] | Mapping[str, str | None] | None = None,
        dtype: DTypeArg | Sequence[DTypeArg | None] | Mapping[str, DTypeArg | None] | None = None,
        prefetch_queue_depth: SupportsIndex | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        stick_to_shard: bool | None = None,
        random_shuffle: bool | None = None,
        seed: int | None = None,
        last_batch: Literal["partial", "wrap", "pad", "drop"] | None = None,
        on_error: Literal["raise", "skip"] | None = None,
        num_threads: SupportsIndex | None = None,
        name: str | Callable[[Any], str] | None = None,
        shards: World | Literal["auto"] | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name != "self"}
        self._arguments = given  # of which another process makes the same source
        self._device = make_device(device) or Device.CPU
        if num_outputs is not None and operator.index(num_outputs) < 1:
            raise ValueError(f"num_outputs must be at least 1, got {num_outputs}")
        self._form = Form(None if num_outputs is None else operator.index(num_outputs), dtype, layout, name)
        self._threads = integer_within("num_threads", 1 if num_threads is None else num_threads, 1, 1024)
        depth = prefetch_queue_depth
        self._depth = None if depth is None else integer_within("prefetch_queue_depth", depth, 0, MOST_DEPTH)
        if not any(cycle is known for known in _CYCLES):
            raise ValueError(f'cycle is "no", "quiet" or "raise", or False, True or None, got {cycle!r}')
        self._classes = class_names(source)
        self._begin = opener(source, cycle)
        self._quiet = cycle is True or cycle == "quiet"
        self._begins_again = self._quiet or cycle == "raise" or not is_iterable(source)  # after the end, by a call
        self._is_iterator = isinstance(source, Iterator)
        self._continues = continues(source)  # an epoch that was left is continued by the next one
        self._epoch = 0  # the next one
        self._skip = 0  # samples of it that were given out before
        self._at = (0, 0)  # epoch and samples: where reading stands
        self._pass: _Pass | None = None  # of the epoch that calls read
        self._left: _Pass | None = None  # the newest one of a source that continues, unless it has ended
        self._called = False  # the newest item was given out by a call
        self._loop = _core.UserLoop()  # knows what the last epoch's loop did
        options = {
            "num_shards": num_shards,
            "shard_id": shard_id,
            "shards": shards,
            "stick_to_shard": stick_to_shard,
            "random_shuffle": random_shuffle,
            "seed": seed,
            "last_batch": last_batch,
            "on_error": on_error,
        }
        self._options = {name: value for name, value in options.items() if value is not None}
        self._reader = self._by_number(source)  # of sources that are read by index

    def __reduce__(self) -> tuple:
        return _make_again, (type(self), self._arguments, self.get_state(), self.sampler)

    def _by_number(self, source: Any) -> IndexedReader | None:
        if not has_numbers(source) or (not self._options and (len(source) == 0 or gives_batches(source))):
            given = [*self._options, *(["num_threads"] if self._threads > 1 else [])]
            if given:
                raise TypeError(
                    f"{', '.join(given)} expected a source with __len__ and __getitem__, got {type(source).__name__}"
                )
            return None
        depth = _DEFAULT_DEPTH if self._depth is None else self._depth
        return IndexedReader(
            source, self._form, depth, self._threads, self._device, **({"last_batch": "partial"} | self._options)
        )

    def _numbered(self, what: str) -> IndexedReader:
        if self._reader is None:
            raise TypeError(f"{what} needs a source with __len__ and __getitem__ that gives single samples")
        return self._reader

    def __len__(self) -> int:
        """The number of samples, of all shards together."""
        return len(self._numbered("len()"))

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: Any) -> Any:
        """Reads samples by index: ``reader[3]``, ``reader[[5, 1]]``, ``reader[:10]``.

        One index gives Tensors, several give Batches.
        """
        return self._numbered("reader[...]")[index]

    def __repr__(self) -> str:
        samples = "" if self._reader is None else f", {len(self):,} samples"
        return f"ExternalSource({type(self._arguments['source']).__name__}{samples}, epoch {self.epoch})"

    def __iter__(self) -> NoReturn:
        raise TypeError("an ExternalSource is not iterable; iterate over one epoch: source.next_epoch(batch_size=...)")

    def __call__(self, *, batch_size: SupportsIndex | None = None) -> Any:
        """The next item: a Tensor or Batch, or a tuple with one for each output.

        Args:
            batch_size: Makes Batches: a sample is repeated ``batch_size`` times, a Batch must have this size.
        """
        if self._options:
            raise TypeError(f"calls read the source in its own order; use next_epoch() with {', '.join(self._options)}")
        size = None if batch_size is None else operator.index(batch_size)
        if size is not None and not 0 <= size <= _core.MAX_BATCH_SIZE:
            raise ValueError(f"batch_size must be from 0 to {_core.MAX_BATCH_SIZE}, got {size}")
        for item in _Calls(self, size):  # not next(): a signal handler may run behind that, and the item would be lost
            return item
        raise StopIteration

    def captured(self, batch_size: SupportsIndex, ctx: EvalContext | None = None) -> Iterator[Any]:
        """Iterates over the rest of the epoch, as calls with this ``batch_size`` would.

        The source runs in the background from now on. No item is lost when the loop ends early: calls continue there.
        """
        if ctx is not None and not isinstance(ctx, EvalContext):
            raise TypeError(f"ctx must be an EvalContext, got {type(ctx).__name__}")
        size = operator.index(batch_size)
        if self._depth is None:
            self._depth = _DEFAULT_DEPTH
            if self._pass is not None:
                rest, _ = self._pass.grouped_by(Items, None, _DEFAULT_DEPTH)
                self._pass.background, self._pass.items = rest.background, rest.items
        return _Calls(self, size)

    def next_epoch(
        self,
        batch_size: SupportsIndex | None = None,
        ctx: EvalContext | None = None,
        capture: bool = False,
        *,
        compile: bool = False,
        ahead: SupportsIndex | None = None,
        indices: Iterable[int] | None = None,
    ) -> Iterator[Any]:
        """Iterates over the next epoch: Batches, or Tensors without ``batch_size``.

        If the items of the source are dictionaries, so are those of the epoch. Samples are joined, and Batches split,
        into Batches of ``batch_size`` samples; the last one may be smaller. An iterable starts again with its first
        item. An iterator or a function cannot: if its epoch was left, the next one is the rest of it, and prefetched
        items are not lost.

        Args:
            batch_size: The number of samples in a batch.
            capture: Prepares two batches ahead, not one.
            compile: The same as ``capture``.
            ahead: How many batches to prepare ahead, as for other readers.
            indices: The indices of the samples of this epoch, for a source that is read by index.
            Ignored, accepted for compatibility: ctx.
        """
        prepared = batches_ahead(ahead, capture or compile)
        size = None if batch_size is None else operator.index(batch_size)
        if size is not None and not 1 <= size <= _core.MAX_BATCH_SIZE:
            raise RuntimeError(f"batch_size must be from 1 to {_core.MAX_BATCH_SIZE}, got {size}")
        self._called = False
        if self._reader is None and indices is None:
            return _Epoch(self, size, prepared)
        reader: Any = self._numbered("indices")
        epoch: Iterator[Any] = reader.next_epoch(size, capture=capture or compile, ahead=ahead, indices=indices)
        return epoch

    @property
    def epoch(self) -> int:
        """The number of the epoch that is being read; of the next one after its end."""
        return self._at[0] if self._reader is None or self._called else self._reader.epoch

    @property
    def classes(self) -> list[str] | None:
        """The names of the labels, where the source knows them; else ``None``.

        Data sets of torchvision have ``classes``, and those of Hugging Face may have a column of classes.
        """
        return self._classes

    @property
    def errors(self) -> list[ReadError]:
        """The samples that ``on_error="skip"`` left out."""
        return [] if self._reader is None else self._reader.errors

    @property
    def sampler(self) -> Iterable[int] | None:
        """The order of every epoch, as that of other readers."""
        return None if self._reader is None else self._reader.sampler

    @sampler.setter
    def sampler(self, sampler: Iterable[int] | None) -> None:
        self._numbered("a sampler").sampler = sampler

    def seek(self, epoch: int, position: int = 0) -> None:
        """Moves to an epoch, after its first ``position`` samples.

        A source that is not read by index has to give those samples again.
        """
        epoch, position = operator.index(epoch), operator.index(position)
        if epoch < 0 or position < 0:
            raise ValueError(f"expected an epoch and a position from 0, got {epoch} and {position}")
        if self._reader is not None:
            self._reader.seek(epoch, position)
        self._move_to(epoch, position)

    def get_state(self, *, cuda_stream: Any = None) -> ReaderState:
        """Where reading stands: the epoch, and how many samples of it were given out."""
        if self._reader is not None and not self._called:
            return self._reader.get_state()
        epoch, samples = self._at
        return ReaderState(epoch=epoch, done=samples, base=epoch, taken=samples, order=_ORDER)

    def set_state(self, state: ReaderState | str | bytes | dict[str, Any]) -> None:
        """Resumes: the next epoch is the rest of the one in which the state was taken.

        Unless the source is read by index, the samples before are read again and discarded, so the source must give the
        same items again; if it draws random numbers, restore its generator first.
        """
        state = ReaderState.of(state)
        if state.order == _ORDER and not self._options:
            return self.seek(state.epoch, state.done)
        if self._reader is None:
            raise ValueError(f"expected the state of an {_ORDER}, got that of a reader with {state.order}")
        self._reader.set_state(state)
        self._move_to(state.epoch, state.done)

    def state_dict(self) -> dict[str, Any]:
        """The state as a dictionary."""
        return self.get_state().to_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The same as :meth:`set_state`, from what :meth:`state_dict` returned."""
        self.set_state(state_dict)

    @property
    def _own_order(self) -> int:
        return 0 if self._reader is None else self._reader._own_order

    def _divide(self, part: int, parts: int) -> None:
        self._numbered("division among worker processes")._divide(part, parts)

    def _skip_to(self, epoch: int, batch_size: int | None) -> None:
        self._numbered("division among worker processes")._skip_to(epoch, batch_size)
        self._move_to(epoch, 0)

    def _epoch_length(self, epoch: int, batch_size: int) -> int:
        return self._numbered("the length of an epoch")._epoch_length(epoch, batch_size)

    def _move_to(self, epoch: int, samples: int) -> None:
        self._epoch, self._skip, self._pass, self._left = epoch, samples, None, None
        self._at, self._called = (epoch, samples), False

    def _begin_pass(self, owner: _Epoch | ExternalSource, group: type[Items], size: int | None, depth: int) -> None:
        """Begins the next epoch, and gives it to its owner."""
        epoch, skip = self._epoch, self._skip
        items = group(run_in_background(self._begin(), 0).items, self._form, epoch, skip, size)
        begun, at = _Pass(items, depth, epoch, skip), (epoch, skip)
        self._prepare(begun, owner)
        left = begun if self._continues else None
        if owner._pass is not None or self._epoch != epoch:  # another thread was faster
            return
        # At once: no exception comes in between.
        self._epoch, self._skip, self._at, self._left, owner._pass = epoch + 1, 0, at, left, begun

    def _continue_pass(self, left: _Pass, owner: _Epoch, group: type[Items], size: int | None, depth: int) -> None:
        """Gives the rest of an epoch that was left to its next owner."""
        if left.items.is_grouped(group, size):
            if owner._pass is None and self._left is left:  # otherwise another thread was faster
                owner._pass, owner._is_rest = left, True
            return
        rest, changes = left.grouped_by(group, size, depth)
        self._prepare(rest, owner)
        mine = [(owner, "_pass", rest), (owner, "_is_rest", True)]
        stores = [*mine, (self, "_pass", None), (self, "_left", rest), (left, "rest", rest)]
        if owner._pass is None and self._left is left:
            left.background.items.retire(changes, stores)  # fails if another thread has taken an item meanwhile

    def _prepare(self, begun: _Pass, owner: _Epoch | ExternalSource) -> None:
        """Has the calls of the owner's loop made ahead."""
        if isinstance(owner, _Epoch):
            begun.background.items.run_ahead(_core.UserLoop() if self._loop.is_open else self._loop, *owner._ahead)

    def _placed(self, outputs: Outputs) -> Outputs:
        return tuple([output.to_device(self._device) for output in outputs])

    def _of_one_kind(self, outputs: Outputs, batch_size: int | None) -> Outputs:
        if batch_size is None:
            if len(outputs) > 1 and len({isinstance(output, Batch) for output in outputs}) > 1:
                raise TypeError("expected only samples or only Batches from the source, got both; give a batch_size")
            return outputs
        for output in outputs:
            if isinstance(output, Batch) and output.batch_size != batch_size:
                raise ValueError(f"expected Batches of {batch_size} samples, the source gave {output.batch_size}")
        return tuple(o if isinstance(o, Batch) else Batch.broadcast(o, batch_size) for o in outputs)


class _Pass:
    """A pass over the source that has begun, and where it stands."""

    def __init__(self, items: Items, depth: int, epoch: int, samples: int) -> None:
        self.items = items
        self.background = run_in_background(items.__next__, depth)
        self.epoch = epoch
        self.samples = samples  # given out
        self.has_given = False
        self.rest: _Pass | None = None  # what an epoch with other batches has made of it

    def grouped_by(self, group: type[Items], size: int | None, depth: int) -> tuple[_Pass, int]:
        """The rest of it, grouped in another way, and the number with which this one may be retired.

        Until then this one keeps what it has, in case that nobody takes the other.
        """
        made, error, changes = self.background.items.pause()
        return _Pass(self.items.grouped_by(group, size, made, error), depth, self.epoch, self.samples), changes


class _OverPass(HandedOver):
    """An iterator over the items of an ExternalSource's pass."""

    _source: ExternalSource
    _is_call = False
    _has_given = False

    def _current_pass(self) -> _Pass:
        raise NotImplementedError

    def _feed(self) -> _core.Feed:
        return self._current_pass().background.items

    def _commit(self, item: Outputs, made: Any) -> None:
        source, begun = self._source, self._current_pass()
        count = count_samples(item)
        # Only attributes are stored from here on: no exception and no other thread comes in between.
        begun.samples += count
        begun.has_given, self._has_given, source._called = True, True, self._is_call
        if source._at[0] <= begun.epoch:  # otherwise another thread has found the end, or begun another epoch
            source._at = begun.epoch, begun.samples


class _Calls(_OverPass):
    """What calls of an ExternalSource return, to the end of the epoch."""

    _is_call = True

    def __init__(self, source: ExternalSource, batch_size: int | None) -> None:
        self._source = source
        self._batch_size = batch_size

    def _current_pass(self) -> _Pass:
        source = self._source
        if source._left is not None and source._left is not source._pass:
            raise RuntimeError(
                "an epoch of this ExternalSource has begun and not ended, and its source cannot begin again; take the "
                "rest with next_epoch() before you call the source"
            )
        while source._pass is None:
            source._begin_pass(source, Items, None, source._depth or 0)
        return source._pass

    def _make(self, item: Outputs) -> Any:
        source = self._source
        outputs = source._placed(source._of_one_kind(item, self._batch_size))
        result = source._form.result(outputs)
        return result[0] if isinstance(result, tuple) and len(result) == 1 else result

    def _end(self) -> bool:
        source, begun = self._source, self._current_pass()
        begins_again = source._quiet and begun.has_given
        left = None if source._left is begun else source._left
        source._at, source._left, source._pass = (source._epoch, 0), left, None if source._begins_again else begun
        return begins_again


class _Epoch(_OverPass, Iterator[Any]):
    """One epoch of an ExternalSource. It begins with the first item."""

    def __init__(self, source: ExternalSource, batch_size: int | None, ahead: BatchesAhead) -> None:
        self._source = source
        self._batch_size = batch_size
        self._ahead = ahead
        self._pass: _Pass | None = None
        self._is_rest = False  # of an epoch that was left
        self._ended = False

    def __iter__(self) -> Self:
        if self._ended:
            warn("this epoch has ended and has no more items. Call next_epoch() of the source for each loop over it.")
        return self

    def _current_pass(self) -> _Pass:
        source, size = self._source, self._batch_size
        group = Separate if size is None else Collected
        depth = max(_DEFAULT_DEPTH, self._ahead.number + 1) if source._depth is None else source._depth
        while self._pass is None:
            left = source._left
            if left is None or left.background.items.is_lost:
                source._begin_pass(self, group, size, depth)
            else:
                source._continue_pass(left, self, group, size, depth)
        while self._pass.rest is not None:
            self._pass = self._pass.rest
        return self._pass

    def _make(self, item: Outputs) -> Any:
        return self._source._form.result(self._source._placed(item))

    def _end(self) -> bool:
        source, begun = self._source, self._current_pass()
        left, at = None if source._left is begun else source._left, (source._epoch, 0)
        if self._is_rest and not self._has_given:  # all items had been taken when the epoch was left
            self._pass, self._is_rest, source._left, source._at = None, False, left, at
            return True
        if not self._ended:
            if source._is_iterator and begun.samples == 0:
                warn(
                    "this epoch is empty: the source is an iterator that has ended. Give a list, or the generator "
                    "function itself (without calling it), to have items in every epoch."
                )
            self._ended, source._left, source._at = True, left, at
        return False


def _make_again(
    cls: type[ExternalSource], arguments: dict[str, Any], state: ReaderState, sampler: Iterable[int] | None
) -> ExternalSource:
    made = cls(**arguments)
    if sampler is not None:
        made.sampler = sampler
    made.set_state(state)
    return made
