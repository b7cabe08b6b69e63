"""Tables of Arrow as Batches: every type, random tables, memory, and producers that break the rules."""

import ctypes
import gc
import sys
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import avida

NUMBERS = {kind: getattr(pa, kind)() for kind in ["int8", "uint16", "int32", "uint64", "float16", "float32", "float64"]}


def rows_of(batch) -> list:
    return [np.asarray(sample).tolist() for sample in batch]


def bytes_of(batch) -> list[bytes]:
    return [bytes(np.asarray(sample)) for sample in batch]


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name):
    batch = avida.from_arrow(pa.array([1, 2, 3], NUMBERS[name]))
    assert (batch.dtype, batch.shape, rows_of(batch)) == (getattr(avida, name), [()] * 3, [1, 2, 3])


@pytest.mark.parametrize(
    "kind",
    [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string(), pa.large_string(), pa.string_view(), pa.binary(20)],
    ids=str,
)
def test_bytes_and_texts(kind):
    values = [b"a" * 20, b"b" * 20] if kind == pa.binary(20) else ["", "a", "é" * 20, "x" * 12, "y" * 13]
    expected = [value if isinstance(value, bytes) else value.encode() for value in values]
    batch = avida.from_arrow(pa.table({"t": pa.array(values, kind)}))["t"]
    assert (batch.dtype, bytes_of(batch)) == (avida.uint8, expected)
    if kind in (pa.binary(), pa.string()):
        assert bytes_of(avida.from_arrow(pa.array(values, kind).dictionary_encode())) == expected


def test_lists():
    table = pa.table(
        {
            "ragged": [[1.0, 2.0], [], [3.0]],
            "large": pa.array([[1], [2, 3], []], pa.large_list(pa.int16())),
            "boxes": pa.array([[[1, 2, 3, 4]], [], [[5, 6, 7, 8]] * 2], pa.list_(pa.list_(pa.float32(), 4))),
            "nested": [[[1, 2], [3, 4]], [[5, 6, 7]], []],
            "bools": [[True, False], [True] * 9, []],
            "words": [["ab", "cd"], ["x"], []],
        }
    )
    columns = avida.from_arrow(table)
    assert rows_of(columns["ragged"]) == [[1, 2], [], [3]]
    assert rows_of(columns["large"]) == [[1], [2, 3], []]
    assert columns["boxes"].shape == [(1, 4), (0, 4), (2, 4)]
    assert columns["nested"].shape == [(2, 2), (1, 3), (0, 0)]
    assert rows_of(columns["bools"]) == [[True, False], [True] * 9, []]
    assert columns["words"].shape == [(2, 2), (1, 1), (0, 0)]
    assert rows_of(avida.from_arrow(table.slice(1, 1))["nested"]) == [[[5, 6, 7]]]


def test_structs_and_files():
    files = [{"bytes": b"12", "path": "a.jpg"}, {"path": None, "bytes": b"345"}]
    table = pa.table({"image": files, "box": [{"x": 1, "at": {"y": [2.0]}}] * 2, "bytes": [b"1", b"2"]})
    columns = avida.from_arrow(table)
    assert bytes_of(columns["image"]) == [b"12", b"345"]
    assert [source and source.name for source in columns["image"].sources] == ["a.jpg", None]
    assert rows_of(columns["box"]["at"]["y"]) == [[2], [2]]
    assert bytes_of(avida.from_arrow(table["image"])) == [b"12", b"345"]
    names = avida.from_arrow(pa.table({"bytes": [b"x"], "path": ["y"]}))
    assert {name: bytes_of(column) for name, column in names.items()} == {"bytes": [b"x"], "path": [b"y"]}


def test_tensors_keep_shape_and_layout():
    images = np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)
    batch = avida.from_arrow(pa.FixedShapeTensorArray.from_numpy_ndarray(images, dim_names=["H", "W", "C"]))
    assert (batch.layout, batch.shape) == ("HWC", [(2, 2, 3)] * 2)
    assert np.array_equal(batch.numpy(), images)
    turned = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.uint8(), [2, 3], permutation=[1, 0]), pa.array([[1] * 6], pa.list_(pa.uint8(), 6))
    )
    with pytest.raises(TypeError, match="C order"):
        avida.from_arrow(turned)


