"""readers.TFRecord: features of all kinds, index files or none, damage."""

import itertools
import os
import struct
import subprocess
import sys

import numpy as np
import pytest
import tfrecord as public
from hypothesis import given
from hypothesis import strategies as st

import avida
from avida.tfrecord import FixedLenFeature, VarLenFeature, float32, int64, string
from tests.readers.records import example, field, floats, ints, strings, tfrecord, varint, write, write_tfrecords

NUMBER = {"number": FixedLenFeature([], int64, -1)}


def read(path, features, **options):
    """All samples of the next epoch, as arrays."""
    epoch = avida.readers.TFRecord(path=path, features=features, **options).next_epoch()
    return [{name: np.asarray(value) for name, value in sample.items()} for sample in epoch]


def one(tmp_path, message, feature, name="x"):
    """What is read of a file with one example."""
    return read(write(tmp_path / "one", [tfrecord(message)]), {name: feature})[0][name]


def numbered(path, count, first=0):
    return write_tfrecords(path, [example(number=ints(first + i)) for i in range(count)])


def numbers(samples):
    return [int(sample["number"]) for sample in samples]


@pytest.mark.parametrize("indexed", [False, True])
def test_written_by_the_public_writer(tmp_path, indexed):
    random = np.random.default_rng(0)
    path = str(tmp_path / "data.tfrecord")
    written = []
    writer = public.TFRecordWriter(path)
    for i in range(20):
        boxes = random.normal(size=4 * (i % 3)).astype(np.float32).tolist()
        written.append((random.bytes(100 * i), [i, -(2**40)], boxes))
        image, label, box = written[-1]
        datum = {"image": (image, "byte"), "label": (label, "int")}
        writer.write(datum | ({"boxes": (box, "float")} if box else {}))
    writer.close()
    options = {}
    if indexed:
        from tfrecord.tools.tfrecord2idx import create_index

        create_index(path, path + ".idx")
        options["index_path"] = path + ".idx"
    features = {
        "boxes": VarLenFeature([4], float32, 0.0),
        "image": FixedLenFeature([], string, ""),
        "label": FixedLenFeature([2], int64, 0),
    }
    samples = read(path, features, **options)
    assert [list(sample) for sample in samples] == [["boxes", "image", "label"]] * 20
    for sample, (image, label, boxes) in zip(samples, written, strict=True):
        assert sample["image"].dtype == np.uint8
        assert sample["image"].tobytes() == image
        assert sample["label"].dtype == np.int64
        assert sample["label"].tolist() == label
        assert sample["boxes"].dtype == np.float32
        assert sample["boxes"].shape == (len(boxes) // 4, 4)
        assert sample["boxes"].flatten().tolist() == boxes


def test_batches_and_sources(tmp_path):
    paths = [numbered(tmp_path / "a", 3), numbered(tmp_path / "b", 0), numbered(tmp_path / "c", 2, first=10)]
    for options in ({}, {"index_path": [path + ".idx" for path in paths]}):
        reader = avida.readers.TFRecord(path=paths, features=NUMBER, **options)
        batch = next(reader.next_epoch(batch_size=5))["number"]
        assert isinstance(batch, avida.Batch)
        assert batch.torch().tolist() == [0, 1, 2, 10, 11]
        size = len(tfrecord(example(number=ints(1))))
        places = [(paths[0], 0), (paths[0], 1), (paths[0], 2), (paths[2], 0), (paths[2], 1)]
        names = [f"{path}, record {i} at byte {i * size}" for path, i in places]
        assert [source.name for source in batch.sources] == names
        assert reader[3]["number"].item() == 10
        assert reader[1:4]["number"].torch().tolist() == [1, 2, 10]
        assert len(reader) == 5


def test_shards_shuffles_and_state(tmp_path):
    path = numbered(tmp_path / "a", 11)
    parts = [
        numbers(read(path, NUMBER, num_shards=3, shard_id=i, random_shuffle=True, last_batch="partial"))
        for i in range(3)
    ]
    assert sorted(itertools.chain(*parts)) == list(range(11))
    reader = avida.readers.TFRecord(path=path, features=NUMBER)
    epoch = reader.next_epoch()
    first = [next(epoch) for _ in range(4)]
    other = avida.readers.TFRecord(path=path, features=NUMBER)
    other.set_state(str(reader.get_state()))
    assert numbers(first) + numbers(other.next_epoch()) == list(range(11))


def test_fixed_shapes(tmp_path):
    six = example(x=floats(1, 2, 3, 4, 5, 6))
    assert one(tmp_path, six, FixedLenFeature([2, 3], float32, 0.0)).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert one(tmp_path, six, FixedLenFeature([4, 2], float32, 0.5)).tolist() == [[1, 2], [3, 4], [5, 6], [0.5, 0.5]]
    with pytest.raises(RuntimeError, match=r'feature "x": expected at most 4 values.*got 6'):
        one(tmp_path, six, FixedLenFeature([2, 2], float32, 0.0))
    assert one(tmp_path, example(x=ints(7)), FixedLenFeature([], int64, 0)).shape == ()


def test_variable_shapes(tmp_path):
    six = example(x=ints(*range(6)))
    assert one(tmp_path, six, VarLenFeature(int64, 0)).tolist() == list(range(6))
    assert one(tmp_path, six, VarLenFeature([3], int64, 0)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert one(tmp_path, six, VarLenFeature([3, 2], int64, 0)).shape == (1, 3, 2)
    with pytest.raises(RuntimeError, match="expected a multiple of 4 values"):
        one(tmp_path, six, VarLenFeature([4], int64, 0))
    assert one(tmp_path, example(x=ints()), VarLenFeature([3], int64, 0)).shape == (0, 3)


@pytest.mark.parametrize("message", [example(y=ints(5)), example(x=b""), b"", example()])
def test_missing_features(tmp_path, message):
    assert one(tmp_path, message, FixedLenFeature([2, 2], int64, -3)).tolist() == [[-3, -3], [-3, -3]]
    assert one(tmp_path, message, FixedLenFeature([1], float32, 0.25)).tolist() == [0.25]
    assert one(tmp_path, message, FixedLenFeature([], string, "né")).tobytes() == "né".encode()
    assert one(tmp_path, message, VarLenFeature(float32, 1.0)).shape == (0,)
    assert one(tmp_path, message, VarLenFeature([5, 2], int64, 1)).shape == (0, 5, 2)


def test_strings(tmp_path):
    assert one(tmp_path, example(x=strings(b"abc", b"de")), FixedLenFeature([1], string, "")).tobytes() == b"abc"
    assert one(tmp_path, example(x=strings(b"")), FixedLenFeature([], string, "other")).shape == (0,)
    for feature in (FixedLenFeature([2], string, ""), VarLenFeature(string, "")):
        with pytest.raises(RuntimeError, match="one string"):
            one(tmp_path, example(x=strings(b"abc")), feature)


@pytest.mark.parametrize(
    ("value", "feature", "text"),
    [
        (ints(1), VarLenFeature(float32, 0.0), "expected float32 numbers, got int64 numbers"),
        (floats(1), FixedLenFeature([1], int64, 0), "expected int64 numbers, got float32 numbers"),
        (ints(1), FixedLenFeature([], string, ""), "expected strings, got int64 numbers"),
        (strings(b"a"), VarLenFeature(int64, 0), "expected int64 numbers, got strings"),
    ],
)
def test_features_of_another_type(tmp_path, value, feature, text):
    with pytest.raises(RuntimeError, match=f'one, record 0 at byte 0: feature "x": {text}'):
        one(tmp_path, example(x=value), feature)


def test_other_encodings(tmp_path):
    """Numbers that are not packed, or in several pieces; keys twice; fields that nobody knows."""
    single = field(3, varint(8) + varint(4) + field(1, varint(5) + varint(-6)) + varint(8) + varint(7))
    assert one(tmp_path, example(x=single), VarLenFeature(int64, 0)).tolist() == [4, 5, -6, 7]
    single = field(2, b"\x0d" + struct.pack("<f", 1.5) + field(1, struct.pack("<ff", 2, 3)))
    assert one(tmp_path, example(x=single), VarLenFeature(float32, 0.0)).tolist() == [1.5, 2, 3]
    twice = example(x=ints(1)) + example(x=ints(2))
    assert one(tmp_path, twice, VarLenFeature(int64, 0)).tolist() == [2]
    unknown = field(9, b"abc") + varint(10 << 3) + varint(5) + varint(11 << 3 | 1) + bytes(8) + example(x=ints(1))
    assert one(tmp_path, unknown, VarLenFeature(int64, 0)).tolist() == [1]


# Strings of 16 KiB or more are left out when the shapes are searched; windows are of 2 KiB.
LONG = np.random.default_rng(1).bytes(40_000)
SIZES = [0, 1, 2030, 2048, 5000, 16_383, 16_384, 18_500, 20_000]


@given(
    st.dictionaries(st.sampled_from("abcde"), st.sampled_from(SIZES), min_size=1),
    st.sampled_from(SIZES),
    st.lists(st.sampled_from("abcde"), unique=True),
    st.permutations(["x", *"abcde"]),
)
def test_long_strings(tmp_path_factory, sizes, count, wanted, order):
    """Strings and numbers of any size, in any order in the record and among the outputs, wanted or not."""
    contents = {name: LONG[i : i + size] for i, (name, size) in enumerate(sizes.items())}
    written = {name: strings(text) for name, text in contents.items()} | {"x": ints(*range(count // 2))}
    message = example(**{name: written[name] for name in order if name in written})
    path = write(tmp_path_factory.getbasetemp() / "long", [tfrecord(message)])
    features = {name: FixedLenFeature([], string, "none") for name in wanted} | {"x": VarLenFeature(int64, 0)}
    sample = avida.readers.TFRecord(path=path, features=features)[0]
    for name in wanted:
        assert np.asarray(sample[name]).tobytes() == contents.get(name, b"none")
    assert np.array_equal(np.asarray(sample["x"]), np.arange(count // 2))


IMAGE = {"image": FixedLenFeature([], string, "")} | NUMBER


def with_image(number, image, number_first):
    features = {"number": ints(number), "image": strings(image)}
    return example(**{name: features[name] for name in sorted(features, reverse=number_first)})


def with_images(path, number_first):
    """Writes three records; their size."""
    messages = [with_image(i, LONG, number_first) for i in range(3)]
    write_tfrecords(path, messages)
    return len(tfrecord(messages[0]))


def test_second_string_of_a_feature(tmp_path):
    for values in ((LONG, b"b"), (b"a", LONG), (LONG, LONG)):
        message = example(x=strings(*values), number=ints(3))
        assert one(tmp_path, message, FixedLenFeature([], string, "")).tobytes() == values[0]


@pytest.mark.parametrize("number_first", [False, True])
@pytest.mark.parametrize("byte", [0, 12, 17, 40, 2500, 30_000, -40, -12, -5, -1])
def test_wrong_checksums_around_long_strings(tmp_path, number_first, byte):
    path = tmp_path / "a.tfrecord"
    size = with_images(path, number_first)
    data = bytearray(path.read_bytes())
    data[size + byte % size] ^= 4
    path.write_bytes(data)
    options = {"path": str(path), "index_path": f"{path}.idx", "features": IMAGE}
    with pytest.raises(RuntimeError, match=rf"record 1 at byte {size}: .*checksum"):
        avida.readers.TFRecord(**options)[1]
    reader = avida.readers.TFRecord(**options, on_error="skip")
    (batch,) = reader.next_epoch(batch_size=3)
    assert batch["number"].torch().tolist() == [0, 2]
    assert [np.asarray(image).tobytes() for image in batch["image"]] == [LONG, LONG]
    assert [error.index for error in reader.errors] == [1]


@pytest.mark.parametrize("left", [0, 5, 1000, 2048, 30_000, -30, -4, -1])
def test_file_that_shrinks_within_a_long_string(tmp_path, left):
    path = tmp_path / "a"
    size = with_images(path, number_first=False)
    reader = avida.readers.TFRecord(path=str(path), features=IMAGE)
    os.truncate(path, 2 * size + left % size)
    with pytest.raises(RuntimeError, match=r"record 2 at byte .*(but the file has|or none begins|cut)"):
        reader[2]
    assert reader[1]["number"].item() == 1


@given(st.binary(min_size=1, max_size=8), st.integers(0, 60), st.booleans(), st.booleans())
def test_damaged_messages_with_long_strings(tmp_path_factory, noise, at, from_end, number_first):
    """Lengths that lie, where most of the record is not read to find the shapes."""
    whole = with_image(1, LONG[:20_000], number_first)
    at = len(whole) - at - len(noise) if from_end else at
    message = whole[:at] + noise + whole[at + len(noise) :]
    path = write(tmp_path_factory.getbasetemp() / "noise", [tfrecord(message)])
    try:
        avida.readers.TFRecord(path=path, features=IMAGE)[0]
    except RuntimeError as error:
        assert "noise, record 0 at byte 0" in str(error)
        assert "checksum" not in str(error)


@given(st.binary(max_size=60), st.integers(0, 200))
def test_damaged_messages(tmp_path_factory, noise, at):
    """Messages with valid checksums but any content are read or refused, and nothing else happens."""
    whole = example(x=ints(1, 2**40, -1), y=floats(1, 2), z=strings(b"abc"))
    message = whole[:at] + noise + whole[at + len(noise) :]
    path = write(tmp_path_factory.getbasetemp() / "noise", [tfrecord(message)])
    features = {
        "x": VarLenFeature(int64, 0),
        "y": VarLenFeature([2], float32, 0.0),
        "z": FixedLenFeature([], string, ""),
    }
    try:
        avida.readers.TFRecord(path=path, features=features)[0]
    except RuntimeError as error:
        assert "noise, record 0 at byte 0" in str(error)


@pytest.mark.parametrize("byte", [0, 7, 9, 13, 40, -1])
def test_wrong_checksums(tmp_path, byte):
    messages = [example(number=ints(i), rest=strings(bytes(5000))) for i in range(3)]
    path = write_tfrecords(tmp_path / "a.tfrecord", messages)
    size = len(tfrecord(messages[0]))
    data = bytearray((tmp_path / "a.tfrecord").read_bytes())
    data[size + byte if byte >= 0 else 2 * size + byte] ^= 4
    (tmp_path / "a.tfrecord").write_bytes(data)
    reader = avida.readers.TFRecord(path=path, index_path=path + ".idx", features=NUMBER)
    epoch = reader.next_epoch()
    assert int(np.asarray(next(epoch)["number"])) == 0
    with pytest.raises(RuntimeError, match=rf"a\.tfrecord, record 1 at byte {size}: .*(checksum|bytes of data)"):
        next(epoch)["number"].evaluate()
    assert int(np.asarray(next(epoch)["number"])) == 2
    reader = avida.readers.TFRecord(path=path, index_path=path + ".idx", features=NUMBER, on_error="skip")
    assert numbers(reader.next_epoch()) == [0, 2]
    assert [error.index for error in reader.errors] == [1]


@pytest.mark.parametrize("cut", [1, 5, 20, 30])
def test_truncated(tmp_path, cut):
    path = numbered(tmp_path / "a", 3)
    os.truncate(path, os.path.getsize(path) - cut)
    size = len(tfrecord(example(number=ints(0))))
    with pytest.raises(RuntimeError, match=rf"{path}, byte {2 * size}: "):
        avida.readers.TFRecord(path=path, features=NUMBER)
    for options in ({}, {"index_path": path + ".idx"}):
        reader = avida.readers.TFRecord(path=path, features=NUMBER, on_error="skip", **options)
        assert numbers(reader.next_epoch()) == [0, 1]
        assert reader.errors[0].source == f"{path}, record 2 at byte {2 * size}"
    with pytest.raises(RuntimeError, match="record 2 at byte"):
        read(path, NUMBER, index_path=path + ".idx")


def test_file_that_shrinks_while_it_is_read(tmp_path):
    path = numbered(tmp_path / "a", 100)
    reader = avida.readers.TFRecord(path=path, features=NUMBER, index_path=path + ".idx")
    os.truncate(path, 50)
    with pytest.raises(RuntimeError, match="record 99 at byte"):
        reader[99]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\n" + text.replace("\n", "\n\n"),
        lambda text: text.replace(" ", "\t"),
        lambda text: text.rstrip(),
    ],
)
def test_index_with_other_blanks(tmp_path, change):
    path = numbered(tmp_path / "a", 3)
    index = tmp_path / "a.idx"
    index.write_bytes(change(index.read_text()).encode())
    assert numbers(read(path, NUMBER, index_path=str(index))) == [0, 1, 2]


@pytest.mark.parametrize(
    ("index", "error"),
    [
        ("", "at least one sample"),
        ("0 36\nhello 5\n", r"a.idx, line 2: expected two integers.*\"hello\""),
        ("0 36\n\n36\n", "a.idx, line 4: the text ends"),
        ("0 36x\n", "line 1"),
        ("-5 36\n", "line 1"),
        ("1.5 36\n", "line 1"),
        ("0 99999999999999999999\n", "line 1"),
        ("99999999 36\n", "only 75 bytes"),
        ("0 9999999999999\n", "only 75 bytes"),
        ("5 25\n", "or none begins here"),
        ("0 20\n", "9 bytes of data|bytes of data, but only 4"),
    ],
)
def test_bad_index(tmp_path, index, error):
    path = numbered(tmp_path / "a", 3)
    assert os.path.getsize(path) < 120
    error = error.replace("75", str(os.path.getsize(path)))
    (tmp_path / "a.idx").write_text(index)
    with pytest.raises(RuntimeError, match=error):
        read(path, NUMBER, index_path=path + ".idx")


def test_bad_arguments(tmp_path):
    path = numbered(tmp_path / "a", 3)
    with pytest.raises(RuntimeError, match="one index for each"):
        read([path, path], NUMBER, index_path=[path + ".idx"])
    with pytest.raises(RuntimeError, match="nope: cannot be opened"):
        read(str(tmp_path / "nope"), NUMBER)
    with pytest.raises(RuntimeError, match="nope: cannot be opened"):
        read(path, NUMBER, index_path=str(tmp_path / "nope"))
    with pytest.raises(RuntimeError, match="regular file"):
        read(str(tmp_path), NUMBER)
    with pytest.raises(RuntimeError, match="empty list"):
        read([], NUMBER)
    with pytest.raises(RuntimeError, match="at least one feature"):
        read(path, {})
    with pytest.raises(TypeError, match="'number', got int"):
        read(path, {"number": 3})
    with pytest.raises(RuntimeError, match="dont_use_mmap"):
        read(path, NUMBER, use_o_direct=True)
    assert len(read(path, NUMBER, use_o_direct=True, dont_use_mmap=True)) == 3
    for shape in ([-1], [2, 0]):
        with pytest.raises(RuntimeError, match="positive extents"):
            read(path, {"number": VarLenFeature(shape, int64, 0)})


def test_bad_features():
    for make in (
        lambda: FixedLenFeature([2], int64, "x"),
        lambda: FixedLenFeature([2], int64, 1.5),
        lambda: FixedLenFeature([2], int64, None),
        lambda: FixedLenFeature([], string, 5),
        lambda: VarLenFeature(float32, "x"),
        lambda: VarLenFeature(7, 0),
    ):
        with pytest.raises(RuntimeError, match="expected"):
            make()
    for make in (
        lambda: FixedLenFeature([2], int64),
        lambda: FixedLenFeature(2, int64, 0),
        lambda: FixedLenFeature([1.5], int64, 0),
        lambda: VarLenFeature(int64),
        lambda: VarLenFeature("x", 0),
    ):
        with pytest.raises(TypeError):
            make()


def test_more_files_than_a_process_may_open(tmp_path):
    """Also for a batch that needs all of them, and for several readers."""
    paths = [write_tfrecords(tmp_path / f"{i}.tfrecord", [example(number=ints(i))]) for i in range(300)]
    code = """
import resource, sys
import numpy as np
import avida
from avida.tfrecord import FixedLenFeature, int64
resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))
features = {"number": FixedLenFeature([], int64, 0)}
for _ in range(2):
    reader = avida.readers.TFRecord(path=sys.argv[1:], features=features, random_shuffle=True, prefetch_queue_depth=4)
    (batch,) = reader.next_epoch(300)
    print(sorted(int(np.asarray(number)) for number in batch["number"]) == list(range(300)))
"""
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["True", "True"], done.stderr
