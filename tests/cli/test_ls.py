"""`avida ls`: folders, single objects, and names of nothing."""

import pytest

import avida
from avida._cli import main
from tests.storage.http_server import serving


@pytest.fixture
def server():
    with serving({"data/a/1.jpg": b"1", "data/a/2.jpg": b"2", "data/notes": b"3"}) as server:
        yield server
        for prefix in ("s3://data", "s3://data/notes", "s3://data/none", "s3://other"):
            avida.storage.configure(prefix)


def told(capsys, server, *arguments):
    code = main(["ls", *arguments, "--anonymous", "--endpoint", server.url])
    out, err = capsys.readouterr()
    return code, out, err


def test_folders(server, capsys):
    assert told(capsys, server, "s3://data") == (0, "a/\nnotes\n", "")
    assert told(capsys, server, "--deep", "s3://data") == (0, "a/1.jpg\na/2.jpg\nnotes\n", "")


def test_an_object(server, capsys):
    assert told(capsys, server, "s3://data/notes") == (0, "s3://data/notes\n", "")


def test_nothing(server, capsys):
    error = "avida ls: s3://data/none: there is no object of this name, and none in a folder of this name\n"
    assert told(capsys, server, "s3://data/none") == (1, "", error)


def test_names_that_no_store_has(capsys):
    assert main(["ls", "s3://"]) == 1
    assert capsys.readouterr().err == "avida ls: expected s3://BUCKET/KEY, got s3://\n"


def test_folders_of_this_machine(tmp_path, capsys):
    assert main(["ls", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""
    (tmp_path / "a").touch()
    assert main(["ls", f"file://{tmp_path}"]) == 0
    assert capsys.readouterr().out == "a\n"
    assert main(["ls", str(tmp_path / "b")]) == 1
    assert "No such file or directory" in capsys.readouterr().err
