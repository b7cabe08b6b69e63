"""avida convert: the same samples in every format, however often it was interrupted."""

import io
import json
import pathlib
import subprocess
import sys
import tarfile

import numpy as np
import pyarrow.parquet
import pytest

import avida
from avida import _cli
from avida._cli.rewriting.options import size
from avida._cli.rewriting.sources import find
from avida._shards.columns import column_of, ending_of
from tests.cli.data_sets import DEADLY_SOURCE, contents, write_images
from tests.codecs.files import all_files
from tests.readers.mds_files import write_mds
from tests.readers.records import example, floats, image, ints, recordio, strings, write_recordio, write_tfrecords
from tests.readers.tars import write_tar


def convert(*arguments):
    return _cli.main(["convert", *map(str, arguments)])


def rows_of_files(folder):
    reader = avida.readers.File(file_root=folder)
    names = [reader[i][0].source.name[len(str(folder)) + 1 :].rpartition(".")[0] for i in range(len(reader))]
    return [(name, bytes(np.asarray(reader[i][0])), reader[i][1].item()) for i, name in enumerate(names)]


def rows_of_tars(folder):
    archives = [str(path) for path in sorted(folder.glob("*.tar"))]
    reader = avida.readers.Webdataset(paths=archives, ext=["jpg;png", "cls"], decode={"cls": "int"})
    names = [sample[0].source.name.rpartition(".tar/")[2] for sample in (reader[i] for i in range(len(reader)))]
    return [(name, bytes(np.asarray(reader[i][0])), reader[i][1].item()) for i, name in enumerate(names)]


def rows_of_mds(folder):
    reader = avida.readers.MDS(folder)
    rows = [reader[i] for i in range(len(reader))]
    return [
        (bytes(np.asarray(row["__key__"])).decode(), bytes(np.asarray(row["image"])), row["label"].item())
        for row in rows
    ]


def rows_of_parquet(folder):
    rows = pyarrow.parquet.read_table(folder).to_pylist()
    return [(row["__key__"], row["image"]["bytes"], row["label"]) for row in rows]


def test_round_trip(tmp_path, capsys):
    """Files to archives, to MDS, to Parquet and back: images, labels, names and the names of classes stay."""
    files, tars, mds, tables, again = (tmp_path / name for name in ("files", "tars", "mds", "tables", "again"))
    write_images(files)
    assert convert(files, tars, "--shard-size", "20KB") == 0
    assert f"{tars}: 30 samples in 5 shards of webdataset" in capsys.readouterr().out
    assert convert(tars, mds, "--to", "mds", "--shard-size", "30KB", "--compression", "zstd") == 0
    assert convert(mds, tables, "--to", "parquet") == 0
    assert convert(tables, again, "--to", "mds", "--shard-size", "30KB", "--compression", "zstd") == 0
    expected = rows_of_files(files)
    assert len(expected) == 30
    assert rows_of_tars(tars) == expected
    assert rows_of_mds(mds) == expected
    assert rows_of_parquet(tables) == expected
    assert rows_of_mds(again) == expected
    assert json.loads((tables / ".avida" / "classes.json").read_text()) == ["ant", "bee", "cat"]
    assert json.loads((mds / "index.json").read_text())["shards"][0]["compression"] == "zstd"


def test_others_read_it(tmp_path):
    """What the package webdataset and that of Hugging Face make of the shards."""
    import datasets
    import webdataset.compat

    write_images(tmp_path / "files", 6)
    (tmp_path / "source.py").write_text(DEADLY_SOURCE)
    assert convert(tmp_path / "files", tmp_path / "tables", "--to", "parquet") == 0
    table = datasets.load_dataset("parquet", data_dir=str(tmp_path / "tables"), cache_dir=str(tmp_path / "cache"))
    row = table["train"][3]
    assert row["image"].size == (30, 24)
    assert table["train"].features["label"].int2str(row["label"]) == "bee"
    assert convert(tmp_path / "source.py", tmp_path / "tars", "--texts", "text") == 0
    shards = webdataset.compat.WebDataset(str(tmp_path / "tars" / "shard-000000.tar"), shardshuffle=False).decode()
    last = list(shards)[-1]
    assert (last["__key__"], last["cls"], last["txt"], last["half.npy"]) == ("row_119", 119, "row 119", 59.5)
    assert last["boxes.npy"].tolist() == [[119, 1, 2, 3]] * 3


