"""Batches as columns and tables of Arrow, and back."""

import gc
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import avida
from tests.api.test_arrow import bytes_of, rows_of

NUMBERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def text_of(kind: pa.DataType) -> str:
    """PyArrow knows tensors of various shapes from version 26 on."""
    return str(kind.storage_type if "variable_shape" in str(kind) else kind)  # pyright: ignore[reportAttributeAccessIssue]


def same(found, expected) -> bool:
    return (found.dtype, found.shape, found.ndim) == (expected.dtype, expected.shape, expected.ndim) and all(
        np.array_equal(a, b) for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("dtype", [*NUMBERS, "bool"])
@pytest.mark.parametrize(
    ("shapes", "kind"),
    [
        ([()] * 3, "{}"),
        ([(4,)] * 3, "extension<arrow.fixed_shape_tensor[value_type={}, shape=[4]]>"),
        ([(4,), (0,), (9,)], "large_list<item: {}>"),
        ([(2, 3)] * 3, "extension<arrow.fixed_shape_tensor[value_type={}, shape=[2,3]]>"),
        ([(2, 3), (1, 3), (0, 3)], "struct<data: list<item: {}>, shape: fixed_size_list<item: int32>[2]>"),
    ],
)
def test_every_type_and_shape(dtype, shapes, kind):
    samples = [np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2 for shape in shapes]
    batch = avida.batch(samples, dtype=dtype)
    column = pa.array(batch)
    name = {"float16": "halffloat", "float32": "float", "float64": "double"}.get(dtype, dtype)
    bytes_here = dtype == "uint8" and len(shapes[0]) == 1
    assert text_of(column.type) == ("large_binary" if bytes_here else kind.format(name))
    assert column.validate(full=True) is None
    assert same(avida.from_arrow(column), batch)
    table = pa.table(avida.to_arrow({"x": batch}, binary=False))
    assert text_of(table.schema.field("x").type) == kind.format(name)
    assert same(avida.from_arrow(table)["x"], batch)


def test_tables():
    images = avida.batch([np.zeros((4, 5, 3), np.uint8), np.ones((2, 2, 3), np.uint8)], layout="HWC")
    columns = {"file": avida.batch([b"ab", b"cde"]), "image": images, "box": {"x": [1.5, 2], "y": np.int64([3, 4])}}
    made = avida.to_arrow(columns)
    assert made.columns == ["file", "image", "box"]
    table = pa.table(made)
    assert table["file"].to_pylist() == [b"ab", b"cde"]
    assert table["box"].to_pylist() == [{"x": 1.5, "y": 3}, {"x": 2, "y": 4}]
    assert pa.record_batch(made).schema == table.schema == pa.schema(made)
    for back in (avida.from_arrow(made), avida.from_arrow(table)):
        assert same(back["image"], images)
        assert back["image"].layout == "HWC"
        assert bytes_of(back["file"]) == [b"ab", b"cde"]
        assert rows_of(back["box"]["y"]) == [3, 4]
    fixed = pa.table(avida.to_arrow({"image": avida.batch([np.zeros((4, 5, 3))] * 2, layout="HWC")}))
    assert fixed.schema.field("image").type.dim_names == ["H", "W", "C"]
    assert fixed["image"].chunk(0).to_numpy_ndarray().shape == (2, 4, 5, 3)


def test_types_that_do_not_depend_on_the_samples():
    rectangles = [
        avida.batch([np.zeros(shape)] * n, "float32", layout="HW")
        for shape, n in (((2, 3), 1), ((4, 5), 2), ((0, 0), 0))
    ]
    tables = [pa.table(avida.to_arrow({"a": one, "b": one}, ragged=["b"])).select(["b"]) for one in rectangles]
    joined = pa.concat_tables(tables)
    assert avida.from_arrow(joined)["b"].shape == [(2, 3), (4, 5), (4, 5)]
    empty = avida.from_arrow(pa.table(avida.to_arrow({"a": avida.batch([], dtype="int16", layout="HWC")})))["a"]
    assert (empty.batch_size, empty.dtype, empty.ndim, empty.layout) == (0, avida.int16, 3, "HWC")
    assert pa.table(avida.to_arrow({})).num_columns == 0


def test_tensors_are_split_along_their_first_axis():
    assert pa.array(avida.tensor([1, 2, 3])).to_pylist() == [1, 2, 3]
    assert pa.array(avida.tensor(np.zeros((2, 4, 5)), layout="CHW")).type.dim_names == ["H", "W"]
    with pytest.raises(ValueError, match="without axes"):
        pa.array(avida.tensor(1))


def test_contiguous_memory_is_shared_kept_and_released():
    gc.collect()
    images = avida.batch(np.zeros((50, 100, 100), np.float32)) + 1
    address = images.tensors[0]._address
    column = pa.array(images)  # waits
    assert column.storage.flatten().buffers()[1].address == address
    numbers = avida.batch(np.arange(5)) * 2
    assert pa.array(numbers).buffers()[1].address == numbers.tensors[0]._address
    encoded = avida.from_arrow(pa.array([b"abc", b"", b"de"]))
    assert pa.array(encoded).buffers()[2].address == encoded.tensors[0]._address
    ragged = avida.batch([np.ones(3), np.ones(4)])  # each begins at a multiple of 64 bytes
    assert pa.array(ragged).values.buffers()[1].address != ragged.tensors[0]._address
    selected = pa.array(images.tensors[10:12])
    assert selected.storage.flatten().buffers()[1].address == address + 10 * 40_000
    del images, column
    gc.collect()
    assert selected.to_numpy_ndarray().sum() == 20_000
    used = avida.memory_use().in_use
    del selected
    gc.collect()
    assert avida.memory_use().in_use <= used - 50 * 40_000


def test_no_python_per_row():
    columns = {"image": avida.batch([b"x" * (i % 9) for i in range(5_000)]), "label": avida.batch(np.arange(5_000))}
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        table = pa.table(avida.to_arrow(columns))
    finally:
        sys.setprofile(None)
    assert calls < 300
    assert table.num_rows == 5_000


def test_what_arrow_lacks():
    with pytest.raises(TypeError, match="bfloat16; cast it first"):
        avida.to_arrow({"x": avida.batch([1.0], dtype="bfloat16")}).__arrow_c_array__()
    with pytest.raises(ValueError, match="columns of one length, got 2 samples, and 3 in 'y'"):
        pa.table(avida.to_arrow({"x": [1, 2], "y": [1, 2, 3]}))
    with pytest.raises(TypeError, match=r"expected a dictionary of Batches.*pyarrow.array\(batch\)"):
        avida.to_arrow(avida.batch([1]))  # pyright: ignore[reportArgumentType]
    failing = avida.crop(avida.batch(np.zeros((2, 4, 4, 3)), layout="HWC"), crop=[9, 9])
    with pytest.raises(Exception, match="crop"):
        pa.array(failing)


def test_capsules_that_nobody_takes():
    batch = avida.batch(np.ones((100, 100, 100)))
    made = avida.to_arrow({"x": batch})
    for _ in range(3):
        made.__arrow_c_schema__(), made.__arrow_c_array__(), made.__arrow_c_stream__()
    stream = pa.RecordBatchReader.from_stream(made)
    assert stream.schema.names == ["x"]
    assert stream.schema == stream.read_all().schema
    used = avida.memory_use().in_use
    del made, batch, stream
    gc.collect()
    assert avida.memory_use().in_use <= used - 8_000_000


ARRAYS = st.tuples(
    st.sampled_from(["uint8", "int16", "int64", "float32", "bool"]),
    st.integers(0, 3).flatmap(
        lambda ndim: st.lists(st.lists(st.integers(0, 3), min_size=ndim, max_size=ndim).map(tuple), max_size=5).map(
            lambda shapes: (ndim, shapes)
        )
    ),
)


@settings(max_examples=100, deadline=None)
@given(ARRAYS, st.booleans(), st.booleans(), st.integers(0, 3))
def test_round_trips(arrays, ragged, binary, begin):
    """Any batch comes back as it was, through PyArrow and slices of its tables."""
    dtype, (ndim, shapes) = arrays
    generator = np.random.default_rng(0)
    samples = [generator.integers(0, 2, shape).astype(dtype) for shape in shapes]
    batch = avida.batch(samples, dtype=dtype, layout="ABC"[:ndim] if not samples else None)
    table = pa.table(avida.to_arrow({"x": batch}, ragged=ragged, binary=binary))
    table.validate(full=True)
    back = avida.from_arrow(table.slice(begin))["x"]
    assert (back.dtype, back.ndim, back.shape) == (batch.dtype, ndim, list(map(tuple, shapes[begin:])))
    assert all(np.array_equal(a, b) for a, b in zip(back, samples[begin:], strict=True))


def test_tensors_of_ray():
    """Ray's types, as its blocks have them: metadata in JSON, lists or structs beneath."""

    def column(storage, name, json):
        field = pa.field("x", storage.type, metadata={"ARROW:extension:name": name, "ARROW:extension:metadata": json})
        return avida.from_arrow(pa.Table.from_arrays([storage], schema=pa.schema([field])))["x"]

    lists = pa.array([[1, 2, 3, 4, 5, 6]] * 2, pa.large_list(pa.uint8()))
    assert column(lists, "ray.data.arrow_tensor_v2", "[2, 3]").shape == [(2, 3)] * 2
    with pytest.raises(ValueError, match="row 0 of column 'x' has 6 elements, which its shape"):
        column(lists, "ray.data.arrow_tensor_v2", "[2, 2]").evaluate()
    kind = pa.struct({"data": pa.large_list(pa.float32()), "shape": pa.list_(pa.int64())})
    tensors = pa.array([{"data": [1, 2], "shape": [2, 1]}, {"data": [1, 2, 3], "shape": [1, 3]}], kind)
    assert column(tensors, "ray.data.arrow_variable_shaped_tensor", "2").shape == [(2, 1), (1, 3)]
    with pytest.raises(ValueError, match="row 0 of column 'x' has 2 axes, expected 3"):
        column(tensors, "ray.data.arrow_variable_shaped_tensor", "3")
