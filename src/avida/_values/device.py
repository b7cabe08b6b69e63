"""Where values live and operators run."""

from __future__ import annotations

import functools
import operator
import pathlib
import sys
import threading
from typing import Any, ClassVar, SupportsIndex

from avida import _core


class Device:
    """A place for data and work: ``Device("cpu")``, ``Device("gpu")``, ``Device("gpu:1")``.

    ``"cuda"`` means ``"gpu"``. A GPU without a number is that of the innermost ``with`` block of a device, else that of
    the context in force, else the one that CUDA has chosen (``torch.cuda.set_device``), else the first.

    As a ``with`` block, the default for operators without inputs.

    Example:
        >>> with avida.Device("cpu"):
        ...     noise = avida.random.normal(shape=[2, 2])
    """

    CPU: ClassVar[Device]
    _stack = threading.local()

    def __init__(self, name: str, device_id: int | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f'expected the name of a device such as "cpu", got {name!r}')
        kind, colon, number = name.partition(":")
        kind = {"cuda": "gpu"}.get(kind, kind)
        if kind == "mixed":
            raise ValueError('the device "mixed" belongs to pipeline mode; here decoders take device="gpu"')
        if kind not in ("cpu", "gpu"):
            raise ValueError(f'there is no device "{name}"; the devices are "cpu" and "gpu"')
        if colon:
            if device_id is not None:
                raise ValueError(f'the device number is given twice: "{name}" and {device_id}')
            if not number.isdecimal():
                raise ValueError(f'expected the number of a GPU after the colon in "{name}"')
            device_id = int(number)
        if kind == "cpu" and device_id is not None:
            raise ValueError(f"the CPU has no device number, got {device_id}")
        if kind == "gpu":
            device_id = _checked_gpu(device_id)
        self.device_type = kind
        self.device_id = device_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return (self.device_type, self.device_id) == (other.device_type, other.device_id)

    def __hash__(self) -> int:
        return hash((self.device_type, self.device_id))

    def __repr__(self) -> str:
        number = "" if self.device_id is None else f", device_id={self.device_id}"
        return f"Device(device_type={self.device_type!r}{number})"

    def __str__(self) -> str:
        return self.device_type if self.device_id is None else f"{self.device_type}:{self.device_id}"

    def __enter__(self) -> None:
        _entered().append(self)
        _core.set_device(self._gpu)

    def __exit__(self, *exc: object) -> None:
        _entered().pop()
        _core.set_device(Device.current()._gpu)

    @property
    def _gpu(self) -> int:
        return -1 if self.device_id is None else self.device_id

    @staticmethod
    def current() -> Device:
        """The innermost device of this thread's ``with`` blocks, else the CPU."""
        stack = _entered()
        return stack[-1] if stack else Device.CPU

    @staticmethod
    def default_device_id(device_type: str) -> int | None:
        """The number that a device of this type gets when none is given."""
        return Device(device_type).device_id

    @staticmethod
    def type_from_dlpack(dev_type: Any) -> str:
        """The name of a DLPack device type."""
        if int(dev_type) == 1:
            return "cpu"
        if int(dev_type) == 2:
            return "gpu"
        raise ValueError(f"the DLPack device type {dev_type} is neither a CPU nor an NVIDIA GPU")

    @staticmethod
    def from_dlpack(dlpack_device: Any) -> Device:
        """The device of an object that has ``__dlpack_device__``."""
        kind, number = dlpack_device.__dlpack_device__()
        name = Device.type_from_dlpack(kind)
        return Device(name, None if name == "cpu" else number)


def _entered() -> list[Device]:
    if not hasattr(Device._stack, "list"):
        Device._stack.list = []
    return Device._stack.list


@functools.cache
def _gpu_count() -> int:
    """How many GPUs there are. Also says where the wheel of NVRTC has its library."""
    count = _core.gpu_count()
    if count:
        driver, _ = _core.gpu_driver()
        if found := _library_for(driver, "libnvrtc.so", sys.path):
            _core.set_compiler_library(str(found))
    return count


def _library_for(driver: int, name: str, folders: list[str]) -> pathlib.Path | None:
    """A library of NVIDIA's wheels: the newest that a driver for this version of CUDA works with, else the oldest."""
    found = [path for folder in folders for path in pathlib.Path(folder).glob(f"nvidia/*/lib/{name}.*")]
    versions = {path: int(path.suffix[1:]) for path in found if path.suffix[1:].isdecimal()}
    fitting = [path for path, version in versions.items() if version <= driver]
    if fitting:
        return max(fitting, key=lambda path: versions[path])
    return min(versions, key=lambda path: versions[path], default=None)


def _checked_gpu(number: SupportsIndex | None) -> int:
    """The number of a GPU that is there; without one, that of the innermost ``with`` block or of the context."""
    if number is not None:
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise TypeError(f"expected the number of a GPU, got {number!r}")
        number = operator.index(number)
    count = _gpu_count()
    if number is None:
        if count == 0:
            raise RuntimeError(f'the device "gpu" is not available: {_core.gpu_missing()}')
        here = Device.current()
        return here.device_id if here.device_id is not None else _core.context_gpu(_core.current_context())
    if count == 0:
        raise ValueError(f"GPU {number} is out of range, no GPU is available: {_core.gpu_missing()}")
    if not 0 <= number < count:
        raise ValueError(f"GPU {number} is out of range, there {'is' if count == 1 else 'are'} {count}")
    return number


Device.CPU = Device("cpu")


def device(obj: Any, id: int | None = None) -> Any:
    """Makes a :class:`Device` from a name, a :class:`Device` or a ``torch.device``; ``None`` stays ``None``.

    Example:
        >>> avida.device("cpu")
        Device(device_type='cpu')
    """
    if obj is None:
        return None
    if isinstance(obj, Device):
        if id is not None:
            raise ValueError("a Device has its number already")
        return obj
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(obj, torch.device):
        return Device(obj.type, obj.index if id is None else id)
    if not isinstance(obj, str):
        raise TypeError(f"expected the name of a device, a Device or a torch.device, got {obj!r}")
    return Device(obj, id)
