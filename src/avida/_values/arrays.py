"""From whatever users have (numbers, lists, bytes, NumPy, PyTorch, Pillow, DLPack objects) to native tensors."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from avida import _core
from avida._values.device import Device
from avida._values.dtype import DType, bfloat16, numpy_dtype


def native_tensor(data: Any, dtype: DType | None, layout: str, copy: bool) -> _core.TensorBase:
    """One native tensor over the data's memory where that is possible and `copy` is not asked for."""
    if isinstance(data, IntEnum):
        data = int(data)
    is_number = type(data) in (bool, int, float)
    if is_number and dtype is None and not layout and (type(data) is not int or -(2**31) <= data < 2**31):
        return _core.tensor_from_number(data)
    if data is None:
        raise ValueError("expected data for a tensor, got None")
    if isinstance(data, str):
        raise RuntimeError(f"expected numbers or bytes, got the string {data!r:.80}; text.encode() gives its bytes")
    if hasattr(data, "as_py"):
        data = _from_arrow(data)
    if isinstance(data, bytes):
        return _from_numpy(np.frombuffer(data, np.uint8), layout, copy)
    if not hasattr(data, "__dlpack__") and hasattr(data, "__cuda_array_interface__"):
        return _from_cuda_array(data, layout, copy)
    if is_number or (isinstance(data, complex | Sequence) and not hasattr(data, "__array__")):
        data = _from_python(data, dtype)
        if data.base is None:
            return _from_numpy(data, layout, False, others_write=False)
    elif isinstance(data, np.ndarray | np.generic):
        pass
    elif hasattr(data, "__dlpack__"):
        return _from_dlpack(data, layout, copy)
    elif hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        layout = layout or _pillow_layout(data)
        data = np.asarray(data)
    else:
        buffer: Any = data
        try:
            data = np.asarray(memoryview(buffer))
        except TypeError:
            hint = "; its read() gives bytes" if hasattr(data, "read") else ""
            raise TypeError(
                f"expected an array, a number or a list of numbers, got {type(data).__name__}{hint}"
            ) from None
    return _from_numpy(np.asarray(data), layout, copy)


def listed(data: Any) -> Sequence[Any] | None:
    """The items of a list, or of a column of bytes or strings: of NumPy, pandas or PyArrow. None for anything else."""
    if isinstance(data, list | tuple):
        return [_from_arrow(item) for item in data] if data and hasattr(data[0], "as_py") else data
    if getattr(getattr(data, "dtype", None), "kind", "") in ("O", "U", "T") and data.ndim == 1:
        return list(data)
    if hasattr(data, "to_pylist"):
        kind = str(data.type)
        if "list<" in kind or "fixed_size_list" in kind:
            return [_from_arrow(item) for item in data]
        if "binary" in kind or "string" in kind:
            return data.to_pylist()
    return None


def _from_arrow(scalar: Any) -> Any:
    """What a scalar of PyArrow holds: bytes, a text, a number or an array, of its element type."""
    found = scalar.as_py()
    if found is None or isinstance(found, bytes | str):
        return found
    kind, depth = scalar.type, 0
    while hasattr(kind, "value_type"):
        kind, depth = kind.value_type, depth + 1
    array = np.asarray(found)  # refuses lists of different lengths
    if array.dtype == object or (array.ndim < depth and array.size):
        raise ValueError(f"expected numbers without nulls, got {found!r:.80} of {scalar.type}")
    return array.astype(kind.to_pandas_dtype())


def _pillow_layout(data: Any) -> str:
    """Images of Pillow have the axes height, width and, unless they have one band, channels."""
    pillow = sys.modules.get("PIL.Image")
    return "HWC" if pillow and isinstance(data, pillow.Image) and len(data.getbands()) > 1 else ""


def _from_numpy(array: np.ndarray, layout: str, copy: bool, others_write: bool | None = None) -> _core.TensorBase:
    """`others_write`: whether other code can write to the array; by default, whether NumPy would let it."""
    if others_write is None:
        others_write = array.flags.writeable or (isinstance(array.base, np.ndarray) and array.base.flags.writeable)
    if array.dtype.kind in "mMV" and array.dtype.name != "bfloat16":
        raise ValueError(f"arrays of {array.dtype} are not numbers")
    if array.dtype.kind in "SU":
        raise RuntimeError("expected numbers, got a list of strings or bytes; avida.batch makes a Batch of bytes")
    if array.dtype.kind not in "biufV" or array.dtype.itemsize > 8:
        hint = "; avida.batch(list(column)) makes a Batch of the rows of a column" if array.dtype.kind == "O" else ""
        raise RuntimeError(f"arrays of {array.dtype} are not supported{hint}")
    if array.dtype.name == "bfloat16":
        bits = _from_numpy(array.view(np.uint16), layout, copy, others_write)
        return _core.op("reinterpret")(bits, dtype=bfloat16)
    if not array.dtype.isnative:
        array, copy, others_write = array.astype(array.dtype.newbyteorder("=")), False, False
    if not array.flags.c_contiguous:
        array, copy, others_write = np.array(array, order="C"), False, False
    return _core.tensor_from_array(array, layout, copy, not array.flags.writeable, others_write)


