"""readers.Webdataset: what is found in archives and index files, and what happens to damaged ones."""

import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

import numpy as np
import pytest
import webdataset
from hypothesis import given, settings
from hypothesis import strategies as st

import avida
from avida.readers._webdataset import index_webdataset
from tests.readers.tars import BLOCK, member, record, write_tar

FORMATS = [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT]
END = bytes(2 * BLOCK)


def read(paths, ext, **options):
    """The samples of an epoch, each a list of bytes."""
    reader = avida.readers.Webdataset(paths=paths, ext=ext, **options)
    return [[bytes(np.asarray(part)) for part in sample] for sample in reader.next_epoch()]


def sources(paths, ext, **options):
    reader = avida.readers.Webdataset(paths=paths, ext=ext, **options)
    return [first.source.name for first, *_ in reader.next_epoch()]


def archive(path, *blocks):
    path.write_bytes(b"".join(blocks))
    return str(path)


def write_index(path, text):
    path.write_text(text)
    return str(path)


@pytest.fixture
def pair(tmp_path):
    """Two archives of three samples."""
    return [
        write_tar(
            tmp_path / f"{a}.tar", [(f"{i}.{e}", f"{a}{i}{e}".encode()) for i in range(3) for e in ("jpg", "cls")]
        )
        for a in "ab"
    ]


def test_archives_follow_one_another(pair):
    reader = avida.readers.Webdataset(paths=pair, ext=["jpg", "cls"])
    images, classes = next(reader.next_epoch(batch_size=6))
    names = [f"{a}{i}" for a in "ab" for i in range(3)]
    assert [bytes(np.asarray(image)).decode() for image in images] == [f"{name}jpg" for name in names]
    assert [bytes(np.asarray(label)).decode() for label in classes] == [f"{name}cls" for name in names]
    assert images.dtype == classes.dtype == avida.uint8
    assert images.shape == [(5,)] * 6
    assert [source.name for source in images.sources] == [f"{path}/{i}" for path in pair for i in range(3)]
    assert reader.get_metadata()["epoch_size"] == 6


def test_the_writer_of_webdataset(tmp_path):
    rng = np.random.default_rng(0)
    samples = [
        {
            "__key__": f"shard/{i:06d}",
            "jpg": rng.bytes(int(rng.integers(0, 5000))),
            "json": {"i": i},
            "seg.png": b"%d" % i,
        }
        for i in range(50)
    ]
    with webdataset.ShardWriter(str(tmp_path / "train-%d.tar"), maxcount=20, verbose=0) as writer:  # pyright: ignore[reportAttributeAccessIssue]
        for sample in samples:
            writer.write(sample)
    paths = sorted(str(path) for path in tmp_path.glob("*.tar"))
    assert len(paths) == 3
    found = read(paths, ["jpg", "json", "seg.png"])
    assert [s[0] for s in found] == [s["jpg"] for s in samples]
    assert [json.loads(s[1]) for s in found] == [s["json"] for s in samples]
    assert [s[2] for s in found] == [s["seg.png"] for s in samples]
    assert sources(paths, "jpg")[20] == f"{tmp_path}/train-1.tar/shard/000020"


@pytest.mark.parametrize("format", FORMATS)
def test_formats(tmp_path, format):
    deep = "folder/" * 20
    members = [("a.x", b"1"), (f"{deep}b.x", b"22"), (f"{deep}b.y", b"3"), ("é.x", b""), ("é.y", b"5" * 513)]
    if format != tarfile.USTAR_FORMAT:
        members += [("n" * 300 + ".x", b"6"), ("n" * 300 + ".y", b"7"), ("m" * 2000 + ".x", b"8")]
    path = write_tar(tmp_path / "a.tar", members, format)
    expected = [[b"1", b""], [b"22", b"3"], [b"", b"5" * 513], [b"6", b"7"], [b"8", b""]]
    assert read(path, ["x", "y"]) == expected[: 3 if format == tarfile.USTAR_FORMAT else 5]
    assert sources(path, "x")[1:3] == [f"{path}/{deep}b", f"{path}/é"]


