"""readers.Webdataset of both libraries over the same archives: samples, types, index files, errors.

Where archives hold what the real library does not understand (names in pax headers, sizes in base 256, no
samples, a hidden file first), tests/readers tells what is read.
"""

import pathlib
import subprocess
import sys
import tarfile

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest
import webdataset
from hypothesis import given, settings
from hypothesis import strategies as st
from nvidia.dali import types

import avida
from avida.readers._webdataset import index_webdataset
from tests.readers.tars import member, write_tar


def read(library, **arguments):
    reader = library.readers.Webdataset(**arguments)
    samples = [[(str(part.dtype), np.asarray(part).tolist()) for part in sample] for sample in reader.next_epoch()]
    return samples, reader.get_metadata()


def both(**arguments):
    """The same samples and metadata, or exceptions of one type."""
    # By default, an extension that no sample has is an error.
    ours = arguments | {"missing_component_behavior": arguments.get("missing_component_behavior") or "empty"}
    try:
        theirs = read(dali, **arguments)
    except Exception as error:
        with pytest.raises(type(error)):
            read(avida, **ours)
        return None
    assert read(avida, **ours) == theirs
    return theirs[0]


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Names of every kind, folders, links, neighbours of one name and others, an empty member."""
    names = (
        "0.jpg 0.cls 1.jpg 1.seg.png 0.txt d/2.jpg d/2.cls noext .hidden .hidden.jpg d.r/3.jpg 3.jpg x x.jpg y. y.jpg "
        "d/.h.jpg e/.jpg e/.cls ./r.jpg r.cls ../r.jpg /r.txt a.JPG a.Jpg a.jpg 4.jpg 4.jpg q/r q/r.jpg 5.jpg/6.cls"
    )
    members = [(name, name.encode()) for name in names.split()]
    members[3:3] = [
        ("link.jpg", tarfile.SYMTYPE, "0.jpg"),
        ("d", tarfile.DIRTYPE, ""),
        ("1.cls", tarfile.LNKTYPE, "0.cls"),
    ]
    members += [
        ("of two.jpg", b"words"),
        ("n" * 150 + ".jpg", b"long"),
        ("n" * 150 + ".cls", b"long too"),
        ("z.jpg", b""),
    ]
    return write_tar(tmp_path_factory.mktemp("odd") / "odd.tar", members)


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """Written by webdataset's own writer."""
    folder = tmp_path_factory.mktemp("shards")
    rng = np.random.default_rng(0)
    with webdataset.ShardWriter(str(folder / "train-%d.tar"), maxcount=7, verbose=0) as writer:  # pyright: ignore[reportAttributeAccessIssue]
        for i in range(20):
            numbers = rng.integers(-9, 9, int(rng.integers(0, 900)), dtype=np.int32)
            writer.write(
                {"__key__": f"f/{i:04d}", "bin": numbers.tobytes(), "cls": str(i)} | ({"opt": b"1"} if i % 3 else {})
            )
    return sorted(str(path) for path in folder.glob("*.tar"))


EXTENSIONS = [
    ["jpg"],
    ["jpg", "cls"],
    ["cls;jpg", "jpg", "jpg"],
    ["jpg;txt;png", "seg.png", "noext"],
    ["jpg;;cls", ""],
    ["jpg;", ".jpg", "h.jpg"],
    ["x", "q/r", "r"],
    ["JPG", "jpg"],
    ["none"],
]


@pytest.mark.parametrize("missing", ["", "empty", "skip", "error", "Skip", "raise"])
@pytest.mark.parametrize("ext", EXTENSIONS)
def test_names(odd, ext, missing):
    if len(set(ext)) < len(ext) and missing.lower() == "skip":
        # It then finds no sample.
        with pytest.raises(RuntimeError):
            read(dali, paths=odd, ext=ext, missing_component_behavior=missing)
        assert read(avida, paths=odd, ext=ext, missing_component_behavior=missing)[0]
        return
    both(paths=odd, ext=ext, missing_component_behavior=missing)


@pytest.mark.parametrize("ext", [["JPG", "jPg"], ["CLS;jpg"], ["cls", "NOEXT"]])
def test_case(odd, ext):
    assert both(paths=odd, ext=ext, case_sensitive_extensions=False) is not None
    both(paths=odd, ext=ext, case_sensitive_extensions=True)


NUMBERS = ["UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FLOAT16", "FLOAT", "FLOAT64"]


@pytest.mark.parametrize("name", [*NUMBERS, "BOOL", "INTERP_TYPE"])
def test_dtypes(shards, name):
    options = {"paths": shards, "ext": ["bin"], "missing_component_behavior": "skip"}
    reader = dali.readers.Webdataset, avida.readers.Webdataset
    outcomes = []
    for library, make in zip((types, avida.types), reader, strict=True):
        try:
            samples = make(**options, dtypes=getattr(library, name)).next_epoch()
            outcomes.append([(str(s.dtype), s.shape, np.asarray(s).tobytes()) for (s,) in samples])
        except RuntimeError:
            outcomes.append(RuntimeError)
    assert outcomes[0] == outcomes[1]


def test_number_of_dtypes(shards):
    for number in (1, 3):
        for library, numbers in ((dali, types), (avida, avida.types)):
            with pytest.raises(RuntimeError):
                read(library, paths=shards, ext=["bin", "cls"], dtypes=[numbers.UINT8] * number)


