"""readers.MXNet of both libraries over the same files."""

import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import assert_same
from tests.readers.records import image, recordio, write, write_recordio

IMAGES = [
    recordio(image(b"abc", 1.5)),
    recordio(image(b"", 2.0)),
    recordio(image(b"abcde", 9.0, [1, 2, 3])),
    recordio(image(b"0123"), b"4567", b"89"),
    recordio(image(bytes(range(256)) * 40, 4.0, [5])),
]


def read(library, path, index_path=None, batch_size=None, epochs=1, **options):
    reader = library.readers.MXNet(path=path, index_path=index_path or path + ".idx", **options)
    size = {} if batch_size is None else {"batch_size": batch_size}
    items = [item for _ in range(epochs) for item in reader.next_epoch(**size)]
    for item in items:
        item[0].evaluate()
    return items


def both(path, **options):
    try:
        theirs = read(dali, path, **options)
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            read(avida, path, **options)
        assert type(caught.value) is type(error)
        return
    ours = read(avida, path, **options)
    assert len(ours) == len(theirs)
    for our, their in zip(ours, theirs, strict=True):
        assert_same(our, their)


@pytest.mark.parametrize("batch_size", [None, 1, 3, 5, 8])
@pytest.mark.parametrize("options", [{}, {"pad_last_batch": True}, {"num_shards": 2, "shard_id": 1}])
def test_batches(tmp_path, batch_size, options):
    both(write_recordio(tmp_path / "a.rec", IMAGES), batch_size=batch_size, epochs=3, **options)


def test_several_files(tmp_path):
    paths = [write(tmp_path / "a.rec", IMAGES[:2]), write(tmp_path / "b.rec", IMAGES[2:])]
    write_recordio(tmp_path / "all", IMAGES)
    both(paths, index_path=str(tmp_path / "all.idx"), batch_size=5)
    both(paths, index_path=[str(tmp_path / "all.idx")] * 2, batch_size=5)


@pytest.mark.parametrize(
    "index",
    [
        "1\t36\n0\t0\n",
        "7\t0\n5\t36\n",
        "0 0\n1 36",
        "0\t0\n0\t0\n",
        "",
        "hello there\n",
        "0\t4\n",
        "0\t0\n1\t36\n2\t99999999\n",
    ],
)
def test_index(tmp_path, index):
    path = write(tmp_path / "a.rec", IMAGES)
    (tmp_path / "a.rec.idx").write_text(index)
    both(path)


@pytest.mark.parametrize(
    "record",
    [
        bytes(4) + IMAGES[1][4:],
        recordio(b"abcd"),
        recordio(image(b"abcd", count=2)),
        IMAGES[4][:-10],
        recordio(image(b"abcd"), b"efgh")[:40],
    ],
)
def test_damage(tmp_path, record):
    both(write_recordio(tmp_path / "a.rec", [IMAGES[0], record]))


def test_missing_files(tmp_path):
    path = write_recordio(tmp_path / "a.rec", IMAGES)
    both(path, index_path=str(tmp_path / "nope"))
    both(str(tmp_path / "nope"), index_path=path + ".idx")