def test_samples_are_neighbours_of_one_name(tmp_path):
    members = ["0.x", "0.y", "1.x", "0.y", "f/0.y", "g/0.x", "g/0.y", "f.o/2.x", "3.a.x", "3.b.x", "4", "4.x"]
    path = write_tar(tmp_path / "a.tar", [(name, name.encode()) for name in members])
    expected = ["0.x 0.y", "1.x ", " 0.y", " f/0.y", "g/0.x g/0.y", "f.o/2.x ", " ", "4.x "]
    assert [" ".join(part.decode() for part in sample) for sample in read(path, ["x", "y"])] == expected
    assert read(path, ["b.x", "4"])[-2:] == [[b"3.b.x", b""], [b"", b"4"]]
    assert [name.removeprefix(path + "/") for name in sources(path, "x")] == [
        "0",
        "1",
        "0",
        "f/0",
        "g/0",
        "f.o/2",
        "3",
        "4",
    ]


def test_what_is_no_file_is_passed_over(tmp_path):
    link, folder = tarfile.SYMTYPE, tarfile.DIRTYPE
    members = [("0.x", b"1"), ("0.y", link, "0.x"), ("d", folder, ""), (".0.y", b"2"), ("0.z", tarfile.LNKTYPE, "0.x")]
    path = write_tar(tmp_path / "a.tar", [*members, ("q.y", tarfile.FIFOTYPE, ""), ("0.y", b"3")])
    assert read(path, ["x", "y", "z"], missing_component_behavior="empty") == [[b"1", b"3", b""]]


def test_headers_made_by_hand(tmp_path):
    big = b"\x80" + (4).to_bytes(11, "big")
    sparse = member(b"0.b", b"data", type=b"S", at_482=b"\1")
    blocks = [
        member(b"g", record(b"comment", b"of all members"), type=b"g"),
        member(b"0.a", b"1234", size=big),
        sparse[:BLOCK] + bytes(504) + b"\1" + bytes(7) + bytes(BLOCK) + sparse[BLOCK:],  # two more blocks of its map
        member(b"0.b", b"unknown", type=b"Z"),
        member(b"K", b"target\0", type=b"K"),
        member(b"0.c", b"contiguous", type=b"7"),
        bytes(BLOCK),  # a single block of zeros is no end
        member(b"p", record(b"path", b"0.d") + record(b"size", b"3"), type=b"x"),
        member(b"other.d", b"pax", size=0),
        member(b"p", record(b"GNU.sparse.major", b"1") + record(b"GNU.sparse.name", b"0.b"), type=b"x"),
        member(b"0.b", b"sparse"),
        member(b"0.e", b"old", type=b"\0", at_257=bytes(8)),
        member(b"0.f", b"gnu", at_257=b"ustar  \0", at_345=b"12345"),
        member(b"0.g", b"x", size=b"       1\0\0\0\0"),
        member(b"d.x/", type=b"0"),
        member(b"1.g", b"pre", at_345=b"some/folder"),
    ]
    path = archive(tmp_path / "a.tar", *blocks, END, member(b"2.a", b"behind the end"))
    parts = [b"1234", b"", b"contiguous", b"pax", b"old", b"gnu", b"x"]
    assert read(path, list("abcdefg"), missing_component_behavior="empty") == [parts, [b""] * 6 + [b"pre"]]
    assert sources(path, "a")[1] == f"{path}/some/folder/1"


@pytest.mark.parametrize("left", [0, 10, 400, BLOCK, BLOCK + 100])
def test_the_end_may_be_missing(tmp_path, left):
    path = archive(tmp_path / "a.tar", member(b"0.a", b"12345"), bytes(left))
    assert read(path, "a") == [[b"12345"]]


