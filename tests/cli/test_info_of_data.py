"""avida info URL: what a data set has."""

import json

import pytest

import avida
from avida import _cli
from tests.cli.data_sets import contents, write_images


def info(capsys, place):
    assert _cli.main(["info", str(place)]) == 0
    lines = capsys.readouterr().out.replace("\n" + " " * 14, " ").splitlines()
    return {line[:13].strip(): line[14:] for line in lines}


def test_files(tmp_path, capsys):
    write_images(tmp_path / "files", 12)
    told = info(capsys, tmp_path / "files")
    assert told["format"] == "files"
    assert told["samples"] == "12"
    assert told["columns"] == "image: image (png, jpg); label: int32"
    assert told["classes"] == "3: ant, bee, cat"
    assert told["image sizes"] == "20 x 30, 23 x 30, 26 x 30, 29 x 30 (of the first)"
    assert told["bytes"].startswith("about ")


def test_archives(tmp_path, capsys):
    write_images(tmp_path / "files", 12)
    assert _cli.main(["convert", str(tmp_path / "files"), str(tmp_path / "tars"), "--shard-size", "12KB"]) == 0
    archives = sorted(tmp_path.glob("tars/*.tar"))
    capsys.readouterr()
    told = info(capsys, tmp_path / "tars")
    assert told["format"] == "WebDataset (tar)"
    assert told["samples"] == "4 in the first of 3 shards"
    assert told["index"] == "0 of 3 archives have one; `avida index` writes them"
    assert told["columns"] == "image: image (png, jpg); label: int64"
    assert told["bytes"] == f"{sum(path.stat().st_size for path in archives) / 1024:,.1f} KiB"
    assert _cli.main(["index", *map(str, archives)]) == 0
    capsys.readouterr()
    told = info(capsys, tmp_path / "tars")
    assert told["samples"] == "12 in 3 shards"
    assert told["index"] == "3 of 3 archives have one"


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_mds_in_a_store(tmp_path, capsys, compression):
    write_images(tmp_path / "files", 12)
    options = ["--compression", compression] if compression else []
    command = ["convert", str(tmp_path / "files"), str(tmp_path / "mds"), "--to", "mds", "--shard-size", "8KB"]
    assert _cli.main([*command, *options]) == 0
    for name, content in contents(tmp_path / "mds").items():
        avida.storage.memory[f"informed/{name}"] = content
    capsys.readouterr()
    told = info(capsys, "memory://informed")
    shards = json.loads(contents(tmp_path / "mds")["index.json"])["shards"]
    assert told["format"] == "MDS"
    assert told["samples"] == f"12 in {len(shards)} shards"
    assert told["columns"] == "image: image (png, jpg); label: int32"
    assert told["classes"] == "3: ant, bee, cat"
    assert told["bytes"].endswith(", compressed by zstd") == bool(compression)


def test_parquet(tmp_path, capsys):
    write_images(tmp_path / "files", 12)
    assert _cli.main(["convert", str(tmp_path / "files"), str(tmp_path / "tables"), "--to", "parquet"]) == 0
    capsys.readouterr()
    told = info(capsys, tmp_path / "tables")
    assert told["samples"] == "12 in 1 shard"
    assert told["columns"] == "image: image (png, jpg); label: int64"
    assert told["classes"] == "3: ant, bee, cat"


def test_nothing(tmp_path, capsys):
    (tmp_path / "notes.md").write_text("nothing to see")
    assert _cli.main(["info", str(tmp_path)]) == 1
    assert "expected a data set of files, WebDataset (tar)" in capsys.readouterr().err
    assert _cli.main(["info", str(tmp_path / "missing")]) == 1
    assert "No such file" in capsys.readouterr().err
