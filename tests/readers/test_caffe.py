"""readers.Caffe and readers.Caffe2: databases that lmdb writes, in any order, from any process, damaged ones too."""

import mmap
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import lmdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import avida
from tests.children import in_child
from tests.readers.lmdb_records import BYTE, FLOAT, INT32, STRING, datum, record, tensor, varint, write

PAGE = mmap.PAGESIZE


def read(reader, batch_size):
    """For each output the samples of the first batch, as lists."""
    outputs = next(reader.next_epoch(batch_size=batch_size))
    return [[np.asarray(sample).tolist() for sample in output] for output in outputs]


def caffe(path, batch_size=1, **arguments):
    return read(avida.readers.Caffe(path=path, **arguments), batch_size)


def caffe2(path, batch_size=1, **arguments):
    return read(avida.readers.Caffe2(path=path, **arguments), batch_size)


def numbered(path, count):
    """Records that hold their number, of very different sizes."""
    return write(path, [datum(b"%d," % i * (1 + i * i % 700), i, encoded=1) for i in range(count)])


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("count", [1, 31, 32, 33, 500])
def test_every_record_once(tmp_path, count, shuffle):
    path = numbered(tmp_path / "db", count)
    reader = avida.readers.Caffe(path=path, random_shuffle=shuffle, prefetch_queue_depth=4)
    for _ in range(2):
        seen = []
        for images, labels in reader.next_epoch():
            i = labels.item()
            assert bytes(np.asarray(images)) == b"%d," % i * (1 + i * i % 700)
            assert images.source.name == f"{path}, record {i}"
            seen.append(i)
        assert sorted(seen) == list(range(count))
        assert (seen == sorted(seen)) == (not shuffle or count == 1)


def test_order_of_keys(tmp_path):
    path = write(tmp_path / "db", [datum(b"a", 1), datum(b"b", 2), datum(b"c", 3)], keys=[b"10", b"9", b"1"])
    assert caffe(path, 3)[1] == [[3], [1], [2]]


def test_several_databases(tmp_path):
    paths = [numbered(tmp_path / "a", 3), numbered(tmp_path / "b", 50)]
    reader = avida.readers.Caffe(path=paths)
    assert reader.get_metadata()["epoch_size"] == 53
    labels = [label.item() for _, label in reader.next_epoch()]
    assert labels == [*range(3), *range(50)]
    assert caffe([paths[0]] * 2, 6)[1] == [[0], [1], [2]] * 2


def test_shards(tmp_path):
    path = numbered(tmp_path / "db", 100)
    seen = []
    for shard in range(3):
        reader = avida.readers.Caffe(path=path, num_shards=3, shard_id=shard, stick_to_shard=True)
        seen += [label.item() for _, label in reader.next_epoch()]
    assert sorted(seen) == list(range(100))


def test_what_a_datum_holds(tmp_path):
    def one(content, **arguments):
        one.count += 1  # pyright: ignore[reportFunctionMemberAccess]
        return caffe(write(tmp_path / str(one.count), [content]), **arguments)  # pyright: ignore[reportFunctionMemberAccess]

    one.count = 0  # pyright: ignore[reportFunctionMemberAccess]
    assert one(datum(b"abc", -2, encoded=1)) == [[[97, 98, 99]], [[-2]]]
    assert one(datum(b"abc", 7, encoded=1), image_available=False) == [[[7]]]
    assert one(datum(b"abc", 7, encoded=1), label_available=False) == [[[97, 98, 99]]]
    assert one(datum(b"abcdef", 7, (2, 1, 3), encoded=0)) == [[[[[97, 98], [99, 100], [101, 102]]]], [[7]]]
    assert one(datum(b"abcdef", 7, (2, 1, 3))) == [[[97, 98, 99, 100, 101, 102]], [[7]]]
    assert one(datum(b"abc")) == [[[97, 98, 99]], [[]]]
    assert one(datum(None, 3)) == [[[]], [[3]]]
    with pytest.raises(RuntimeError, match=r'record 0: key "00000000": .*\(1, 3, 3\), got 6 bytes'):
        one(datum(b"abcdef", 7, (3, 1, 3), encoded=0))
    with pytest.raises(RuntimeError, match="got 6 bytes"):
        one(datum(b"abcdef", 7, (2**31 - 1, 2**31 - 1, 2**31 - 1), encoded=0))
    with pytest.raises(RuntimeError, match="got 6 bytes"):
        one(datum(b"abcdef", 7, (-2, -3, 1), encoded=0))
    with pytest.raises(IndexError):
        one(datum(b"abc", 7), image_available=False, label_available=False)


