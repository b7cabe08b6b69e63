"""readers.Parquet: what PyArrow reads of every type, from any folders and stores, in any order, damaged files too."""

import itertools
import os
import pathlib
import pickle
import re
import subprocess
import sys
import time
import warnings
import weakref

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import avida
from avida.readers import Blocks, Parquet
from avida.readers._tables.parquet_files import ParquetFiles
from tests.children import in_child
from tests.readers.parquet_files import contents, numbered, numbers, read, rows_of, write
from tests.storage.http_server import serving
from tests.storage.stores import HeldStore, objects_in, registered

WHOLE = {"last_batch": "partial"}
ORDERS = {
    "in order": {},
    "shuffled": {"random_shuffle": True, "seed": 3},
    "in blocks": {"random_shuffle": Blocks(window=2), "seed": 3},
}


# --- types ---

TYPES = {
    "binary": (pa.binary(), [b"", b"ab", b"\x00\xff" * 40]),
    "large_binary": (pa.large_binary(), [b"abc", b"", b"de"]),
    "binary_view": (pa.binary_view(), [b"short", b"longer than twelve bytes", b""]),
    "fixed_size_binary": (pa.binary(3), [b"abc", b"def", b"ghi"]),
    "string": (pa.string(), ["é", "", "two words"]),
    "large_string": (pa.large_string(), ["é", "", "two words"]),
    "bool": (pa.bool_(), [True, False, True]),
    "float16": (pa.float16(), [1.5, 0.0, -2.0]),
    "float64": (pa.float64(), [1e300, float("inf"), -0.0]),
    "list": (pa.list_(pa.float32()), [[1, 2], [], [3]]),
    "large_list": (pa.large_list(pa.int64()), [[1], [2, 3], []]),
    "list of bools": (pa.list_(pa.bool_()), [[True], [False, True], []]),
    "fixed_size_list": (pa.list_(pa.int16(), 2), [[1, 2], [3, 4], [5, 6]]),
    "lists in lists": (pa.list_(pa.list_(pa.int32())), [[[1, 2], [3, 4]], [], [[5]]]),
    "boxes": (pa.list_(pa.list_(pa.float32(), 4)), [[[0, 1, 2, 3]], [], [[4, 5, 6, 7], [8, 9, 10, 11]]]),
} | {
    f"{sign}int{bits}": (getattr(pa, f"{sign}int{bits}")(), [0, 2 ** (bits - 1) - 1, 3])
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}


def python_value(value):
    return value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("name", TYPES)
def test_types(name, tmp_path):
    """As PyArrow has them, across row groups, as they are and from dictionaries."""
    kind, values = TYPES[name]
    for dictionary in (False, True):
        path = write(tmp_path / "a.parquet", pa.table({"x": pa.array(values, kind)}), 2, use_dictionary=dictionary)
        expected = [python_value(value) for value in pq.read_table(path)["x"].to_pylist()]
        reader = Parquet(path, **WHOLE)
        assert [row["x"] for row in read(reader, 3)] == expected
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            assert reader[:]["x"].dtype == avida.as_tensor(np.zeros(1, kind.to_pandas_dtype())).dtype
            assert reader[0]["x"].shape == ()


def test_dictionaries_of_arrow(tmp_path):
    """Each row group has one of its own."""
    column = pa.array(["cat", "dog", "cat", "ant"]).dictionary_encode()
    path = write(tmp_path / "a.parquet", pa.table({"x": column}), 2)
    assert [row["x"] for row in read(Parquet(path, **WHOLE))] == [b"cat", b"dog", b"cat", b"ant"]


