"""readers.MDS: columns of all encodings, compressed shards, several streams, and files that lie."""

import json
import os
import re
import struct

import numpy as np
import pytest

import avida
from tests.readers.mds_files import PACK, encoded, write_mds
from tests.storage.stores import HeldStore, objects_in, registered

COLUMNS = {"name": "str", "number": "int", "image": "jpeg"}


def rows(count=12):
    rng = np.random.default_rng(5)
    return [{"name": f"é{i}".encode(), "number": i - 3, "image": rng.bytes(i * 2500)} for i in range(count)]


def read(reader, batch_size=5, **options):
    """The columns of all samples: bytes, or what NumPy makes of them."""
    found = []
    for batch in reader.next_epoch(batch_size=batch_size, **options):
        columns = [[np.asarray(sample) for sample in column] for column in batch.values()]
        found += [dict(zip(batch, row, strict=True)) for row in zip(*columns, strict=True)]
    return found


def same(found, expected):
    return len(found) == len(expected) and all(
        name in row and (row[name].tobytes() == value if isinstance(value, bytes) else np.array_equal(row[name], value))
        for row, wanted in zip(found, expected, strict=True)
        for name, value in wanted.items()
    )


@pytest.mark.parametrize("compression", PACK)
def test_samples(tmp_path, compression):
    write_mds(tmp_path, COLUMNS, rows(), compression=compression)
    reader = avida.readers.MDS(tmp_path)
    assert len(reader) == 12
    assert reader.columns == COLUMNS
    assert same(read(reader), [*rows(), *rows()[:3]])
    some = avida.readers.MDS(tmp_path, columns=["number", "name"], last_batch="partial")
    assert same(read(some), [{"number": row["number"], "name": row["name"]} for row in rows()])
    assert list(some[3]) == ["number", "name"]
    assert some[3]["number"].shape == ()


ARRAYS = [
    ("ndarray", [np.zeros((0, 2), "i2"), np.arange(600, dtype="i2").reshape(300, 2)]),
    ("ndarray", [np.ones((1, 1, 2, 1), "f8")]),
    ("ndarray:float16", [np.arange(3, dtype="f2"), np.arange(5, dtype="f2")]),
    ("ndarray:uint32:2,3", [np.arange(6, dtype="u4").reshape(2, 3)] * 2),
    *(
        (name, [np.array(3, name if name != "int" else "i8")])
        for name in ["int", "uint8", "int16", "uint64", "float16"]
    ),
]


@pytest.mark.parametrize(("encoding", "values"), ARRAYS)
def test_arrays(tmp_path, encoding, values):
    write_mds(tmp_path, {"x": encoding}, [{"x": value} for value in values], per_shard=1)
    found = read(avida.readers.MDS(tmp_path), batch_size=len(values))
    assert same(found, [{"x": value} for value in values])
    assert [row["x"].dtype for row in found] == [value.dtype for value in values]


def test_numbers_as_text_and_images_of_pillow(tmp_path):
    pixels = np.arange(2 * 3 * 3, dtype=np.uint8)
    image = struct.pack("<III", 3, 2, 3) + b"RGB" + pixels.tobytes()
    columns = {"i": "str_int", "f": "str_float", "d": "str_decimal", "j": "json", "p": "pil"}
    sample = {"i": b"-9007199254740993", "f": b"1e-3", "d": b"1.10", "j": b'{"a": 1}', "p": image}
    write_mds(tmp_path, columns, [sample])
    reader = avida.readers.MDS(tmp_path)
    (row,) = read(reader, batch_size=1)
    assert row["i"] == -9007199254740993
    assert row["f"] == 1e-3
    assert row["d"].tobytes() == b"1.10"
    assert reader[0]["p"].layout == "HWC"
    assert np.array_equal(row["p"], pixels.reshape(2, 3, 3))
    for column, value, message in [
        (
            "i",
            b"9" * 20,
            'column "i": expected a number of type int64 as text, found "99999999999999999999", which is out of its',
        ),
        ("f", b"1,5", 'column "f": expected a number of type float64 as text, found "1,5"'),
        ("p", image.replace(b"RGB", b"P;1"), 'column "p": expected an image of Pillow with a byte for each channel'),
        ("p", image[:-1], 'column "p": expected the elements of uint8 of the shape (2, 3, 3), found 17'),
    ]:
        write_mds(tmp_path, columns, [sample | {column: value}])
        with pytest.raises((RuntimeError, ValueError), match=re.escape(message)):
            read(avida.readers.MDS(tmp_path), batch_size=1)


