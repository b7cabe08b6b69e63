"""Tensor: one array, perhaps still being computed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from avida import _core
from avida._values import display
from avida._values.arrays import native_tensor
from avida._values.device import device as make_device
from avida._values.device import gpu_to_pin_for
from avida._values.dtype import DType, by_id, dtype, enum_of, enum_type, numpy_dtype
from avida._values.integers import integer_within
from avida._values.subscript import subscript
from avida._values.value import SampleSource, Value, copied

if TYPE_CHECKING:
    import torch as torch_module

    from avida._values.batch import Batch
    from avida._values.typing import DeviceArg, DTypeArg, Index, TensorLike


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
        data: TensorLike | None = None,
        dtype: DTypeArg | None = None,
        device: DeviceArg | None = None,
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
        """Why the sample failed, under ``on_error="placeholder"``; else ``None``."""
        return self._errors[0][1] if self._errors else None

    def item(self) -> Any:
        """The only element, as a Python number or a member of an enum.

        Raises:
            ValueError: The tensor does not have exactly one element.
        """
        if self.size != 1:
            raise ValueError(f"item() needs a tensor of one element, got the shape {self.shape}")
        if self.dtype.name == "bfloat16":
            return float(self)
        number = self._elements().item()
        return next((member for member in enum_of(self.dtype) or () if member == number), number)

    def torch(self, copy: bool | None = False, *, pin_memory: bool = False) -> torch_module.Tensor:
        """A ``torch.Tensor`` over the same memory, on the same device, or a copy.

        Waits for the data on the CPU. On a GPU it does not wait: PyTorch's current stream waits for the pending work.

        Args:
            copy: ``True`` copies.
            pin_memory: The tensor lies in pinned memory, so that ``.cuda(non_blocking=True)`` does not wait. Results
                that are made after the first such call, and after the first ``torch()`` in a process that uses CUDA,
                lie there from the start; others are copied. For data on the CPU.

        Raises:
            ModuleNotFoundError: PyTorch is not installed.
            RuntimeError: ``pin_memory`` is true, and there is no GPU.
        """
        import torch

        if pin_memory:
            number = _pinned_for(self)
            return torch.from_dlpack(self if self._pinned and not copy else _core.pinned_copy(self, number))
        shared = torch.from_dlpack(self)
        return shared.clone() if copy else shared

    def numpy(self, copy: bool | None = False) -> np.ndarray:
        """A ``numpy.ndarray`` over the same memory, or a copy.

        ``np.asarray(tensor)`` does the same.

        Example:
            >>> avida.tensor([1, 2]).numpy()
            array([1, 2], dtype=int32)
        """
        return self.__array__(copy=copy)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self._raise_dropped_interrupt()  # Ctrl-C during the buffer protocol, which NumPy has tried before
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
        number = 1 if stream is None else integer_within("stream", int(stream), -1, 2**63 - 1)
        return (copied(self) if needs_copy else self)._dlpack(number)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self._gpu < 0 else (2, self._gpu)

    def __arrow_c_schema__(self) -> Any:
        return _core.arrow_schema(self._parts())

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return _core.arrow_array(self._parts())

    def _parts(self) -> tuple[str, Any, bool, bool]:
        """The parts along the first axis, as a column of Arrow."""
        return "", _core.split(self, (self.layout or "")[1:]), False, True

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

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Tensor:
        return subscript(self, index)

    def _elements(self) -> np.ndarray:
        """To be read only, so that it waits for no other call that reads them."""
        return np.asarray(_core.read_only(self.cpu()))

    def _number(self, to: type) -> Any:
        if self.size != 1:
            raise ValueError(f"{to.__name__}() needs a tensor of one element, got the shape {self.shape}")
        if self.dtype.name == "bfloat16":
            from avida._ops import cast

            return to(cast(self.cpu(), dtype=by_id(9))._elements().item())
        return to(self._elements().item())

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
        return self._elements().tobytes()

    def __reduce__(self) -> tuple:
        if self.dtype.name == "bfloat16":
            raise TypeError("bfloat16 tensors cannot be pickled; cast to float32 first")
        device = None if self._gpu < 0 else str(self.device)
        return (tensor, (self._elements(), self.dtype.name, device, self.layout))

    def __copy__(self) -> Tensor:
        return copied(self)

    def __deepcopy__(self, memo: Any) -> Tensor:
        return copied(self)

    def __repr__(self) -> str:
        return display.tensor_text(self)

    def _repr_html_(self) -> str | None:
        return display.tensor_html(self)


def _make_tensor(data: Any, type_: Any, device: Any, layout: str | None, copy: bool, pad: bool) -> Tensor:
    target = make_device(device)
    if layout is not None and not isinstance(layout, str):
        raise ValueError(f"expected a layout such as 'HWC', got {layout!r}")
    wanted = enum_type(data) if type_ is None else dtype(type_)
    made: Any
    if isinstance(data, _core.BatchBase):
        made = _join(data, layout, pad, copy, "tensor of a batch")
    elif isinstance(data, _core.TensorBase):
        made = copied(data) if copy else data
        if layout is not None:
            made = _core.relabel(made, layout)
    else:
        made = native_tensor(data, wanted, layout or "", copy)
    if wanted is not None and made._dtype_id != wanted._id:
        made = _CAST(made, dtype=wanted._id)
    if target is not None and target._gpu != made._gpu:
        made = _core.to_device(made, target._gpu)
    if made is data:
        again = Tensor.__new__(Tensor)
        _core.TensorBase.__init__(again)
        again._become(made)
        return again
    return made


def _pinned_for(value: Any) -> int:
    """The number of the GPU that is to read the value from pinned memory."""
    if value._gpu >= 0:
        raise ValueError(f"pin_memory=True is for data on the CPU, got data on {value.device}; leave it out")
    number = gpu_to_pin_for(_core.current_context())
    _core.pin_from_now_on()  # so that later values need no copy
    return number


def _join(batch: Any, layout: str | None, pad: bool, copy: bool, caller: str, pin: int = -1) -> Any:
    """The samples of a batch along a new first axis, called N; in pinned memory for the GPU of that number."""
    if pad:
        batch = _PAD(batch)
    elif not batch._uniform():
        shapes = display.shapes_text(batch.shape)[1:-1]
        raise ValueError(f"{caller}: samples differ in shape: {shapes}. Pass pad=True to zero-pad, or resize first.")
    if layout is None:
        layout = "N" + batch.layout if batch.layout else ""
    return batch._join(True if copy and not pad else None, layout, pin)


_CAST, _PAD = _core.op("cast"), _core.op("pad")


def tensor(
    data: TensorLike,
    dtype: DTypeArg | None = None,
    device: DeviceArg | None = None,
    layout: str | None = None,
    pad: bool = False,
) -> Tensor:
    """Makes a :class:`Tensor` with its own memory.

    Args:
        data: Numbers, nested lists, bytes, an array of any library, a Tensor, or a Batch of equally shaped samples.
        dtype: The element type; by default the data's, int32 for Python integers and float32 for Python floats.
        device: Where the tensor is.
        layout: One letter per axis, such as ``"HWC"``.
        pad: Zero-pad the samples of a batch to the largest extents.

    Returns:
        A Tensor of the data's shape; of a batch, with a new first axis.

    Raises:
        TypeError: The data is not an array and not numbers.
        ValueError: The samples of a batch differ in shape and ``pad`` is false.
        OverflowError: A number does not fit into the element type.

    Example:
        >>> avida.tensor([1, 2, 3], dtype=avida.float32).shape
        (3,)
    """
    return _make_tensor(data, dtype, device, layout, True, pad)


def as_tensor(
    data: TensorLike,
    dtype: DTypeArg | None = None,
    device: DeviceArg | None = None,
    layout: str | None = None,
    pad: bool = False,
) -> Tensor:
    """Makes a :class:`Tensor` that shares the data's memory where that is possible.

    The memory may be written to whenever no call is running: an operator has read it when its call returns, which takes
    as long as the work does where the memory is large and not read-only. :func:`tensor` copies, and its calls return
    at once.

    Example:
        >>> avida.as_tensor(np.zeros((2, 3), np.uint8), layout="HW").layout
        'HW'
    """
    return _make_tensor(data, dtype, device, layout, False, pad)
