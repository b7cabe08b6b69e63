"""The base of readers of tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from avida import _core
from avida._running.eval import get_num_threads
from avida._running.warn import warn
from avida._values.batch import Batch
from avida._values.integers import integer_within
from avida._values.tensor import Tensor
from avida._values.typing import DeviceArg
from avida.readers._blocks import Blocks
from avida.readers._reader import Reader
from avida.readers._tables.parts import Tables, class_names

_MOST_AHEAD = 4096  # items, of which most are references to rows in memory
_LARGE = 1 << 20  # bytes of a part that should not be decoded for one row
_THREADS_OF_STORES = 8  # which wait for answers most of the time


@dataclasses.dataclass
class _Opening:
    """Makes the source of a reader, which it does not know: so dropping a reader frees all that it has."""

    title: str
    make_tables: Callable[[], Tables]
    limit: int
    shuffle: bool | Blocks
    data: str
    tables: Tables | None = None
    paths: list[list[str]] = dataclasses.field(default_factory=list)
    threads: int = 1

    def __call__(self) -> _core.ReaderSource:
        tables = self.tables = self.make_tables()
        if not tables.parts:
            raise RuntimeError(f"expected at least one row in {self.data}, found none")
        cores = max(2, min(get_num_threads(), _THREADS_OF_STORES))
        self.threads = cores if tables.is_local else _THREADS_OF_STORES
        self.warn_of_memory(tables)
        forget = self.shuffle is not True
        try:
            source = _core.TableSource(
                tables,
                self.title,
                tables.parts,
                None if tables.rows is None else tables.rows.tobytes(),
                self.limit,
                forget,
                self.shuffle is False,
                self.threads,
            )
        except TypeError as error:  # of a column
            raise TypeError(f"{self.title}: {error}, or name the columns to read in columns") from None
        self.paths = source.paths
        return source

    def warn_of_memory(self, tables: Tables) -> None:
        sizes = [part.bytes for part in tables.parts]
        mean = sum(sizes) / len(sizes)
        if self.shuffle is True and mean > _LARGE and sum(sizes) > self.limit:
            warn(
                f"{self.title}: random_shuffle=True decodes a row group of {mean / 1e6:,.0f} MB for nearly every "
                "row, since not all fit into memory_limit; random_shuffle=readers.Blocks(window=16) decodes each once"
            )
        if isinstance(self.shuffle, Blocks) and min(self.shuffle.window, len(sizes)) * mean > self.limit:
            warn(
                f"{self.title}: a window of {self.shuffle.window} row groups of {mean / 1e6:,.0f} MB does not fit "
                f"into memory_limit={self.limit}, so row groups are decoded several times; choose a smaller window or "
                "more memory"
            )


class TableReader(Reader):
    """Shards, shuffling, state and access by index for the rows of tables."""

    _has_blocks = True

    def __init__(
        self,
        make_tables: Callable[[], Tables],
        located: Mapping[str, Any],
        *,
        memory_limit: int,
        max_batch_size: int | None,
        name: str | None,
        device: DeviceArg | None,
        **options: Any,
    ) -> None:
        self._located = located
        limit, shuffle = integer_within("memory_limit", memory_limit, 0), options["random_shuffle"]
        shuffle = shuffle if isinstance(shuffle, Blocks) else bool(shuffle)
        self._opening = _Opening(self._title(), make_tables, limit, shuffle, self._data_name())
        super().__init__(self._opening, max_batch_size, name, device, None, **options)

    def _opened(self) -> Tables:
        self._set_up()
        assert self._opening.tables is not None
        return self._opening.tables

    def _items_prefetched(self, batch_size: int | None, ahead: int) -> int:
        """As many as there are in the parts that should be decoded meanwhile, within the limit of memory."""
        least = super()._items_prefetched(batch_size, ahead)
        parts = self._opened().parts
        rows = sum(part.rows for part in parts) / len(parts)
        size = max(1, sum(part.bytes for part in parts) / len(parts))
        wanted = self._blocks.window if self._blocks else self._opening.threads
        if self._opening.shuffle is True:
            return least
        within = min(wanted, max(0.0, self._opening.limit / size - wanted))
        return max(least, min(int(within * rows / (batch_size or 1)), _MOST_AHEAD))

    def _item(self, outputs: tuple) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for path, output in zip(self._opening.paths, outputs, strict=True):
            at = made
            for name in path[:-1]:
                at = at.setdefault(name, {})
            at[path[-1]] = output
        return made

    @property
    def columns(self) -> dict[str, str]:
        """The names of the columns that are read, and their types as Arrow calls them: ``{"label": "int64"}``."""
        schema = self._opened().schema
        return {field.name: str(field.type) for field in schema}

    @property
    def classes(self) -> Sequence[str] | Mapping[int, str] | Mapping[str, Sequence[str]] | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The names of the labels, where the metadata of a data set of Hugging Face have them.

        A list, ``reader.classes[label]``, if one column has labels; else a dictionary of lists by column. ``None`` if
        no column has any.
        """
        names = class_names(self._opened().schema)
        names = {name: found for name, found in names.items() if name in self.columns}
        if len(names) == 1:
            return next(iter(names.values()))
        return names or None

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: SupportsIndex) -> dict[str, Tensor]: ...
        @overload
        def __getitem__(self, index: slice | Sequence[SupportsIndex]) -> dict[str, Batch]: ...
        def __getitem__(self, index: Any) -> dict: ...  # pyright: ignore[reportIncompatibleMethodOverride]
        @overload  # type: ignore[override]
        def next_epoch(self, batch_size: None = None, *args: Any, **kwargs: Any) -> Iterator[dict[str, Tensor]]: ...
        @overload
        def next_epoch(self, batch_size: int, *args: Any, **kwargs: Any) -> Iterator[dict[str, Batch]]: ...
        def next_epoch(self, batch_size: int | None = None, *args: Any, **kwargs: Any) -> Iterator[dict]: ...  # pyright: ignore[reportIncompatibleMethodOverride]
