"""Batch: samples of one type and rank, of equal or different shapes."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, SupportsIndex, overload

import numpy as np

from avida import _core
from avida._values import display
from avida._values.arrays import listed
from avida._values.device import device as make_device
from avida._values.dtype import dtype
from avida._values.subscript import subscript
from avida._values.tensor import Tensor, _join, _make_tensor, _pinned_for, as_tensor
from avida._values.value import SampleSource, Value, copied

if TYPE_CHECKING:
    import torch as torch_module

    from avida._values.typing import BatchLike, DeviceArg, DTypeArg, Index, TensorLike, UseBatchTensorsOrBatchSlice


class SampleError(NamedTuple):
    """A sample that failed under ``on_error="placeholder"``."""

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
        tensors: BatchLike | None = None,
        dtype: DTypeArg | None = None,
        device: DeviceArg | None = None,
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
        """The samples that failed under ``on_error="placeholder"``, with the reasons."""
        sources = self._sources
        return [SampleError(i, sources[i] and sources[i][0], message) for i, message in self._errors]

    @property
    def tensors(self) -> Samples:
        """The samples, which subscripts select.

        ``batch.tensors[i]`` is a Tensor; a slice, a list or array of indices, or a mask (one boolean for each sample)
        gives a Batch, whose samples may be selected likewise.

        Example:
            >>> b = avida.batch([[1, 2, 3], [4, 5], [6]])
            >>> (b.tensors[[0, 2]] + 1).shape
            [(3,), (1,)]
            >>> b.tensors[[size > (1,) for size in b.shape]].batch_size
            2
        """
        return Samples._of(self)

    @property
    def slice(self) -> SampleSlicer:
        """Slices every sample: ``batch.slice[10:20, :]``.

        An index may be a Batch with one integer for each sample. A mask selects rows, as in NumPy: an array of booleans
        for all samples, or a Batch with one for each. Other indices may follow it.

        Example:
            >>> boxes = avida.batch([[[0, 0, 9, 9], [2, 2, 3, 3]], [[1, 1, 8, 8]]])
            >>> boxes.slice[boxes.slice[:, 2] > 5].shape
            [(1, 4), (1, 4)]
        """
        return SampleSlicer(self)

    @overload
    def select(self, sample_range: int) -> Tensor: ...
    @overload
    def select(self, sample_range: slice | Sequence[int] | np.ndarray | EllipsisType) -> Batch: ...
    def select(self, sample_range: Any) -> Tensor | Batch:
        """Selects one sample as a Tensor, or several as a Batch.

        ``batch.tensors[...]`` is the newer spelling.
        """
        return self if sample_range is ... else self.tensors[sample_range]

    @staticmethod
    def broadcast(
        sample: TensorLike, batch_size: int, device: DeviceArg | None = None, dtype: DTypeArg | None = None
    ) -> Batch:
        """Makes a Batch that holds the same sample ``batch_size`` times."""
        if isinstance(sample, _core.BatchBase):
            raise ValueError("broadcast expects one sample, got a Batch")
        if batch_size < 0:
            raise ValueError(f"batch_size must not be negative, got {batch_size}")
        one = as_tensor(sample, dtype, device)
        return as_batch([one] * int(batch_size), dtype=one.dtype)

    @overload
    def torch(
        self, copy: bool | None = None, pad: bool = False, *, mask: Literal[False] = False, pin_memory: bool = False
    ) -> torch_module.Tensor: ...
    @overload
    def torch(
        self, copy: bool | None = None, pad: bool = False, *, mask: Literal[True], pin_memory: bool = False
    ) -> tuple[torch_module.Tensor, torch_module.Tensor]: ...
    def torch(
        self, copy: bool | None = None, pad: bool = False, *, mask: bool = False, pin_memory: bool = False
    ) -> torch_module.Tensor | tuple[torch_module.Tensor, torch_module.Tensor]:
        """The batch as one ``torch.Tensor`` with a new first axis.

        Args:
            copy: ``True`` copies always, ``False`` never, ``None`` when needed.
            pad: Zero-pad samples of different shapes to the largest extents.
            mask: Return a second tensor of the same shape, of booleans: true where there is data, false where it is
                padded.
            pin_memory: The tensor lies in pinned memory, so that ``.cuda(non_blocking=True)`` does not wait. Results
                that are made after the first such call, and after the first ``torch()`` in a process that uses CUDA,
                lie there from the start; others are copied. For batches on the CPU.

        Returns:
            A tensor of shape ``(batch_size, ...)`` with the batch's element type, on its device; with ``mask`` a tuple
            of it and the mask.

        Raises:
            ValueError: The samples differ in shape and ``pad`` is false, or ``copy=False`` and a copy is needed.
            ModuleNotFoundError: PyTorch is not installed.
            RuntimeError: ``pin_memory`` is true, and there is no GPU.

        Example:
            >>> numbers, there = avida.batch([[1, 2, 3], [4, 5]]).torch(pad=True, mask=True)
            >>> there
            tensor([[ True,  True,  True],
                    [ True,  True, False]])
        """
        pin = _pinned_for(self) if pin_memory else -1
        joined = self._joined(copy, pad, "batch.torch()", pin).torch()
        if not mask:
            return joined
        return joined, _join(_ONES_LIKE(self, dtype=_BOOL), "", pad, False, "batch.torch()", pin).torch()

    def numpy(self, copy: bool | None = None, pad: bool = False) -> np.ndarray:
        """The batch as one ``numpy.ndarray`` with a new first axis.

        ``np.asarray(batch)`` does the same.

        Samples that lie in one block, as those of an operator's result do, are not copied.

        Args:
            copy: ``True`` copies always, ``False`` never, ``None`` when needed.
            pad: Zero-pad samples of different shapes to the largest extents.

        Returns:
            An array of shape ``(batch_size, ...)`` with the batch's element type.

        Raises:
            ValueError: The samples differ in shape and ``pad`` is false, or ``copy=False`` and a copy is needed.
            TypeError: The batch is on a GPU, or NumPy lacks its element type.

        Example:
            >>> avida.batch([[1, 2, 3], [4, 5]]).numpy(pad=True)
            array([[1, 2, 3],
                   [4, 5, 0]], dtype=int32)
        """
        return self._joined(copy, pad, "batch.numpy()").numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        no_copy = False if copy is False else None
        return self._joined(copy, False, "batch.numpy()").__array__(dtype, no_copy)

    def __dlpack__(self, *, copy: bool | None = None, **options: Any) -> Any:
        return self._joined(False if copy is False else None, False, "batch.torch()").__dlpack__(copy=copy, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self._gpu < 0 else (2, self._gpu)

    def __arrow_c_schema__(self) -> Any:
        return _core.arrow_schema(("", self, False, True))

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return _core.arrow_array(("", self, False, True))

    def _joined(self, copy: bool | None, pad: bool, caller: str, pin: int = -1) -> Tensor:
        needs_copy = not self._contiguous() if self._uniform() else pad
        if copy is False and (needs_copy or (pin >= 0 and not self._pinned)):
            found = "not contiguous" if needs_copy else "not in pinned memory"
            raise ValueError(f"{caller}: samples are {found} and copy=False. Pass copy=None to allow a copy.")
        return _join(self, "", pad, bool(copy), caller, pin)

    def __bool__(self) -> NoReturn:
        raise ValueError(
            "The truth value of a Batch is ambiguous. batch.batch_size tells whether it has samples, "
            "np.array_equal(a, b) whether two batches are equal, and a == b compares element by element."
        )

    def __iter__(self) -> Iterator[Tensor]:
        return (self._sample(i) for i in range(self.batch_size))

    def __len__(self) -> int:
        return self.batch_size

    def __getitem__(self, index: UseBatchTensorsOrBatchSlice) -> NoReturn:
        raise TypeError(
            "A Batch is not indexed directly. Use batch.tensors[...] to select samples, or batch.slice[...] to slice "
            "every sample."
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> tuple:
        return (batch, (list(self), self.dtype.name, None if self._gpu < 0 else str(self.device), self.layout))

    def __repr__(self) -> str:
        return display.batch_text(self)

    def _repr_html_(self) -> str | None:
        return display.batch_html(self)


class Samples(Batch):
    """A Batch whose samples are taken by subscripts: ``batch.tensors``."""

    __slots__ = ()

    @classmethod
    def _of(cls, batch: Batch) -> Samples:
        made = cls.__new__(cls)
        _core.BatchBase.__init__(made)
        made._become(batch)
        return made

    @overload
    def __getitem__(self, index: SupportsIndex) -> Tensor: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | np.ndarray | EllipsisType) -> Samples: ...
    def __getitem__(self, index: Any) -> Tensor | Samples:  # pyright: ignore[reportIncompatibleMethodOverride]
        if index is ...:
            return self
        if isinstance(index, slice):
            return Samples._of(self._select(range(self.batch_size)[index]))
        if isinstance(index, list | range) or getattr(index, "ndim", 0) == 1:
            return Samples._of(self._select(self._indices(list(index))))
        return self._sample(self._at(index))

    def _indices(self, items: list[Any]) -> list[int]:
        """The indices that a list stands for: they themselves, or a mask."""
        masks = [isinstance(item, bool | np.bool_) for item in items]
        if not any(masks):
            return [self._at(item) for item in items]
        if not all(masks):
            raise TypeError(f"samples are selected by a list of integers or of booleans, got a mixture: {items!r:.80}")
        if len(items) != self.batch_size:
            raise IndexError(f"expected a mask of {self.batch_size} booleans, one for each sample, got {len(items)}")
        return [i for i, selected in enumerate(items) if selected]

    def _at(self, index: Any) -> int:
        try:
            at = operator.index(index)
        except TypeError:
            raise TypeError(f"samples are selected by an integer, a slice or a list, got {index!r}") from None
        n = self.batch_size
        if not -n <= at < n:
            raise IndexError(f"sample {at} is out of range for a batch of {n}")
        return at % n

    def as_batch(self, copy: bool = False) -> Batch:
        """The samples as a Batch that cannot be subscripted, with memory of its own if ``copy``."""
        made = Batch.__new__(Batch)
        _core.BatchBase.__init__(made)
        made._become(self)
        return copied(made) if copy else made

    def tolist(self) -> list[Tensor]:
        """The samples as a list."""
        return list(self)


class SampleSlicer:
    """What ``batch.slice`` returns; index it to slice every sample."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Batch:
        return subscript(self._batch, index)


