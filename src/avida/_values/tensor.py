"""Tensor: one array, perhaps still being computed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from avida import _core, _display
from avida._arrays import native_tensor
from avida._device import device as make_device
from avida._dtype import DType, by_id, dtype, numpy_dtype
from avida._subscript import subscript
from avida._value import SampleSource, Value, copied

if TYPE_CHECKING:
    import torch as torch_module

    from avida._batch import Batch


class Tensor(_core.TensorBase, Value):
    """An array with an element type, a layout and a device.

    Operators return tensors at once and compute them in the background; reading one (``np.asarray``, ``torch()``,
    ``shape``, ``print``) waits for it.

    Example:
        >>> x = avida.as_tensor([[1, 2], [3, 4]], layout="HW")
        >>> (x + 1)[0]
        Tensor(
            [2 3],
            dtype=i32,
            layout="W",
            device="cpu",
            shape=(2,))
    """

    __slots__ = ()

    def __init__(
        self,
        data: Any = None,
        dtype: Any = None,
        device: Any = None,
        layout: str | None = None,
        batch: Batch | None = None,
        index_in_batch: int | None = None,
        invocation_result: Any = None,
        copy: bool = False,
    ) -> None:
        if invocation_result is not None:
            raise TypeError("invocation_result is internal to the library that this API comes from")
        if batch is not None:
            if index_in_batch is None or data is not None:
                raise ValueError("batch needs index_in_batch, and no data")
            data = batch.tensors[index_in_batch]
        made = _make_tensor(data, dtype, device, layout, copy, False)
        super().__init__()
        self._become(made)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.dtype.bytes

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.itemsize

    @property
    def source(self) -> SampleSource | None:
        """Where the sample comes from, when a reader made it."""
        source = self._sources[0]
        return None if source is None else SampleSource(*source)

    @property
    def error(self) -> str | None:
        """Why the tensor is empty, where an operator was told to go on without the sample."""
        return self._errors[0][1] if self._errors else None

    def item(self) -> Any:
        """The only element, as a Python number."""
        if self.size != 1:
            raise ValueError(f"item() needs a tensor of one element, this one has the shape {self.shape}")
        if self.dtype.name == "bfloat16":
            return float(self)
        return np.asarray(self.cpu()).item()

    def torch(self, copy: bool | None = False) -> torch_module.Tensor:
        """A ``torch.Tensor`` over the same memory, on the same device, or a copy.

        On a GPU nobody waits: the stream that PyTorch uses now goes on when the work here is done.
        """
        import torch

        shared = torch.from_dlpack(self)
        return shared.clone() if copy else shared

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self._gpu >= 0:
            raise TypeError("the tensor is in GPU memory; NumPy needs tensor.cpu()")
        element_type = numpy_dtype(self.dtype)  # raises for bfloat16
        array = np.asarray(memoryview(self)).view(element_type)
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(f"turning {array.dtype} into {np.dtype(dtype)} needs a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        here = self.__dlpack_device__()
        if dl_device is not None and tuple(map(int, dl_device)) != here:
            if int(dl_device[0]) != 1 or copy is False:
                raise BufferError(f"this tensor is on the DLPack device {here} and cannot be exported to {dl_device}")
            return self.cpu().__dlpack__()
        needs_copy = copy or self._read_only  # DLPack cannot say that memory is read-only
        if needs_copy and copy is False:
            raise BufferError("the tensor's memory is read-only and can only be exported as a copy")
        # Of CUDA's streams, none stands for the oldest kind, and -1 for one that needs no waiting.
        return (copied(self) if needs_copy else self)._dlpack(1 if stream is None else int(stream))

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self._gpu < 0 else (2, self._gpu)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._gpu < 0:
            raise AttributeError("the tensor is in CPU memory and has no __cuda_array_interface__")
        if self.dtype.name == "bfloat16":
            raise AttributeError("bfloat16 has no name in __cuda_array_interface__; use __dlpack__")
        return {
            "shape": self.shape,
            "typestr": numpy_dtype(self.dtype).str,
            "data": (self._address, self._read_only),
            "strides": None,
            "stream": self._stream or 1,
            "version": 3,
        }

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("a tensor without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Tensor:
        return subscript(self, index)

    def _number(self, to: type) -> Any:
        if self.size != 1:
            raise ValueError(f"{to.__name__}() needs a tensor of one element, this one has the shape {self.shape}")
        if self.dtype.name == "bfloat16":
            from avida._ops import cast

            return to(np.asarray(cast(self.cpu(), dtype=by_id(9))).item())
        return to(np.asarray(self.cpu()).item())

    def __bool__(self) -> bool:
        return self._number(bool)

    def __int__(self) -> int:
        return self._number(int)

    def __float__(self) -> float:
        return self._number(float)

    def __index__(self) -> int:
        if self.dtype.kind not in (DType.Kind.signed, DType.Kind.unsigned):
            raise TypeError(f"only integers can be an index, this tensor holds {self.dtype.name}")
        return self._number(int)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __bytes__(self) -> bytes:
        return np.asarray(self.cpu()).tobytes()

    def __reduce__(self) -> tuple:
        if self.dtype.name == "bfloat16":
            raise TypeError("bfloat16 tensors cannot be pickled; cast to float32 first")
        device = None if self._gpu < 0 else str(self.device)
        return (tensor, (np.asarray(self.cpu()), None, device, self.layout))

    def __copy__(self) -> Tensor:
        return copied(self)

    def __deepcopy__(self, memo: Any) -> Tensor:
        return copied(self)

    def __repr__(self) -> str:
        return _display.tensor_text(self)

    def _repr_html_(self) -> str | None:
        return _display.tensor_html(self)


def _make_tensor(data: Any, type_: Any, device: Any, layout: str | None, copy: bool, pad: bool) -> Tensor:
    target = make_device(device)
    if layout is not None and not isinstance(layout, str):
        raise ValueError(f"expected a layout such as 'HWC', got {layout!r}")
    wanted = None if type_ is None else dtype(type_)
    made: Any
    if isinstance(data, _core.BatchBase):
        made = _join(data, layout, pad, copy)
    elif isinstance(data, _core.TensorBase):
        made = copied(data) if copy else data
        if layout is not None:
            made = _core.relabel(made, layout)
    else:
        made = native_tensor(data, wanted, layout or "", copy)
    if wanted is not None and made._dtype_id != wanted._id:
        made = _core.call(_CAST, (made,), None, None, (wanted._id,))
    if target is not None and target._gpu != made._gpu:
        made = _core.to_device(made, target._gpu)
    if made is data:
        again = Tensor.__new__(Tensor)
        _core.TensorBase.__init__(again)
        again._become(made)
        return again
    return made


def _join(batch: Any, layout: str | None, pad: bool, copy: bool) -> Any:
    """The samples of a batch along a new first axis, called N."""
    if pad:
        batch = _core.call(_PAD, (batch,), None, None, (None, None, None, None, None))
    elif not batch._uniform():
        raise ValueError(
            f"the samples differ in shape: {_display.shapes_text(batch.shape)}; "
            "pass pad=True to fill them up with zeros to a common shape"
        )
    if layout is None:
        layout = "N" + batch.layout if batch.layout else ""
    return batch._join(True if copy and not pad else None, layout)


_CAST, _PAD = (_core.find_op(name) for name in ("cast", "pad"))


def tensor(data: Any, dtype: Any = None, device: Any = None, layout: str | None = None, pad: bool = False) -> Tensor:
    """Makes a :class:`Tensor` with its own memory from numbers, lists, arrays, tensors or a batch.

    Args:
        data: What to copy.
        dtype: The element type; by default the data's, int32 for Python integers and float32 for Python floats.
        device: Where to keep it.
        layout: One letter per axis.
        pad: For a batch: fill up ragged samples with zeros.

    Example:
        >>> avida.tensor([1, 2, 3], dtype=avida.float32).shape
        (3,)
    """
    return _make_tensor(data, dtype, device, layout, True, pad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None, layout: str | None = None, pad: bool = False) -> Tensor:
    """Like :func:`tensor`, sharing the data's memory where that is possible.

    Do not write to shared memory while an operator may still read it.

    Example:
        >>> avida.as_tensor(np.zeros((2, 3), np.uint8), layout="HW").layout
        'HW'
    """
    return _make_tensor(data, dtype, device, layout, False, pad)
