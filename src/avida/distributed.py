"""Which of the processes of a run this one is, as its launcher says."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["World", "world"]


@dataclasses.dataclass(frozen=True)
class World:
    """The place of a process among all processes of a run.

    Two are equal if they have the same rank and size.

    Attributes:
        rank: The number of this process, from 0.
        size: The number of processes.
        local_rank: The number of this process among those of its machine; None where nothing says so.
        node: The number of the machine; None where nothing says so.
        source: Who says so.

    Example:
        >>> print(avida.distributed.World(rank=1, size=4))
        rank 1 of 4
    """

    rank: int
    size: int
    local_rank: int | None = dataclasses.field(default=None, compare=False)
    node: int | None = dataclasses.field(default=None, compare=False)
    source: str = dataclasses.field(default="", compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.size:
            raise ValueError(f"expected a rank from 0 to size - 1, got {self}")

    def __str__(self) -> str:
        return f"rank {self.rank} of {self.size}" + (f" ({self.source})" if self.source else "")


def world() -> World:
    """Returns which of the processes of a run this one is.

    The first of these that knows is believed, and those after it that agree add what it does not say: PyTorch's default
    process group, Ray Train, ``jax.distributed``, and then the variables of the environment that launchers set:
    torchrun's ``RANK`` and ``WORLD_SIZE``, Open MPI's, MVAPICH's and MPICH's, and those of a step of SLURM. Where none
    knows, the process is alone: rank 0 of 1. Nothing is imported that was not imported before.

    Raises:
        RuntimeError: The variables of a launcher are incomplete or contradict one another.

    Example:
        >>> avida.distributed.world()
        World(rank=0, size=1, local_rank=0, node=0, source='a process alone')
    """
    found = list(_told())
    if not found:
        return World(0, 1, 0, 0, "a process alone")
    first = found[0]
    agree = [other for other in found if other == first]
    local_rank = next((other.local_rank for other in agree if other.local_rank is not None), None)
    node = next((other.node for other in agree if other.node is not None), None)
    return dataclasses.replace(first, local_rank=local_rank, node=node)


def _told() -> Iterator[World]:
    for find in (_torch, _ray, _jax):
        if found := find():
            yield found
    for launcher in _LAUNCHERS:
        if found := launcher.world():
            yield found


def _torch() -> World | None:
    torch: Any = sys.modules.get("torch.distributed")
    if torch is None or not torch.is_available() or not torch.is_initialized():
        return None
    return World(torch.get_rank(), torch.get_world_size(), source="torch.distributed")


def _ray() -> World | None:
    ray: Any = sys.modules.get("ray.train")
    if ray is None:
        return None
    try:
        context = ray.get_context()
    except RuntimeError:  # not a worker of Ray Train
        return None
    rank, size, local_rank, node = (
        _called(context, f"get_{name}") for name in ("world_rank", "world_size", "local_rank", "node_rank")
    )
    return None if rank is None or size is None else World(rank, size, local_rank, node, "Ray Train")


def _called(context: Any, name: str) -> int | None:
    method: Callable[[], int] | None = getattr(context, name, None)
    return method() if method else None


def _jax() -> World | None:
    jax: Any = sys.modules.get("jax")
    if jax is None or not jax.distributed.is_initialized():
        return None
    return World(jax.process_index(), jax.process_count(), source="jax.distributed")


@dataclasses.dataclass(frozen=True)
class _Launcher:
    """The variables that a launcher sets; of several names for the node, any."""

    name: str
    rank: str
    size: str
    local_rank: str
    node: tuple[str, ...] = ()
    jobs: bool = False  # it sets a rank in the script of a job, too, which is one process

    def world(self) -> World | None:
        rank, size = _number(self.rank), _number(self.size)
        if (rank is None and size is None) or (size is None and self.jobs):
            return None
        if rank is None or size is None:
            there, missing = (self.size, self.rank) if rank is None else (self.rank, self.size)
            raise RuntimeError(
                f"expected both {self.rank} and {self.size}, got {there}={os.environ[there]} and no {missing}"
            )
        if not 0 <= rank < size:
            raise RuntimeError(
                f"expected {self.rank} from 0 to {self.size} - 1, got {self.rank}={rank} and {self.size}={size}"
            )
        node = next((number for name in self.node if (number := _number(name)) is not None), None)
        return World(rank, size, _number(self.local_rank), node, self.name)


def _number(name: str) -> int | None:
    text = os.environ.get(name, "")
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise RuntimeError(f"expected a number in the variable {name} of the environment, got {text!r}") from None


# From the inside to the outside: SLURM may start the processes that start MPI's or torchrun's.
_LAUNCHERS = (
    _Launcher("torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", ("GROUP_RANK", "NODE_RANK")),
    _Launcher("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    _Launcher("MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"),
    _Launcher("MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    # The size is that of a step of srun.
    _Launcher("SLURM", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ("SLURM_NODEID",), jobs=True),
)