@pytest.mark.parametrize("kind", ["webdataset", "mds", "parquet"])
def test_jobs_do_not_matter(tmp_path, kind):
    """Shards are the same bytes, whoever writes them and when."""
    write_images(tmp_path / "files")
    for jobs in (1, 3):
        assert convert(tmp_path / "files", tmp_path / str(jobs), "--to", kind, "--shard-size", "9KB", "-j", jobs) == 0
    first = contents(tmp_path / "1")
    assert len(first) > 5
    assert contents(tmp_path / "3") == first


@pytest.mark.parametrize("kind", ["webdataset", "mds", "parquet"])
def test_kills(tmp_path, kind):
    """The command and its workers are killed again and again: what is finished stays, and in the end all is there."""
    (tmp_path / "source.py").write_text(DEADLY_SOURCE)
    command = [sys.executable, "-m", "avida", "convert", str(tmp_path / "source.py"), "-j", "2", "--to", kind]
    command += ["--shard-size", {"webdataset": "50KB", "mds": "800B", "parquet": "800B"}[kind]]
    subprocess.run([*command, str(tmp_path / "whole")], check=True, timeout=100)
    (tmp_path / "marks").mkdir()
    target, ends, finished = tmp_path / "target", [], {}
    while not ends or ends[-1] != 0:
        ended = subprocess.run([*command, str(target)], timeout=100, capture_output=True, text=True)
        ends.append(ended.returncode)
        assert all(path.stat().st_mtime_ns == time for path, time in finished.items()), "a finished shard was written"
        records = [json.loads(path.read_text()) for path in (target / ".avida").glob("[0-9]*.json")]
        finished |= {target / record["file"]: (target / record["file"]).stat().st_mtime_ns for record in records}
        assert ended.returncode in (0, -9) or "a worker process has died" in ended.stderr
    assert len(ends) == 5, "four kills, and the run that ended"
    assert finished, "some shards were finished before a kill"
    assert contents(target) == contents(tmp_path / "whole")
    if kind == "mds":
        reader = avida.readers.MDS(target)
        assert [reader[i]["label"].item() for i in range(len(reader))] == list(range(120))
        (target / ".avida" / "000000.json").write_text("{}")  # a kill when all was written leaves such
        subprocess.run([*command, str(target)], check=True, timeout=100)
        assert contents(target) == contents(tmp_path / "whole"), "again, where nothing is left to do"


def test_other_runs_are_not_mixed(tmp_path, capsys):
    write_images(tmp_path / "files", 9)
    target = tmp_path / "target"
    assert convert(tmp_path / "files", target) == 0
    assert convert(tmp_path / "files", target, "--to", "mds") == 1
    assert 'whose format differs: "webdataset" there, "mds" now' in capsys.readouterr().err
    assert convert(tmp_path / "files", tmp_path / "files") == 1
    assert "expected a new or empty folder" in capsys.readouterr().err
    (target / ".avida" / "plan.json").write_text(  # as if it had not been finished
        json.dumps(
            {k: v for k, v in json.loads((target / ".avida" / "plan.json").read_text()).items() if k != "shards"}
        )
    )
    write_images(tmp_path / "files", 12)
    assert convert(tmp_path / "files", target) == 1
    assert "what is read has changed since" in capsys.readouterr().err