def test_structs_and_files(tmp_path):
    images = [{"bytes": b"one", "path": "a/1.jpg"}, {"bytes": b"three", "path": None}]
    boxes = [{"at": [1.0, 2.0], "more": {"id": 7}}, {"at": [], "more": {"id": 8}}]
    path = write(tmp_path / "a.parquet", pa.table({"image": images, "box": boxes}))
    reader = Parquet(path, **WHOLE)
    batch = reader[:]
    assert rows_of(batch) == [{"image": i["bytes"], "box": b} for i, b in zip(images, boxes, strict=True)]
    assert [source.name for source in batch["image"].sources] == ["a/1.jpg", f"{path}[1]"]
    assert [source.name for source in batch["box"]["at"].sources] == [f"{path}[0]", f"{path}[1]"]
    assert [source.index for source in batch["image"].sources] == [0, 1]
    assert list(reader.columns) == ["image", "box"]
    with pytest.raises(RuntimeError, match=r"a/1\.jpg"):
        avida.decoders.image(batch["image"]).evaluate()


@pytest.mark.parametrize(
    ("kind", "value", "called"),
    [
        (pa.timestamp("us"), 1, "timestamp; cast it to int64"),
        (pa.decimal128(9, 2), 1, "decimal; cast it to float64"),
        (pa.date32(), 1, "date; cast it"),
        (pa.list_(pa.struct([("a", pa.int8())])), [{"a": 1}], "struct in lists"),
        (pa.map_(pa.string(), pa.int8()), [("a", 1)], "map; leave the column out"),
    ],
)
def test_types_that_are_refused(kind, value, called, tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"x": pa.array([value], kind), "y": [1]}))
    with pytest.raises(TypeError, match=rf"readers\.Parquet: .*column 'x'.*{called}.*, or name the columns to read"):
        Parquet(path)
    assert read(Parquet(path, columns=["y"]), 1) == [{"y": 1}]


def test_names_of_classes(tmp_path):
    import datasets

    features = datasets.Features({"label": datasets.ClassLabel(names=["ant", "bee"]), "n": datasets.Value("int8")})
    rows = datasets.Dataset.from_dict({"label": [1, 0], "n": [3, 4]}, features=features)
    rows.to_parquet(tmp_path / "a.parquet")
    reader = Parquet(tmp_path / "a.parquet")
    assert reader.classes == ["ant", "bee"]
    assert reader.columns == {"label": "int64", "n": "int8"}
    assert Parquet(tmp_path / "a.parquet", columns=["n"]).classes is None


# --- nulls ---


@pytest.mark.parametrize(
    ("column", "where"),
    [
        (pa.array([1, None, 3, 4]), "column 'x'"),
        (pa.array([b"a", None, b"c", b"d"]), "column 'x'"),
        (pa.array([[1], [1, None], [3], [4]]), "column 'x'"),
        (pa.array([{"a": 1}, None, {"a": 3}, {"a": 4}]), "column 'x.a'"),
    ],
)
def test_nulls(column, where, tmp_path):
    """Are errors of their batches, which name column, row and file, or are left out."""
    path = write(tmp_path / "a.parquet", pa.table({"x": column, "number": range(4)}), 2)
    message = rf"{path}\[1\]: row 1 of {where} is null.*on_error=\"skip\" leaves such rows out"
    failed, last = list(Parquet(path).next_epoch(2))
    for batch in failed.values():
        with pytest.raises(ValueError, match=message):
            (batch["a"] if isinstance(batch, dict) else batch).evaluate()
    assert [row["number"] for row in rows_of(last)] == [2, 3]
    reader = Parquet(path, on_error="skip", **WHOLE)
    assert numbers(reader, 2) == [0, 2, 3]
    (error,) = reader.errors
    assert (error.source, error.index, error.epoch) == (f"{path}[1]", 1, 0)
    assert where in error.message
    with pytest.raises(ValueError, match=message):
        reader[[0, 1]]
    assert numbers(Parquet(path, columns=["number"], **WHOLE)) == [0, 1, 2, 3]


def test_a_file_that_is_elsewhere(tmp_path):
    images = pa.array([{"bytes": None, "path": "train/1.jpg"}], pa.struct([("bytes", "binary"), ("path", "string")]))
    path = write(tmp_path / "a.parquet", pa.table({"image": images}))
    with pytest.raises(ValueError, match=r"has no bytes, only the path 'train/1\.jpg'; readers\.File reads files"):
        Parquet(path)[0]


# --- which files, columns and rows ---


