"""Columns of tables as Batches, and Batches as columns that Ray knows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pyarrow as pa
from ray.data.extensions import ArrowTensorTypeV2, ArrowVariableShapedTensorType

import avida
from avida._values.arrow import from_arrow, to_arrow
from avida._values.batch import Batch, as_batch

_LAYOUT = b"avida.layout"  # in the metadata of a field, since Ray's tensors have no names of axes


def batches_of(table: pa.Table, names: Collection[str]) -> dict[str, Any]:
    """Columns as Batches, which lie where the table has them."""
    batches = from_arrow(table.select(list(names)))
    for name in names:
        if layout := (table.schema.field(name).metadata or {}).get(_LAYOUT):
            batches[name] = avida.reinterpret(batches[name], layout=layout.decode())
    return batches


def names_given(columns: Iterable[str] | None) -> tuple[str, ...] | None:
    """The argument ``columns``, of which a text would be its letters."""
    if isinstance(columns, str):
        raise TypeError(f"expected a list of names of columns, such as columns=[{columns!r}], got columns={columns!r}")
    return None if columns is None else tuple(columns)


def check_known(names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"columns: there is no column {name!r}, only {', '.join(map(repr, known))}")


def table_of(columns: Mapping[str, Any]) -> pa.Table:
    """A table of Batches, of lists of texts, and of columns of Arrow as they are."""
    made = [_column(name, column) for name, column in columns.items()]
    return pa.Table.from_arrays([array for _, array in made], schema=pa.schema([field for field, _ in made]))


def _column(name: str, column: Any) -> tuple[pa.Field, Any]:
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return pa.field(name, column.type), column
    if isinstance(column, list) and column and isinstance(column[0], str):
        return pa.field(name, pa.string()), pa.array(column, pa.string())
    if not isinstance(column, Mapping):
        column = as_batch(column).cpu()
    table = pa.table(to_arrow({name: column}))  # pyright: ignore[reportArgumentType]
    field, array = table.schema.field(0), table.column(0).chunk(0)
    if isinstance(column, Batch):
        array = _tensors(array, column.ndim)
        layout = {_LAYOUT: column.layout.encode()} if column.layout else None
        return pa.field(name, array.type, metadata=layout), array
    return field, array


def _tensors(array: Any, ndim: int) -> Any:
    """Tensors as Ray's tensors, whose shapes may differ from block to block. Elements stay where they are."""
    if isinstance(array, pa.FixedShapeTensorArray):
        return _alike(array)
    if pa.types.is_large_list(array.type):
        shapes = pa.array([[length] for length in array.value_lengths().to_pylist()], pa.list_(pa.int64()))
        return _various(array.offsets, array.values, shapes, 1)
    parts = array.storage if isinstance(array, pa.ExtensionArray) else array
    if pa.types.is_struct(parts.type):
        data, shapes = parts.field("data"), parts.field("shape").cast(pa.list_(pa.int64()))
        return _various(data.offsets.cast(pa.int64()), data.values, shapes, ndim)
    return array


def _alike(array: pa.FixedShapeTensorArray) -> Any:
    shape, storage = tuple(array.type.shape), array.storage
    step = storage.type.list_size
    offsets = pa.array(range(0, step * len(array) + 1, step) if step else [0] * (len(array) + 1), pa.int64())
    lists = pa.LargeListArray.from_arrays(offsets, storage.flatten())
    kind: Any = ArrowTensorTypeV2(shape, storage.type.value_type)
    return kind.wrap_array(lists)


def _various(offsets: Any, values: Any, shapes: Any, ndim: int) -> Any:
    lists = pa.LargeListArray.from_arrays(offsets, values)
    kind: Any = ArrowVariableShapedTensorType(values.type, ndim)
    return kind.wrap_array(pa.StructArray.from_arrays([lists, shapes], ["data", "shape"]))