def test_failures(tmp_path, capsys):
    """A sample that cannot be read ends it, or is left out and listed."""
    rows = [example(text=strings(b"row %d" % i)) for i in range(40)]
    path = pathlib.Path(write_tfrecords(tmp_path / "rows.tfrecord", rows))
    path.write_bytes(path.read_bytes().replace(b"row 21", b"row xx"))  # which its checksum does not fit
    target = tmp_path / "target"
    command = (path, target, "--to", "mds", "--shard-size", "200B", "-j", "2")
    assert convert(*command) == 1
    assert "rows.tfrecord, record 21" in capsys.readouterr().err
    assert convert(*command, "--on-error", "skip") == 0
    shown = capsys.readouterr()
    assert "39 samples" in shown.out
    assert "left out: 1 samples, listed in" in shown.err
    assert "checksum" in (target / ".avida" / "errors.txt").read_text()
    reader = avida.readers.MDS(target)
    texts = [bytes(np.asarray(reader[i]["text"])) for i in range(len(reader))]
    assert texts == [b"row %d" % i for i in range(40) if i != 21]


def test_columns_limit_and_names(tmp_path):
    """Names of files are those of samples, made different where two files have the same."""
    write_images(tmp_path / "files", 4, classes=["x"])
    (tmp_path / "files" / "x" / "000.jpg").write_bytes((tmp_path / "files" / "x" / "001.jpg").read_bytes())
    (tmp_path / "files" / "x" / "a.b c.jpg").write_bytes((tmp_path / "files" / "x" / "001.jpg").read_bytes())
    assert convert(tmp_path / "files", tmp_path / "all", "--columns", "image=photo") == 0
    with tarfile.open(tmp_path / "all" / "shard-000000.tar") as archive:
        names = archive.getnames()
    files = ["000.photo.jpg", "000-1.photo.png", "001.photo.jpg", "002.photo.jpg", "003.photo.jpg", "a_b_c.photo.jpg"]
    assert names == [f"x/{name}" for name in files]
    assert convert(tmp_path / "files", tmp_path / "two", "--limit", 2) == 0
    assert len(rows_of_tars(tmp_path / "two")) == 2


def test_what_sources_are_recognised(tmp_path):
    (tmp_path / "coco" / "images").mkdir(parents=True)
    (tmp_path / "coco" / "images" / "1.jpg").write_bytes(b"\xff\xd8\xff some")
    annotations = {
        "images": [{"id": 7, "file_name": "1.jpg", "width": 20, "height": 10}],
        "annotations": [{"image_id": 7, "category_id": 17, "bbox": [1, 2, 3, 4]}],
        "categories": [{"id": 17, "name": "cat"}],
    }
    (tmp_path / "coco" / "annotations.json").write_text(json.dumps(annotations))
    features = {"image/encoded": strings(b"\xff\xd8\xff"), "ids": ints(3, 4), "scores": floats(0.5)}
    write_tfrecords(tmp_path / "a-00000-of-00001", [example(**features), example(**features)])
    write_recordio(tmp_path / "a.rec", [recordio(image(b"\xff\xd8\xffabcd", 2.0))])
    (tmp_path / "arrays").mkdir()
    np.save(tmp_path / "arrays" / "1.npy", np.arange(6.0).reshape(2, 3))
    write_tar(
        tmp_path / "a.tar", [("1.left.png", b"l"), ("1.right.png", b"r"), ("1.txt", b"some"), ("1.a-b.json", b"{}")]
    )
    write_mds(tmp_path / "mds", {"caption": "str", "meta": "json"}, [{"caption": b"a cat", "meta": b'{"a":  1}'}])
    expected = {
        "coco": {"image": "image", "boxes": "array", "labels": "array", "image_id": "number"},
        "a-00000-of-00001": {"image/encoded": "image", "ids": "array", "scores": "array"},
        "a.rec": {"image": "image", "label": "array"},
        "arrays": {"array": "array"},
        "a.tar": {"left": "bytes", "right": "bytes", "text": "text", "a-b": "json"},
        "mds": {"caption": "text", "meta": "json"},
        "of mds": {"caption": "text", "meta": "text"},
        "[a].tar": {"left": "bytes", "right": "bytes", "text": "text", "a-b": "json"},
    }
    for name, kinds in expected.items():
        target = tmp_path / f"of {name}"
        assert convert(tmp_path / name, target, "--to", "parquet") == 0
        plan = json.loads((target / ".avida" / "plan.json").read_text())["plan"]
        assert {column["name"]: column["kind"] for column in plan["columns"]} == kinds
    table = pyarrow.parquet.read_table(tmp_path / "of mds").to_pylist()
    assert table[0]["meta"] == '{"a":  1}', "JSON stays as it is written"
    table = pyarrow.parquet.read_table(tmp_path / "of a-00000-of-00001").to_pylist()
    assert table[1]["ids"] == [3, 4]
    table = pyarrow.parquet.read_table(tmp_path / "of arrays").to_pylist()
    assert table[0]["array"] == [[0, 1, 2], [3, 4, 5]]


