"""The table of a data set of Hugging Face that is on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from avida.readers._tables.parts import Part, chosen, pyarrow_for

_ROWS = 1000  # of a part: as many as data sets have together


class DatasetTable:
    """Its rows, where they are mapped into memory, as parts."""

    is_local = True

    def __init__(self, reader: str, dataset: Any, columns: Sequence[str] | None) -> None:
        pyarrow_for(reader)
        _check(reader, dataset)
        names = chosen(dataset.data.schema, dataset.format["columns"] if columns is None else columns)
        self._table = dataset.data.table.select(names)
        self.schema = self._table.schema.with_metadata(dataset.features.arrow_schema.metadata)  # with names of classes
        info = dataset.info
        name = f"{info.dataset_name or 'data set'}/{dataset.split or ''}".rstrip("/")
        rows = self._table.num_rows
        # Nothing is decoded, so nothing is lost where a part is dropped.
        self.parts = [Part(name, first, min(_ROWS, rows - first), 0) for first in range(0, rows, _ROWS)]
        order = dataset._indices  # of one that was shuffled or filtered
        self.rows = None if order is None else order.column(0).to_numpy().astype(np.int64)

    def load(self, part: int) -> Any:
        """A slice."""
        return self._table.slice(self.parts[part].first, self.parts[part].rows)


def _check(reader: str, dataset: Any) -> None:
    if isinstance(dataset, Mapping):
        raise TypeError(
            f"{reader}: expected one split, as dataset[{next(iter(dataset))!r}], got {type(dataset).__name__}"
        )
    if not hasattr(dataset, "data") or not hasattr(dataset, "features"):
        raise TypeError(
            f"{reader}: expected the name of a data set or a datasets.Dataset, got {type(dataset).__name__}; "
            "ExternalSource reads streams and other objects"
        )
    if dataset.format["type"] == "custom":
        raise TypeError(
            f"{reader}: the data set has a transform; ExternalSource calls it, reset_format() takes it away"
        )