JPEG = tensor(STRING, dims=[1], data=b"JPEG")
LABEL = tensor(INT32, dims=[1], values=[5])
PLACES, WEIGHTS = tensor(INT32, values=[3, 0]), tensor(FLOAT, values=[0.5, 4])
BOX = tensor(INT32, dims=[4], values=[1, 2, 3, 4])
BYTES = [[74, 80, 69, 71]]


@pytest.mark.parametrize(
    ("tensors", "arguments", "outputs"),
    [
        ([JPEG, LABEL], {}, [BYTES, [[5]]]),
        ([JPEG, tensor(FLOAT, values=[0.5])], {}, [BYTES, [[0.5]]]),
        ([JPEG, tensor(INT32, values=[-5], packed=False)], {}, [BYTES, [[-5]]]),
        ([tensor(BYTE, dims=[1, 3, 2], data=b"abcdef"), LABEL], {}, [[[[[97, 98], [99, 100], [101, 102]]]], [[5]]]),
        ([tensor(BYTE, dims=[3, 1], data=b"abc"), LABEL], {}, [[[[[97]], [[98]], [[99]]]], [[5]]]),
        ([LABEL], {"image_available": False}, [[[5]]]),
        ([JPEG, PLACES], {"label_type": 1, "num_labels": 5}, [BYTES, [[1, 0, 0, 1, 0]]]),
        ([JPEG, PLACES], {"label_type": 2}, [BYTES, [[3, 0]]]),
        ([JPEG, tensor(FLOAT, values=[3, 0.5], packed=False)], {"label_type": 2}, [BYTES, [[3, 0.5]]]),
        ([JPEG, PLACES, WEIGHTS], {"label_type": 3, "num_labels": 4}, [BYTES, [[4, 0, 0, 0.5]]]),
        ([JPEG, LABEL], {"label_type": 4}, [BYTES]),
        ([JPEG, LABEL, BOX], {"bbox": True}, [BYTES, [[5]], [[1, 2, 3, 4]]]),
        ([JPEG, LABEL, WEIGHTS], {"additional_inputs": 1}, [BYTES, [[5]], [[0.5, 4]]]),
        ([JPEG, WEIGHTS, PLACES, BOX], {"label_type": 4, "additional_inputs": 2, "bbox": True},
         [BYTES, [[0.5, 4]], [[3, 0]], [[1, 2, 3, 4]]]),
    ],
)  # fmt: skip
def test_what_tensors_hold(tmp_path, tensors, arguments, outputs):
    assert caffe2(write(tmp_path / "db", [record(*tensors)]), **arguments) == outputs


@pytest.mark.parametrize(
    ("tensors", "arguments", "problem"),
    [
        ([], {}, "an image as tensor 0"),
        ([JPEG], {}, "labels as tensor 1"),
        ([tensor(FLOAT, values=[1]), LABEL], {}, "an image of type"),
        ([tensor(BYTE, dims=[2, 3, 3], data=b"abc"), LABEL], {}, "got 3 bytes"),
        ([tensor(BYTE, dims=[2**62, 2**62, 3], data=b"abc"), LABEL], {}, "got 3 bytes"),
        ([tensor(BYTE, dims=[-3, -1, 1], data=b"abc"), LABEL], {}, "got 3 bytes"),
        ([tensor(BYTE, dims=[3], data=b"abc"), LABEL], {}, "2 or 3 axes"),
        ([JPEG, PLACES], {}, "one label, got 2"),
        ([JPEG, JPEG], {}, "labels of type"),
        ([JPEG, PLACES], {"label_type": 1, "num_labels": 3}, "from 0 to 2, got 3"),
        ([JPEG, tensor(INT32, values=[-1])], {"label_type": 1, "num_labels": 3}, "from 0 to 2, got -1"),
        ([JPEG, tensor(FLOAT, values=[np.nan])], {"label_type": 1, "num_labels": 3}, "from 0 to 2, got nan"),
        ([JPEG, PLACES], {"label_type": 3, "num_labels": 4}, "weights as tensor 2"),
        ([JPEG, LABEL, WEIGHTS], {"label_type": 3, "num_labels": 9}, "1 weights of type float32, got 2"),
        ([JPEG, LABEL, PLACES], {"bbox": True}, "4 int32 numbers as the box, got 2"),
        ([JPEG, LABEL], {"additional_inputs": 1}, "additional input as tensor 2"),
    ],
)
def test_tensors_that_do_not_fit(tmp_path, tensors, arguments, problem):
    with pytest.raises(RuntimeError, match=r"db, record 0") as error:
        caffe2(write(tmp_path / "db", [record(*tensors)]), **arguments)
    assert problem in str(error.value)