def _make_batch(data: Any, type_: Any, device: Any, layout: str | None, copy: bool) -> Batch:
    target = make_device(device)
    made = _made_batch(data, type_, layout, copy)
    return made if target is None else made.to_device(target)


def _made_batch(data: Any, type_: Any, layout: str | None, copy: bool) -> Batch:
    if layout is not None and not isinstance(layout, str):
        raise ValueError(f"expected a layout such as 'HWC', got {layout!r}")
    wanted = None if type_ is None else dtype(type_)
    items = listed(data)
    data = data if items is None else items
    if isinstance(data, _core.BatchBase):
        made: Any = data if layout is None else _core.relabel(data, layout)
    elif any(hasattr(data, name) for name in ("__array__", "__dlpack__", "__cuda_array_interface__")):
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
        return _CAST(copied(made) if copy else made, dtype=wanted._id)
    return copied(made) if copy else made


_CAST, _ONES_LIKE, _BOOL = _core.op("cast"), _core.op("ones_like"), dtype("bool")._id


def batch(
    tensors: BatchLike, dtype: DTypeArg | None = None, device: DeviceArg | None = None, layout: str | None = None
) -> Batch:
    """Makes a :class:`Batch` with its own memory.

    The samples come from a list, or from an array that is split along its first axis.

    Args:
        tensors: The samples, or an array to split along its first axis.
        dtype: The element type. Default: that of the first sample.
        device: Where the batch is.
        layout: One letter per axis of a sample, such as ``"HWC"``.

    Raises:
        TypeError: A sample is a batch, ``None``, or not an array and not numbers.
        ValueError: The samples differ in rank, or there are none and ``dtype`` is missing.

    Example:
        >>> avida.batch([np.zeros((4, 5, 3)), np.ones((2, 3, 3))], layout="HWC").batch_size
        2
    """
    return _make_batch(tensors, dtype, device, layout, True)


def as_batch(
    tensors: BatchLike, dtype: DTypeArg | None = None, device: DeviceArg | None = None, layout: str | None = None
) -> Batch:
    """Makes a :class:`Batch` that shares the samples' memory where that is possible.

    It takes the arguments of :func:`batch`. The memory may be written to whenever no call is running: an operator has
    read it when its call returns, which takes as long as the work does where the memory is large and not read-only.
    :func:`batch` copies, and its calls return at once.
    """
    return _make_batch(tensors, dtype, device, layout, False)


_core.set_classes(Tensor, Batch)
