"""readers.MXNet: labels, records in several parts, index files or none, damage."""

import os
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import avida
from tests.readers.records import MAGIC, image, recordio, write, write_recordio

SMALL = [recordio(image(b"data" + bytes([65 + i]), float(i))) for i in range(3)]  # of 40 bytes


def read(path, **options):
    epoch = avida.readers.MXNet(path=path, **options).next_epoch()
    return [(np.asarray(data).tobytes(), np.asarray(label).tolist()) for data, label in epoch]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 2000, 2008, 2015, 2016, 2017, 3000, 100_000])
@pytest.mark.parametrize("labels", [0, 1, 5, 700])
def test_labels_and_sizes(tmp_path, size, labels):
    random = np.random.default_rng(0)
    values = random.normal(size=labels).astype(np.float32).tolist()
    data = random.bytes(size)
    path = write_recordio(tmp_path / "a.rec", [recordio(image(data, 2.5, values)), SMALL[1]])
    expected = [(data, values or [2.5]), (b"dataB", [1.0])]
    assert read(path) == expected
    assert read(path, index_path=path + ".idx") == expected
    assert read(path, index_path=path + ".idx", read_ahead=True) == expected


def test_types(tmp_path):
    reader = avida.readers.MXNet(path=write(tmp_path / "a.rec", SMALL))
    data, labels = next(reader.next_epoch(batch_size=3))
    assert (data.dtype, labels.dtype) == (avida.uint8, avida.float32)
    assert (data.shape, labels.shape) == ([(5,)] * 3, [(1,)] * 3)
    assert [source.name for source in data.sources] == [
        f"{tmp_path}/a.rec, record {i} at byte {40 * i}" for i in range(3)
    ]


def test_parts(tmp_path):
    """Data with the magic number in it is stored in parts, without it."""
    magic = struct.pack("<I", MAGIC)
    data = b"0123" + magic + b"4567" + magic + magic + b"89"
    path = write_recordio(tmp_path / "a.rec", [SMALL[0], recordio(*image(data, 3.0).split(magic)), SMALL[2]])
    expected = [(b"dataA", [0.0]), (data, [3.0]), (b"dataC", [2.0])]
    assert read(path) == expected
    assert read(path, index_path=path + ".idx") == expected


def test_several_files(tmp_path):
    """One index counts through all files."""
    paths = [
        write(tmp_path / "a", SMALL[:2]),
        write(tmp_path / "empty", []),
        write(tmp_path / "b", SMALL[2:] + SMALL[:1]),
    ]
    index = tmp_path / "all.idx"
    index.write_text("0\t0\n1\t40\n2\t80\n3\t120\n")
    expected = [(b"dataA", [0.0]), (b"dataB", [1.0]), (b"dataC", [2.0]), (b"dataA", [0.0])]
    assert read(paths, index_path=str(index)) == expected
    assert read(paths) == expected
    reader = avida.readers.MXNet(path=paths, index_path=str(index))
    assert reader[2][0].source.name == f"{paths[2]}, record 0 at byte 0"
    with pytest.raises(RuntimeError, match="one index for all files, got 2"):
        read(paths, index_path=[str(index)] * 2)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("2\t80\n0\t0\n1\t40\n", "ABC"),  # the order is that of the file
        ("7\t0\n7\t80\n", "AC"),
        ("0\t0\n0\t0\n1 40\n", "AB"),
        ("0\t0\n1\t40\n2\t80\n3\t120\n", "ABC"),  # some writers name the end too
        ("\n0\t40", "B"),
    ],
)
def test_index(tmp_path, index, expected):
    path = write(tmp_path / "a.rec", SMALL)
    (tmp_path / "a.idx").write_text(index)
    assert "".join(chr(data[-1]) for data, _ in read(path, index_path=str(tmp_path / "a.idx"))) == expected


