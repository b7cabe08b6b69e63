"""readers.HuggingFace: data sets of the Hub by name, and those that the package `datasets` has opened."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal

from avida._values.typing import DeviceArg
from avida.distributed import World
from avida.readers._blocks import Blocks
from avida.readers._tables.dataset import DatasetTable
from avida.readers._tables.hub import files_of
from avida.readers._tables.parquet_files import ParquetFiles
from avida.readers._tables.parts import Tables
from avida.readers._tables.reader import TableReader
from avida.storage._cache import Cache, cache_of


class HuggingFace(TableReader):
    """Reads a data set of the Hugging Face Hub, by column.

    A name, such as ``"owner/name"``, is read from the Hub's own servers, without a copy on a disk and without the
    package ``datasets``: :class:`Parquet` reads the files to which the Hub converts public data sets, or with
    ``revision`` those of the data set itself. ``avida.storage.configure("hf://", credentials=...)`` gives a token.

    A ``datasets.Dataset`` is read where it is mapped into memory, without a Python object for each row; its order, if
    it was shuffled or filtered, is that of the samples.

    Items are dictionaries as those of :class:`Parquet`: images and sounds are their files, and ``classes`` has the
    names of labels. :class:`avida.ExternalSource` reads data sets with a transform, and streams.

    Args:
        dataset: The name of a data set on the Hub, or a ``datasets.Dataset``.
        config: The configuration. Default: the one there is, or the one named ``"default"``.
        split: The split. Default: ``"train"``. A ``Dataset`` is one already.
        revision: A branch, tag or commit, of which the data set's own Parquet files are read: those that have the
            split in their name, in a folder that begins with ``config``. Default: what the Hub has converted.
        columns: The columns to read, by name. Default: all.
        filters: Which rows to read, as for :class:`Parquet`. A ``Dataset`` filters by itself.
        memory_limit: The most bytes of decoded row groups that are kept for further samples. At least those in use are.
        max_batch_size: The largest ``batch_size`` that may be requested. Default for ``batch_size``.
        name: A name of your choice.
        device: Where the outputs are. Decoders take files on the CPU. Default: ``"cpu"``.
        num_shards: The number of parts into which the samples are divided. Default: ``1``.
        shard_id: The index of the part to read. Default: ``0``.
        shards: In place of both: what ``avida.distributed.world()`` returns, or "auto", which also notices when that
            changes.
        random_shuffle: Assign the samples to the shards at random (in the same way in all shards) and shuffle the whole
            shard in each epoch. ``readers.Blocks(window=16)`` shuffles by row groups; of a ``Dataset``, by
            1,000 rows. Default: ``False``.
        seed: The seed of ``random_shuffle``. Default: a fixed one.
        stick_to_shard: Read the same shard in every epoch, instead of the next one each time. Default: ``False``.
        last_batch: What happens to the last batch of an epoch when it is not full: "wrap", "pad", "partial" or "drop",
            as for other readers. Default: "wrap".
        on_error: What happens to rows that cannot be read, such as those with nulls: "raise" makes their batch fail
            when it is used; "skip" leaves them out and records them in ``reader.errors``. Default: "raise".
        prefetch_queue_depth: The least number of batches to prefetch. Default: ``2``.
        lazy_init: Open the files when the first sample is needed, instead of at once. Default: ``False``.
        cache: Keeps what is read from other machines: an ``avida.storage.Cache``, or "memory" for
            ``Cache(memory="4GB")``. Default: nothing is kept.

    Raises:
        ModuleNotFoundError: PyArrow is not installed; ``pip install "avida[tables]"`` does that.
        RuntimeError: The data set is not there, or has fewer rows than there are shards.
        TypeError: The data set has a transform, several splits, or columns that are no arrays.
        ValueError: There is no configuration, split or column of a name.

    Example:
        >>> import datasets
        >>> rows = datasets.Dataset.from_dict({"text": ["a", "bcd", "ef"], "label": [3, 5, 7]})
        >>> reader = avida.readers.HuggingFace(rows.select([2, 0]), last_batch="partial")
        >>> for batch in reader.next_epoch(batch_size=2):
        ...     print(batch["text"].shape, batch["label"].torch().tolist())
        [(2,), (1,)] [7, 3]
    """

    def __init__(
        self,
        dataset: str | Any,
        *,
        config: str | None = None,
        split: str | None = None,
        revision: str | None = None,
        columns: Sequence[str] | None = None,
        filters: list[Any] | None = None,
        memory_limit: int = 2 << 30,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shards: World | Literal["auto"] | None = None,
        random_shuffle: bool | Blocks | None = None,
        seed: int | None = None,
        stick_to_shard: bool | None = None,
        last_batch: Literal["wrap", "pad", "partial", "drop"] | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        prefetch_queue_depth: int | None = None,
        lazy_init: bool = False,
        cache: Cache | Literal["memory"] | None = None,
    ) -> None:
        self._cache = cache_of(cache)
        of_hub = {"config": config, "split": split, "revision": revision, "filters": filters, "cache": cache}
        if not isinstance(dataset, str) and (given := [name for name, value in of_hub.items() if value is not None]):
            raise TypeError(f"{', '.join(given)}: for data sets by name, a {type(dataset).__name__} has been opened")
        if isinstance(dataset, str):
            make: Any = functools.partial(
                _of_hub, self._title(), (dataset, config, split or "train", revision), columns, filters, self._cache
            )
        else:
            make = functools.partial(DatasetTable, self._title(), dataset, columns)
        super().__init__(
            make,
            {"dataset": dataset} if isinstance(dataset, str) else {},
            memory_limit=memory_limit,
            max_batch_size=max_batch_size,
            name=name,
            device=device,
            num_shards=num_shards,
            shard_id=shard_id,
            shards=shards,
            random_shuffle=random_shuffle,
            seed=seed,
            stick_to_shard=stick_to_shard,
            last_batch=last_batch,
            on_error=on_error,
            prefetch_queue_depth=prefetch_queue_depth,
            lazy_init=lazy_init,
        )


def _of_hub(
    reader: str, data: tuple[str, str | None, str, str | None], columns: Any, filters: Any, cache: Any
) -> Tables:
    return ParquetFiles(reader, files_of(*data), columns, filters, cache)