def test_files_folders_and_patterns(tmp_path):
    for part in range(3):
        write(tmp_path / "set" / f"part-{part}.parquet", numbered(10, part * 10), 4)
    (tmp_path / "set" / "_SUCCESS").write_text("")
    (tmp_path / "set" / "_metadata.parquet").write_text("not one of them")
    expected = list(range(30))
    folder = tmp_path / "set"
    for paths in (
        folder,
        str(folder) + "/",
        str(folder / "*-?.parquet"),
        str(folder / "part-{0..2}.parquet"),
        [folder / "part-0.parquet", str(folder / "part-{1,2}.parquet")],
    ):
        assert numbers(Parquet(paths, **WHOLE)) == expected
    assert Parquet(folder)[25]["number"].source.name == f"{folder}/part-2.parquet[5]"
    assert numbers(Parquet([folder / "part-2.parquet", folder / "part-0.parquet"], **WHOLE))[:11] == [*range(20, 30), 0]
    os.rename(folder / "part-0.parquet", folder / "part-0")
    assert numbers(Parquet(folder / "part-0", **WHOLE)) == expected[:10]
    assert numbers(Parquet(folder, **WHOLE)) == expected[10:]


def test_partitions(tmp_path):
    for year, name in itertools.product((2023, 2024), ("a b", "c%20d")):
        folder = tmp_path / f"year={year}" / f"who={name.replace(' ', '%20')}"
        write(folder / "part-0.parquet", pa.table({"x": [year + len(name)]}))
    reader = Parquet(tmp_path, **WHOLE)
    assert reader.columns == {"x": "int64", "year": "int64", "who": "string"}
    found = read(reader, 4)
    assert [(row["year"], row["who"]) for row in found] == [
        (2023, b"a b"), (2023, b"c d"), (2024, b"a b"), (2024, b"c d")
    ]  # fmt: skip
    only = Parquet(tmp_path, columns=["year"], filters=[("who", "==", "a b")], **WHOLE)
    assert read(only, 4) == [{"year": 2023}, {"year": 2024}]
    write(tmp_path / "year=2025" / "part-0.parquet", pa.table({"x": [1]}))
    with pytest.raises(ValueError, match=r"year=2025/part-0.*expected folders of the partitions \['year', 'who'\]"):
        Parquet(tmp_path)


def test_a_partition_without_a_value(tmp_path):
    write(tmp_path / "year=__HIVE_DEFAULT_PARTITION__" / "a.parquet", pa.table({"x": [1]}))
    with pytest.raises(ValueError, match="the partition 'year' is null"):
        Parquet(tmp_path)


def test_columns(tmp_path):
    table = pa.table({"a": [1, 2], "a.b": [3, 4], "c": [{"d": 5}, {"d": 6}]})
    path = write(tmp_path / "a.parquet", table)
    assert list(Parquet(path, columns=["c", "a"])[0]) == ["c", "a"]
    assert read(Parquet(path, columns=["a.b", "a"]), 2) == [{"a.b": 3, "a": 1}, {"a.b": 4, "a": 2}]
    for columns, message in [
        (["x"], "there is no column 'x', only 'a', 'a.b', 'c'"),
        (["a", "a"], "names 'a' twice"),
        ("a", "expected a list of names"),
        ([], "expected a list of names"),
    ]:
        with pytest.raises(ValueError, match=message):
            Parquet(path, columns=columns)


FILTERS = [
    [("number", "<", 15)],
    [("number", ">=", 15), ("odd", "==", True)],
    [[("number", "==", 3)], [("word", "in", ["w7", "w31"])]],
    [("maybe", "!=", 1)],
]


