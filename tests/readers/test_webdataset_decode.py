"""readers.Webdataset: what is made of members, and which archives are meant."""

import braceexpand
import numpy as np
import pytest
import webdataset

import avida
from avida.readers._names.paths import expand_braces
from avida.readers._webdataset import index_webdataset
from tests.readers.tars import write_tar
from tests.readers.test_webdataset import read, write_index


@pytest.fixture
def texts(tmp_path):
    """Written by webdataset's own writer."""
    samples = [{"__key__": f"{i}", "cls": i * 7, "txt": f"é{i}", "json": {"i": i}, "x": b"%d" % i} for i in range(4)]
    with webdataset.TarWriter(str(tmp_path / "a.tar")) as writer:  # pyright: ignore[reportAttributeAccessIssue]
        for sample in samples:
            writer.write(sample)
    return tmp_path / "a.tar"


def test_decode_as_webdataset(texts):
    reader = avida.readers.Webdataset(paths=texts, ext=["cls", "txt", "json", "x"], decode=True)
    classes, captions, objects, raw = next(reader.next_epoch(batch_size=4))
    assert classes.torch().tolist() == [0, 7, 14, 21]
    assert classes.dtype == avida.int64
    assert captions == ["é0", "é1", "é2", "é3"]  # pyright: ignore[reportGeneralTypeIssues]
    assert objects == [{"i": i} for i in range(4)]  # pyright: ignore[reportGeneralTypeIssues]
    assert raw.torch().tolist() == [[48], [49], [50], [51]]
    theirs = webdataset.WebDataset(str(texts), shardshuffle=False).decode().to_tuple("cls", "txt", "json", "x")  # pyright: ignore[reportAttributeAccessIssue]
    assert [(int(c), t, o, bytes(np.asarray(x))) for c, t, o, x in reader.next_epoch()] == list(theirs)
    one, caption, *_ = reader[2]
    assert (one.shape, int(one), caption) == ((), 14, "é2")


def test_decode_by_extension(tmp_path):
    path = write_tar(
        tmp_path / "a.tar", [("0.a.txt", b" -1.5\n"), ("0.n", b"+12"), ("1.a.txt", b"1e3"), ("1.n", b" 255 ")]
    )
    options = {"decode": {"a.txt": "float", "n": "int"}}
    reader = avida.readers.Webdataset(paths=path, ext=["a.txt", "n"], dtypes=[None, "uint8"], **options)
    numbers, small = next(reader.next_epoch(batch_size=2))
    assert (numbers.dtype, small.dtype) == (avida.float32, avida.uint8)
    assert numbers.torch().tolist() == [-1.5, 1000.0]
    assert small.torch().tolist() == [12, 255]
    bad = avida.readers.Webdataset(paths=path, ext=["a.txt", "n"], dtypes=["float64", "int8"], **options)
    with pytest.raises(ValueError, match=r'a\.tar/1: member \.n at byte .*type int8 as text, found " 255 ", .*range'):
        bad[1][1].evaluate()


@pytest.mark.parametrize("text", [b"", b" ", b"x", b"1.5", b"1 2", b"0x1", b"9" * 30, b"9" * 5000, b"+-1"])
def test_texts_that_are_no_integers(tmp_path, text):
    path = write_tar(tmp_path / "a.tar", [("0.cls", text), ("1.cls", b"1")])
    reader = avida.readers.Webdataset(paths=path, ext="cls", decode=True)
    with pytest.raises(
        ValueError, match=r"a\.tar/0: member \.cls at byte 512: expected a number of type int64 as text"
    ):
        reader[0][0].evaluate()
    assert int(reader[1][0]) == 1


def test_texts_that_cannot_be_decoded(tmp_path):
    path = write_tar(tmp_path / "a.tar", [("0.json", b"{"), ("0.txt", b"\xff"), ("1.json", b"1"), ("1.txt", b"")])
    for ext in ("json", "txt"):
        with pytest.raises(ValueError, match=r"a\.tar/0: expected (json|text) in a member"):
            avida.readers.Webdataset(paths=path, ext=ext, decode=True)[0]
    assert avida.readers.Webdataset(paths=path, ext=["json", "txt"], decode=True)[1] == (1, "")
    path = write_tar(tmp_path / "b.tar", [("0.txt", b"0"), ("1.txt", b"1"), ("1.cls", b"1"), ("1.json", b"[]")])
    reader = avida.readers.Webdataset(paths=path, ext=["cls", "json"], decode=True)
    with pytest.raises(ValueError, match=r"b\.tar/0: member \.cls: .*found no such member"):
        reader[0][0].evaluate()
    assert avida.readers.Webdataset(paths=path, ext="json", decode=True)[:] == ([None, []],)