def test_streams(tmp_path):
    """Folders follow one another by name; an index at the top is the index of all."""
    for part in ("b/2", "b/10", "a"):
        write_mds(tmp_path / part, COLUMNS, rows()[: len(part)], per_shard=2)
    expected = [row for part in ("a", "b/10", "b/2") for row in rows()[: len(part)]]
    parts = {"last_batch": "partial"}
    assert same(read(avida.readers.MDS(tmp_path, **parts)), expected)
    listed = [tmp_path / "a", str(tmp_path / "b" / "{10,2}" / "index.json")]
    assert same(read(avida.readers.MDS(listed, **parts)), expected)
    merged = {"version": 2, "shards": []}
    for part in ("b/2", "a"):
        for shard in json.loads((tmp_path / part / "index.json").read_text())["shards"]:
            shard["raw_data"]["basename"] = f"{part}/{shard['raw_data']['basename']}"
            merged["shards"].append(shard)
    (tmp_path / "index.json").write_text(json.dumps(merged))
    assert same(read(avida.readers.MDS(tmp_path, **parts)), [*rows()[:3], *rows()[:1]])


def test_columns_of_shards_may_be_in_another_order(tmp_path):
    write_mds(tmp_path / "a", COLUMNS, rows())
    write_mds(
        tmp_path / "b", {"more": "uint8", **dict(reversed(COLUMNS.items()))}, [row | {"more": 1} for row in rows()]
    )
    assert same(read(avida.readers.MDS(tmp_path), batch_size=24), [*rows(), *rows()])
    write_mds(tmp_path / "c", {"name": "bytes", "number": "int", "image": "jpeg"}, rows())
    with pytest.raises(
        RuntimeError, match=r'c/shard\.00000\.mds: expected the column "name" encoded as str as in the fir'
    ):
        avida.readers.MDS(tmp_path)
    write_mds(tmp_path / "c", {"number": "int"}, rows())
    with pytest.raises(
        RuntimeError, match='expected the columns of the first shard, found only "number", and no "name"'
    ):
        avida.readers.MDS(tmp_path)


def test_what_is_not_read(tmp_path):
    write_mds(tmp_path, COLUMNS | {"secret": "pkl"}, [row | {"secret": b"\x80\x04N."} for row in rows()])
    with pytest.raises(
        RuntimeError, match='column "secret" holds pickles, and reading a pickle runs what its writer want'
    ):
        avida.readers.MDS(tmp_path)
    assert same(read(avida.readers.MDS(tmp_path, columns=list(COLUMNS)), batch_size=12), rows())
    with pytest.raises(ValueError, match='there is no column "label", only "name", "number", "image", "secret"'):
        avida.readers.MDS(tmp_path, columns=["label"])
    (tmp_path / "none").mkdir()
    with pytest.raises(RuntimeError, match=r"expected an index\.json in .* or in the folders in it, found none"):
        avida.readers.MDS([tmp_path, tmp_path / "none"])


def set_in(path, value):
    """A change of the index, or of its first shard."""

    def change(index):
        place = index["shards"][0] if path[0] != "version" else index
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