def test_shards_and_padding(shards):
    for options in ({}, {"num_shards": 3, "shard_id": 1}, {"pad_last_batch": True, "num_shards": 3, "shard_id": 2}):
        both(paths=shards, ext=["bin", "cls"], **options)


INDICES = [
    "v1.2 1\nbin 512 8 0.bin cls 1536 1 0.cls\n",
    "v1.2 1\nbin 512 8 0.bin cls 1536 1 0.cls",
    "v1.2 1 more\r\n \tbin   512\t8  0.bin  \r\n",
    "v1.2 2\ncls 1536 1 0.cls bin 512 8 0.bin cls 512 3 0.cls bin 512 2 0.bin\nother 2560 1 0.other\n",
    "v1.1 2\nbin 512 8 cls 1536 1\ncls 1536 1\n",
    "v1.0 1\nbin 512 8\n",
    "v1.3 1\nbin 512 8 0.a\n",
    "v1.2 2\nbin 512 8 0.a\n",
    "v1.2 2\nbin 512 8 0.a\n\nbin 512 8 0.a\n",
    "v1.2 1\nbin 513 8 0.a\n",
    "v1.2 1\nbin 1073741824 8 0.a\n",
    "v1.2 1\nbin -512 8 0.a\n",
    "v1.2 1\nbin 512 -8 0.a\n",
    "v1.2 1\nbin 512 8x 0.a\n",
    "v1.2 1\nbin 512 8\n",
    "v1.1 1\nbin 512 8 0.a\n",
    "v1.2\nbin 512 8 0.a\n",
    "v1.2 x\n",
    "v1.2 -1\n",
    "v1.2 0\n",
    "",
    "garbage",
]


@pytest.mark.parametrize("text", INDICES)
def test_index(tmp_path, text):
    (tmp_path / "a.idx").write_text(text)
    path = write_tar(tmp_path / "a.tar", [("0.bin", b"12345678"), ("0.cls", b"1"), ("0.other", b"2")])
    both(paths=path, index_paths=str(tmp_path / "a.idx"), ext=["bin", "cls"])


def test_own_index(shards, odd, tmp_path):
    """The real library reads what index_webdataset writes as it reads the archive."""
    with tarfile.open(odd) as archive:
        members = [(m.name, archive.extractfile(m).read()) for m in archive if m.isfile() and m.name != "y."]
    kept = write_tar(tmp_path / "kept.tar", members)
    for path in (*shards, kept):
        (tmp_path / "own.idx").write_text(index_webdataset(path))
        for ext in (["bin", "cls"], ["jpg", "cls"], ["jpg;txt", "noext", "q/r"]):
            assert both(paths=path, index_paths=str(tmp_path / "own.idx"), ext=ext) == both(paths=path, ext=ext)


def test_index_of_the_real_library(shards, tmp_path):
    """The two programs write the same."""
    for path in shards:
        program = pathlib.Path(sys.executable).with_name("wds2idx")
        subprocess.run([program, path, tmp_path / "a.idx"], check=True, capture_output=True)
        assert (tmp_path / "a.idx").read_text().strip() == index_webdataset(path).strip()


def test_arguments(shards, tmp_path):
    both(paths=[], ext=["bin"])
    both(paths=shards, ext=["bin"], index_paths=[])
    both(paths=shards, ext=["bin"], index_paths=["a.idx"])
    both(paths=shards[0], ext=["bin"], index_paths=["no.idx"])
    both(paths=str(tmp_path / "no.tar"), ext=["bin"])
    both(paths=str(tmp_path), ext=["bin"])


GOOD = member(b"0.a", b"zero") + member(b"0.b", b"0") + member(b"1.a", b"one")


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD + bytes(1024) + member(b"2.a", b"two"),
        GOOD + bytes(512) + member(b"2.a", b"two"),
        GOOD + member(b"1.b", b"7", type=b"7") + member(b"1.c", b"", type=b"Z"),
        GOOD + member(b"1.b", b"unknown", type=b"Z") + member(b"1.c", b"3"),
        GOOD + member(b"1.b", b"old", type=b"\0", at_257=bytes(8)),
        GOOD + member(b"1.b", b"prefix", at_345=b"folder"),
        GOOD + b"x" * 100,
        GOOD + b"x" * 512,
        GOOD + member(b"1.b", bytes(2000))[:1000],
        GOOD[:1024] + b"Q" + GOOD[1025:],
        b"x" * 2000,
        b"",
    ],
)
def test_archives_made_by_hand(tmp_path, content):
    (tmp_path / "a.tar").write_bytes(content)
    both(paths=str(tmp_path / "a.tar"), ext=["a", "b", "c"])


NAMES = st.lists(st.from_regex(r"([ab]/)?[xy]?(\.[pq]){0,2}", fullmatch=True).filter(bool), max_size=12)


@settings(max_examples=30, deadline=None)
@given(NAMES)
def test_any_names(tmp_path_factory, names):
    names = ["first.p", *(name for name in names if not name.endswith("/"))]
    path = write_tar(tmp_path_factory.mktemp("any") / "a.tar", [(name, b"%d" % i) for i, name in enumerate(names)])
    both(paths=path, ext=["p", "q;p.q", "x"])