@pytest.mark.parametrize(
    ("index", "error"),
    [
        ("", "at least one sample"),
        ("hello there\n", 'a.idx, line 1: .*"hello"'),
        ("0\t0\n1\n", "a.idx, line 3: the text ends"),
        ("0\t4\n", "a.rec, record 0 at byte 4: expected the magic number"),
        ("0\t5000\n", "at byte 5000, but the file has only 120 bytes"),
        ("0\t116\n", "at byte 116, but the file has only 120 bytes"),
        ("0\t-4\n", "line 1"),
    ],
)
def test_bad_index(tmp_path, index, error):
    path = write(tmp_path / "a.rec", SMALL)
    (tmp_path / "a.idx").write_text(index)
    with pytest.raises(RuntimeError, match=error):
        read(path, index_path=str(tmp_path / "a.idx"))


def part(position, data, length=None):
    return struct.pack("<II", MAGIC, position << 29 | (len(data) if length is None else length)) + data


@pytest.mark.parametrize(
    ("record", "error"),
    [
        (bytes(4) + SMALL[1][4:], "magic number"),
        (part(0, image(b"abcd"), 5000), "has 5000 bytes of data, but only"),
        (part(0, b"abcd"), "at least 24 bytes of data, got 4"),
        (recordio(image(b"abcd", count=2)), "expected 2 labels"),
        (recordio(image(b"abcd", count=2**32 - 1)), "expected 4294967295 labels"),
        (part(1, image(b"abcd")), "another record begins before the last part"),
        (part(2, image(b"abcd")), "the middle of one"),
        (part(3, image(b"abcd")), "the middle of one"),
        (part(1, b"abcd") + part(3, b"abcd"), "at least 24 bytes of data, got 12"),
        (part(5, image(b"abcd")), "out of order"),
    ],
)
def test_damaged_records(tmp_path, record, error):
    path = write_recordio(tmp_path / "a.rec", [SMALL[0], record, SMALL[2]])
    reader = avida.readers.MXNet(path=path, index_path=path + ".idx")
    epoch = reader.next_epoch()
    next(epoch)
    with pytest.raises(RuntimeError, match=rf"a\.rec, record 1 at byte 40: .*{error}"):
        next(epoch)[0].evaluate()
    assert np.asarray(next(epoch)[0]).tobytes() == b"dataC"
    reader = avida.readers.MXNet(path=path, index_path=path + ".idx", on_error="skip")
    assert [chr(np.asarray(data)[-1]) for data, _ in reader.next_epoch()] == ["A", "C"]
    assert [error.index for error in reader.errors] == [1]


@pytest.mark.parametrize("cut", [1, 4, 10, 35, 39])
def test_truncated(tmp_path, cut):
    path = write_recordio(tmp_path / "a.rec", [recordio(image(b"abcdefgh", 1.0)), recordio(image(b"abcdefgh", 2.0))])
    os.truncate(path, 80 - cut)
    for options in ({}, {"index_path": path + ".idx"}):
        reader = avida.readers.MXNet(path=path, on_error="skip", **options)
        assert [np.asarray(label).tolist() for _, label in reader.next_epoch()] == [[1.0]]
        assert reader.errors[0].source == f"{path}, record 1 at byte 40"
    with pytest.raises(RuntimeError, match=r"a\.rec, byte 40: "):
        avida.readers.MXNet(path=path)


def test_bad_order_of_parts(tmp_path):
    for records in ([part(2, b"abcd")], [part(1, b"abcd"), SMALL[0]], [part(1, b"abcd")], [SMALL[0], part(3, b"")]):
        with pytest.raises(RuntimeError, match=r"a\.rec, byte \d+: .*part"):
            avida.readers.MXNet(path=write(tmp_path / "a.rec", records))


@given(st.binary(max_size=60), st.integers(0, 130))
def test_damage_anywhere(tmp_path_factory, noise, at):
    whole = b"".join(SMALL)
    data = whole[:at] + noise + whole[at + len(noise) :]
    path = write(tmp_path_factory.getbasetemp() / "noise.rec", [data])
    index = tmp_path_factory.getbasetemp() / "noise.idx"
    index.write_text("0\t0\n1\t40\n2\t80\n")
    for options in ({}, {"index_path": str(index)}):
        try:
            reader = avida.readers.MXNet(path=path, **options)
            for i in range(len(reader)):
                reader[i]
        except RuntimeError as error:
            assert "noise.rec, " in str(error)