def test_two_images_of_a_sample_are_two_columns(tmp_path):
    write_tar(tmp_path / "a.tar", [("1.jpg", b"l"), ("1.png", b"r"), ("2.jpg", b"l"), ("2.png", b"r")])
    assert find(str(tmp_path / "a.tar")).names == ["jpg", "png"]


def test_a_store_is_read_and_not_written(tmp_path, capsys):
    write_images(tmp_path / "files", 6)
    for name, content in contents(tmp_path / "files").items():
        avida.storage.memory[f"converted/{name}"] = content
    assert convert("memory://converted", tmp_path / "tars") == 0
    assert rows_of_tars(tmp_path / "tars") == rows_of_files(tmp_path / "files")
    assert convert("memory://converted", "s3://bucket/there") == 1
    assert "write to one, and upload it" in capsys.readouterr().err


def test_mistakes(tmp_path, capsys):
    write_images(tmp_path / "files", 6)
    (tmp_path / "empty.py").write_text("")
    for arguments, message in {
        (tmp_path / "nothing",): "No such file",
        (tmp_path / "files", "--columns", "imag"): "there is no column 'imag' among image, label",
        (tmp_path / "files", "--compression", "zstd"): "--compression is for --to mds",
        ("readers.Fil()",): "did you mean 'File'",
        ("avida.ExternalSource(iter([1]))",): "expected a reader whose samples have numbers",
        (tmp_path / "empty.py",): "expected a function make_reader, found none",
    }.items():
        assert convert(*arguments, tmp_path / "target") == 1
        assert message in capsys.readouterr().err
        assert not (tmp_path / "target").exists(), "nothing is left where nothing was begun"
    with pytest.raises(SystemExit):
        convert(tmp_path / "files", tmp_path / "target", "--shard-size", "many")
    assert [size(text) for text in ("12", "7b", "1.5KB", "2 MiB")] == [12, 7, 1500, 2 << 20]


def test_headers_are_those_of_tarfile():
    from avida._shards import webdataset as writer

    for name in ["1.jpg", "a/b.cls", "é" * 40, "x" * 99, "x" * 100, "y" * 300]:
        for length in (0, 123_456, 8**11 - 1, 8**11):
            member = tarfile.TarInfo(name)
            member.size, member.mode = length, 0o444
            assert writer._header(name, length) == member.tobuf(tarfile.GNU_FORMAT)
    file = io.BytesIO()
    writer.write(file, [], [])
    assert len(file.getvalue()) % tarfile.RECORDSIZE == 0


def test_images_of_all_formats_are_known():
    for files in all_files().values():
        for data in map(bytes, files.values()):
            assert f".{ending_of(data)}" in avida._core.image_endings()
            assert column_of("x", [data]).kind == "image"


@pytest.mark.parametrize("brand", [b"avif", b"avis", b"heic", b"mif1", b"msf1"])
def test_images_of_the_family_of_mp4_are_no_videos(brand):
    assert column_of("x", [b"\0\0\0\x20ftyp" + brand + bytes(20)]).kind == "image"
