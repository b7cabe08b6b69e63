"""Rows of Ray Data as Batches, for training."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pyarrow as pa
import ray.data

from avida import _core
from avida._values.batch import Batch
from avida._values.integers import integer_within
from avida.ray._columns import batches_of, check_known, names_given
from avida.ray._rows import SOURCE, known_as, rows_of
from avida.readers._python.external_source import ExternalSource

_COPY = _core.op("copy")


def iterate(
    ds: ray.data.Dataset | ray.data.DataIterator,
    batch_size: int,
    *,
    columns: Collection[str] | None = None,
    key: str | None = None,
    epoch: int = 0,
    prefetch: int = 2,
    ordered: bool = False,
    drop_last: bool = False,
    shuffle_buffer: int | None = None,
    shuffle_seed: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Iterates over the rows of a data set of Ray Data once: dictionaries of Batches, by the names of columns.

    A background thread takes them from Ray ahead of the loop. Samples lie where Ray has them, in its object store;
    where the process uses CUDA they are copied into pinned memory, so that ``.torch().cuda(non_blocking=True)`` does
    not wait. :func:`avida.profile` shows how long the loop waits for Ray, as it does for readers.

    Args:
        ds: A data set, or an iterator of it, as ``ray.train.get_dataset_shard`` returns.
        batch_size: The number of rows in a Batch.
        columns: The names of the columns that are wanted. Default: all but the key.
        key: The column that identifies rows, for ``keyed_by`` and messages: numbers from 0, or texts such as paths.
            Default: ``source``, if :func:`read` has made it.
        epoch: The pass over the data, where the key does not tell it.
        prefetch: The number of batches that are taken ahead.
        ordered: Gives rows in the order of the data, whichever task is done first. Of an iterator of Ray Train, set
            ``preserve_order`` in the ``DataConfig`` of its trainer.
        drop_last: Leaves out a last batch that is not full.
        shuffle_buffer, shuffle_seed: Shuffles rows within so many of them, as ``iter_batches`` does.

    Example:
        >>> def train(ds):
        ...     for batch in avida.ray.iterate(ds, batch_size=64):
        ...         train_step(batch["image"].torch(), batch["label"].torch())
    """
    size = integer_within("batch_size", batch_size, 1, _core.MAX_BATCH_SIZE)
    depth = integer_within("prefetch", prefetch, 0, 64)
    names = names_given(columns)
    if ordered:
        _keep_order(ds)

    def batches() -> Iterator[dict[str, Any]]:
        tables = ds.iter_batches(
            batch_size=size,
            batch_format="pyarrow",
            prefetch_batches=min(depth, 1),  # the next blocks are on their way; batches made ahead hold them
            drop_last=drop_last,
            local_shuffle_buffer_size=shuffle_buffer,
            local_shuffle_seed=shuffle_seed,
        )
        for table in tables:
            yield _batches(table, names, key, epoch)

    return ExternalSource(batches, prefetch_queue_depth=depth).next_epoch(size)


def _keep_order(ds: Any) -> None:
    if not isinstance(ds, ray.data.Dataset):
        raise TypeError(
            f"ordered=True expected a Dataset, got {type(ds).__name__}; for Ray Train, set preserve_order in the "
            "execution options of ray.train.DataConfig"
        )
    ds.context.execution_options.preserve_order = True


def _batches(table: pa.Table, names: Collection[str] | None, key: str | None, epoch: int) -> dict[str, Any]:
    rows = rows_of(table, key, epoch)
    if names is None:
        names = [name for name in table.column_names if rows is None or name not in (SOURCE, key)]
    check_known(names, table.column_names)
    batches = batches_of(table, names)
    if rows:
        batches = known_as(batches, rows)
    return _pinned(batches) if _core.pins_for_copies() else batches


def _pinned(batches: Mapping[str, Any]) -> dict[str, Any]:
    """Results of operators lie there."""
    return {name: _COPY(each) if isinstance(each, Batch) else _pinned(each) for name, each in batches.items()}