@pytest.mark.parametrize("filters", FILTERS, ids=str)
@pytest.mark.parametrize("order", ORDERS)
def test_filters(filters, order, tmp_path):
    """The rows that PyArrow reads, whether the columns are among those that are given out or not."""
    table = numbered(50)
    table = table.append_column("odd", pa.array([i % 2 == 1 for i in range(50)]))
    table = table.append_column("word", pa.array([f"w{i}" for i in range(50)]))
    table = table.append_column("maybe", pa.array([None if i % 3 else i % 2 for i in range(50)]))
    write(tmp_path / "a.parquet", table.slice(0, 28), 9)
    write(tmp_path / "b.parquet", table.slice(28), 9)
    expected = pq.read_table(tmp_path, filters=filters)["number"].to_pylist()
    reader = Parquet(tmp_path, columns=["number", "data"], filters=filters, **WHOLE, **ORDERS[order])
    assert len(reader) == len(expected)
    found = read(reader)
    assert sorted(row["number"] for row in found) == expected
    assert all(row["data"] == contents(50)[row["number"]] for row in found)
    number = reader[-1]["number"]
    assert number.source.name == f"{tmp_path}/{'a' if expected[-1] < 28 else 'b'}.parquet[{expected[-1] % 28}]"


def test_filters_that_make_no_sense(tmp_path):
    path = write(tmp_path / "a.parquet", numbered(3))
    with pytest.raises(ValueError, match=r"filters=\[\('number', '>', 9\)\] let no row through"):
        Parquet(path, filters=[("number", ">", 9)])
    with pytest.raises(ValueError, match="there is no column 'label'"):
        Parquet(path, filters=[("label", ">", 9)])
    for filters in ([], "number", [("number", 9)], ("number", ">", 1)):
        with pytest.raises(TypeError, match="expected filters such as"):
            Parquet(path, filters=filters)


def test_empty_row_groups_and_files(tmp_path):
    full = numbered(10)
    with pq.ParquetWriter(tmp_path / "b.parquet", full.schema) as writer:
        for part in (full.slice(0, 0), full.slice(0, 4), full.slice(0, 0), full.slice(4)):
            writer.write_table(part)
    for name in "ac":
        write(tmp_path / f"{name}.parquet", full.slice(0, 0))
    for order in ORDERS.values():
        assert sorted(numbers(Parquet(tmp_path, **order, **WHOLE))) == list(range(10))
    with pytest.raises(RuntimeError, match="expected at least one row"):
        Parquet(tmp_path / "a.parquet")


def test_files_of_other_schemas(tmp_path):
    write(tmp_path / "a.parquet", pa.table({"number": [1], "x": [1.5], "y": [1]}))
    write(tmp_path / "b.parquet", pa.table({"z": [1], "number": [2], "x": ["text"]}))
    with pytest.raises(ValueError, match=r"b\.parquet: expected the column 'x' of type double, as in .*found string"):
        Parquet(tmp_path)
    with pytest.raises(ValueError, match=r"b\.parquet: expected the column 'y' of type int64, as in .*found none"):
        Parquet(tmp_path, columns=["number"], filters=[("y", "==", 1)])
    assert read(Parquet(tmp_path, columns=["number"], **WHOLE)) == [{"number": 1}, {"number": 2}]


# --- orders ---


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """130 rows in two files, in row groups of 20."""
    root = tmp_path_factory.mktemp("rows")
    table = numbered(130)
    write(root / "a.parquet", table.slice(0, 70))
    write(root / "b.parquet", table.slice(70))
    return root


@pytest.mark.parametrize("order", ORDERS)
def test_orders(order, folder):
    """Each row once in an epoch, and each row group decoded once, where all fit into memory or are read as blocks."""
    reader = Parquet(folder, **ORDERS[order], **WHOLE)
    epochs = [read(reader) for _ in range(3)]
    for rows in epochs:
        assert sorted(row["number"] for row in rows) == list(range(130))
        assert all(row["data"] == contents(130)[row["number"]] for row in rows)
    assert (epochs[0] == epochs[1]) == (order == "in order")
    assert epochs[0] == read(Parquet(folder, **ORDERS[order], **WHOLE)), "the same order in every run"
    if order != "in order":
        assert epochs[0] != read(Parquet(folder, **ORDERS[order] | {"seed": 4}, **WHOLE))