LIES = {
    "the version": (set_in(["version"], 1), "expected an index of version 2, found 1"),
    "the format": (set_in(["format"], "jsonl"), "shard 0: expected a shard of the format mds, found jsonl"),
    "the compression": (
        set_in(["compression"], "br:11"),
        "expected the compression zstd, gz or none, found br:11: write",
    ),
    "samples": (set_in(["samples"], 4), "00000.mds: expected 4 samples according to the index, found 5"),
    "too many samples": (
        set_in(["samples"], 2**40),
        'expected a number from 0 to 1073741824 in "samples", found 1099511',
    ),
    "samples beyond the bytes": (
        set_in(["samples"], 2**29),
        "expected at least 2147483656 bytes for 536870912 samples",
    ),
    "bytes": (set_in(["raw_data", "bytes"], 2**31), "expected 2147483648 bytes according to the index, found"),
    "a name": (set_in(["raw_data", "basename"], "../x"), 'within the folder of the index in "basename", found "../x"'),
    "a path": (set_in(["raw_data", "basename"], "/etc/passwd"), "within the folder of the index"),
    "another store": (set_in(["raw_data", "basename"], "memory://x"), "within the folder of the index"),
    "an encoding": (
        set_in(["column_encodings", 0], "own"),
        'expected an element type such as int32 in the encoding "own"',
    ),
    "a shape": (set_in(["column_encodings", 0], "ndarray:int8:2,-1"), "positive extents in the encoding"),
    "a size": (
        set_in(["column_sizes", 1], 9),
        'expected 8 as the size of the column "number", which is encoded as int, f',
    ),
    "columns": (
        set_in(["column_names"], ["name"]),
        "expected as many column_names as column_encodings and column_sizes",
    ),
    "a column twice": (set_in(["column_names", 0], "image"), 'the column "image" is there twice'),
    "sizes of values": (set_in(["column_encodings", 0], "uint8"), "expected 1 as the size"),
}


@pytest.mark.parametrize("lie", LIES)
def test_an_index_that_lies(tmp_path, lie):
    index = write_mds(tmp_path, COLUMNS, rows())
    change, message = LIES[lie]
    change(index)
    (tmp_path / "index.json").write_text(json.dumps(index))
    with pytest.raises(RuntimeError, match=message):
        avida.readers.MDS(tmp_path)


def test_offsets_and_sizes_that_lie(tmp_path):
    write_mds(tmp_path, COLUMNS, rows())
    path = tmp_path / "shard.00000.mds"
    good = path.read_bytes()
    for place, number, message in [
        (8, 4, "the offset of sample 1, 4, is before byte 45"),
        (4, 8, "the offset of sample 0, 8, is before byte 28"),
        (24, 1 << 31, r"shard\.00000\.mds: expected the last sample to end at byte \d+, it ends at 2147483648"),
    ]:
        path.write_bytes(good[:place] + struct.pack("<I", number) + good[place + 4 :])
        with pytest.raises(RuntimeError, match=message):
            avida.readers.MDS(tmp_path)
    path.write_bytes(good[:45] + struct.pack("<I", 1 << 30) + good[49:])
    with pytest.raises(
        RuntimeError, match=r"00000\.mds, sample 0\): expected values of \d+ bytes together, the sample has"
    ):
        read(avida.readers.MDS(tmp_path))
    reader = avida.readers.MDS(tmp_path, on_error="skip", last_batch="partial")
    assert same(read(reader), rows()[1:])
    assert [error.source for error in reader.errors] == [f"{path}, sample 0"]
    path.unlink()
    reader = avida.readers.MDS(tmp_path, on_error="skip", last_batch="partial")
    assert same(read(reader), rows()[5:])


@pytest.mark.parametrize("compression", ["gz", "zstd"])
@pytest.mark.parametrize("lie", [-1, 1, 1 << 20, 1 << 31])
def test_compressed_shards_that_lie(tmp_path, compression, lie):
    """About the bytes that come out of them: nothing is made that is not there."""
    index = write_mds(tmp_path, COLUMNS, rows(), compression=compression)
    index["shards"][0]["raw_data"]["bytes"] += lie
    (tmp_path / "index.json").write_text(json.dumps(index))
    reader = avida.readers.MDS(tmp_path)
    with pytest.raises(RuntimeError, match=r"decompressed|expected a file that can hold the"):
        reader[0]["name"].evaluate()
    assert reader[7]["number"].item() == 4


def test_shards_beyond_the_limit_of_memory(tmp_path):
    write_mds(tmp_path, COLUMNS, rows(), compression="zstd")
    before = avida.decode_limits()
    avida.set_decode_limits(memory=1000)
    try:
        with pytest.raises(
            RuntimeError, match=r"needs at most 1000 bytes of memory.*set_decode_limits\(memory=\.\.\.\)"
        ):
            avida.readers.MDS(tmp_path)[7]["name"].evaluate()
    finally:
        avida.set_decode_limits(**before._asdict())


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_blocks(tmp_path, compression):
    """Of 16 MiB, and each compressed shard, of which a window of two is read at a time."""
    write_mds(tmp_path, {"x": "bytes", "i": "int"}, [{"x": bytes(6 << 20), "i": i} for i in range(12)], 6, compression)
    order = avida.readers.Blocks(window=1)
    reader = avida.readers.MDS(tmp_path, columns=["i"], random_shuffle=order, memory_limit=0)
    numbers = [int(row["i"]) for row in read(reader, batch_size=1)]
    length = 6 if compression else 2
    blocks = [numbers[begin : begin + length] for begin in range(0, 12, length)]
    assert sorted(map(sorted, blocks)) == [[*range(begin, begin + length)] for begin in range(0, 12, length)]
    assert numbers != sorted(numbers)


