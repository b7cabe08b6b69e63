"""avida index: what it writes, from what, and what it says."""

import subprocess
import sys
import tarfile

import pytest

from avida import _cli, _core
from avida._cli import index
from tests.readers.records import example, image, ints, recordio, tfrecord, write, write_recordio, write_tfrecords

EXAMPLES = [example(number=ints(*range(i))) for i in range(5)]
IMAGES = [recordio(image(bytes(i), 1.0)) for i in range(5)] + [recordio(image(b"abcd"), b"1234", b"5678")]


def test_tfrecord(tmp_path, capsys):
    paths = [
        write_tfrecords(tmp_path / name, EXAMPLES[:n]) for name, n in (("a-00000-of-00002.x", 5), ("b.tfrecord", 3))
    ]
    expected = [(tmp_path / (path + ".idx")).read_text() for path in paths]
    for path in paths:
        (tmp_path / (path + ".idx")).unlink()
    assert _cli.main(["index", *paths]) == 0
    assert [(tmp_path / (path + ".idx")).read_text() for path in paths] == expected
    shown = capsys.readouterr()
    assert f"{paths[0]}.idx: tfrecord, 5 samples" in shown.out
    assert f"{paths[1]}.idx: tfrecord, 3 samples" in shown.out
    assert shown.err == "", "no bar where there is no terminal"


def test_recordio(tmp_path):
    path = write_recordio(tmp_path / "a.rec", IMAGES)
    assert _cli.main(["index", path]) == 0
    assert (tmp_path / "a.idx").read_text() == (tmp_path / "a.rec.idx").read_text()


def test_other_folder(tmp_path, capsys):
    path = write_tfrecords(tmp_path / "a", EXAMPLES)
    (tmp_path / "out").mkdir()
    assert _cli.main(["index", path, "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "a.idx").read_text() == (tmp_path / "a.idx").read_text()
    (tmp_path / "sub").mkdir()
    other = write_tfrecords(tmp_path / "sub" / "a", EXAMPLES)
    assert _cli.main(["index", path, other, "-o", str(tmp_path / "out")]) == 1
    assert "which is that of" in capsys.readouterr().err


def test_damage_names_file_and_place(tmp_path, capsys):
    bad = write(tmp_path / "bad", [tfrecord(EXAMPLES[4]), b"damage"])
    (tmp_path / "bad.idx").write_text("the old one")
    good = write(tmp_path / "good", [tfrecord(EXAMPLES[4])])
    cut = write(tmp_path / "cut.rec", [IMAGES[0], IMAGES[1][:-8]])
    assert _cli.main(["index", bad, str(tmp_path / "nope"), cut, good]) == 1
    shown = capsys.readouterr()
    assert f"avida index: {bad}, byte {len(tfrecord(EXAMPLES[4]))}: the file ends within a record" in shown.err
    assert f"avida index: {cut}, byte 32: " in shown.err
    assert str(tmp_path / "nope") in shown.err
    assert "good.idx: tfrecord, 1 samples" in shown.out
    assert (tmp_path / "bad.idx").read_text() == "the old one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "bad.idx", "cut.rec", "good", "good.idx"]


def test_format_is_found_from_contents(tmp_path, capsys):
    assert index.find_format(tmp_path / write(tmp_path / "x", [tfrecord(b"")])) == "tfrecord"
    assert index.find_format(tmp_path / write(tmp_path / "x", IMAGES)) == "recordio"
    with tarfile.open(tmp_path / "x", "w") as tar:
        tar.add(__file__, "test.py")
    assert index.find_format(tmp_path / "x") == "webdataset"
    (tmp_path / "x").write_bytes(b"something else, long enough")
    assert _cli.main(["index", str(tmp_path / "x")]) == 1
    assert "see --format" in capsys.readouterr().err
    assert _cli.main(["index", str(tmp_path / "x"), "--format", "tfrecord"]) == 1
    assert f"{tmp_path / 'x'}, byte 0: " in capsys.readouterr().err


def test_progress(tmp_path):
    path = write(tmp_path / "many", [tfrecord(EXAMPLES[0])] * 5000)
    told = []
    text = _core.index_tfrecord(path, lambda done, total: told.append((done, total)))
    size = len(tfrecord(EXAMPLES[0]))
    assert text.count("\n") == 5000
    assert told == [(size * n, size * 5000) for n in (1024, 2048, 3072, 4096)]

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.index_tfrecord(path, stop)


def test_command(tmp_path):
    path = write(tmp_path / "a", [tfrecord(EXAMPLES[3])])
    done = subprocess.run([sys.executable, "-m", "avida", "index", path], capture_output=True, text=True, check=True)
    assert done.stdout == f"{path}.idx: tfrecord, 1 samples\n"


def test_nothing_is_overwritten(tmp_path, capsys):
    """An index never takes the place of a file, nor of another one's index."""
    data = tmp_path / "data.idx"
    data.write_bytes(recordio(b"abc"))
    assert _cli.main(["index", str(data)]) == 1
    assert data.read_bytes() == recordio(b"abc")
    assert "would replace" in capsys.readouterr().err
    (tmp_path / "a.rec").write_bytes(recordio(b"abc"))
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("1.txt"))
    assert _cli.main(["index", str(tmp_path / "a.rec"), str(tmp_path / "a.tar")]) == 1
    assert "which is that of" in capsys.readouterr().err
    assert (tmp_path / "a.idx").read_text() == "0\t0\n"
    twice = [str(tmp_path / "a.rec"), f"{tmp_path}/../{tmp_path.name}/a.rec"]
    assert _cli.main(["index", *twice]) == 0


def test_no_room_for_an_index(tmp_path):
    """The error names the index, and nothing is left of it; the old one stays."""
    path = write_tfrecords(tmp_path / "a", EXAMPLES * 500)
    (tmp_path / "a.idx").write_text("the old one")
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    run = [sys.executable, "-c", f"{limit}; from avida import _cli; sys.exit(_cli.main(['index', {path!r}]))"]
    failed = subprocess.run(run, timeout=600, check=False, capture_output=True, text=True)
    assert failed.returncode == 1, failed.stderr
    assert f"the index cannot be written: File too large: '{path}.idx'" in failed.stderr
    assert (tmp_path / "a.idx").read_text() == "the old one"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "a.idx"]


def test_what_a_killed_run_left_is_removed(tmp_path):
    """Neither does it fail the next run, nor does it stay."""
    path = write_tfrecords(tmp_path / "a", EXAMPLES)
    code = (
        "import os; os.replace = lambda *_: os._exit(9); from avida import _cli; _cli.main(['index', os.sys.argv[1]])"
    )
    assert subprocess.run([sys.executable, "-c", code, path], timeout=600, check=False).returncode == 9
    assert len(list(tmp_path.iterdir())) == 3
    assert _cli.main(["index", path]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "a.idx"]