def test_other_libraries_and_chunks():
    assert rows_of(avida.from_arrow(pandas.DataFrame({"a": [1, 2]}))["a"]) == [1, 2]
    assert rows_of(avida.from_arrow(pa.chunked_array([[1, 2], [], [3]]))) == [1, 2, 3]
    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.string()}), [pa.record_batch({"a": ["x", "yy"]})] * 2)
    assert bytes_of(avida.from_arrow(reader)["a"]) == [b"x", b"yy"] * 2
    empty = avida.from_arrow(pa.table({"a": pa.array([], pa.list_(pa.int64()))}))["a"]
    assert (empty.batch_size, empty.ndim, empty.dtype) == (0, 1, avida.int64)
    assert avida.from_arrow(pa.table({})) == {}


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([1, None]), "row 1 of column 'c' is null.*drop_null.*fill_null"),
        (pa.array([b"x", None, b""]), "row 1 of column 'c' is null"),
        (pa.array([[1], [2, None]]), "row 1 of column 'c' is null, or has a null inside"),
        (pa.array(["a", None]).dictionary_encode(), "row 1 of column 'c' is null"),
        (pa.array([{"x": 1}, None]), "row 1 of column 'c.x' is null"),
        (pa.chunked_array([[1, 2], [3, None]]), "row 3 of column 'c' is null"),
        (pa.array([[[1]], [[1], [2, 3]]]), "'c': row 1 has lists of different lengths"),
        (
            pa.array([{"bytes": None, "path": "a.jpg"}], pa.struct({"bytes": pa.binary(), "path": pa.string()})),
            "row 0 of column 'c' has no bytes, only the path 'a.jpg'",
        ),
    ],
)
def test_nulls_and_irregular_rows_are_named(column, message):
    with pytest.raises(ValueError, match=message):
        avida.from_arrow(pa.table({"c": column}))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (pa.timestamp("us", "UTC"), "timestamp; cast it to int64"),
        (pa.decimal128(5, 2), "decimal"),
        (pa.date32(), "date"),
        (pa.duration("s"), "duration"),
        (pa.map_(pa.string(), pa.int32()), "map"),
        (pa.null(), "null"),
        (pa.list_(pa.struct({"a": pa.int32()})), "struct in lists"),
        (pa.list_(pa.dictionary(pa.int8(), pa.string())), "dictionary-encoded values in the lists"),
        (pa.list_view(pa.int8()), "list view"),
        (pa.run_end_encoded(pa.int32(), pa.int8()), "run-end"),
    ],
    ids=str,
)
def test_types_without_elements_are_named(kind, message):
    with pytest.raises(TypeError, match=message) as error:
        avida.from_arrow(pa.table({"c": pa.array([], kind)}))
    assert "column 'c'" in str(error.value)


def test_what_is_no_table():
    for data in ([1, 2], {"a": [1]}, "text", None):
        with pytest.raises(TypeError, match="expected a table or a column of Arrow"):
            avida.from_arrow(data)
    with pytest.raises(ValueError, match="two of the name 'a'"):
        avida.from_arrow(pa.Table.from_arrays([pa.array([1])] * 2, ["a", "a"]))


def test_memory_is_shared_kept_and_released():
    gc.collect()
    before = pa.total_allocated_bytes()
    column = pa.concat_arrays([pa.array([b"x" * 100_000] * 50)])
    start = column.buffers()[2].address
    batch = avida.from_arrow(column)
    sample = batch.tensors[7]
    assert sample._address == start + 7 * 100_000
    assert not np.asarray(sample).flags.writeable
    del column, batch
    gc.collect()
    assert pa.total_allocated_bytes() - before > 5_000_000
    assert bytes(np.asarray(sample)) == b"x" * 100_000
    del sample
    gc.collect()
    assert pa.total_allocated_bytes() - before < 5_000_000
    numbers = pa.array(np.arange(10.0))
    assert avida.from_arrow(numbers).tensors[2]._address == numbers.buffers()[1].address + 16


def test_no_python_per_row():
    table = pa.table({"image": [b"x" * (i % 9) for i in range(5_000)], "label": range(5_000)})
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        avida.from_arrow(table)
    finally:
        sys.setprofile(None)
    assert calls < 50


def values(kind: pa.DataType) -> st.SearchStrategy:
    if pa.types.is_boolean(kind):
        return st.booleans()
    if pa.types.is_integer(kind):
        return st.integers(0, 100)
    if pa.types.is_floating(kind):
        return st.integers(-100, 100).map(float)
    if pa.types.is_fixed_size_binary(kind):
        return st.binary(min_size=kind.byte_width, max_size=kind.byte_width)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or kind == pa.binary_view():
        return st.binary(max_size=30)
    if pa.types.is_fixed_size_list(kind):
        return st.lists(values(kind.value_type), min_size=kind.list_size, max_size=kind.list_size)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return st.lists(values(kind.value_type), max_size=4)
    if pa.types.is_dictionary(kind):
        return values(kind.value_type)
    return st.text(max_size=20)