def test_a_compressed_shard_is_fetched_once(tmp_path):
    """Whatever batches need it at the same time; and again only where newer ones have taken its room."""
    write_mds(tmp_path, COLUMNS, rows(), per_shard=3, compression="zstd")
    with registered(HeldStore(objects_in(tmp_path))) as store:
        reader = avida.readers.MDS("held://data", random_shuffle=True, prefetch_queue_depth=4)
        for _ in range(3):
            assert len(read(reader, batch_size=2)) == 12
        assert store.asked <= 3 + 4, "the index, whether there is one, and each shard"
        reader = avida.readers.MDS("held://data", memory_limit=0, last_batch="partial")
        store.asked = 0
        for _ in range(2):
            assert same(read(reader, indices=range(12)), rows())
        assert 8 <= store.asked <= 3 + 2 * 2 * 4


class HeldShards(HeldStore):
    """Answers requests for shards when so many are under way, and others at once."""

    def __getitem__(self, name):
        return super().__getitem__(name) if name.endswith(".mds") else self.objects[name]


def test_a_batch_of_a_store_is_one_round_of_requests(tmp_path):
    """Of twelve shards; and so are their tables of offsets."""
    write_mds(tmp_path, COLUMNS, rows(), per_shard=1)
    with registered(HeldShards(objects_in(tmp_path), together=12)) as store:
        reader = avida.readers.MDS("held://data", prefetch_queue_depth=1)
        assert store.asked == 12
        (batch,) = reader.next_epoch(batch_size=12, indices=range(12))
        assert same(rows_of(batch), rows())
        assert store.asked == 24


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_shards_and_states(tmp_path, compression):
    """Three shards, resumed as two, read each sample once."""
    write_mds(tmp_path, COLUMNS, rows(), compression=compression)
    options = {"random_shuffle": True, "last_batch": "partial"}
    seen = []
    for shard in range(3):
        reader = avida.readers.MDS(tmp_path, seed=3, num_shards=3, shard_id=shard, **options)
        seen += next(reader.next_epoch(batch_size=2))["number"].torch().tolist()
        state = reader.get_state()
    for shard in range(2):
        reader = avida.readers.MDS(tmp_path, num_shards=2, shard_id=shard, columns=["number"], **options)
        reader.set_state(state)
        for batch in reader.next_epoch(batch_size=2):
            seen += batch["number"].torch().tolist()
    assert sorted(seen) == [row["number"] for row in rows()]


def test_a_child_reads_compressed_shards(tmp_path):
    write_mds(tmp_path, COLUMNS, rows(), per_shard=1, compression="zstd")
    reader = avida.readers.MDS(tmp_path, last_batch="partial")
    epoch = reader.next_epoch(batch_size=2)
    next(epoch)
    child = os.fork()
    if child == 0:
        os._exit(0 if same([r for b in epoch for r in rows_of(b)], rows()[2:]) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert same([row for batch in epoch for row in rows_of(batch)], rows()[2:])


def rows_of(batch):
    columns = [[np.asarray(sample) for sample in column] for column in batch.values()]
    return [dict(zip(batch, row, strict=True)) for row in zip(*columns, strict=True)]


def test_the_array_of_another_type_is_named(tmp_path):
    write_mds(tmp_path, {"x": "ndarray"}, [{"x": np.zeros(2, "i2")}, {"x": np.zeros((2, 2), "i2")}])
    with pytest.raises(
        RuntimeError, match=r"sample 1\): expected int16 with 1 axis as in .* sample 0, got int16 with 2 axes"
    ):
        read(avida.readers.MDS(tmp_path), batch_size=2)
    assert encoded("ndarray", np.zeros(2, "i2"))[0] == 17