def test_arguments_of_decode(texts):
    for decode, message in [
        ({"csl": "int"}, r"names 'csl', expected one of the extensions \['cls', 'txt'\]"),
        ({"cls": "integer"}, r"expected one of \('bytes', 'int', .* for 'cls' in decode, got 'integer'"),
    ]:
        with pytest.raises(ValueError, match=message):
            avida.readers.Webdataset(paths=texts, ext=["cls", "txt"], decode=decode)
    with pytest.raises(TypeError, match=r"expected True, or a dictionary .* got 'int'"):
        avida.readers.Webdataset(paths=texts, ext="cls", decode="int")
    with pytest.raises(ValueError, match="one decoding for all extensions of an output"):
        avida.readers.Webdataset(paths=texts, ext="cls;txt", decode=True)
    for dtype, message in [("float32", "integer type"), ("bool", "types of numbers")]:
        with pytest.raises(RuntimeError, match=message):
            avida.readers.Webdataset(paths=texts, ext="cls", decode=True, dtypes=dtype)
    with pytest.raises(RuntimeError, match="no element type, got i32"):
        avida.readers.Webdataset(paths=texts, ext="txt", decode=True, dtypes="int32")


def test_extensions_that_match_nothing(texts):
    with pytest.raises(RuntimeError, match=r"extension \.jpg;png in .*a\.tar, found only \.cls, \.json, \.txt, \.x"):
        avida.readers.Webdataset(paths=texts, ext=["cls", "jpg;png"])
    with pytest.raises(RuntimeError, match=r"extension \.jpg"):
        avida.readers.Webdataset(paths=texts, ext=["cls", "jpg"], missing_component_behavior="skip")
    with pytest.raises(RuntimeError, match=r"extension \.\.cls .* Write \"cls\" without the dot"):
        avida.readers.Webdataset(paths=texts, ext=".cls")
    assert read(texts, "jpg", missing_component_behavior="empty") == [[b""]] * 4


# Names


def test_braces_and_wildcards(tmp_path):
    for i in range(8, 12):
        write_tar(tmp_path / f"train-{i:03d}.tar", [("0.x", b"%d" % i)])
    write_tar(tmp_path / "{a,b}.tar", [("0.x", b"literal")])
    expected = [[b"%d" % i] for i in range(8, 12)]
    assert read(f"{tmp_path}/train-{{008..011}}.tar", "x") == expected
    assert read(tmp_path / "train-*.tar", "x") == expected
    assert read([f"{tmp_path}/train-{{008,009}}.tar", f"{tmp_path}/*-01?.tar"], "x") == expected
    assert read(tmp_path / "{a,b}.tar", "x") == [[b"literal"]]
    for i in range(8, 12):
        write_index(tmp_path / f"train-{i:03d}.idx", index_webdataset(str(tmp_path / f"train-{i:03d}.tar")))
    assert read(tmp_path / "train-*.tar", "x", index_paths=f"{tmp_path}/train-{{008..011}}.idx") == expected
    with pytest.raises(RuntimeError, match=r"expected files that match '.*no-\*\.tar' in paths, found none"):
        read(tmp_path / "no-*.tar", "x")
    with pytest.raises(RuntimeError, match=r"no-2\.tar: cannot be opened"):
        read([tmp_path / "train-008.tar", tmp_path / "no-{2..3}.tar"], "x")


BRACES = [
    "a{0..3}b",
    "{000..012}",
    "{a,b{1..2}}c",
    "x{}y",
    "{a}",
    "{1..3,5}",
    "{3..1}",
    "{1..9..3}",
    "{a,b}{0..1}",
    "{a..e}",
]


@pytest.mark.parametrize("text", [*BRACES, "{-2..2}", "{01..3}", "{a,}", "{{1..2}}", "{C..A}", "{,a{b,c}d}"])
def test_braces_as_webdataset_expands_them(text):
    assert expand_braces(text) == list(braceexpand.braceexpand(text))
