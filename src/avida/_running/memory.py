"""The memory that values live in."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

from avida import _core
from avida._values.device import Device
from avida._values.device import device as make_device
from avida._values.integers import integer_within

if TYPE_CHECKING:
    from avida._values.typing import DeviceArg

_SUFFIXES = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


class MemoryUse(NamedTuple):
    """Bytes that values hold, bytes kept for the next ones, and how many may be kept."""

    in_use: int
    kept: int
    budget: int | None
    """``None``: all is kept until memory runs short, as GPUs do unless they have a budget."""


def memory_use(device: DeviceArg | None = None) -> MemoryUse:
    """Returns how much memory values hold, and how much is kept for reuse.

    Args:
        device: A GPU, for its memory. Default: CPU memory, pinned or not.

    Example:
        >>> before = avida.memory_use().in_use
        >>> x = avida.zeros(shape=[1 << 20], dtype=avida.uint8).evaluate()
        >>> avida.memory_use().in_use - before >= 1 << 20
        True
    """
    target = make_device(device)
    if target is None or target == Device.CPU:
        return MemoryUse(*_core.memory_use())
    return MemoryUse(*_core.gpu_memory_use(target._gpu))


def set_memory_budget(bytes: SupportsIndex | None, device: DeviceArg | None = None) -> None:
    """Sets how many bytes of free memory are kept for reuse.

    What exceeds the budget goes back to the system.

    ``None`` goes back to the default: ``AVIDA_MEMORY_BUDGET`` (such as ``512M`` or ``2G``), or else a quarter of the
    machine's memory, but not more than 4 GiB. Memory that was not needed for some batches goes back in any case, so a
    loop holds little more than its batches in flight need. ``0`` keeps nothing, which is slow. As many bytes of pinned
    memory may be kept for each GPU.

    With a GPU as ``device`` it is that GPU's memory, which ``None`` keeps all of: other libraries that share the GPU
    may need some of it. ``0`` followed by ``None`` gives back all that nobody holds.

    Example:
        >>> avida.set_memory_budget(256 << 20)
        >>> avida.memory_use().budget
        268435456
        >>> avida.set_memory_budget(None)
    """
    budget = _default_budget() if bytes is None else integer_within("the memory budget", bytes, 0)
    target = make_device(device)
    if target is None or target == Device.CPU:
        _core.set_memory_budget(budget)
    else:
        _core.set_gpu_memory_budget(target._gpu, None if bytes is None else budget)


def _default_budget() -> int:
    text = os.environ.get("AVIDA_MEMORY_BUDGET", "")
    if not text:
        return -1
    parts = re.fullmatch(r"(\d+)([KMGT]?)(?:I?B)?", text.upper())
    if parts is None:
        raise ValueError(f'AVIDA_MEMORY_BUDGET must be a number of bytes such as 512M or 2G, got "{text}"')
    return integer_within("AVIDA_MEMORY_BUDGET", int(parts[1]) << _SUFFIXES[parts[2]], 0)


if "AVIDA_MEMORY_BUDGET" in os.environ:
    set_memory_budget(None)
