"""Types of arguments. Protocols describe arrays, so that no array library is imported for them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict, TypeVar

import numpy as np

from avida._values.batch import Batch, Samples
from avida._values.device import Device
from avida._values.dtype import DType
from avida._values.tensor import Tensor
from avida.types import DALIDataType, DALIImageType, DALIInterpType

if TYPE_CHECKING:
    from avida.random import RNG


class SupportsArray(Protocol):
    """NumPy arrays and scalars, JAX arrays, pandas columns, Tensors, Batches."""

    def __array__(self) -> np.ndarray: ...


class SupportsArrayInterface(Protocol):
    """Images of Pillow."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class SupportsDLPack(Protocol):
    """Tensors of PyTorch, and arrays of most other libraries."""

    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...


class SupportsCudaArray(Protocol):
    """Arrays of Numba and CuPy in GPU memory."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


class SupportsBuffer(Protocol):
    """``bytes``, ``bytearray``, ``memoryview``, ``array.array``, ``mmap``."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


class TorchDevice(Protocol):
    """A ``torch.device``."""

    @property
    def type(self) -> str: ...
    @property
    def index(self) -> Any: ...


class TorchDType(Protocol):
    """A ``torch.dtype``."""

    @property
    def is_floating_point(self) -> bool: ...
    @property
    def is_complex(self) -> bool: ...


Item = TypeVar("Item", covariant=True)


class NestedSequence(Protocol[Item]):
    """Lists and tuples, and lists of them. Strings are not: their ``__contains__`` takes strings only."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Item | NestedSequence[Item]: ...
    def __contains__(self, item: object, /) -> bool: ...
    def __iter__(self) -> Iterator[Item | NestedSequence[Item]]: ...
    def index(self, item: Any, /) -> int: ...


Array: TypeAlias = SupportsArray | SupportsArrayInterface | SupportsDLPack | SupportsCudaArray | SupportsBuffer
"""An array of any library, in CPU or GPU memory."""
ArrayLike: TypeAlias = float | Array | NestedSequence[float | Array]
"""A number, an array, or nested lists of them."""
TensorLike: TypeAlias = Tensor | Batch | ArrayLike
"""What stands for the input of an operator."""
SingleTensor: TypeAlias = Tensor | np.ndarray | bytes
"""What stands for one Tensor for sure: a list may also stand for a Batch."""
BatchLike: TypeAlias = Batch | Samples | Array | Iterable[TensorLike]
"""The samples of a batch, or an array to split along its first axis."""
PathLike: TypeAlias = str | os.PathLike[str] | NestedSequence[str | os.PathLike[str]]
"""A path or a list of paths."""

Index: TypeAlias = SupportsIndex | slice | EllipsisType | Tensor | Batch | np.ndarray
"""One index of ``tensor[...]`` or ``batch.slice[...]``. An array is a mask of rows, and comes first."""


class UseBatchTensorsOrBatchSlice:
    """What ``batch[...]`` takes: nothing. Type checkers show the name when they refuse an index."""


# One value for all samples.
FixedInt: TypeAlias = int | Tensor | np.ndarray | np.integer
FixedFloat: TypeAlias = float | Tensor | np.ndarray | np.number
FixedInts: TypeAlias = FixedInt | NestedSequence[FixedInt]
FixedFloats: TypeAlias = FixedFloat | NestedSequence[FixedFloat]

# One value for all samples, or a Batch with one for each.
BoolArg: TypeAlias = bool | Array | NestedSequence[bool]
IntArg: TypeAlias = FixedInt | Array | NestedSequence[FixedInt]
FloatArg: TypeAlias = FixedFloat | Array | NestedSequence[FixedFloat]
IntsArg: TypeAlias = IntArg
FloatsArg: TypeAlias = FloatArg

DeviceArg: TypeAlias = (
    Device
    | TorchDevice
    | Literal["cpu", "gpu", "gpu:0", "gpu:1", "gpu:2", "gpu:3", "gpu:4", "gpu:5", "gpu:6", "gpu:7"]
    | Literal["cuda", "cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4", "cuda:5", "cuda:6", "cuda:7"]
)
"""A device or its name. ``Device("gpu", n)`` takes a number that is computed."""
DTypeArg: TypeAlias = (
    DType
    | DALIDataType
    | np.dtype
    | type[np.generic]
    | type[float]
    | type[bool]
    | TorchDType
    | Literal["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
    | Literal["float16", "float32", "float64", "float", "bfloat16", "bool"]
    | Literal["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "f32", "f64"]
)
"""An element type of avida, NumPy or PyTorch, or its name."""
ImageTypeArg: TypeAlias = (
    DALIImageType
    | Literal["rgb", "bgr", "gray", "ycbcr", "any_data", "indices"]
    | Literal["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA", "INDICES"]
)
FixedInterpType: TypeAlias = (
    DALIInterpType
    | Literal["nn", "linear", "cubic", "lanczos3", "triangular", "gaussian"]
    | Literal["nearest", "bilinear", "bicubic", "lanczos"]
    | Tensor
    | np.ndarray
)
InterpTypeArg: TypeAlias = FixedInterpType | Array
KeyedBy: TypeAlias = Batch | Tensor | tuple[Batch | Tensor, str]
"""Samples that a reader has read, perhaps with a name for the draw."""
FixedKey: TypeAlias = Tensor | tuple[Tensor, str]

Varies = TypeVar("Varies")
"""What arguments that differ between samples may be: an Array, or nothing where the result is one Tensor for sure."""


class Placed(TypedDict, total=False):
    """Arguments of all operators."""

    device: DeviceArg | None


class DrawnAnywhere(Placed, total=False):
    """Arguments of all random operators."""

    rng: RNG | None
