"""Element types."""

from __future__ import annotations

import enum
import sys
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from avida.types import DALIDataType, DALIImageType, DALIInterpType

if TYPE_CHECKING:
    from avida._values.tensor import Tensor
    from avida._values.typing import DeviceArg, DTypeArg, TensorLike


class DType:
    """An element type such as ``avida.float32``.

    Calling it makes a tensor of that type: ``avida.uint8([1, 2, 3])``.
    """

    class Kind(enum.Enum):
        signed = 1
        unsigned = 2
        float = 3
        bool = 4
        enum = 5

    def __init__(
        self,
        kind: Kind,
        bits: int,
        exponent_bits: int | None = None,
        significand_bits: int | None = None,
        bytes: int | None = None,
        type_id: DALIDataType | None = None,
        name: str | None = None,
        docs: str | None = None,
        *,
        _id: int = -1,
    ) -> None:
        self.kind = kind
        self.bits = bits
        self.bytes = (bits + 7) // 8 if bytes is None else bytes
        self.exponent_bits = exponent_bits
        self.significand_bits = significand_bits
        self.type_id = type_id
        self.name = name or f"{kind.name[0]}{bits}"
        self._id = _id
        if docs:
            self.__doc__ = docs

    def _key(self) -> tuple:
        if self.kind is DType.Kind.enum:
            return (self.kind, self.name)
        return (self.kind, self.bits, self.exponent_bits, self.significand_bits)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, DType) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        text = f"DType(kind={self.kind}, bits={self.bits}"
        if self.exponent_bits is not None:
            text += f", exponent_bits={self.exponent_bits}, significand_bits={self.significand_bits}"
        return text + ")"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple:
        return (DType.parse, (self.name,))

    def __call__(
        self, data: TensorLike, device: DeviceArg | None = None, layout: str | None = None, pad: bool = False
    ) -> Tensor:
        from avida._values.tensor import tensor

        return tensor(data, self, device, layout, pad)

    @staticmethod
    def parse(name: str) -> DType:
        """Finds a type by name: ``f32``, ``u8``, ``bool``, ``float32``.

        Upper and lower case are the same.
        """
        if not isinstance(name, str):
            raise TypeError(f"expected the name of a data type, got {name!r}")
        found = _by_name.get(name.strip()) or _by_lower_name.get(name.strip().lower())
        if found is None:
            raise ValueError(f'there is no data type "{name}"; the names are {", ".join(t.name for t in _all)}')
        return found

    @staticmethod
    def from_fw_type(numpy_type: Any) -> DType:
        """Finds the type for a NumPy or PyTorch type, ``float`` or ``bool``."""
        found = _from_framework(numpy_type)
        if found is None:
            raise TypeError(f"{numpy_type!r} is not an element type that avida has")
        return found

    @staticmethod
    def from_type_id(type_id: DALIDataType | int) -> DType:
        """Finds the type with a type id."""
        found = _by_type_id.get(int(type_id))
        if found is None:
            raise KeyError(f"there is no data type with the id {type_id!r}")
        return found


def _make(name: str, long_name: str, id: int, exponent: int | None = None, significand: int | None = None) -> DType:
    kinds = {"i": DType.Kind.signed, "u": DType.Kind.unsigned, "f": DType.Kind.float}
    kind = DType.Kind.bool if name == "bool" else DType.Kind.float if exponent else kinds[name[0]]
    bits = 8 if name == "bool" else 16 if name == "bfloat16" else int(name[1:])
    type_id = None if name == "bfloat16" else DALIDataType(id)
    return DType(kind, bits, exponent, significand, None, type_id, name, f"The element type {long_name}.", _id=id)


uint8 = _make("u8", "uint8", 0)
uint16 = _make("u16", "uint16", 1)
uint32 = _make("u32", "uint32", 2)
uint64 = _make("u64", "uint64", 3)
int8 = _make("i8", "int8", 4)
int16 = _make("i16", "int16", 5)
int32 = _make("i32", "int32", 6)
int64 = _make("i64", "int64", 7)
float16 = _make("f16", "float16", 8, 5, 10)
float32 = _make("f32", "float32", 9, 8, 23)
float64 = _make("f64", "float64", 10, 11, 52)
bool_ = _make("bool", "bool", 11)
bfloat16 = _make("bfloat16", "bfloat16", 12, 8, 7)
ImageType = DType(DType.Kind.enum, 32, type_id=DALIDataType.IMAGE_TYPE, name="ImageType", _id=13)
DataType = DType(DType.Kind.enum, 32, type_id=DALIDataType.DATA_TYPE, name="DataType", _id=14)
InterpType = DType(DType.Kind.enum, 32, type_id=DALIDataType.INTERP_TYPE, name="InterpType", _id=15)

