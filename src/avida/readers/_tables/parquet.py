"""readers.Parquet: rows of Parquet files, by column."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal

from avida._values.typing import DeviceArg
from avida.distributed import World
from avida.readers._blocks import Blocks
from avida.readers._names.paths import Path
from avida.readers._tables.parquet_files import ParquetFiles
from avida.readers._tables.reader import TableReader
from avida.storage._cache import Cache, cache_of


class Parquet(TableReader):
    """Reads rows of Parquet files, by column.

    Items are dictionaries with the columns: see :func:`avida.from_arrow` for what becomes of their types. Encoded
    images of data sets of Hugging Face (a struct of ``bytes`` and ``path``) are their bytes, and the path is the name
    of their source.

    PyArrow decodes row groups, each once in an epoch, by several threads ahead of the reader; batches refer to the rows
    where it has decoded them. So read in order, or shuffle by blocks, which are row groups:
    ``random_shuffle=avida.readers.Blocks(window=16)``. ``random_shuffle=True`` reads single rows, and decodes a whole
    row group for each unless all fit into ``memory_limit``.

    Of files in stores, the footers of all are fetched together, and of a row group the columns that are read. The
    number of rows and the version of each file are those found when the reader was made.

    Args:
        paths: Files, folders of files, or patterns with braces and wildcards, in any store. Samples follow one another;
            those of a folder are sorted by name. Folders such as ``year=2024`` within it are a column ``year``, of
            integers where all are, else of texts.
        columns: The columns to read, by name. Default: all.
        filters: Which rows to read, as PyArrow writes it: ``[("label", "<", 10), ("split", "==", "train")]``, all of
            which must hold, or a list of such lists, one of which must. The columns that it names are read once, when
            the reader is made.
        memory_limit: The most bytes of decoded row groups that are kept for further samples. At least those in use are.
        max_batch_size: The largest ``batch_size`` that may be requested. Default for ``batch_size``.
        name: A name of your choice.
        device: Where the outputs are. Decoders take files on the CPU. Default: ``"cpu"``.
        num_shards: The number of parts into which the samples are divided. Default: ``1``.
        shard_id: The index of the part to read. Default: ``0``.
        shards: In place of both: what ``avida.distributed.world()`` returns, or "auto", which also notices when that
            changes.
        random_shuffle: Assign the samples to the shards at random (in the same way in all shards) and shuffle the whole
            shard in each epoch. ``readers.Blocks(window=16)`` shuffles by row groups. Default: ``False``.
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
        RuntimeError: The files are not there, or have fewer rows than there are shards.
        ValueError: A file is not one of Parquet or has other columns than the first, or there is no column of a name.

    Example:
        >>> import pyarrow, pyarrow.parquet, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> table = pyarrow.table({"image": [b"ab", b"cde", b"f"], "label": [3, 5, 7]})
        >>> pyarrow.parquet.write_table(table, f"{folder.name}/train-0.parquet")
        >>> reader = avida.readers.Parquet(f"{folder.name}/*.parquet", last_batch="partial")
        >>> for batch in reader.next_epoch(batch_size=2):
        ...     print(batch["image"].shape, batch["label"].torch().tolist())
        [(2,), (3,)] [3, 5]
        [(1,)] [7]
    """

    def __init__(
        self,
        paths: Path | Sequence[Path],
        *,
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
        super().__init__(
            functools.partial(ParquetFiles, self._title(), paths, columns, filters, self._cache),
            {"paths": paths},
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