LEAVES: Any = st.sampled_from([*NUMBERS.values(), pa.bool_(), pa.binary(3)])
FLAT = st.sampled_from([pa.binary(), pa.large_binary(), pa.binary_view(), pa.string(), pa.large_string()])
LISTS = st.recursive(
    LEAVES,
    lambda kinds: st.one_of(
        kinds.map(pa.list_), kinds.map(pa.large_list), st.tuples(kinds, st.integers(0, 3)).map(lambda p: pa.list_(*p))
    ),
    max_leaves=3,
)
CODED = st.tuples(
    st.sampled_from([pa.int8(), pa.uint16(), pa.int64()]), st.sampled_from([pa.string(), pa.int32()])
).map(lambda p: pa.dictionary(*p))


def flat(row) -> list:
    return [item for part in row for item in flat(part)] if isinstance(row, list) else [row]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_random_columns(data):
    """The rows of any type, in chunks and slices, are those that PyArrow gives."""
    kind = data.draw(st.one_of(LISTS, FLAT, CODED))
    parts = data.draw(st.lists(st.lists(values(kind), max_size=5), max_size=3))
    begin = data.draw(st.integers(0, 3))
    rows = [row for part in parts for row in part[begin:]]
    try:
        found = avida.from_arrow(pa.chunked_array([pa.array(part, kind).slice(begin) for part in parts], kind))
    except ValueError as error:
        assert "different lengths" in str(error)
        assert any(np.ndim(np.array(row, object)) < str(kind).count("list") for row in rows)
        return
    assert found.batch_size == len(rows)
    for row, sample in zip(rows, found, strict=True):
        items = [item.encode() if isinstance(item, str) else item for item in flat(row)]
        array = np.asarray(sample)
        if any(isinstance(item, bytes) for item in items):
            assert bytes(array) == b"".join(items)
        else:
            assert array.ravel().tolist() == items


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


class Altered:
    """A column whose structs are changed before they are handed over."""

    def __init__(self, column, change):
        self.column, self.change = column, change

    def __arrow_c_array__(self, requested_schema=None):
        capsules = self.column.__arrow_c_array__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        schema = Schema.from_address(get(capsules[0], b"arrow_schema"))
        array = Array.from_address(get(capsules[1], b"arrow_array"))
        self.change(schema, array)
        return capsules


def offsets_that_shrink(schema, array):
    (ctypes.c_int32 * 3).from_address(array.buffers[1])[1] = 100


ALTERED = {
    "a negative length": lambda schema, array: setattr(array, "length", -5),
    "a negative offset": lambda schema, array: setattr(array, "offset", -1),
    "too few buffers": lambda schema, array: setattr(array, "n_buffers", 1),
    "no buffers": lambda schema, array: setattr(array, "buffers", None),
    "offsets that shrink": offsets_that_shrink,
    "no children": lambda schema, array: setattr(schema, "format", b"+l"),
    "a width beyond all memory": lambda schema, array: setattr(schema, "format", b"w:99999999999999999999"),
    "an unknown type": lambda schema, array: setattr(schema, "format", b"hello"),
    "no type": lambda schema, array: setattr(schema, "format", None),
}


@pytest.mark.parametrize("change", ALTERED.values(), ids=ALTERED)
def test_producers_at_fault(change):
    column = pa.array([b"ab", b"cde"])
    with pytest.raises((ValueError, TypeError), match=r"Arrow|lacks a child|got the type"):
        avida.from_arrow(Altered(column, change))


def test_codes_and_views_beyond_their_values():
    codes = pa.array(["a", "b"]).dictionary_encode()

    def other_code(schema, array):
        ctypes.c_int32.from_address(array.buffers[1]).value = 7

    with pytest.raises(ValueError, match="row 0 refers to a value that its dictionary of 2 lacks"):
        avida.from_arrow(Altered(codes, other_code))

    def other_place(schema, array):
        ctypes.c_int32.from_address(array.buffers[1] + 12).value = 1_000

    with pytest.raises(ValueError, match="row 0 refers to bytes that the column lacks"):
        avida.from_arrow(Altered(pa.array(["x" * 20], pa.string_view()), other_place))


def test_streams_that_fail_and_capsules_that_are_empty():
    def batches():
        yield pa.record_batch({"a": [1]})
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="the disk is gone"):
        avida.from_arrow(pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches()))

    class Once:
        capsules = pa.array([1]).__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    avida.from_arrow(Once())
    with pytest.raises(ValueError, match="whose content was taken"):
        avida.from_arrow(Once())

    class Wrong:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.array([1]).__arrow_c_array__()[0]

    with pytest.raises(ValueError, match="PyCapsule"):
        avida.from_arrow(Wrong())