_numbers = [uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16, float32, float64, bool_, bfloat16]
_long_names = [
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "bool",
    "bfloat16",
]
_all = [*_numbers, ImageType, DataType, InterpType]
_enums = {DALIImageType: ImageType, DALIDataType: DataType, DALIInterpType: InterpType}
_by_name = {t.name: t for t in _all} | dict(zip(_long_names, _numbers, strict=True))
_by_lower_name = {name.lower(): t for name, t in _by_name.items()} | {"float": float32}
_by_type_id = {int(t.type_id): t for t in _all if t.type_id is not None}
_numpy_types = {np.dtype(name): t for name, t in zip(_long_names, _numbers, strict=True) if name != "bfloat16"}


def _from_framework(obj: Any) -> DType | None:
    if obj is float:
        return float32
    if obj is bool:
        return bool_
    if obj is int or obj is None or isinstance(obj, str):
        return None
    torch_dtype = getattr(sys.modules.get("torch"), "dtype", None)  # another thread may just be importing it
    if torch_dtype is not None and isinstance(obj, torch_dtype):
        return _by_name.get(str(obj).removeprefix("torch."))
    if not isinstance(obj, np.dtype | type):
        return None
    try:
        np_dtype = np.dtype(obj)
    except TypeError:
        return None
    if np_dtype.name == "bfloat16":  # of the ml_dtypes package
        return bfloat16
    return _numpy_types.get(np_dtype.newbyteorder("=")) if np_dtype.isnative else None


@overload
def dtype(obj: DTypeArg | str, /) -> DType: ...
@overload
def dtype(
    kind: DType.Kind, bits: int, exponent_bits: int | None = None, significand_bits: int | None = None, /
) -> DType: ...
def dtype(*args: Any) -> DType:
    """Makes a :class:`DType` from a name, a type id, a NumPy or a PyTorch type.

    It also takes the arguments of :class:`DType`, kind and bits.

    Example:
        >>> avida.dtype("f16") == avida.float16
        True
    """
    if len(args) > 1:
        made = DType(*args)
        return next((t for t in _numbers if t == made), made)
    if not args:
        raise TypeError("dtype() needs a name, a type id or another library's type")
    obj = args[0]
    if isinstance(obj, DType):
        return obj
    if isinstance(obj, DALIDataType):
        return DType.from_type_id(obj)
    if isinstance(obj, str):
        return DType.parse(obj)
    return DType.from_fw_type(obj)


def type_id(dtype: DType | DALIDataType) -> DALIDataType:
    """Returns the type id of an element type."""
    if isinstance(dtype, DALIDataType):
        return dtype
    if isinstance(dtype, DType) and dtype.type_id is not None:
        return dtype.type_id
    raise ValueError(f"{dtype!r} has no type id")


def by_id(id: int) -> DType:
    """The element type that the core numbers so."""
    return _all[id]


def numpy_dtype(dtype: DType) -> np.dtype:
    """The NumPy type of the same elements; int32 for the values of enums."""
    if dtype.kind is DType.Kind.enum:
        return np.dtype(np.int32)
    for np_dtype, t in _numpy_types.items():
        if t == dtype:
            return np_dtype
    raise TypeError(f"NumPy has no {dtype.name}; cast to float32 first, or use torch() or DLPack")


def enum_of(dtype: DType) -> type[enum.IntEnum] | None:
    """The enum whose values have this type; None for numbers."""
    return next((members for members, t in _enums.items() if t is dtype), None)


def enum_type(data: Any) -> DType | None:
    """The element type of a member of an enum, or of a nested list of them; None for anything else."""
    first = data
    while isinstance(first, list | tuple) and first:
        first = first[0]
    if type(first) not in _enums:
        return None
    found = {type(item) for item in np.array(data, object).flat if isinstance(item, enum.Enum)}
    if len(found) > 1:
        raise TypeError(f"expected values of one enum, got {' and '.join(sorted(t.__name__ for t in found))}")
    return _enums[type(first)]