def _from_dlpack(data: Any, layout: str, copy: bool) -> _core.TensorBase:
    kind, number = data.__dlpack_device__()
    device = Device(Device.type_from_dlpack(kind), None if int(kind) == 1 else int(number))
    if getattr(data, "requires_grad", False):
        raise RuntimeError("the tensor requires a gradient; call .detach() first")
    if hasattr(data, "is_contiguous") and not data.is_contiguous():
        data, copy = data.contiguous(), False
    if device != Device.CPU:
        stream = _core.context_stream(_core.current_context(), device._gpu)
        try:
            capsule = data.__dlpack__(stream=stream.handle or 1)
        except TypeError:  # of libraries whose DLPack lacks the element type, or the argument
            if not hasattr(data, "__cuda_array_interface__"):
                raise
            return _from_cuda_array(data, layout, copy)
        made = _core.gpu_tensor_from_dlpack(capsule, layout, stream)
        return _core.copy_gpu_tensor(made) if copy else made
    try:
        return _core.tensor_from_array(data, layout, copy)
    except ValueError as error:
        if "C-contiguous" not in str(error):
            raise
        return _from_numpy(np.array(np.from_dlpack(data), order="C"), layout, False, others_write=False)
    except TypeError as error:  # of libraries whose DLPack lacks the element type
        if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
            with contextlib.suppress(TypeError):
                return _from_numpy(np.asarray(data), layout, copy)
        raise RuntimeError(f"{error} ({getattr(data, 'dtype', type(data))})") from None


def _from_cuda_array(data: Any, layout: str, copy: bool) -> _core.TensorBase:
    """An array that names the stream of its last work, or none when that is done."""
    interface = data.__cuda_array_interface__
    if interface.get("mask") is not None or not np.dtype(interface["typestr"]).isnative:
        raise ValueError("arrays with masks or a foreign byte order are not supported in GPU memory")
    number = _core.gpu_of_memory(interface["data"][0])
    stream = _core.context_stream(_core.current_context(), Device("gpu", None if number < 0 else number)._gpu)
    made = _core.gpu_tensor_from_array(
        np.dtype(interface["typestr"]).name,
        interface["shape"],
        interface.get("strides"),
        interface["data"],
        interface.get("stream"),
        data,
        layout,
        stream,
    )
    return _core.copy_gpu_tensor(made) if copy else made


def _from_python(data: Any, dtype: DType | None) -> np.ndarray:
    """Numbers and nested lists: integers become int32, floats float32, arrays inside keep their type."""
    if isinstance(data, Sequence) and any(isinstance(item, _core.TensorBase | _core.BatchBase) for item in data):
        data = [np.asarray(item) for item in data]
    if dtype is not None and dtype.name != "bfloat16":
        target = numpy_dtype(dtype)
        plain = _regular(data)
        if plain.dtype.kind == "f" and target.kind in "iu":
            # Truncates like int(), and refuses what does not fit, as NumPy does for Python integers.
            plain = np.trunc(plain)
            if not np.isfinite(plain).all():
                raise ValueError(f"infinity and NaN cannot become {dtype.name}")
        if plain.dtype.kind in "iuf" and target.kind in "iu" and plain.size:
            low, high = np.iinfo(target).min, np.iinfo(target).max
            if int(plain.min()) < low or int(plain.max()) > high:  # exactly: floats round at 2**63
                raise OverflowError(f"a number is out of range for {dtype.name} ({low} to {high})")
        return plain.astype(target)
    array = _regular(data)
    if array.dtype.kind == "f" and array.dtype.itemsize == 8:
        return array.astype(np.float32)
    if array.dtype.kind == "c":
        raise RuntimeError("complex numbers are not supported")
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        if array.size and (array.min() < -(2**31) or array.max() > 2**32 - 1):
            raise OverflowError("a number does not fit into 32 bits; give dtype= or an array of a wider type")
        wide = array.size and array.max() > 2**31 - 1
        if wide and array.min() < 0:
            raise OverflowError("the numbers fit neither into int32 nor into uint32; give dtype=")
        return array.astype(np.uint32 if wide else np.int32)
    return array


def _regular(data: Any) -> np.ndarray:
    try:
        return np.asarray(data)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(
            "expected numbers, or lists of equal lengths, got lists of different lengths; avida.batch(lists) "
            "makes a Batch of them"
        ) from None