def test_alternatives(tmp_path):
    names = ["0.png", "0.jpg", "1.jpeg", "2.JPG", "3.gif", "4."]
    path = write_tar(tmp_path / "a.tar", [(name, name.encode()) for name in names])
    assert read(path, "jpg;png;jpeg") == [[b"0.png"], [b"1.jpeg"], [b""], [b""], [b""]]
    assert read(path, ["jpg;png", "png"], case_sensitive_extensions=False)[::2] == [
        [b"0.png"] * 2,
        [b"2.JPG", b""],
        [b""] * 2,
    ]
    assert read(path, ["PNG", "jPg"], case_sensitive_extensions=False)[0] == [b"0.png", b"0.jpg"]
    assert read(path, "gif;;") == [[b""], [b""], [b""], [b"3.gif"], [b"4."]]
    assert read(path, "gif;")[-1] == [b""]
    assert read(path, "", missing_component_behavior="empty")[-1] == [b""]


def test_missing_components(tmp_path):
    path = write_tar(tmp_path / "a.tar", [("0.x", b"1"), ("1.x", b"2"), ("1.y", b"3"), ("2.y", b"4"), ("3.y", b"")])
    every = [[b"1", b""], [b"2", b"3"], [b"", b"4"], [b"", b""]]
    assert read(path, ["x", "y"]) == read(path, ["x", "y"], missing_component_behavior="Empty") == every
    assert read(path, ["x", "y"], missing_component_behavior="skip") == [[b"2", b"3"]]
    assert sources(path, ["x", "y"], missing_component_behavior="skip") == [f"{path}/1"]
    assert read(path, "y", missing_component_behavior="skip") == [[b"3"], [b"4"], [b""]]
    with pytest.raises(RuntimeError, match=r"a\.tar: sample 0 at byte 512: expected a member \.y, found none"):
        read(path, ["x", "y"], missing_component_behavior="error")
    with pytest.raises(RuntimeError, match='must be "empty", "skip" or "error", got "raise"'):
        read(path, "x", missing_component_behavior="raise")


def test_dtypes(tmp_path):
    numbers = np.arange(6, dtype=np.float32)
    path = write_tar(tmp_path / "a.tar", [("0.x", numbers.tobytes()), ("0.y", b"123456"), ("1.x", b"")])
    options = {"dtypes": [avida.float32, "int16", np.int64], "missing_component_behavior": "empty"}
    reader = avida.readers.Webdataset(paths=path, ext=["x", "y", "z"], **options)
    x, y, z = next(reader.next_epoch(batch_size=2))
    assert (x.dtype, y.dtype, z.dtype) == (avida.float32, avida.int16, avida.int64)
    assert (x.shape, y.shape, z.shape) == ([(6,), (0,)], [(3,), (0,)], [(0,), (0,)])
    np.testing.assert_array_equal(x.tensors[0], numbers)
    with pytest.raises(RuntimeError, match=r"sample 0 .*member \.y with whole elements of type int32, found 6 bytes"):
        avida.readers.Webdataset(paths=path, ext="y", dtypes=avida.int32)
    with pytest.raises(RuntimeError, match="for each of 2 outputs, got 1"):
        avida.readers.Webdataset(paths=path, ext=["x", "y"], dtypes=avida.float32)
    for wrong in (avida.bool, avida.types.INTERP_TYPE):
        with pytest.raises(RuntimeError, match="expected types of numbers"):
            avida.readers.Webdataset(paths=path, ext="y", dtypes=wrong)


def test_arguments(pair, tmp_path):
    with pytest.raises(RuntimeError, match="names of files in paths"):
        avida.readers.Webdataset(paths=[], ext="x")
    with pytest.raises(RuntimeError, match="extension for each output"):
        avida.readers.Webdataset(paths=pair, ext=[])
    with pytest.raises(RuntimeError, match="2 archives, 1 index files"):
        avida.readers.Webdataset(paths=pair, ext="x", index_paths="a.idx")
    with pytest.raises(RuntimeError, match=r"no\.tar: cannot be opened"):
        avida.readers.Webdataset(paths=tmp_path / "no.tar", ext="x")
    with pytest.raises(RuntimeError, match="regular file"):
        avida.readers.Webdataset(paths=tmp_path, ext="x")
    with pytest.raises(RuntimeError, match="at least one sample"):
        avida.readers.Webdataset(paths=archive(tmp_path / "empty.tar", END), ext="x")
    assert len(read([archive(tmp_path / "empty.tar", END), *pair], "jpg")) == 6
    avida.readers.Webdataset(paths=tmp_path / "no.tar", ext="x", lazy_init=True)


