"""Batch: samples of one type and rank, of equal or different shapes."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from avida import _core, _display
from avida._device import device as make_device
from avida._dtype import dtype
from avida._subscript import subscript
from avida._tensor import Tensor, _join, _make_tensor, as_tensor
from avida._value import SampleSource, Value, copied

if TYPE_CHECKING:
    import torch as torch_module


class SampleError(NamedTuple):
    """A sample that an operator went on without."""

    sample: int
    source: str | None
    message: str


class Batch(_core.BatchBase, Value):
    """A list of samples with one element type, one layout and one number of axes.

    ``batch.tensors[...]`` selects samples, ``batch.slice[...]`` slices every sample.

    Example:
        >>> b = avida.batch([[1, 2, 3], [4, 5]])
        >>> b.shape
        [(3,), (2,)]
        >>> (b * 2).tensors[1]
        Tensor(
            [ 8 10],
            dtype=i32,
            device="cpu",
            shape=(2,))
    """

    __slots__ = ()

    def __init__(
        self,
        tensors: Any = None,
        dtype: Any = None,
        device: Any = None,
        layout: str | None = None,
        invocation_result: Any = None,
        copy: bool = False,
    ) -> None:
        if invocation_result is not None:
            raise TypeError("invocation_result is internal to the library that this API comes from")
        if tensors is None:
            raise ValueError("expected the samples of the batch, got None")
        made = _make_batch(tensors, dtype, device, layout, copy)
        super().__init__()
        self._become(made)

    @property
    def sources(self) -> list[SampleSource | None]:
        """For every sample, where it comes from, when a reader made it."""
        return [None if source is None else SampleSource(*source) for source in self._sources]

    @property
    def errors(self) -> list[SampleError]:
        """The samples that an operator was told to go on without, with the reason for each."""
        sources = self._sources
        return [SampleError(i, sources[i] and sources[i][0], message) for i, message in self._errors]

    @property
    def tensors(self) -> Samples:
        """The samples: ``batch.tensors[i]`` is a Tensor, a slice or list gives another such sequence."""
        return Samples(self, range(self.batch_size))

    @property
    def slice(self) -> SampleSlicer:
        """Slices every sample: ``batch.slice[10:20, :]``; an index may be a Batch, with one number per sample."""
        return SampleSlicer(self)

    def select(self, sample_range: Any) -> Any:
        """One sample as a Tensor, or several as a Batch. ``batch.tensors[...]`` is the newer spelling."""
        selected = self.tensors[sample_range]
        return selected if isinstance(selected, Tensor | Batch) else as_batch(selected)

    @staticmethod
    def broadcast(sample: Any, batch_size: int, device: Any = None, dtype: Any = None) -> Batch:
        """A batch that holds the same sample ``batch_size`` times."""
        if isinstance(sample, _core.BatchBase):
            raise ValueError("a Batch cannot be repeated; give one sample")
        if batch_size < 0:
            raise ValueError(f"batch_size must not be negative, got {batch_size}")
        one = as_tensor(sample, dtype, device)
        return as_batch([one] * int(batch_size), dtype=one.dtype)

    def torch(self, copy: bool | None = None, pad: bool = False) -> torch_module.Tensor:
        """The batch as one ``torch.Tensor`` with a new first axis.

        Args:
            copy: ``True`` copies always, ``False`` never (raises when it would have to), ``None`` when needed.
            pad: Fill up ragged samples with zeros; without it they raise.
        """
        if copy is False and not pad and self._uniform() and not self._contiguous():
            raise ValueError("the samples lie apart in memory and need a copy; pass copy=None or copy=True")
        return _join(self, "", pad, bool(copy)).torch()

    def __iter__(self) -> Iterator[Tensor]:
        return (self._sample(i) for i in range(self.batch_size))

    def __len__(self) -> int:
        return self.batch_size

    def __getitem__(self, index: Any) -> Any:
        raise TypeError(
            "a Batch is not indexed directly: batch.tensors[...] selects samples, batch.slice[...] slices every sample"
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> tuple:
        return (batch, (list(self), self.dtype.name, None if self._gpu < 0 else str(self.device), self.layout))

    def __repr__(self) -> str:
        return _display.batch_text(self)

    def _repr_html_(self) -> str | None:
        return _display.batch_html(self)


class Samples:
    """A sequence of a batch's samples."""

    def __init__(self, batch: Batch, indices: Any) -> None:
        self._batch = batch
        self._indices = indices

    def __len__(self) -> int:
        return len(self._indices)

    def __iter__(self) -> Iterator[Tensor]:
        return (self._batch._sample(i) for i in self._indices)

    @overload
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: slice | list[int]) -> Samples: ...
    def __getitem__(self, index: Any) -> Any:
        if index is ...:
            return self._batch if isinstance(self._indices, range) else self
        if isinstance(index, slice):
            return Samples(self._batch, self._indices[index])
        if isinstance(index, list):
            return Samples(self._batch, [self._at(i) for i in index])
        return self._batch._sample(self._at(index))

    def _at(self, index: Any) -> int:
        try:
            at = operator.index(index)
        except TypeError:
            raise TypeError(f"samples are selected by an integer, a slice or a list, got {index!r}") from None
        n = len(self._indices)
        if not -n <= at < n:
            raise IndexError(f"sample {at} is out of range for a batch of {n}")
        return self._indices[at]

    def __repr__(self) -> str:
        return f"Samples({list(self._indices)} of a batch of {self._batch.batch_size})"


