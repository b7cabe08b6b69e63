"""Which rows of a data set a table has: the origins of samples, by which draws are keyed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from avida import _core
from avida._values.batch import Batch
from avida._values.value import SampleSource

SOURCE = "source"  # the column that avida.ray.read makes
_TYPE = pa.struct([("name", pa.string()), ("index", pa.int64()), ("epoch", pa.int64())])


class Rows(NamedTuple):
    """The names, numbers and epochs of rows."""

    names: list[str]
    indices: list[int]
    epochs: list[int]

    def position(self) -> int:
        """A number of 64 bits that follows from the first row."""
        if not self.names:
            return 0
        return _hashed(f"{self.indices[0]} {self.epochs[0]} {len(self.names)}")

    def places_in(self, columns: Iterable[Any]) -> list[int] | None:
        """Which of the rows the samples of a Batch come from; None where no Batch tells."""
        places = {row: place for place, row in enumerate(zip(self.indices, self.epochs, strict=True))}
        for column in columns:
            sources = column.sources if isinstance(column, Batch) else [None]
            found = [places.get((source.index or 0, source.epoch or 0)) for source in sources if source]
            known = [place for place in found if place is not None]
            if len(known) == len(sources):
                return known
        return None


def rows_of(table: pa.Table, key: str | None, epoch: int) -> Rows | None:
    """The rows that a column tells; without a name, that of avida.ray.read, if the table has it."""
    if key is None:
        if SOURCE not in table.column_names or table.schema.field(SOURCE).type != _TYPE:
            return None
        key = SOURCE
    if key not in table.column_names:
        raise ValueError(f"key={key!r}: expected the name of a column, got a table of {', '.join(table.column_names)}")
    column = table.column(key)
    kind = column.type
    if kind == _TYPE:
        known = column.to_pylist()
        return Rows([row["name"] for row in known], [row["index"] for row in known], [row["epoch"] for row in known])
    if column.null_count:
        raise ValueError(f"key={key!r}: expected a value in each row, got {column.null_count} nulls")
    values = column.to_pylist()
    if pa.types.is_integer(kind):
        if min(values, default=0) < 0:
            raise ValueError(f"key={key!r}: expected numbers of rows from 0, got {min(values)}")
        return Rows([f"{key}={value}" for value in values], values, [epoch] * len(values))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Rows(values, [_hashed(value) >> 1 for value in values], [epoch] * len(values))
    raise TypeError(f"key={key!r}: expected a column of numbers or texts, got {kind}")


def _hashed(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def known_as(batches: dict[str, Any], rows: Rows) -> dict[str, Any]:
    """The same Batches, whose samples come from these rows."""
    leaves: list[Batch] = []
    _collect(batches, leaves)
    made = iter(_core.known_as(leaves, *rows))
    return _filled(batches, made)


def _collect(columns: dict[str, Any], leaves: list[Batch]) -> None:
    for column in columns.values():
        if isinstance(column, dict):
            _collect(column, leaves)
        else:
            leaves.append(column)


def _filled(columns: dict[str, Any], made: Any) -> dict[str, Any]:
    return {name: _filled(column, made) if isinstance(column, dict) else next(made) for name, column in columns.items()}


def column_of(sources: Sequence[SampleSource | None]) -> pa.Array:
    """The column that tells where samples come from."""
    rows = [None if source is None else (source.name, source.index, source.epoch) for source in sources]
    return pa.array(rows, _TYPE)