# Index files


def test_index_of_an_archive(pair, tmp_path):
    text = index_webdataset(pair[0])
    line = "jpg {} 5 {i}.jpg cls {} 5 {i}.cls"
    lines = [line.format(2048 * i + 512, 2048 * i + 1536, i=i) for i in range(3)]
    assert text == "\n".join(["v1.2 3", *lines, ""])
    indices = [write_index(tmp_path / f"{i}.idx", index_webdataset(path)) for i, path in enumerate(pair)]
    for ext in (["jpg", "cls"], ["cls"], ["none", "jpg;cls"]):
        options = {"missing_component_behavior": "empty"}
        assert read(pair, ext, index_paths=indices, **options) == read(pair, ext, **options)
    assert sources(pair, "jpg", index_paths=indices) == sources(pair, "jpg")


def test_index_of_odd_names(tmp_path):
    path = write_tar(tmp_path / "a.tar", [("of two words.x", b"1"), ("f/n", b"2"), ("../up.x", b"3")])
    assert index_webdataset(path).splitlines()[1:] == ["x 512 1 of_two_words.x", "f/n 1536 1 f/n", "x 2560 1 up.x"]
    for name in ("a.", "a.b c"):
        path = write_tar(tmp_path / "b.tar", [(name, b"1")])
        with pytest.raises(RuntimeError, match=rf"b\.tar: byte 0, member {name}: .* empty or contains blanks"):
            index_webdataset(path)
    with pytest.raises(RuntimeError, match=r"c\.tar: expected an archive with at least one sample"):
        index_webdataset(archive(tmp_path / "c.tar", END))


def test_progress_of_an_index(tmp_path):
    path = write_tar(tmp_path / "a.tar", [(f"{i}.x", b"1") for i in range(10_000)])
    seen = []
    index_webdataset(path, lambda done, total: seen.append((done, total)))
    size = os.path.getsize(path)
    assert len(seen) >= 3
    assert seen == sorted(seen)
    assert seen[-1] == (size, size)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_webdataset(path, stop)


def test_older_index(pair, tmp_path):
    index = write_index(tmp_path / "a.idx", "v1.1 2\njpg 512 5 cls 1536 5\ncls 3584 5\n")
    assert read(pair[0], ["jpg", "cls"], index_paths=index) == [[b"a0jpg", b"a0cls"], [b"", b"a1cls"]]
    assert sources(pair[0], "jpg", index_paths=index) == [f"{pair[0]}, sample 0", f"{pair[0]}, sample 1"]


BAD_INDICES = [
    ("", 'line 1: expected an index of version v1.1 or v1.2, found ""'),
    ("v1.3 1\n", 'found "v1.3"'),
    ("v1.2\n", "line 1: expected the number of samples"),
    ("v1.2 x\n", "line 1: expected the number of samples"),
    ("v1.2 0\n", "line 1: expected the number of samples"),
    ("v1.2 -1\n", "line 1: expected the number of samples"),
    ("v1.2 99999999999999999999\n", "line 1: expected the number of samples"),
    ("v1.2 9223372036854775807\njpg 512 5 a.jpg\n", "line 3: expected at least one component"),
    ("v1.2 2\njpg 512 5 a.jpg\n\n", "line 3: expected at least one component"),
    (
        "v1.2 1\njpg 512 5\n",
        'line 2: expected an extension, an offset, a size and a name for each component, after "jpg"',
    ),
    ("v1.2 1\njpg 512 5 a.jpg b.jpg\n", 'after "b.jpg"'),
    ("v1.2 1\njpg 512 5x a.jpg\n", 'after "jpg"'),
    ("v1.1 1\njpg 512 5 a.jpg\n", 'expected an extension, an offset and a size for each component, after "a.jpg"'),
    ("v1.2 1\njpg 513 5 a.jpg\n", 'multiple of 512, after a header, for "jpg", found 513'),
    ("v1.2 1\njpg -512 5 a.jpg\n", "multiple of 512"),
    ("v1.2 1\njpg 0 5 a.jpg\n", "multiple of 512, after a header"),
    ("v1.2 1\njpg 512 -5 a.jpg\n", "the -5 bytes .* exceed the archive"),
    (
        "v1.2 1\njpg 512 10240 a.jpg\n",
        'the 10240 bytes of "jpg" from byte 512 on exceed the archive, which has 10240 bytes',
    ),
    ("v1.2 1\njpg 1099511627776 5 a.jpg\n", "exceed the archive"),
    ("v1.2 1\njpg 512 9223372036854775807 a.jpg\n", "exceed the archive"),
    ("v1.2 1\njpg 512 5 a.png\n", 'line 2: expected "jpg" as the extension of "a.png"'),
    ("v1.2 1\njpg 512 5 a.jpg cls 1536 5 b.cls\n", "line 2: expected components of one sample, found a and b"),
    ("v1.2 1\njpg 512 5 a.jpg\njpg 2560 5 b.jpg\n", "line 3: expected the end after 1 samples"),
]


