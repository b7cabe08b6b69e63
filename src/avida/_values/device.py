"""Where values live and operators run."""

from __future__ import annotations

import functools
import operator
import os
import pathlib
import site
import sys
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, overload

from avida import _core

if TYPE_CHECKING:
    from avida._values.typing import DeviceArg


class Device:
    """A device: ``Device("cpu")``, ``Device("gpu")``, ``Device("gpu", 1)``.

    ``"cuda"`` means ``"gpu"``. A GPU without a number is that of the innermost ``with`` block of a device, else that of
    the context in force, else the one that CUDA has chosen (``torch.cuda.set_device``), else the first.

    As a ``with`` block, the default for operators without inputs.

    Example:
        >>> with avida.Device("cpu"):
        ...     noise = avida.random.normal(shape=[2, 2])
    """

    CPU: ClassVar[Device]

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

    if TYPE_CHECKING:

        def __enter__(self) -> None: ...
        def __exit__(self, *exc: object) -> None: ...
    else:  # methods of the core, which no signal handler interrupts: the device never outlives its block
        __enter__ = _core.as_method(_core.enter_device)
        __exit__ = _core.as_method(_core.exit_device)

    @property
    def _gpu(self) -> int:
        return -1 if self.device_id is None else self.device_id

    @staticmethod
    def current() -> Device:
        """The device of the innermost ``with`` block, else a GPU, else the CPU.

        The GPU is that of the context in force. Operators without inputs do not run on it, but on the device of a
        ``with`` block, and without one on the CPU.
        """
        entered = _core.entered_device()
        if entered is None and _gpu_count():
            return Device("gpu")
        return entered or Device.CPU

    @staticmethod
    def default_device_id(device_type: str) -> int | None:
        """The index that a device of this type gets when none is given."""
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


@functools.cache
def _gpu_count() -> int:
    """How many GPUs there are. Also says where NVRTC is, and warns where compiled kernels cannot be kept."""
    count = _core.gpu_count()
    if count:
        driver, _ = _core.gpu_driver()
        if found := _library_for(driver, "libnvrtc.so", _library_folders()):
            _core.set_compiler_library(str(found))
        folder, problem = _core.kernel_cache()
        if problem:
            warnings.warn(f"compiled kernels are not kept in {folder}: {problem}", stacklevel=2)
    return count


def _library_folders() -> list[pathlib.Path]:
    """Where NVIDIA's libraries may be: in packages that are installed beside avida or for this Python, or in CUDA_HOME.

    Not everything on ``sys.path``: the working folder is often on it, and a library found there would be run.
    """
    packages = [
        pathlib.Path(__file__).parents[2],
        *map(pathlib.Path, site.getsitepackages()),
        *([pathlib.Path(site.getusersitepackages())] if site.ENABLE_USER_SITE else []),
    ]
    toolkits = [pathlib.Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    return [
        *(library for package in packages for library in package.glob("nvidia/*/lib")),
        *(toolkit / name for toolkit in toolkits if toolkit.is_absolute() for name in ("lib64", "lib")),
    ]


def _library_for(driver: int, name: str, folders: list[pathlib.Path]) -> pathlib.Path | None:
    """The newest library that a driver for this version of CUDA works with, else the oldest."""
    found = [path for folder in folders for path in folder.glob(f"{name}.*")]
    versions = {path: int(path.name[len(name) + 1 :]) for path in found if path.name[len(name) + 1 :].isdecimal()}
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
        entered = _core.entered_device()
        if entered is not None and entered.device_id is not None:
            return entered.device_id
        return _core.context_gpu(_core.current_context())
    if count == 0:
        raise ValueError(f"GPU {number} is out of range, no GPU is available: {_core.gpu_missing()}")
    if not 0 <= number < count:
        raise ValueError(f"GPU {number} is out of range, there {'is' if count == 1 else 'are'} {count}")
    return number


def gpu_to_pin_for(context: _core.NativeContext) -> int:
    """The number of the GPU that is to read pinned memory."""
    if _gpu_count() == 0:
        raise RuntimeError(f"pin_memory=True needs a GPU that reads the memory: {_core.gpu_missing()}")
    return _core.context_gpu(context)


Device.CPU = Device("cpu")


@overload
def device(obj: None, id: int | None = None) -> None: ...
@overload
def device(obj: DeviceArg | str, id: int | None = None) -> Device: ...
@overload
def device(obj: DeviceArg | str | None, id: int | None = None) -> Device | None: ...
def device(obj: DeviceArg | str | None, id: int | None = None) -> Device | None:
    """Makes a :class:`Device` from a name, a :class:`Device` or a ``torch.device``.

    ``None`` stays ``None``.

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
    torch_device: Any = getattr(sys.modules.get("torch"), "device", None)  # another thread may just be importing it
    if not isinstance(obj, str) and torch_device is not None and isinstance(obj, torch_device):
        if id is not None:
            raise ValueError("a torch.device has its number already")
        return Device(obj.type, obj.index)
    if not isinstance(obj, str):
        raise TypeError(f"expected the name of a device, a Device or a torch.device, got {obj!r}")
    return Device(obj, id)
