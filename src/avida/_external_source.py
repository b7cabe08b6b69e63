"""Python code as a source of data."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, SupportsIndex, TypeVar

from avida import _core
from avida._ahead import Ahead
from avida._batch import Batch, as_batch, batch
from avida._device import Device
from avida._device import device as make_device
from avida._dtype import DType
from avida._dtype import dtype as make_dtype
from avida._eval import EvalContext
from avida._tensor import Tensor, as_tensor, tensor
from avida.readers._state import ReaderState

T = TypeVar("T")
Outputs = tuple[Tensor | Batch, ...]

_DEFAULT_DEPTH = 2
_ORDER = "ExternalSource"
_CYCLES = (None, False, True, "no", "quiet", "raise")


class ExternalSource:
    """Takes data from a Python iterable or callable.

    An item of the source is a sample (anything that makes a Tensor) or a Batch, or a tuple of as many as there are
    outputs. Each sample is numbered within its epoch, so that ``keyed_by`` and ``sources`` work as with other readers;
    samples that another reader has read stay what they are. What the source raises is raised where the item is asked
    for, with its own traceback.

    Args:
        source: An iterable; a function that returns the next item and raises ``StopIteration`` after the last; or a
            generator function, which is called anew for each epoch.
        num_outputs: How many outputs an item has.
        cycle: What a call does after the last item: ``"no"`` raises ``StopIteration`` from then on, ``"quiet"`` begins
            again, ``"raise"`` raises once and then begins again. For iterables only.
        device: Where the outputs are to be.
        layout: The layout of the outputs; a list has one for each.
        dtype: The element type of the outputs; a list has one for each.
        prefetch_queue_depth: How many items a background thread takes ahead. ``0``: none, the source runs in the
            thread that asks. Default: 2 within ``next_epoch`` and ``captured``, and 0 for calls.

    Example:
        >>> squares = avida.ExternalSource([i * i for i in range(5)])
        >>> squares().item(), squares().item()
        (0, 1)
        >>> [[x.item() for x in numbers] for (numbers,) in squares.next_epoch(batch_size=2)]
        [[0, 1], [4, 9], [16]]
    """

    def __init__(
        self,
        source: Callable[[], Any] | Iterable[Any],
        num_outputs: int = 1,
        *,
        cycle: Literal["no", "quiet", "raise"] | bool | None = None,
        device: Any = "cpu",
        layout: str | Sequence[str | None] | None = None,
        dtype: Any = None,
        prefetch_queue_depth: SupportsIndex | None = None,
    ) -> None:
        self._device = make_device(device) or Device.CPU
        self._num_outputs = operator.index(num_outputs)
        if self._num_outputs < 1:
            raise ValueError(f"num_outputs must be at least 1, got {num_outputs}")
        layouts = [_layout(text) for text in _per_output(layout, self._num_outputs, "layout")]
        dtypes = [t if t is None else make_dtype(t) for t in _per_output(dtype, self._num_outputs, "dtype")]
        self._form = _Form(dtypes, layouts)
        self._depth = None if prefetch_queue_depth is None else operator.index(prefetch_queue_depth)
        if self._depth is not None and self._depth < 0:
            raise ValueError(f"prefetch_queue_depth must not be negative, got {prefetch_queue_depth}")
        if not any(cycle is known for known in _CYCLES):
            raise ValueError(f'cycle is "no", "quiet" or "raise", or False, True or None, got {cycle!r}')
        self._begin = _opener(source, cycle)
        self._quiet = cycle is True or cycle == "quiet"
        self._begins_again = self._quiet or cycle == "raise" or not _is_iterable(source)  # after the end, by a call
        self._epoch = 0  # the next one
        self._skip = 0  # samples of it that were given out before
        self._at = (0, 0)  # epoch and samples: where reading stands
        self._items: Iterator[Outputs] | None = None  # of the epoch that calls go through

    def __call__(self, *, batch_size: SupportsIndex | None = None) -> Any:
        """The next item: a Tensor or Batch, or a tuple with one for each output.

        Args:
            batch_size: Makes Batches: a sample is repeated that many times, a Batch must have that size.
        """
        size = None if batch_size is None else operator.index(batch_size)
        if size is not None and not 0 <= size <= _core.MAX_BATCH_SIZE:
            raise ValueError(f"batch_size must be from 0 to {_core.MAX_BATCH_SIZE}, got {size}")
        outputs = self._placed(self._of_one_kind(self._next(), size))
        return outputs[0] if self._num_outputs == 1 else outputs

    def captured(self, batch_size: SupportsIndex, ctx: EvalContext | None = None) -> Iterator[Any]:
        """Goes on to the end of the epoch, item by item, as calls with this ``batch_size`` would.

        The source runs in the background from now on. Nothing is lost by leaving the loop: calls go on behind it.
        """
        if ctx is not None and not isinstance(ctx, EvalContext):
            raise TypeError(f"ctx must be an EvalContext, got {type(ctx).__name__}")
        size = operator.index(batch_size)
        if self._depth is None:
            self._depth = _DEFAULT_DEPTH
            if self._items is not None:
                self._items = _ahead(self._items, self._depth)
        return _until_stop(lambda: self(batch_size=size))

    def next_epoch(
        self, batch_size: SupportsIndex | None = None, ctx: EvalContext | None = None, capture: bool = False
    ) -> Iterator[Outputs]:
        """An iterator over the next epoch: tuples of Batches, or of Tensors without ``batch_size``.

        Samples are collected to batches, and Batches are cut, so that each has ``batch_size`` samples; the last one has
        what is left. The source begins anew with the first item, where it can: an iterator or a function goes on.
        ``ctx`` and ``capture`` are accepted as by other readers, without effect.
        """
        size = None if batch_size is None else operator.index(batch_size)
        if size is not None and not 1 <= size <= _core.MAX_BATCH_SIZE:
            raise RuntimeError(f"batch_size must be from 1 to {_core.MAX_BATCH_SIZE}, got {size}")
        return _Epoch(self, size)

    def get_state(self, *, cuda_stream: Any = None) -> ReaderState:
        """Where reading stands: the epoch, and how many samples of it were given out."""
        epoch, samples = self._at
        return ReaderState(epoch, samples, epoch, samples, shards=1, order=_ORDER)

    def set_state(self, state: ReaderState | str | dict[str, Any]) -> None:
        """Makes the next epoch go on where a state was taken: the samples before it are asked for and dropped.

        The source must give the same items again; one that draws random numbers has to be brought to that place first.
        """
        state = ReaderState.of(state)
        if state.order != _ORDER:
            raise ValueError(f"expected the state of an {_ORDER}, got that of a reader with {state.order}")
        self._epoch, self._skip, self._items = state.epoch, state.done, None
        self._at = state.epoch, state.done

    def state_dict(self) -> dict[str, Any]:
        """The state as a dictionary."""
        return self.get_state().to_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The same as :meth:`set_state`, from what :meth:`state_dict` returned."""
        self.set_state(state_dict)

    def _open(self) -> tuple[_Items, int]:
        """The next epoch, and how many samples of it are to be dropped."""
        epoch, self._epoch = self._epoch, self._epoch + 1
        skip, self._skip = self._skip, 0
        self._at = epoch, skip
        return _Items(self._begin(), self._form, epoch), skip

    def _note(self, outputs: Outputs) -> None:
        epoch, samples = self._at
        self._at = epoch, samples + _count(outputs)

    def _placed(self, outputs: Outputs) -> Outputs:
        return tuple(output.to_device(self._device) for output in outputs)

    def _next(self) -> Outputs:
        fresh = self._items is None
        if self._items is None:
            items, skip = self._open()
            while skip > 0:
                skip -= _count(next(items))
            self._items = _ahead(items, self._depth or 0)
        try:
            outputs = next(self._items)
            self._note(outputs)
            return outputs
        except StopIteration:
            self._at = self._epoch, 0
            if self._begins_again:
                self._items = None
            if self._quiet and not fresh:
                return self._next()
            raise

    def _of_one_kind(self, outputs: Outputs, batch_size: int | None) -> Outputs:
        if batch_size is None:
            if len({isinstance(output, Batch) for output in outputs}) > 1:
                raise TypeError("expected only samples or only Batches from the source, got both; give a batch_size")
            return outputs
        for output in outputs:
            if isinstance(output, Batch) and output.batch_size != batch_size:
                raise ValueError(f"expected Batches of {batch_size} samples, the source gave {output.batch_size}")
        return tuple(o if isinstance(o, Batch) else Batch.broadcast(o, batch_size) for o in outputs)