@pytest.mark.parametrize(("text", "message"), BAD_INDICES)
def test_bad_index(pair, tmp_path, text, message):
    index = write_index(tmp_path / "a.idx", text)
    with pytest.raises(RuntimeError, match=rf"a\.tar: index .*a\.idx: .*{message}"):
        read(pair[0], "jpg", index_paths=index)


def test_missing_index(pair):
    with pytest.raises(RuntimeError, match=r"index no\.idx: cannot be opened"):
        read(pair[0], "jpg", index_paths="no.idx")


def test_stale_index(tmp_path):
    """An archive that was written again: the error names both files and the command, whatever lies at the old bytes."""
    path = tmp_path / "a.tar"
    write_tar(path, [(f"{i}.x", b"%d" % i) for i in range(5)])
    index = write_index(tmp_path / "a.idx", index_webdataset(str(path)))
    old = write_index(tmp_path / "old.idx", re.sub(r" \S+\.x", "", index_webdataset(str(path))).replace("v1.2", "v1.1"))
    assert read(path, "x", index_paths=index) == read(path, "x", index_paths=old) == [[b"%d" % i] for i in range(5)]
    changes = {
        "reordered": [(f"{i}.x", b"%d" % i) for i in reversed(range(5))],
        "longer": [(f"{i}.x", b"%d!" % i) for i in range(5)],
        "of another kind": [(f"{i}.y", b"%d" % i) for i in range(5)],
        "moved": [("first.y", bytes(600)), *((f"{i}.x", b"%d" % i) for i in range(5))],
    }
    for what, members in changes.items():
        write_tar(path, members)
        for stale in [index] if what == "reordered" else [index, old]:
            reader = avida.readers.Webdataset(paths=path, ext="x", index_paths=stale)
            with pytest.raises(RuntimeError) as error:
                evaluate_all(reader.next_epoch(batch_size=5))
            assert f"the index {stale} does not match the archive {path}: expected " in str(error.value)
            assert f"avida index {path}" in str(error.value)


def test_damaged_index(tmp_path):
    """Whatever happens to a byte of an index with names: the samples are right, or there is an error."""
    path = write_tar(
        tmp_path / "a.tar", [(f"{i}.{e}", f"{i}{e}".encode()) for i in range(3) for e in ("jpg", "png", "cls")]
    )
    text = index_webdataset(path)
    ext = ["jpg;png", "cls;png"]
    expected = read(path, ext)
    assert read(path, ext, index_paths=write_index(tmp_path / "a.idx", text)) == expected
    refused = 0
    for at, old in enumerate(text):
        for new in "0159jcp. \n":
            if new == old:
                continue
            index = write_index(tmp_path / "a.idx", text[:at] + new + text[at + 1 :])
            try:
                assert read(path, ext, index_paths=index) == expected, (at, new)
            except RuntimeError:
                refused += 1
    assert refused > 1000


