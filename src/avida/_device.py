"""Where values live and operators run."""

from __future__ import annotations

import sys
import threading
from typing import Any, ClassVar

_GPU_MISSING = (
    'the device "gpu" needs an NVIDIA driver and a build with GPU support; this build of avida runs on the CPU'
)


class Device:
    """A place for data and work: ``Device("cpu")``. As a ``with`` block, the default for operators without inputs."""

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
                raise ValueError(f'expected a number after the colon in "{name}"')
            device_id = int(number)
        if kind == "cpu" and device_id is not None:
            raise ValueError(f"the CPU has no device number, got {device_id}")
        if kind == "gpu":
            if device_id is not None:
                raise ValueError(f"GPU {device_id} is out of range, no GPU is available: {_GPU_MISSING}")
            raise RuntimeError(_GPU_MISSING)
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

    def __exit__(self, *exc: object) -> None:
        _entered().pop()

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


Device.CPU = Device("cpu")


def device(obj: Any, id: int | None = None) -> Any:
    """Makes a :class:`Device` from a name, a :class:`Device` or a ``torch.device``; ``None`` stays ``None``."""
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
