"""Readers as PyTorch data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import torch.utils.data

from avida._values.batch import Batch
from avida._values.tensor import Tensor

Transform = Callable[..., Any]


@runtime_checkable
class SampleReader(Protocol):
    """What gives samples by their index: every reader."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def next_epoch(self, batch_size: Any = None) -> Iterator[Any]: ...


@runtime_checkable
class EpochReader(Protocol):
    """What gives epochs, alone or divided among worker processes, and can be resumed: every reader."""

    @property
    def epoch(self) -> int: ...
    def next_epoch(self, batch_size: Any = None) -> Iterator[Any]: ...
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state_dict: dict[str, Any]) -> None: ...
    @property
    def _own_order(self) -> int: ...
    def _divide(self, part: int, parts: int) -> None: ...
    def _skip_to(self, epoch: int, batch_size: int | None) -> None: ...
    def _epoch_length(self, epoch: int, batch_size: int) -> int: ...


_MOST_WORKERS = 256


class Dataset(torch.utils.data.Dataset):
    """The samples of a reader by index, as a PyTorch data set.

    Items are tuples (or dictionaries) of ``torch.Tensor``.

    A loader's own sampler chooses the samples; shards and shuffling of the reader have no part in it. In worker
    processes random operators draw numbers that follow from the seed of the process that starts the workers: each
    worker draws its own, in every epoch.

    Args:
        reader: Any reader.
        transform: Called with the outputs of a sample, for example a file and its label, or with a dictionary where
            the reader makes that of a sample; what it returns is the item.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> pathlib.Path(folder.name, "a.jpg").write_bytes(b"123")
        3
        >>> reader = avida.readers.File(files=[folder.name + "/a.jpg"])
        >>> dataset = avida.pytorch.Dataset(reader, transform=lambda file, label: file + 1)
        >>> len(dataset), dataset[0].tolist()
        (1, [50, 51, 52])
    """

    def __init__(self, reader: SampleReader, transform: Transform | None = None) -> None:
        if not isinstance(reader, SampleReader):
            raise TypeError(f"expected a reader, got {reader!r:.100}")
        self._reader = reader
        self._transform = transform

    def __len__(self) -> int:
        return len(self._reader)

    def __getitem__(self, index: int) -> Any:
        return _item(self._reader[index], self._transform)

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Several items, which are read at the same time."""
        outputs: Any = self._reader[indices]
        if isinstance(outputs, dict):
            samples = [dict(zip(outputs, sample, strict=True)) for sample in zip(*outputs.values(), strict=True)]
        else:
            samples = list(zip(*outputs, strict=True))
        return [_item(sample, self._transform) for sample in samples]


class IterableDataset(torch.utils.data.IterableDataset):
    """The epochs of a reader, as an iterable PyTorch data set.

    Each iterator goes over one epoch. Items are tuples (or dictionaries) of ``torch.Tensor``.

    Where a loader has worker processes, they take the items of the reader's shard in turns: an epoch has the same items
    in the same order for any number of workers. With ``batch_size`` the reader makes the batches (give the loader
    ``batch_size=None``); ``last_batch="partial"`` of the reader then keeps epochs apart.
    ``torchdata.stateful_dataloader.StatefulDataLoader`` finds ``state_dict`` and ``load_state_dict`` here.

    ``len(dataset)`` is the number of batches in the next epoch, those before a resume included. Without ``batch_size``
    there is none: how many batches a loader makes of single samples depends on its workers.

    Args:
        reader: Any reader.
        batch_size: The number of samples in each item. Default: single samples.
        transform: Called with the outputs of the reader, for example files and labels, or with a dictionary where the
            reader makes that of them; what it returns is the item.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> for name in "abc":
        ...     _ = pathlib.Path(folder.name, name).write_bytes(name.encode())
        >>> reader = avida.readers.File(files=[folder.name + "/" + name for name in "abc"], last_batch="partial")
        >>> for files, labels in avida.pytorch.IterableDataset(reader, batch_size=2):
        ...     print(files.flatten().tolist(), labels.flatten().tolist())
        [97, 98] [0, 1]
        [99] [2]
    """

    def __init__(self, reader: EpochReader, batch_size: int | None = None, transform: Transform | None = None) -> None:
        if not isinstance(reader, EpochReader):
            raise TypeError(f"expected a reader, got {reader!r:.100}")
        self._reader = reader
        self._batch_size = batch_size
        self._transform = transform
        self._epoch = reader.epoch  # of the newest iterator
        self._begun = False  # that iterator has given an item
        self._resumed = False  # the next iterator gives the rest of that epoch, be it nothing
        # The reader of the main process does not move when workers read. So each worker leaves in shared memory with
        # which epoch its successor begins, apart for each number of workers.
        self._next_epochs = torch.zeros(_place(_MOST_WORKERS, 0), dtype=torch.int64).share_memory_()
        # Likewise the newest epoch of each worker and the checksum of its sampler's order, on which they must agree.
        self._orders = torch.zeros([_place(_MOST_WORKERS, 0), 3], dtype=torch.int64).share_memory_()
        self._place: int | None = None  # of this worker

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for tensor in (self._next_epochs, self._orders):
            tensor.share_memory_()  # a copy is not
        if self._begun and self._reader.epoch == self._epoch:  # the next iterator begins the next epoch, as here
            self._skip_to(self._epoch + 1)

    def __len__(self) -> int:
        if self._batch_size is None:
            raise TypeError(
                "an IterableDataset of single samples has no length; give batch_size to it, and batch_size=None to the "
                "loader"
            )
        return self._reader._epoch_length(int(self._next_epochs.max()), self._batch_size)

    def __iter__(self) -> Iterator[Any]:
        self._divide_among_workers()
        if self._place is None and not self._resumed and int(self._next_epochs.max()) > self._reader.epoch:
            self._skip_to(int(self._next_epochs.max()))  # behind what workers have read
        is_over = self._resumed and self._reader.epoch > self._epoch
        self._resumed = False
        if is_over:
            return iter(())
        self._epoch, self._begun = self._reader.epoch, False
        if self._place is not None:
            self._next_epochs[self._place] = self._epoch + 1
        return self._items(self._reader.next_epoch(self._batch_size))

    def _items(self, epoch: Iterator[Any]) -> Iterator[Any]:
        for outputs in epoch:
            if not self._begun:
                self._check_order()
            self._begun = True
            yield _item(outputs, self._transform)

    def _check_order(self) -> None:
        """Every worker asks its own copy of a sampler for the order of an epoch: they have to be the same."""
        worker, order = torch.utils.data.get_worker_info(), self._reader._own_order
        if worker is None or not order:
            return
        orders = self._orders[_place(worker.num_workers, 0) : _place(worker.num_workers + 1, 0)]
        epoch = [worker.seed - worker.id, self._epoch]  # the former is the same for all workers of an iterator
        orders[worker.id] = torch.tensor([*epoch, order])
        if any(other[:2] == epoch and other[2] != order for other in orders.tolist()):
            raise RuntimeError(
                "the sampler of the reader gives each worker another order, so that samples would be lost: expected "
                "the same order for the same epoch. Give the sampler a generator with a seed, or a method "
                "set_epoch(epoch) from which the order follows"
            )

    def state_dict(self) -> dict[str, Any]:
        """Where the newest iterator stands."""
        self._divide_among_workers()
        return {"epoch": self._epoch, "reader": self._reader.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Makes the next iterator resume at a state."""
        self._divide_among_workers()
        self._reader.load_state_dict(state_dict["reader"])
        self._epoch, self._begun, self._resumed = state_dict["epoch"], False, True
        if self._place is None:
            self._next_epochs.zero_()
        else:
            self._next_epochs[self._place] = self._epoch + 1

    def _divide_among_workers(self) -> None:
        worker = torch.utils.data.get_worker_info()
        if worker is None or self._place is not None:
            return
        if worker.num_workers >= _MOST_WORKERS:
            raise RuntimeError(f"expected fewer than {_MOST_WORKERS} workers, got {worker.num_workers}")
        self._place = _place(worker.num_workers, worker.id)
        self._reader._divide(worker.id, worker.num_workers)
        epoch = int(self._next_epochs[self._place])
        if epoch > self._reader.epoch:
            self._skip_to(epoch)
            self._resumed = False

    def _skip_to(self, epoch: int) -> None:
        self._reader._skip_to(epoch, self._batch_size)


def _place(workers: int, worker: int) -> int:
    """One place for each worker of each number of workers."""
    return workers * (workers - 1) // 2 + worker


def _item(outputs: tuple[Any, ...] | dict[str, Any], transform: Transform | None) -> Any:
    if transform is None:
        return _to_torch(outputs)
    return _to_torch(transform(outputs) if isinstance(outputs, dict) else transform(*outputs))


def _to_torch(item: Any) -> Any:
    """The item with tensors of PyTorch in place of ours."""
    if isinstance(item, Tensor | Batch):
        return item.torch()
    if isinstance(item, tuple | list):
        make: Any = getattr(item, "_make", type(item))  # named tuples take their fields one by one
        return make(map(_to_torch, item))
    if isinstance(item, dict):
        return {key: _to_torch(value) for key, value in item.items()}
    return item
