"""Readers as PyTorch data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch.utils.data

from avida._batch import Batch
from avida._tensor import Tensor
from avida.readers._reader import Reader

Transform = Callable[..., Any]

_MOST_WORKERS = 256


class Dataset(torch.utils.data.Dataset):
    """The samples of a reader by their number, in tuples (or dictionaries) of ``torch.Tensor``.

    A loader's own sampler chooses the samples; shards and shuffling of the reader have no part in it.

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

    def __init__(self, reader: Reader, transform: Transform | None = None) -> None:
        self._reader = _checked(reader)
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
    """The epochs of a reader, one for each iterator: tuples (or dictionaries) of ``torch.Tensor``.

    Where a loader has worker processes, each reads a part of the reader's shard: no sample comes twice. With
    ``batch_size`` the reader makes the batches (give the loader ``batch_size=None``); ``last_batch="partial"`` of the
    reader then keeps epochs apart. ``torchdata.stateful_dataloader.StatefulDataLoader`` finds ``state_dict`` and
    ``load_state_dict`` here.

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

    def __init__(self, reader: Reader, batch_size: int | None = None, transform: Transform | None = None) -> None:
        self._reader = _checked(reader)
        self._batch_size = batch_size
        self._transform = transform
        self._epoch = reader.epoch  # of the newest iterator
        self._resumed = False  # the next iterator gives the rest of that epoch, be it nothing
        # The reader of the main process does not move when workers read. So each worker leaves in shared memory with
        # which epoch its successor begins, apart for each number of workers.
        self._next_epochs = torch.zeros(_place(_MOST_WORKERS, 0), dtype=torch.int64).share_memory_()
        self._place: int | None = None  # of this worker

    def __iter__(self) -> Iterator[Any]:
        self._divide_among_workers()
        is_over = self._resumed and self._reader.epoch > self._epoch
        self._resumed = False
        if is_over:
            return iter(())
        self._epoch = self._reader.epoch
        if self._place is not None:
            self._next_epochs[self._place] = self._epoch + 1
        return (_item(outputs, self._transform) for outputs in self._reader.next_epoch(self._batch_size))

    def state_dict(self) -> dict[str, Any]:
        """Where the newest iterator stands."""
        self._divide_among_workers()
        return {"epoch": self._epoch, "reader": self._reader.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Makes the next iterator go on where a state was taken."""
        self._divide_among_workers()
        self._reader.load_state_dict(state_dict["reader"])
        self._epoch, self._resumed = state_dict["epoch"], True
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
        epoch = int(self._next_epochs[self._place])
        if epoch > self._reader.epoch:
            self._reader.seek(epoch)
            self._resumed = False
        self._reader._divide(worker.id, worker.num_workers)


def _place(workers: int, worker: int) -> int:
    """One place for each worker of each number of workers."""
    return workers * (workers - 1) // 2 + worker


def _checked(reader: Reader) -> Reader:
    if not isinstance(reader, Reader):
        raise TypeError(f"expected a reader, got {reader!r:.100}")
    return reader


def _item(outputs: tuple[Any, ...] | dict[str, Any], transform: Transform | None) -> Any:
    if transform is None:
        return _to_torch(outputs)
    return _to_torch(transform(outputs) if isinstance(outputs, dict) else transform(*outputs))


def _to_torch(item: Any) -> Any:
    """The item with tensors of PyTorch in place of ours."""
    if isinstance(item, Tensor | Batch):
        return item.torch()
    if isinstance(item, tuple | list):
        return type(item)(map(_to_torch, item))
    if isinstance(item, dict):
        return {key: _to_torch(value) for key, value in item.items()}
    return item