class SampleSlicer:
    """What ``batch.slice`` returns; index it to slice every sample."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def __getitem__(self, index: Any) -> Batch:
        return subscript(self._batch, index)


def _make_batch(data: Any, type_: Any, device: Any, layout: str | None, copy: bool) -> Batch:
    target = make_device(device)
    made = _made_batch(data, type_, layout, copy)
    return made if target is None else made.to_device(target)


def _made_batch(data: Any, type_: Any, layout: str | None, copy: bool) -> Batch:
    if layout is not None and not isinstance(layout, str):
        raise ValueError(f"expected a layout such as 'HWC', got {layout!r}")
    wanted = None if type_ is None else dtype(type_)
    if isinstance(data, Samples):
        made: Any = data._batch._select(list(data._indices))
        made = _core.relabel(made, layout) if layout is not None else made
    elif isinstance(data, _core.BatchBase):
        made = data if layout is None else _core.relabel(data, layout)
    elif hasattr(data, "__array__") or hasattr(data, "__dlpack__"):
        whole = _make_tensor(data, None, None, None, False, False)
        if whole.layout and layout is None:
            raise ValueError(f'give the layout of one sample: the tensor to split has the layout "{whole.layout}"')
        made = _core.split(whole, layout or "")
    else:
        try:
            items = list(data)
        except TypeError:
            raise TypeError(f"expected the samples of a batch, got {type(data).__name__}") from None
        if any(isinstance(item, _core.BatchBase) or item is None for item in items):
            raise TypeError("the samples of a batch cannot be batches or None")
        samples: list[Tensor] = []
        for item in items:
            known = wanted or (samples[0].dtype if samples else None)
            samples.append(as_tensor(item, None if hasattr(item, "__array__") else known))
        first = wanted or (samples[0].dtype if samples else None)
        if first is None:
            raise ValueError("an empty batch needs a dtype")
        samples = [s if s.dtype == first else as_tensor(s, first) for s in samples]
        made = _core.batch_from_tensors(samples, first._id, layout or "")
    if wanted is not None and made._dtype_id != wanted._id:
        return _core.call(_CAST, (copied(made) if copy else made,), None, None, (wanted._id,))
    return copied(made) if copy else made


_CAST = _core.find_op("cast")


def batch(tensors: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Batch:
    """Makes a :class:`Batch` with its own memory from a list of samples or from an array split along its first axis.

    Args:
        tensors: The samples; the first one's element type counts for all.
        dtype: The element type, when another is wanted.
        device: Where to keep it.
        layout: One letter per axis of a sample.

    Example:
        >>> avida.batch([np.zeros((4, 5, 3)), np.ones((2, 3, 3))], layout="HWC").batch_size
        2
    """
    return _make_batch(tensors, dtype, device, layout, True)


def as_batch(tensors: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Batch:
    """Like :func:`batch`, sharing the samples' memory where that is possible."""
    return _make_batch(tensors, dtype, device, layout, False)


_core.set_classes(Tensor, Batch)