@pytest.mark.parametrize("arguments", [{"label_type": 5}, {"label_type": -1}, {"additional_inputs": -1}])
def test_bad_arguments(tmp_path, arguments):
    with pytest.raises(RuntimeError):
        caffe2(write(tmp_path / "db", [record(JPEG, LABEL)]), **arguments)


def test_records_that_differ(tmp_path):
    path = write(tmp_path / "db", [record(JPEG, LABEL), record(JPEG, tensor(FLOAT, values=[1]))])
    with pytest.raises(RuntimeError, match=r"sample 1 \(.*db, record 1\): expected int32 .* as in .*db, record 0"):
        caffe2(path, 2)


def test_damaged_records(tmp_path):
    good = datum(b"abc", 3, encoded=1)
    for cut in (4, len(good) - 1):
        path = write(tmp_path / str(cut), [good, good[:cut], good])
        batches = list(avida.readers.Caffe(path=path).next_epoch(batch_size=1))
        with pytest.raises(RuntimeError, match=r'record 1\): key "00000001": damaged message'):
            batches[1][0].evaluate()
        assert batches[2][1].tensors[0].item() == 3
    path = write(tmp_path / "first", [b"\xff\xff", good])
    assert list(avida.readers.Caffe(path=path).next_epoch(batch_size=1))[1][1].tensors[0].item() == 3


