"""Tables in parts that are loaded one by one, as row groups are: what readers of tables have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np


class Part(NamedTuple):
    """Rows that are loaded together."""

    name: str
    """Of the file in which they are."""
    first: int
    """The number of the first one there."""
    rows: int
    bytes: int
    """Once they are decoded, about."""


class Tables(Protocol):
    """Where the rows of a reader come from."""

    schema: Any
    """Of all parts: a schema of PyArrow."""
    parts: list[Part]
    rows: np.ndarray | None
    """The row of each sample, where they are not simply all, in their order."""
    is_local: bool

    def load(self, part: int) -> Any:
        """The rows of a part as a table. Called by several threads."""
        ...


def pyarrow_for(reader: str) -> Any:
    """The package, which only tables need."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f'{reader} needs PyArrow; pip install "avida[tables]" installs it') from error
    return pyarrow


def chosen(schema: Any, columns: Sequence[str] | None, extra: Sequence[str] = ()) -> list[str]:
    """The names of the columns that are read. `extra` are those that the files themselves do not have."""
    known = [*schema.names, *extra]
    if columns is None:
        return known
    if isinstance(columns, str) or not columns:
        raise ValueError(f"expected a list of names of columns in columns, got {columns!r}")
    for name in columns:
        if name not in known:
            raise ValueError(f"there is no column {name!r}, only {', '.join(map(repr, known))}")
        if list(columns).count(name) > 1:
            raise ValueError(f"columns names {name!r} twice")
    return list(columns)


def class_names(schema: Any) -> dict[str, list[str]]:
    """The names of classes by column, as data sets of Hugging Face note them in the metadata of a schema."""
    text = (schema.metadata or {}).get(b"huggingface")
    if text is None:
        return {}
    try:
        features = json.loads(text)["info"]["features"]
    except (ValueError, KeyError, TypeError):
        return {}
    return {name: feature["names"] for name, feature in features.items() if _names_classes(feature)}


def _names_classes(feature: Any) -> bool:
    return isinstance(feature, Mapping) and feature.get("_type") == "ClassLabel" and bool(feature.get("names"))