def bytes_read():
    return int(re.search(r"rchar: (\d+)", pathlib.Path("/proc/self/io").read_text())[1])


def test_skipping_the_samples_of_a_stale_index(tmp_path):
    """The archive is compared with its index once, not for every sample."""
    path = tmp_path / "a.tar"
    names = [f"{i:03}.x" for i in range(400)]
    write_tar(path, [(name, b"data") for name in names])
    index = write_index(tmp_path / "a.idx", index_webdataset(str(path)))
    write_tar(path, [(name, b"data") for name in reversed(names)])
    reader = avida.readers.Webdataset(paths=path, ext="x", index_paths=index, on_error="skip")
    before = bytes_read()
    assert list(reader.next_epoch(batch_size=50)) == []
    assert reader.errors.total == 400
    assert bytes_read() - before < 20 * path.stat().st_size  # several threads may compare it at the same time


@pytest.mark.parametrize("format", FORMATS)
def test_indices_of_archives_with_extended_headers(tmp_path, format):
    """The header before the bytes does not have the whole name, or another one: that is no stale index."""
    names = ["of two words", "é", "folder/" * 20 + "b"] + ["n" * 300] * (format != tarfile.USTAR_FORMAT)
    path = write_tar(tmp_path / "a.tar", [(f"{name}.{e}", name.encode()) for name in names for e in "xy"], format)
    index = write_index(tmp_path / "a.idx", index_webdataset(path))
    assert read(path, ["x", "y"], index_paths=index) == [[name.encode()] * 2 for name in names]
    blocks = [
        member(b"p", record(b"path", b"0.d") + record(b"size", b"3"), type=b"x"),
        member(b"other.d", b"pax", size=0),
        member(b"1.d", b"one"),
    ]
    path = archive(tmp_path / "b.tar", *blocks, END)
    index = write_index(tmp_path / "b.idx", index_webdataset(path))
    assert read(path, "d", index_paths=index) == [[b"pax"], [b"one"]]


# Damage

GOOD = member(b"0.a", b"zero") + member(b"0.b", b"0") + member(b"1.a", b"one")  # 3,072 bytes
DAMAGED = [
    (GOOD + b"x" * 100, r", after member 1\.a: expected a header of 512 bytes, but the archive ends after 100"),
    (
        GOOD + member(b"1.b", b"x")[:513],
        r", member 1\.b: expected 511 bytes of padding from byte 3585 on, found only 0",
    ),
    (
        GOOD + member(b"1.b", b"x")[:-1],
        r", member 1\.b: expected 511 bytes of padding from byte 3585 on, found only 510",
    ),
    (GOOD + b"x" * 700, r", after member 1\.a: this is no tar header: its checksum is wrong"),
    (GOOD + member(b"1.b", b"x" * 2000)[:1500], r", member 1\.b: expected 2000 bytes from byte 3584 on, but .* 988"),
    (GOOD + member(b"1.b", size=b"what?"), r", member 1\.b: the size in the header is not a number"),
    (GOOD + member(b"1.b", size=b"\xff" * 12), r"member 1\.b: the size in the header is not a number"),
    (GOOD + member(b"1.b", size=b"\x80" + b"\x7f" * 11), r"the size in the header is not a number"),
    (GOOD + member(b"1.b", size=b"\x80\0\0\0" + b"\x7f" * 8), r"expected 9187201950435737471 bytes"),
    (GOOD + member(b"1.b", size=8**11 - 1), r"expected 8589934591 bytes"),
    (GOOD + member(b"") + END, r": expected a name"),
    (GOOD + member(b"L", size=8**10, type=b"L"), r", after member 1\.a: expected 1073741824 bytes"),
    (GOOD + member(b"L", bytes(2**20 + 1), type=b"L"), r"at most 1048576 bytes, found 1048577"),
    (GOOD + member(b"x", b"99 path=a\n", type=b"x"), r", after member 1\.a: a pax record is damaged"),
    (GOOD + member(b"x", b"0 path=a\n", type=b"x"), r"a pax record is damaged"),
    (GOOD + member(b"x", b"7 path\n", type=b"x"), r"a pax record has no value"),
    (GOOD + member(b"x", record(b"size", b"-5"), type=b"x"), r"size in a pax record is not a number"),
    (GOOD + member(b"1.b", type=b"S", at_482=b"\1"), r"member 1\.b: expected 512 bytes from byte 3584"),
]