class _Form(NamedTuple):
    """What the outputs are to be."""

    dtypes: list[DType | None]
    layouts: list[str | None]

    def convert(self, item: Any) -> Outputs:
        count = len(self.dtypes)
        if count == 1:
            item = (item,)
        elif not isinstance(item, tuple | list) or len(item) != count:
            raise ValueError(f"expected a tuple of {count} outputs from the source, got {_shown(item)}")
        return tuple(map(_value, item, self.dtypes, self.layouts))


class _Items(Iterator[Outputs]):
    """One pass over the source: items as Tensors or Batches, each sample with its number.

    It does not know the ExternalSource: a thread that runs ahead must not keep that alive.
    """

    def __init__(self, poll: Callable[[], Any], form: _Form, epoch: int) -> None:
        self._poll = poll
        self._form = form
        self._epoch = epoch
        self._samples = 0  # so far

    def __next__(self) -> Outputs:
        item = self._poll()
        try:
            outputs = self._form.convert(item)
        except Exception as error:
            error.add_note(f"in what the source of an ExternalSource gave after {self._samples} samples")
            raise
        identified = _core.identify(list(outputs), "ExternalSource", self._samples, self._epoch)
        self._samples += _count(outputs)
        return identified


class _Collected(Iterator[tuple[Batch, ...]]):
    """The samples of items as batches of one size; the last one may be smaller."""

    def __init__(self, items: Iterator[Outputs], size: int) -> None:
        self._items = items
        self._size = size
        self._left: list[tuple[Tensor, ...]] = []  # samples that are not in a batch yet
        self._ended = False  # a function would begin again

    def __next__(self) -> tuple[Batch, ...]:
        while len(self._left) < self._size and not self._ended:
            try:
                outputs = next(self._items)
            except StopIteration:
                self._ended = True
                break
            if not self._left and all(isinstance(o, Batch) and o.batch_size == self._size for o in outputs):
                return outputs  # pyright: ignore[reportReturnType]
            self._left += _samples(outputs)
        if not self._left:
            raise StopIteration
        taken, self._left = self._left[: self._size], self._left[self._size :]
        return tuple(batch(column) for column in zip(*taken, strict=True))


