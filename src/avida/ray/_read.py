"""Readers as sources of Ray Data."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import ray.cloudpickle
import ray.data
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

import avida
from avida import _core
from avida._scenes.scene import Scene
from avida._values.batch import Batch
from avida._values.integers import integer_within
from avida.ray._columns import check_known, names_given, table_of
from avida.ray._rows import SOURCE, column_of
from avida.readers._outputs import NAMES
from avida.readers._python.external_source import ExternalSource
from avida.readers._reader import Reader

_BLOCK = 8 << 20  # bytes of a table, about
_MOST_ROWS = 1024
_PROBES = 8
_OF_SHARDS = ("shards", "num_shards", "shard_id", "pad_last_batch", "last_batch")


def read(
    reader: Any,
    *,
    columns: Sequence[str] | None = None,
    epoch: int | None = None,
    batch_size: int | None = None,
    override_num_blocks: int | None = None,
    concurrency: int | None = None,
    ray_remote_args: dict[str, Any] | None = None,
) -> ray.data.Dataset:
    """Makes a data set of Ray Data of the samples of a reader.

    Each task of Ray reads one shard of the data, with the reader's own threads and prefetching, and gives table after
    table while it reads; a task that is retried reads the same. With ``random_shuffle`` a shard is shuffled; with a
    sampler, its order is divided. Shards and ``last_batch`` of the reader itself do not count: each sample is read
    once.

    The columns are the outputs of the reader: bytes, numbers, and tensors. The column ``source`` tells name, index and
    epoch of each row, so that :class:`Stage` and :func:`iterate` key draws by it, and messages name it.

    Args:
        reader: Any reader whose samples have numbers. Tasks make it anew, once in each process of Ray.
        columns: The names of its outputs. Of readers of dictionaries, the columns that are wanted. Default: all those
            of dictionaries, and for readers of images and labels ``image`` and ``label``.
        epoch: The pass over the data. Default: that of the reader.
        batch_size: The number of rows in a table. With it, and ``batch_size=None`` in ``map_batches``, tasks and actors
            read what they process, and files do not pass through Ray's object store. Default: about 8 MB of rows.
        override_num_blocks, concurrency, ray_remote_args: As in ``ray.data.read_datasource``. By default Ray chooses
            the number of tasks by the size of the data, which follows from a few samples.

    Example:
        >>> def images(folder):
        ...     return avida.ray.read(avida.readers.File(file_root=folder)).materialize()
    """
    return ray.data.read_datasource(
        ReaderSource(reader, columns, epoch, batch_size),
        override_num_blocks=override_num_blocks,
        concurrency=concurrency,
        ray_remote_args=ray_remote_args,
    )


@dataclasses.dataclass(frozen=True)
class _Part:
    """What a task reads: a shard of an epoch."""

    recipe: bytes
    names: tuple[str, ...]  # of the columns
    shard: int
    shards: int
    epoch: int
    rows: int  # of a table

    def read(self) -> Iterator[pa.Table]:
        reader, seed = _opened(self.recipe)
        reader._become_shard(self.shard, self.shards, self.epoch, seed)
        for item in reader.next_epoch(self.rows):
            yield _table(item, self.names)


def _recipe(reader: Any) -> bytes:
    """What makes the reader again, in a process that is none of its shards."""
    _, (kind, *arguments, state, sampler) = reader.__reduce__()
    given = {name: value for name, value in arguments[-1].items() if name not in _OF_SHARDS}
    return ray.cloudpickle.dumps((kind, *arguments[:-1], given, sampler, state.seed))  # pyright: ignore[reportPrivateImportUsage]


@functools.lru_cache(maxsize=4)
def _opened(recipe: bytes) -> tuple[Reader, int]:
    """A reader and its seed: opened once for all tasks of a process."""
    kind, *args, given, sampler, seed = ray.cloudpickle.loads(recipe)
    reader = kind(*(args[0] if args else ()), **given)
    reader.sampler = sampler
    return _indexed(reader), seed


def _indexed(reader: Any) -> Reader:
    """The reader itself; of an ExternalSource, the one that reads its source by index."""
    if isinstance(reader, ExternalSource):
        return reader._numbered("avida.ray.read()")
    if not isinstance(reader, Reader):
        raise TypeError(
            f"avida.ray.read expected a reader, got {type(reader).__name__}; avida.ExternalSource makes a reader of an "
            "object with __len__ and __getitem__"
        )
    return reader


class ReaderSource(Datasource):
    """A reader as Ray Data knows sources."""

    def __init__(
        self, reader: Any, columns: Sequence[str] | None = None, epoch: int | None = None, rows: int | None = None
    ) -> None:
        super().__init__()
        self._rows = None if rows is None else integer_within("batch_size", rows, 1, _core.MAX_BATCH_SIZE)
        given = names_given(columns)
        indexed = _indexed(reader)
        self._recipe = _recipe(reader)
        self._title = type(reader).__name__
        self._epoch = indexed.epoch if epoch is None else integer_within("epoch", epoch, 0)
        order = indexed._order(None, self._epoch)
        self._samples = len(indexed) if order is None else len(order)
        probes = sorted({i * len(indexed) // _PROBES for i in range(_PROBES)})
        probe = indexed[probes]
        self._names = _names_of(reader, probe, given or ())
        self._sample_bytes = _table(probe, self._names).nbytes // len(probes) + 1

    def get_name(self) -> str:
        return self._title

    def estimate_inmemory_data_size(self) -> int:
        return self._samples * self._sample_bytes

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[ReadTask]:
        shards = max(1, min(parallelism, self._samples))
        return [self._task(shard, shards, per_task_row_limit) for shard in range(shards)]

    def _task(self, shard: int, shards: int, limit: int | None) -> ReadTask:
        samples = (shard + 1) * self._samples // shards - shard * self._samples // shards
        rows = self._rows or max(1, min(_BLOCK // self._sample_bytes, _MOST_ROWS))
        part = _Part(self._recipe, self._names, shard, shards, self._epoch, rows)
        known = dict.fromkeys(field.name for field in dataclasses.fields(BlockMetadata))
        known |= {"num_rows": samples, "size_bytes": samples * self._sample_bytes}
        return ReadTask(part.read, BlockMetadata(**known), per_task_row_limit=limit)


def _names_of(reader: Any, probe: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the columns: of dictionaries those that are wanted, else one for each output."""
    if isinstance(probe, Scene):
        raise TypeError(
            f"avida.ray.read expected outputs that are columns, got a Scene from {reader!r}: leave out scene=True, and "
            "make Scenes in a Stage"
        )
    if isinstance(probe, Mapping):
        check_known(names, probe)
        names = names or tuple(probe)
        if SOURCE in names:
            raise ValueError(
                f"the data has a column {SOURCE!r}, which is where avida.ray.read tells what rows are: leave it out by "
                "columns=[...]"
            )
        return names
    names = names or tuple(NAMES.get(type(reader).__name__, ()))
    if len(names) != len(probe):
        raise ValueError(
            f"expected a name for each of {len(probe)} outputs of {reader!r}, in columns=[...], got {list(names)}"
        )
    return names


def _table(item: Any, names: Sequence[str]) -> pa.Table:
    columns = dict(item) if isinstance(item, Mapping) else dict(zip(names, item, strict=True))
    batches = [column for column in columns.values() if isinstance(column, Batch)]
    made = {name: _without_axis(name, columns[name]) for name in names}
    return table_of(made | ({SOURCE: column_of(batches[0].sources)} if batches else {}))


def _without_axis(name: str, column: Any) -> Any:
    """Labels as numbers: those of files are arrays of one."""
    if name == "label" and isinstance(column, Batch) and column.ndim == 1 and set(column.shape) == {(1,)}:
        return avida.reshape(column, shape=[])
    return column