@pytest.mark.parametrize(("content", "message"), DAMAGED)
def test_damaged_archive(tmp_path, content, message):
    path = archive(tmp_path / "a.tar", content)
    with pytest.raises(RuntimeError, match=rf"a\.tar: byte 3072.*{message}"):
        read(path, ["a", "b"])
    with pytest.raises(RuntimeError, match=rf"a\.tar: byte 3072.*{message}"):
        index_webdataset(path)


@pytest.mark.parametrize(("content", "message"), DAMAGED)
def test_damage_is_skipped(tmp_path, content, message):
    """The sample in which it happens is left out too, for it may not be complete."""
    paths = [archive(tmp_path / "a.tar", content), "no.tar", write_tar(tmp_path / "b.tar", [("2.a", b"two")])]
    reader = avida.readers.Webdataset(paths=paths, ext=["a", "b"], on_error="skip")
    names = [source.name for a, _ in reader.next_epoch(batch_size=2) for source in a.sources]
    assert names == [f"{paths[0]}/0", f"{paths[2]}/2"]
    assert [error.source for error in reader.errors] == [f"{paths[0]}/1", "no.tar"]
    assert re.search(f"byte 3072.*{message}.*the rest of this archive is skipped, too", reader.errors[0].message)
    assert "cannot be opened" in reader.errors[1].message


def test_compressed_archive(tmp_path):
    path = archive(tmp_path / "a.tar", gzip.compress(GOOD))
    with pytest.raises(RuntimeError, match=r"a\.tar: byte 0: this archive is gzip-compressed: unpack it first"):
        read(path, "a")


def test_refused_samples_are_skipped(tmp_path):
    path = write_tar(tmp_path / "a.tar", [("0.a", b"12"), ("1.a", b"1"), ("1.b", b""), ("2.a", b"12"), ("2.b", b"")])
    options = {"missing_component_behavior": "error", "dtypes": ["int16", "uint8"], "on_error": "skip"}
    reader = avida.readers.Webdataset(paths=path, ext=["a", "b"], **options)
    assert [a.source.name for a, _ in reader.next_epoch()] == [f"{path}/2"]
    first, second = reader.errors
    assert (first.source, second.source) == (f"{path}/0", f"{path}/1")
    assert "expected a member .b, found none" in first.message
    assert "whole elements of type int16, found 1 bytes at byte 1536" in second.message
    with pytest.raises(RuntimeError, match=r"a\.tar/0.*expected a member \.b"):
        reader[0][0].evaluate()


def evaluate_all(epoch):
    for outputs in epoch:
        outputs[0].evaluate()


def test_archive_shrinks(tmp_path):
    path = write_tar(tmp_path / "a.tar", [(f"{i}.{e}", bytes(20_000)) for i in range(100) for e in "ab"])
    reader = avida.readers.Webdataset(paths=path, ext=["a", "b"], prefetch_queue_depth=1)
    epoch = reader.next_epoch(batch_size=1)
    next(epoch)[0].evaluate()
    os.truncate(path, 41_000 * 50)
    with pytest.raises(
        RuntimeError,
        match=r"sample 0 \(.*a\.tar/\d+\): member .*: expected \d+ bytes at byte \d+, but the file has only \d+ bytes",
    ):
        evaluate_all(epoch)


def test_archive_is_deleted(tmp_path):
    """An open archive can still be read; one that is not is an error that names it."""
    paths = [write_tar(tmp_path / f"{i}.tar", [("0.a", b"%d" % i)]) for i in range(200)]
    reader = avida.readers.Webdataset(paths=paths, ext="a", prefetch_queue_depth=1)
    epoch = reader.next_epoch(batch_size=1)
    next(epoch)[0].evaluate()
    for path in paths:
        os.unlink(path)
    with pytest.raises(RuntimeError, match=r"\d+\.tar/0\): member \.a at byte 512: cannot be opened"):
        evaluate_all(epoch)


