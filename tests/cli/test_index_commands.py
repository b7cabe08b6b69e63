"""tfrecord2idx, rec2idx and wds2idx: the arguments of the real commands, and what they write."""

import importlib
import pathlib
import tarfile
import tomllib

import pytest

import avida
from avida._cli.index_commands import rec2idx, tfrecord2idx, wds2idx
from tests.readers.records import example, image, ints, recordio, write_recordio, write_tfrecords

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def files(tmp_path):
    """One file of each format, with the command for it and the index that it is to have."""
    records = write_tfrecords(tmp_path / "a.tfrecord", [example(number=ints(*range(i))) for i in range(5)])
    images = write_recordio(tmp_path / "b.rec", [recordio(image(bytes(i), 1.0)) for i in range(5)])
    with tarfile.open(tmp_path / "c.tar", "w") as tar:
        for name in ("tests/cli/README.md", "tests/README.md"):
            tar.add(ROOT / name, name)
    archive = str(tmp_path / "c.tar")
    from avida.readers._webdataset import index_webdataset

    return {
        tfrecord2idx: (records, pathlib.Path(records + ".idx").read_text()),
        rec2idx: (images, pathlib.Path(images + ".idx").read_text()),
        wds2idx: (archive, index_webdataset(archive, lambda done, total: None)),
    }


@pytest.mark.parametrize("command", [tfrecord2idx, rec2idx, wds2idx])
def test_index_is_written_where_it_is_wanted(files, command, tmp_path, capsys):
    file, expected = files[command]
    assert command([file, str(tmp_path / "wanted.idx")]) == 0
    assert (tmp_path / "wanted.idx").read_text() == expected
    assert capsys.readouterr() == ("", "")


def test_without_a_name_it_goes_beside_the_file(files, tmp_path):
    assert wds2idx([files[wds2idx][0]]) == 0
    assert (tmp_path / "c.idx").read_text() == files[wds2idx][1]


@pytest.mark.parametrize("command", [tfrecord2idx, rec2idx, wds2idx])
def test_errors(command, tmp_path, capsys):
    (tmp_path / "bad").write_bytes(b"something else, long enough to be read")
    for file in ("bad", "none"):
        assert command([str(tmp_path / file), str(tmp_path / "x.idx")]) == 1
        assert str(tmp_path / file) in capsys.readouterr().err
    assert command([str(tmp_path / "bad"), str(tmp_path / "bad")]) == 1
    assert "replace the file" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]
    with pytest.raises(SystemExit, match="2"):
        command([])


def test_they_are_commands_of_the_package():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    for command in (tfrecord2idx, rec2idx, wds2idx):
        module, _, name = scripts[command.__name__].partition(":")
        assert getattr(importlib.import_module(module), name) is command


def test_readers_take_them(files, tmp_path):
    for command, reader, options in (
        (
            tfrecord2idx,
            avida.readers.TFRecord,
            {"features": {"number": avida.tfrecord.VarLenFeature(avida.tfrecord.int64, 0)}},
        ),
        (rec2idx, avida.readers.MXNet, {}),
    ):
        assert command([files[command][0], str(tmp_path / "x.idx")]) == 0
        assert len(reader(path=files[command][0], index_path=str(tmp_path / "x.idx"), **options)) == 5