def test_row_groups_are_blocks(folder):
    reader = Parquet(folder, random_shuffle=Blocks(window=1), **WHOLE)
    found = numbers(reader)
    groups = [range(first, end) for first, end in itertools.pairwise([0, 20, 40, 60, 70, 90, 110, 130])]
    order = []
    while found:
        group = next(group for group in groups if found[0] in group)
        assert sorted(found[: len(group)]) == list(group)
        order.append(group)
        del found[: len(group)]
    assert order != groups
    assert len(order) == 7


def loads(reader):
    return reader._set_up().loads


@pytest.mark.parametrize("order", ORDERS)
def test_each_row_group_is_decoded_once(order, folder):
    """In an epoch; where rows are shuffled and all fit into memory, once for all."""
    reader = Parquet(folder, **ORDERS[order], **WHOLE)
    for _ in range(3):
        numbers(reader)
    ahead = 7  # of the epoch after
    assert loads(reader) <= (7 if order == "shuffled" else 3 * 7 + ahead)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("last", ["wrap", "pad", "partial", "drop"])
def test_shards_and_last_batches(order, last, folder):
    readers = [Parquet(folder, num_shards=3, shard_id=i, last_batch=last, **ORDERS[order]) for i in range(3)]
    found = [list(reader.next_epoch(8)) for reader in readers]
    sizes = [[batch["number"].batch_size for batch in batches] for batches in found]
    rows = [row["number"] for batches in found for batch in batches for row in rows_of(batch)]
    if last == "partial":
        assert sorted(rows) == list(range(130))
    elif last == "drop":
        assert sizes == [[8] * 5] * 3
        assert len(set(rows)) == 120
    else:
        assert sizes == [[8] * 6] * 3
        assert set(rows) == set(range(130))


@pytest.mark.parametrize("order", ORDERS)
def test_resume_with_other_shards(order, folder):
    options = ORDERS[order] | WHOLE
    whole = Parquet(folder, **options)
    epoch = whole.next_epoch(7)
    seen = [row["number"] for _ in range(6) for row in rows_of(next(epoch))]
    state = str(whole.get_state())
    again = Parquet(folder, **options)
    again.set_state(state)
    rest = numbers(again)
    assert rest == [row["number"] for batch in epoch for row in rows_of(batch)]
    assert numbers(again) == numbers(whole)
    shards = []
    for shard in range(4):
        part = Parquet(folder, num_shards=4, shard_id=shard, **options)
        part.set_state(state)
        shards += numbers(part)
    assert sorted(shards) == sorted(rest)
    assert sorted(seen + rest) == list(range(130))


def test_items_by_index(folder):
    reader = Parquet(folder, **WHOLE)
    assert len(reader) == 130
    assert reader[-1]["number"].item() == 129
    assert [row["number"] for row in rows_of(reader[[128, 3, 3]])] == [128, 3, 3]
    assert [row["number"] for row in rows_of(reader[18:22])] == [18, 19, 20, 21]
    assert numbers(reader, indices=[5, 100, 5]) == [5, 100, 5]
    reader.sampler = range(129, -1, -1)
    assert numbers(reader) == list(range(129, -1, -1))
    with pytest.raises(IndexError):
        reader[130]
    tensor = next(Parquet(folder).next_epoch())
    assert isinstance(tensor["data"], avida.Tensor)