def test_many_archives_few_descriptors(tmp_path):
    """Some hundred archives, read twice and shuffled, by a process that may open few files."""
    for i in range(400):
        write_tar(tmp_path / f"{i}.tar", [("0.a", b"%d" % i), ("1.a", b"%d" % i)])
    code = """
import resource, sys
import numpy as np
import avida
resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))
paths = [f"{sys.argv[1]}/{i}.tar" for i in range(400)]
reader = avida.readers.Webdataset(paths=paths, ext="a", random_shuffle=True)
for _ in range(2):
    seen = sorted(int(bytes(np.asarray(s))) for (batch,) in reader.next_epoch(batch_size=80) for s in batch)
    assert seen == sorted(list(range(400)) * 2)
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=600)


def test_small_members_are_found_at_every_distance(tmp_path):
    """Headers lie before, in and behind what one read brings."""
    rng = np.random.default_rng(1)
    sizes = [*rng.integers(0, 3000, 200), *rng.integers(0, 100_000, 50), 0, 0, 65_000, 65_024, 65_536, *[10] * 300]
    data = [rng.bytes(int(size)) for size in sizes]
    path = write_tar(tmp_path / "a.tar", [(f"{i}.x", content) for i, content in enumerate(data)])
    assert [x for (x,) in read(path, "x")] == data


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage(tmp_path_factory, data):
    """Whatever bytes change: the samples are found, or the error names the archive."""
    blocks = bytearray(
        GOOD
        + member(b"x", record(b"path", b"2.a") + record(b"size", b"3"), type=b"x")
        + member(b"other", b"two")
        + member(b"L", b"l" * 200 + b".a\0", type=b"L")
        + member(b"l", b"long", at_257=b"ustar  \0")
        + END
    )
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(blocks) - 1))
        if data.draw(st.booleans()):
            blocks[at] = data.draw(st.integers(0, 255))
        else:
            del blocks[at : at + data.draw(st.integers(1, 700))]
        if not blocks:
            return
    path = archive(tmp_path_factory.mktemp("damage") / "a.tar", bytes(blocks))
    try:
        assert all(len(sample) == 2 for sample in read(path, ["a", "b"]))
    except RuntimeError as error:
        assert "a.tar" in str(error) or "at least one sample" in str(error)


def test_memory_for_each_sample(tmp_path):
    """A process that holds 200,000 samples of two members grows by less than 200 bytes for each."""
    count = 200_000
    lines = [f"jpg 512 100 folder/{i:08d}.jpg cls 1536 1 folder/{i:08d}.cls" for i in range(count)]
    index = write_index(tmp_path / "a.idx", "\n".join([f"v1.2 {count}", *lines]))
    path = write_tar(tmp_path / "a.tar", [("0.jpg", bytes(100)), ("0.cls", b"1")])
    code = """
import sys
import avida
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
avida.readers.Webdataset(paths=sys.argv[3], ext=["jpg", "cls"])
before = resident()
reader = avida.readers.Webdataset(paths=sys.argv[3], ext=["jpg", "cls"], index_paths=sys.argv[2])
print((resident() - before) / int(sys.argv[1]))
"""
    run = subprocess.run(
        [sys.executable, "-c", code, str(count), index, path], check=True, timeout=600, capture_output=True, text=True
    )
    assert float(run.stdout) < 200


def test_shuffled_in_both_ways(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as tar:
        for i in range(20):
            member = tarfile.TarInfo(f"{i:02d}.a")
            member.size = 2
            tar.addfile(member, io.BytesIO(f"{i:02d}".encode()))
    reader = avida.readers.Webdataset(paths=str(path), ext="a", shuffle_after_epoch=True, random_shuffle=True)
    epochs = [[s.index for (a,) in reader.next_epoch(5) for s in a.sources] for _ in range(2)]
    assert epochs[0] != epochs[1]
    assert [sorted(epoch) for epoch in epochs] == [list(range(20))] * 2
