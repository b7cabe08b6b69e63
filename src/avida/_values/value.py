"""What Tensor and Batch have in common."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Self

from avida import _core
from avida._arithmetic import Arithmetic
from avida._device import Device
from avida._device import device as make_device
from avida._dtype import DType, by_id


@dataclasses.dataclass(frozen=True, slots=True)
class SampleSource:
    """Where a sample comes from."""

    name: str
    """A file, or an archive and its member."""
    index: int | None
    """The sample's number in its data set."""
    epoch: int | None
    """The pass over the data set in which it was read."""

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

    def evaluate(self) -> Self:
        """Waits until the data is there, and raises what went wrong."""
        self._wait()
        return self

    def cpu(self) -> Self:
        """The same in CPU memory: itself when it is there already."""
        return self.to_device("cpu")

    def gpu(self, index: int | None = None) -> Self:
        """The same in the memory of a GPU: itself when it is there already. Without a number, see :class:`Device`."""
        return self.to_device(Device("gpu", index))

    def to_device(self, device: Any, force_copy: bool = False) -> Self:
        """The same on a device: itself when it is there already and no copy is forced.

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
    return _core.call(_COPY, (value,), None, None, ()) if copy is None else copy


_COPY = _core.find_op("copy")