def test_damaged_databases(tmp_path):
    path = numbered(tmp_path / "db", 300)
    file = tmp_path / "db" / "data.mdb"
    content = file.read_bytes()
    for damaged in (content[: len(content) // 2], content[:8192], content[:100], b"", b"garbage" * 5000):
        file.write_bytes(damaged)
        with pytest.raises(RuntimeError, match=f"LMDB {path}: "):
            caffe(path)
    with pytest.raises(RuntimeError, match="cannot be opened"):
        caffe(tmp_path / "nothing")
    with pytest.raises(RuntimeError, match="at least one sample"):
        caffe(write(tmp_path / "empty", []))


def with_claimed_size(content, number, size):
    """The database with another size for the value of a record that has pages of its own, which fits its message."""
    content = bytearray(content)
    for page in range(2 * PAGE, len(content), PAGE):
        _, _, flags, end, _ = struct.unpack_from("<QHHHH", content, page)
        if flags != 2:  # a leaf
            continue
        for place in range(page + 16, page + end, 2):
            node = page + struct.unpack_from("<H", content, place)[0]
            _, _, kind, key_size = struct.unpack_from("<HHHH", content, node)
            if kind != 1 or content[node + 8 : node + 8 + key_size] != b"%08d" % number:
                continue
            struct.pack_into("<HH", content, node, size & 0xFFFF, size >> 16)
            (value,) = struct.unpack_from("<Q", content, node + 8 + key_size)
            begin = value * PAGE + 16
            message = b"\x22" + varint(size - 4)
            content[begin : begin + len(message)] = message
            return bytes(content), len(content) - begin
    raise ValueError(number)


def test_a_record_that_goes_on_behind_the_file(tmp_path):
    path = write(tmp_path / "db", [datum(b"x" * 6000, i) for i in range(20)])
    file = tmp_path / "db" / "data.mdb"
    good = file.read_bytes()
    _, left = with_claimed_size(good, 7, 100)
    for size in (left + 1, left + 4096, len(good) - 1, 2**31 - 1):
        file.write_bytes(with_claimed_size(good, 7, size)[0])
        batches = list(avida.readers.Caffe(path=path).next_epoch(batch_size=1))
        for i, (images, labels) in enumerate(batches):
            if i == 7:
                with pytest.raises(RuntimeError, match=r"db, record 7\): damaged database: page \d+: .*a value of"):
                    images.evaluate()
            else:
                assert labels.tensors[0].item() == i


def test_a_database_that_shrinks(tmp_path):
    reader = avida.readers.Caffe(path=numbered(tmp_path / "db", 2000), prefetch_queue_depth=1)
    epoch = reader.next_epoch(batch_size=4)
    next(epoch)
    os.truncate(tmp_path / "db" / "data.mdb", 2 * PAGE)
    with pytest.raises(RuntimeError, match=r"db, record \d+\): expected .* but the file has only 8192 bytes"):
        [images.evaluate() for images, _ in epoch]


def test_nothing_is_written_to_the_folder(tmp_path):
    path = numbered(tmp_path / "db", 3)
    os.remove(tmp_path / "db" / "lock.mdb")
    caffe(path)
    assert os.listdir(path) == ["data.mdb"]


def test_a_child_process_reads_on(tmp_path):
    reader = avida.readers.Caffe(path=numbered(tmp_path / "db", 200), prefetch_queue_depth=4)
    epoch = reader.next_epoch(batch_size=10)
    first = [label.item() for label in next(epoch)[1]]

    def rest():
        return [label.item() for _, labels in epoch for label in labels]

    assert in_child(rest) == list(range(10, 200))
    assert first + rest() == list(range(200))


SIZES = [0, 1, 50, 900, 1900, 2010, 2020, 2030, 4050, 4060, 4070, 8160, 16_360, 16_370, 16_380, 20_000, 70_000]


def random_transaction(rng):
    """Keys of up to 511 bytes, with the sizes of their values, or None where they are deleted."""
    keys = [b"%03d" % i + b"k" * (i * 37 % 509) for i in range(rng.choice([5, 150]))]
    deleted = rng.choice([0, 0.3, 0.7])
    return [
        (rng.choice(keys), None if rng.random() < deleted else rng.choice(SIZES)) for _ in range(rng.randrange(1, 200))
    ]


def random_database(path, rng, transactions, **options):
    """Returns the number of pages that it says it has."""
    with lmdb.open(str(path), map_size=2**26, sync=False, **options) as database:
        for number in range(transactions):
            with database.begin(write=True) as transaction:
                for key, size in random_transaction(rng):
                    if size is None:
                        transaction.delete(key)
                    else:
                        transaction.put(key, datum(rng.randbytes(size), number, encoded=1))
        return database.info()["last_pgno"] + 1


def check_records(path, rng, **options):
    """All of them, in order and in another one, are those that lmdb finds."""
    with lmdb.open(str(path), readonly=True, lock=False, **options) as database, database.begin() as transaction:
        expected = [bytes(value) for _, value in transaction.cursor()]
    if not expected:
        with pytest.raises(RuntimeError, match="at least one sample"):
            avida.readers.Caffe(path=path).next_epoch()
        return
    reader = avida.readers.Caffe(path=path)
    assert len(reader) == len(expected)
    for indices in (None, rng.sample(range(len(expected)), len(expected))):
        samples = reader.next_epoch(indices=indices)
        found = [datum(bytes(np.asarray(image)), label.item(), encoded=1) for image, label in samples]
        assert found == [expected[i] for i in indices or range(len(expected))]


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), transactions=st.integers(0, 7), subdir=st.booleans(), writemap=st.booleans())
def test_the_records_are_those_that_lmdb_finds(seed, transactions, subdir, writemap):
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "db")
        random_database(path, rng, transactions, subdir=subdir, writemap=writemap)
        check_records(path, rng, subdir=subdir)


