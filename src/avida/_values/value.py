"""What Tensor and Batch have in common."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NoReturn, Self

from avida import _core
from avida._values.arithmetic import Arithmetic
from avida._values.device import Device
from avida._values.device import device as make_device
from avida._values.dtype import DType, by_id

if TYPE_CHECKING:
    from avida._values.typing import DeviceArg


@dataclasses.dataclass(frozen=True, slots=True)
class SampleSource:
    """Where a sample comes from."""

    name: str
    """A file, or an archive and its member."""
    index: int | None
    """The sample's number in its data set."""
    epoch: int | None
    """The pass over the data set in which it was read."""
    part: str | None = None
    """The name of its part, in a mixture of readers."""

    def __str__(self) -> str:
        return self.name


class Value(Arithmetic):
    """Data on a device, perhaps still being computed."""

    __slots__ = ()

    if TYPE_CHECKING:  # of the native base classes

        @property
        def _dtype_id(self) -> int: ...
        @property
        def _gpu(self) -> int: ...
        def _wait(self) -> None: ...

    @property
    def dtype(self) -> DType:
        """The element type."""
        return by_id(self._dtype_id)

    @property
    def device(self) -> Device:
        """Where the data is, or will be."""
        return Device.CPU if self._gpu < 0 else Device("gpu", self._gpu)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> NoReturn:
        name = getattr(function, "__name__", function)
        raise TypeError(f"{name}: expected a torch.Tensor, got avida.{cls.__name__}; its method torch() makes one")

    def evaluate(self) -> Self:
        """Waits until the data is computed, and raises the error if that failed."""
        self._wait()
        return self

    def cpu(self) -> Self:
        """Copies to CPU memory; itself when it is there already."""
        return self.to_device("cpu")

    def gpu(self, index: int | None = None) -> Self:
        """Copies to a GPU; itself when it is there already.

        Args:
            index: The index of the GPU. Default: see :class:`Device`.
        """
        return self.to_device(Device("gpu", index))

    def to_device(self, device: DeviceArg, force_copy: bool = False) -> Self:
        """Copies to a device; itself when it is there already and no copy is forced.

        The copy is made in the background, in the order of the calls; no one need wait for it.

        Example:
            >>> image.to_device("cpu") is image
            True
            >>> image.to_device("cpu", force_copy=True) is image
            False
        """
        target = make_device(device)
        if target is None:
            raise TypeError("expected a device, got None")
        if target._gpu != self._gpu:
            return _core.to_device(self, target._gpu)
        return copied(self) if force_copy else self


def copied(value: Any) -> Any:
    """A copy of a Tensor or Batch: at once, so that writing to shared memory afterwards does not show in it."""
    copy = _core.copy_ready(value)
    return _COPY(value) if copy is None else copy


_COPY = _core.op("copy")
