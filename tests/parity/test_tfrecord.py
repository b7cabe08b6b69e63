"""readers.TFRecord of both libraries over the same files. Missing and short features differ: the real library leaves
memory as it finds it there."""

import inspect
import pathlib
import subprocess
import sys

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import nvidia.dali.tfrecord
import pytest

import avida
from avida import _cli
from tests.parity.compare import assert_same
from tests.readers.records import example, floats, ints, strings, tfrecord, write, write_tfrecords

FEATURES = {avida: avida.tfrecord, dali: nvidia.dali.tfrecord}
EXAMPLES = [
    example(image=strings(bytes(range(i))), label=ints(i, -i), box=floats(*range(6 * i)), **{"größe": ints(i)})
    for i in range(7)
]


def features(f):
    return {
        "label": f.FixedLenFeature([2], f.int64, -1),
        "image": f.FixedLenFeature((), f.string, ""),
        "box": f.VarLenFeature([3, 2], f.float32, 0.0),
        "größe": f.FixedLenFeature([], f.int64, 0),
    }


def read(library, path, wanted=features, index_path=None, batch_size=None, epochs=1, **options):
    """The items of some epochs: lists of (name, value)."""
    reader = library.readers.TFRecord(
        path=path, index_path=index_path or path + ".idx", features=wanted(FEATURES[library]), **options
    )
    size = {} if batch_size is None else {"batch_size": batch_size}
    items = [list(item.items()) for _ in range(epochs) for item in reader.next_epoch(**size)]
    for item in items:
        for _, value in item:
            value.evaluate()
    return items, reader.get_metadata()


def both(path, *args, **options):
    try:
        theirs, their_meta = read(dali, path, *args, **options)
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            read(avida, path, *args, **options)
        assert type(caught.value) is type(error)
        return
    ours, our_meta = read(avida, path, *args, **options)
    assert [[name for name, _ in item] for item in ours] == [[name for name, _ in item] for item in theirs]
    for our, their in zip(ours, theirs, strict=True):
        assert_same([value for _, value in our], [value for _, value in their])
    assert {name: getattr(their_meta, name, None) or their_meta[name] for name in our_meta} == our_meta


@pytest.mark.parametrize("batch_size", [None, 1, 3, 7, 10])
@pytest.mark.parametrize(
    "options", [{}, {"pad_last_batch": True}, {"num_shards": 3, "shard_id": 1}, {"dont_use_mmap": True}]
)
def test_batches(tmp_path, batch_size, options):
    both(write_tfrecords(tmp_path / "a", EXAMPLES), batch_size=batch_size, epochs=3, **options)


def test_several_files(tmp_path):
    paths = [write_tfrecords(tmp_path / "a", EXAMPLES[:3]), write_tfrecords(tmp_path / "b", EXAMPLES[3:])]
    both(paths, index_path=[path + ".idx" for path in paths], batch_size=4)
    both(paths, index_path=[paths[0] + ".idx"], batch_size=4)


@pytest.mark.parametrize(
    "wanted",
    [
        lambda f: {"x": f.VarLenFeature(f.int64, 0)},
        lambda f: {"x": f.VarLenFeature([2], f.int64, 0)},
        lambda f: {"x": f.VarLenFeature([], f.int64, 0)},
        lambda f: {"x": f.VarLenFeature([4], f.int64, 0)},
        lambda f: {"x": f.VarLenFeature([-1], f.int64, 0)},
        lambda f: {"x": f.FixedLenFeature([3, 2], f.int64, 0)},
        lambda f: {"x": f.FixedLenFeature([2], f.int64, 0)},
        lambda f: {"x": f.FixedLenFeature([], f.int64, 0)},
        lambda f: {"x": f.FixedLenFeature([-1], f.int64, 0)},
        lambda f: {"s": f.FixedLenFeature([], f.string, "")},
        lambda f: {"s": f.FixedLenFeature([1], f.string, "")},
        lambda f: {"s": f.FixedLenFeature([2], f.string, "")},
        lambda f: {"s": f.VarLenFeature(f.string, "")},
        lambda f: {"e": f.VarLenFeature(f.float32, 0.0)},
        lambda f: {"x": f.FixedLenFeature([6], f.int64, "x")},
        lambda f: {"x": f.FixedLenFeature([6], f.int64, None)},
        lambda f: {"x": f.FixedLenFeature([6], f.int64)},
        lambda f: {"x": f.FixedLenFeature(6, f.int64, 0)},
        lambda f: {"x": f.FixedLenFeature([6], 7, 0)},
        lambda f: {"x": f.FixedLenFeature([6], f.int64, True)},
        lambda f: {"x": f.VarLenFeature(f.int64)},
        lambda f: {},
        lambda f: {"x": 3},
        lambda f: None,
    ],
)
def test_features(tmp_path, wanted):
    path = write_tfrecords(tmp_path / "a", [example(x=ints(*range(6)), s=strings(b"abc", b"de"), e=floats())])
    both(path, wanted)


@pytest.mark.parametrize("name", ["int64", "float32", "string"])
def test_constants(name):
    assert getattr(avida.tfrecord, name) == getattr(nvidia.dali.tfrecord, name)


@pytest.mark.parametrize(
    "index", ["", "hello there\n", "99999 40\n", "0 99999\n", "0 5\n", "3 30\n", "-5 40\n", "blanks", "reversed"]
)
def test_index(tmp_path, index):
    path = write_tfrecords(tmp_path / "a", EXAMPLES)
    file = pathlib.Path(path + ".idx")
    if index == "blanks":
        index = "\n" + file.read_text().replace(" ", "\t").replace("\n", "\r\n\n").rstrip()
    if index == "reversed":
        index = "".join(reversed(file.read_text().splitlines(keepends=True)))
    file.write_bytes(index.encode())
    if index == "0 5\n":  # the size is not needed: avida reads the record
        assert len(read(avida, path)[0]) == 1
    else:
        both(path)


def test_damage(tmp_path):
    both(write_tfrecords(tmp_path / "a", [b"\xff\xff\xff"]))
    both(str(tmp_path / "nope"))
    both([], index_path=[])
    path = write_tfrecords(tmp_path / "b", EXAMPLES)
    both(path, index_path=str(tmp_path / "nope"))
    both(path, use_o_direct=True)
    both(path, num_shards=9)
    data = pathlib.Path(path).read_bytes()
    pathlib.Path(path).write_bytes(data[:-5])
    both(path)


@pytest.mark.parametrize("name", ["TFRecord", "MXNet"])
def test_arguments(name):
    ours, theirs = (inspect.signature(getattr(library.readers, name)).parameters for library in (avida, dali))
    own = {"cache", "last_batch", "on_error", "shards"}
    assert [n for n in ours if n not in own] == [n for n in theirs if not n.startswith("_")]
    assert ours["index_path"].default is None, "the real library needs an index"


def test_index_files(tmp_path):
    """avida index writes what the real library's script writes."""
    path = write(tmp_path / "a", [tfrecord(message) for message in EXAMPLES])
    script = pathlib.Path(sys.executable).with_name("tfrecord2idx")
    subprocess.run([script, path, tmp_path / "theirs"], check=True, capture_output=True)
    assert _cli.main(["index", path]) == 0
    assert (tmp_path / "a.idx").read_text() == (tmp_path / "theirs").read_text()
    assert np.loadtxt(tmp_path / "theirs").shape == (7, 2)