def test_the_limit_of_memory(tmp_path):
    """What was decoded is dropped for what is needed next; files may say far too little of what it takes."""
    words = pa.table({"x": ["the same long text " * 500] * 800, "number": range(800)})  # one entry of a dictionary
    path = write(tmp_path / "a.parquet", words, 100)
    assert path.stat().st_size < 200_000
    decoded = 800 * 9500
    few = Parquet(path, memory_limit=decoded // 4, random_shuffle=True, **WHOLE)
    many = Parquet(path, memory_limit=2 * decoded, random_shuffle=True, **WHOLE)
    for reader in (few, many):
        assert sorted(numbers(reader, 50)) == list(range(800))
    assert loads(many) == 8
    assert loads(few) > 16
    with pytest.raises(ValueError, match="memory_limit"):
        Parquet(path, memory_limit=-1)


def test_warnings_of_orders_that_decode_often(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"x": [os.urandom(700_000) for _ in range(8)]}), 2)
    with pytest.warns(UserWarning, match=r"random_shuffle=True decodes a row group of 1 MB for nearly every row"):
        Parquet(path, random_shuffle=True, memory_limit=2_000_000)
    with pytest.warns(UserWarning, match="a window of 3 row groups of 1 MB does not fit"):
        Parquet(path, random_shuffle=Blocks(window=3), memory_limit=2_000_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Parquet(path, random_shuffle=Blocks(window=1), memory_limit=2_000_000)
        Parquet(path, random_shuffle=True)


# --- damage ---


def test_what_is_no_file_of_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    for content in (b"", b"PAR1", b"x" * 100):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"a\.parquet: expected a file that ends with PAR1"):
            Parquet(path)
    path.write_bytes(b"PAR1" + b"\xff" * 20 + (20).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(ValueError, match=r"a\.parquet: expected a footer of Parquet"):
        Parquet(path)
    path.write_bytes(b"PAR1" + (2000).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(ValueError, match="expected a footer within 12 bytes, found one of 2008 bytes"):
        Parquet(path)
    path.write_bytes(b"PAR1" + bytes(20) + b"PARE")
    with pytest.raises(ValueError, match="encrypted"):
        Parquet(path)
    with pytest.raises(RuntimeError, match=r"none\.parquet"):
        Parquet(tmp_path / "none.parquet")
    with pytest.raises(RuntimeError, match="expected files that match"):
        Parquet(str(tmp_path / "x*.parquet"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(RuntimeError, match=r"expected files of Parquet in paths=.*found none"):
        Parquet(tmp_path / "empty")


def test_damaged_row_groups(tmp_path):
    """Are errors of their rows; all others are read."""
    path = write(tmp_path / "a.parquet", numbered(60), 20, compression="zstd", use_dictionary=False)
    about = pq.read_metadata(path).row_group(1).column(0)
    content = bytearray(path.read_bytes())
    begin = about.data_page_offset
    content[begin : begin + about.total_compressed_size] = b"\xff" * about.total_compressed_size
    path.write_bytes(content)
    reader = Parquet(path, **WHOLE)
    batches = list(reader.next_epoch(20))
    with pytest.raises(RuntimeError, match=re.escape(f"readers.Parquet: {path}: ")):
        batches[1]["number"].evaluate()
    assert [row["number"] for row in rows_of(batches[0]) + rows_of(batches[2])] == [*range(20), *range(40, 60)]
    for order in ORDERS.values():
        skipping = Parquet(path, on_error="skip", **order, **WHOLE)
        assert sorted(numbers(skipping)) == [*range(20), *range(40, 60)]
        assert skipping.errors.total == 20
        assert sorted(error.source for error in skipping.errors)[0] == f"{path}[20]"


def test_files_that_are_replaced(tmp_path):
    """After the reader was made: it reads those that it has opened, and never rows of another file."""
    path = write(tmp_path / "a.parquet", numbered(40))
    reader = Parquet(path)
    write(tmp_path / "other.parquet", numbered(40, 7)).replace(path)
    assert reader[3]["number"].item() == 3
    assert Parquet(path)[3]["number"].item() == 10
    path.write_bytes(b"PAR1" * 10)
    with pytest.raises(ValueError, match=r"a\.parquet: expected a footer"):
        Parquet(path)


def test_truncated_files(tmp_path):
    path = write(tmp_path / "a.parquet", numbered(40))
    content = path.read_bytes()
    for size in (len(content) - 1, len(content) // 2, 11):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"a\.parquet: expected a file that ends with PAR1"):
            Parquet(path)
    path.write_bytes(content[:4] + content[1000:])  # the footer is whole, what it names is not there
    with pytest.raises((RuntimeError, ValueError), match=r"a\.parquet"):
        Parquet(path)[39]["data"].evaluate()


# --- stores ---


def test_memory_and_mappings(folder):
    objects = {name: content for name, content in objects_in(folder).items()}
    for name, content in objects.items():
        avida.storage.memory[name] = content
    try:
        assert numbers(Parquet("memory://data", **WHOLE)) == list(range(130))
        assert Parquet("memory://data/*.parquet")[0]["number"].source.name == "memory://data/a.parquet[0]"
    finally:
        for name in objects:
            del avida.storage.memory[name]
    assert numbers(Parquet(f"file://{folder}", **WHOLE)) == list(range(130))


def test_requests(tmp_path):
    """Footers of all files are asked for together, and of a row group the columns that are read, near ones as one."""
    for part in range(4):
        table = numbered(40, part * 40).append_column("other", pa.array([os.urandom(9000) for _ in range(40)]))
        write(tmp_path / f"{part}.parquet", table, 20, compression="none", use_dictionary=False)
    with registered(HeldStore(objects_in(tmp_path))) as store:
        reader = Parquet("held://data", columns=["number"], **WHOLE)
        assert store.asked <= 2 * 4 + 1
    with serving(objects_in(tmp_path)) as server:
        names = f"{server.url}/data/{{0..3}}.parquet"
        reader = Parquet(names, columns=["number", "data"], **WHOLE)
        assert len(server.asked) <= 2 * 4
        server.asked.clear()
        before = server.sent
        assert numbers(reader) == list(range(160))
        assert len(server.asked) <= 8 + 8, "a request for each row group, and perhaps those of the epoch after"
        assert server.sent - before < 2 * 160 * 600, "nothing of the third column"
    with serving(objects_in(tmp_path)) as server:
        whole = Parquet(f"{server.url}/data/{{0..3}}.parquet", **WHOLE)
        server.asked.clear()
        assert numbers(whole, indices=range(160)) == list(range(160))
        assert len(server.asked) == 8


@pytest.mark.parametrize("order", ORDERS)
def test_over_http(order, folder):
    """The same rows in the same order as from files, through faults too."""
    expected = read(Parquet(folder, **ORDERS[order], **WHOLE))
    with serving(objects_in(folder)) as server:
        names = [f"{server.url}/data/a.parquet", f"{server.url}/data/b.parquet"]
        server.fault = lambda handler, number: number % 5 == 0 and (handler.refuse(503, "SlowDown"), True)[1]
        assert read(Parquet(names, **ORDERS[order], **WHOLE)) == expected
        server.fault = None
        reader = Parquet(names, cache="memory", **ORDERS[order], **WHOLE)
        assert read(reader) == expected
        server.asked.clear()
        numbers(reader)
        assert not server.asked, "the cache has all"


def test_objects_that_change(folder):
    with serving(objects_in(folder)) as server:
        reader = Parquet(f"{server.url}/data/a.parquet")
        server.objects["data/a.parquet"] = server.objects["data/b.parquet"]
        with pytest.raises(RuntimeError, match=r"a\.parquet.*changed"):
            reader[0]["number"].evaluate()


# --- processes, threads, PyTorch ---


def test_pickles_and_processes(folder):
    reader = Parquet(folder, random_shuffle=Blocks(window=2), **WHOLE)
    epoch = reader.next_epoch(10)
    next(epoch)
    pickled = pickle.dumps(reader)
    rest = [row["number"] for batch in epoch for row in rows_of(batch)]
    assert numbers(pickle.loads(pickled), 10) == rest
    code = (
        "import pickle, sys; from tests.readers.parquet_files import numbers; "
        "print(numbers(pickle.load(sys.stdin.buffer), 10))"
    )
    root = pathlib.Path(__file__).parent.parent.parent
    done = subprocess.run([sys.executable, "-c", code], input=pickled, capture_output=True, check=True, cwd=root)
    assert done.stdout.decode().strip() == str(rest)


@pytest.mark.parametrize("order", ORDERS)
def test_forked_children(order, folder):
    """While row groups are decoded: the child decodes again what the parent was decoding."""
    for _ in range(10):
        reader = Parquet(folder, **ORDERS[order], **WHOLE)
        epoch = reader.next_epoch(4)
        first = rows_of(next(epoch))

        def rest(epoch=epoch):
            return [row["number"] for batch in epoch for row in rows_of(batch)]

        of_child, again = in_child(lambda rest=rest, reader=reader: (rest(), numbers(reader)))
        of_parent, begun = rest(), [row["number"] for row in first]
        assert sorted(begun + of_child) == sorted(begun + of_parent) == sorted(again) == list(range(130))


def test_loaders_of_pytorch(folder):
    from torch.utils.data import DataLoader

    reader = Parquet(folder, columns=["number"], random_shuffle=Blocks(window=2), **WHOLE)
    expected = sorted(numbers(Parquet(folder, columns=["number"], **WHOLE)))
    data = avida.pytorch.IterableDataset(reader, 10)
    for workers in (0, 2):
        loader = DataLoader(data, batch_size=None, num_workers=workers)
        found = [number for batch in loader for number in batch["number"].tolist()]
        assert sorted(found) == expected
    rows = DataLoader(avida.pytorch.Dataset(reader), batch_size=10, shuffle=True)
    assert sorted(number for batch in rows for number in batch["number"].tolist()) == expected


def calls(function, monkeypatch):
    """How many functions Python calls, in the threads that load row groups too."""
    counted, load = itertools.count(), ParquetFiles.load

    def count(frame, event, argument):
        if event in ("call", "c_call"):
            next(counted)

    def counted_load(self, part):
        sys.setprofile(count)
        return load(self, part)

    monkeypatch.setattr(ParquetFiles, "load", counted_load)
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    monkeypatch.undo()
    return next(counted)


@pytest.mark.parametrize("order", ORDERS)
def test_rows_are_no_objects_of_python(order, tmp_path, monkeypatch):
    """A hundred times the rows in as many batches and row groups take about as many calls of Python."""
    counts = []
    for factor in (1, 100):
        path = write(tmp_path / f"{factor}.parquet", numbered(100 * factor), 20 * factor)
        reader = Parquet(path, **ORDERS[order], **WHOLE)

        def loop(reader=reader, factor=factor):
            for batch in reader.next_epoch(10 * factor, ahead=0):
                batch["data"].evaluate()
                batch["number"].evaluate()

        counts.append(calls(loop, monkeypatch))
    few, many = counts
    assert few > 100
    assert many < few + 1000, "10,000 rows"


@pytest.mark.parametrize("name", ["binary", "float64", "int32", "list", "fixed_size_list"])
def test_rows_lie_where_they_were_decoded(name, tmp_path):
    """Neighbours of one shape are one array, and others are where they are; only bools and shuffled numbers move."""
    kind, values = TYPES[name]
    path = write(tmp_path / "a.parquet", pa.table({"x": pa.array(values * 10, kind)}), 30)
    filled = [i for i, value in enumerate(values * 10) if value not in ([], b"")]
    seen = []
    for _ in range(8):  # the next epoch may decode the group again meanwhile, and threads of tests before take memory
        before = avida.memory_use().in_use
        batches = [batch["x"] for batch in Parquet(path).next_epoch(6)]
        for batch in batches:
            batch.evaluate()
        grown = avida.memory_use().in_use - before
        tensors = [tensor for batch in batches for tensor in batch.tensors]
        addresses = [tensors[i]._address for i in filled]
        in_order = addresses == sorted(addresses) and addresses[-1] - addresses[0] < 10_000
        seen.append((grown <= 0, in_order))
        if seen[-1] == (True, True):
            return
    pytest.fail(f"(nothing is in memory of its own, all is in that of one row group in its order): {seen}")


def test_pyarrow_is_needed(folder):
    code = (
        "import sys; sys.modules['pyarrow'] = None; import avida\n"
        "try: avida.readers.Parquet(sys.argv[1])\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == 'readers.Parquet needs PyArrow; pip install "avida[tables]" installs it'


def test_a_reader_that_is_dropped_leaves_nothing(folder):
    reader = Parquet(folder, **WHOLE)
    numbers(reader)
    tables = weakref.ref(reader._opened())
    del reader
    deadline = time.monotonic() + 60  # its threads end what they do
    while tables() is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert tables() is None