class _Separate(Iterator[tuple[Tensor, ...]]):
    """The samples of items, one by one."""

    def __init__(self, items: Iterator[Outputs]) -> None:
        self._items = items
        self._left: list[tuple[Tensor, ...]] = []

    def __next__(self) -> tuple[Tensor, ...]:
        while not self._left:
            self._left = _samples(next(self._items))
        return self._left.pop(0)


class _Epoch(Iterator[Outputs]):
    """One epoch of an ExternalSource. It begins with the first item."""

    def __init__(self, source: ExternalSource, batch_size: int | None) -> None:
        self._source = source
        self._batch_size = batch_size
        self._items: Iterator[Outputs] | None = None
        self._ended = False

    def __next__(self) -> Outputs:
        if self._ended:
            raise StopIteration
        if self._items is None:
            items, skip = self._source._open()
            grouped = _Separate(items) if self._batch_size is None else _Collected(items, self._batch_size)
            while skip > 0:
                samples = _samples(next(items))
                skip, grouped._left = skip - len(samples), samples[skip:]
            depth = self._source._depth
            self._items = _ahead(grouped, _DEFAULT_DEPTH if depth is None else depth)
        try:
            outputs = next(self._items)
        except StopIteration:
            self._ended, self._items = True, None
            self._source._at = self._source._epoch, 0
            raise
        self._source._note(outputs)
        return self._source._placed(outputs)


def _ahead(items: Iterator[T], depth: int) -> Iterator[T]:
    return Ahead(items, depth) if depth > 0 else items


def _until_stop(function: Callable[[], T]) -> Iterator[T]:
    while True:
        try:
            item = function()
        except StopIteration:
            return
        yield item


def _count(outputs: Outputs) -> int:
    return max(output.batch_size if isinstance(output, Batch) else 1 for output in outputs)


def _samples(outputs: Outputs) -> list[tuple[Tensor, ...]]:
    columns = [list(output) if isinstance(output, Batch) else [output] for output in outputs]
    if len({len(column) for column in columns}) > 1:
        raise ValueError(f"the outputs of an item differ in their number of samples: {[len(c) for c in columns]}")
    return list(zip(*columns, strict=True))


def _is_iterable(source: Any) -> bool:
    return inspect.isgeneratorfunction(source) or hasattr(source, "__iter__") or hasattr(source, "__getitem__")


def _opener(source: Any, cycle: Any) -> Callable[[], Callable[[], Any]]:
    """What begins an epoch: it returns a function that returns the next item."""
    if inspect.isgeneratorfunction(source):
        return lambda: source().__next__
    if _is_iterable(source):
        if inspect.isgenerator(source) and cycle not in (None, False, "no"):
            raise TypeError("a generator cannot begin again; give the function that makes it")
        return lambda: iter(source).__next__
    if not callable(source):
        raise TypeError(f"expected an iterable, a function or a generator function, got {type(source).__name__}")
    if cycle is not None:
        raise ValueError("a function cannot begin again: cycle is for iterables and generator functions")
    if _required_parameters(source):
        raise ValueError(f"expected a function without parameters, got one with {_required_parameters(source)}")
    return lambda: source


def _required_parameters(function: Callable) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some built-in functions do not tell
        return []
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in variable]


def _per_output(given: Any, outputs: int, name: str) -> list[Any]:
    if not isinstance(given, list | tuple):
        return [given] * outputs
    if len(given) != outputs:
        raise ValueError(f"expected one {name} for each of {outputs} outputs, got {len(given)}")
    return list(given)


def _layout(text: Any) -> str | None:
    if text is not None and not isinstance(text, str):
        raise TypeError(f"expected a layout such as 'HWC', got {text!r}")
    return text


def _value(item: Any, dtype: DType | None, layout: str | None) -> Tensor | Batch:
    if item is None:
        raise ValueError("expected data from the source, got None")
    if isinstance(item, Batch):
        return as_batch(item, dtype=dtype, layout=layout)
    if isinstance(item, Tensor):
        return as_tensor(item, dtype=dtype, layout=layout)
    return tensor(item, dtype=dtype, layout=layout)  # a copy: the source may use its memory again


def _shown(item: Any) -> str:
    return f"{len(item)} of them" if isinstance(item, tuple | list) else type(item).__name__