def test_pages_at_the_end_that_were_never_written(tmp_path):
    """A transaction may take pages and drop them again: the file is shorter than its meta page says."""
    for seed in range(1000):
        rng = random.Random(seed)
        path = tmp_path / str(seed)
        pages = random_database(path, rng, 5)
        if (path / "data.mdb").stat().st_size < pages * PAGE:
            check_records(path, rng)
            return
        shutil.rmtree(path)
    pytest.fail("no such database was found")


def test_a_named_database(tmp_path):
    with lmdb.open(str(tmp_path / "db"), max_dbs=2) as database, database.begin(write=True) as transaction:
        transaction.put(b"1", datum(b"abc", 1), db=database.open_db(b"named", transaction))
    with pytest.raises(RuntimeError, match=r'record 0: expected a record, found another database as "named"'):
        caffe(tmp_path / "db")


@pytest.mark.parametrize(
    ("offset", "value", "problem"),
    [
        (16, 0xBEEFC0DD, "expected an LMDB meta page at byte 0, found other data"),
        (20, 2, "expected version 1 of the format, found 2"),
        (40, 1000, "expected pages of 256 to 32768 bytes, found 1000"),
        (92, 4 | 1 << 16, "expected one record for each key.*MDB_DUPSORT"),
        (92, 200 << 16, "300 records in a tree of 200 levels"),
        (120, 2**31, "2147483648 records in .* pages of 4096 bytes"),
        (120, 301, "expected 301 records, found 300"),
        (128, 2**31, "it refers to page 2147483648, and has"),
    ],
)
def test_damaged_meta_pages(tmp_path, offset, value, problem):
    path = numbered(tmp_path / "db", 300)
    with open(tmp_path / "db" / "data.mdb", "r+b") as file:
        for page in range(2):
            file.seek(page * PAGE + offset)
            file.write(struct.pack("<I", value))
    with pytest.raises(RuntimeError, match=problem):
        [label.evaluate() for _, label in avida.readers.Caffe(path=path).next_epoch()]


WRITER = """
import sys, lmdb
from tests.readers.lmdb_records import datum
with lmdb.open(sys.argv[1], map_size=2**26, sync=False) as database:
    generation = 0
    while True:
        generation = generation % 250 + 1
        with database.begin(write=True) as transaction:
            for i in range(60):
                size = (i * 997 + generation * 131) % 40_000
                transaction.put(b"%08d" % i, datum(bytes([generation]) * size, generation, encoded=1))
        print(generation, flush=True)
"""


def test_a_database_that_is_written_to_while_it_is_read(tmp_path):
    """Readers see one transaction, or raise an error."""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "db")], stdout=subprocess.PIPE)
    try:
        for _ in range(10):
            writer.stdout.readline()
        seen, errors = set(), []
        for _ in range(60):
            try:
                reader = avida.readers.Caffe(path=tmp_path / "db", prefetch_queue_depth=2)
                labels = set()
                for image, label in reader.next_epoch():
                    labels.add(label.item())
                    assert set(np.asarray(image).tolist()) <= labels
                assert len(labels) == 1
                seen |= labels
            except RuntimeError as error:
                errors.append(str(error))
        assert all("was written to while it was read" in error for error in errors), errors
    finally:
        writer.kill()
        writer.communicate()
    reader = avida.readers.Caffe(path=tmp_path / "db")
    assert len({label.item() for _, label in reader.next_epoch()}) == 1


def test_a_reader_of_a_database_that_has_changed(tmp_path):
    path = numbered(tmp_path / "db", 50)
    reader = avida.readers.Caffe(path=path, prefetch_queue_depth=1)
    before = [label.item() for _, label in reader.next_epoch()]
    with lmdb.open(path, map_size=2**40) as database:
        for generation in range(4):
            with database.begin(write=True) as transaction:
                transaction.put(b"%08d" % (generation * 7), datum(b"new" * 5000, 99))
    with pytest.raises(RuntimeError, match=r"was opened at transaction 1, and .*make a new reader"):
        [label.evaluate() for _, label in reader.next_epoch()]
    assert before == list(range(50))
    assert sum(label.item() == 99 for _, label in avida.readers.Caffe(path=path).next_epoch()) == 4
