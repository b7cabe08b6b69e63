"""avida process: a function of Batches over a data set, once for each sample, by processes or by Ray."""

import os
import subprocess
import sys

import numpy as np
import pytest

import avida
from avida import _cli
from tests.cli.data_sets import contents, write_images

RESIZE = """
import io, os, pathlib, signal
import numpy as np
from PIL import Image
import avida as ndd

FOLDER = pathlib.Path(__file__).parent

def process(batch):
    for source in batch["image"].sources:
        kill_once(source.index)
    images = ndd.decoders.image(batch["image"])
    small = ndd.resize(images, size=[12, 16])
    return {
        "image": [jpeg(np.asarray(image)) for image in small],
        "label": batch["label"],
        "pixels": small,
        "mean": [float(np.asarray(image).mean()) for image in small],
        "height": [image.shape[0] for image in images],
        "text": ["a text"] * len(images),
    }

def jpeg(image):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG")
    return file.getvalue()

def kill_once(index):
    mark = FOLDER / "marks" / str(index)
    if (FOLDER / "marks").is_dir() and index in (3, 11, 20, 29) and not mark.exists():
        mark.touch()
        os.kill(os.getppid() if index % 2 else os.getpid(), signal.SIGKILL)
        signal.pause()
"""
DROP = """
import avida as ndd

def no_small_ones(batch):
    images = ndd.decoders.image(batch["image"])
    large = [i for i, shape in enumerate(images.shape) if shape[0] >= 30]
    if not large:
        raise ValueError("all are small")
    return {"image": batch["image"].tensors[large], "label": batch["label"].tensors[large]}
"""


def process(*arguments):
    return _cli.main(["process", *map(str, arguments)])


@pytest.fixture
def files(tmp_path):
    return write_images(tmp_path / "files")


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "resize.py"
    path.write_text(RESIZE)
    return path


def test_results(tmp_path, files, script):
    assert process(script, "--input", files, "--output", tmp_path / "out", "--to", "mds", "--batch-size", 4) == 0
    reader = avida.readers.MDS(tmp_path / "out")
    assert reader.columns == {
        "__key__": "str",
        "image": "bytes",
        "label": "int32",
        "pixels": "ndarray",
        "mean": "float64",
        "height": "int64",
        "text": "str",
    }
    source = avida.readers.File(file_root=files)
    assert len(reader) == 30
    for i in range(30):
        row, (image, label) = reader[i], source[i]
        small = avida.resize(avida.decoders.image(image), size=[12, 16])
        assert np.array_equal(row["pixels"], small)
        assert row["label"].item() == label.item()
        assert avida.decoders.image(row["image"]).shape == (12, 16, 3)
        assert row["height"].item() == 20 + int(image.source.name[-7:-4])


def test_kills(tmp_path, files, script):
    """The command and its workers are killed again and again; in the end all is there, bit for bit."""
    command = [
        sys.executable,
        "-m",
        "avida",
        "process",
        str(script),
        "--input",
        str(files),
        "--batch-size",
        "3",
        "-j",
        "2",
    ]
    command += ["--to", "mds", "--shard-size", "9KB", "--output"]
    subprocess.run([*command, str(tmp_path / "whole")], check=True, timeout=100)
    (tmp_path / "marks").mkdir()
    ends = []
    while not ends or ends[-1] != 0:
        ends.append(subprocess.run([*command, str(tmp_path / "out")], timeout=100).returncode)
        assert ends[-1] in (-9, 0, 1)
    assert len(ends) == 5
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_ray_writes_the_same(tmp_path, files, script, monkeypatch):
    """Also when a worker of Ray is killed: its task is run again."""
    pytest.importorskip("ray")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # for Ray's workers
    arguments = ("--input", files, "--to", "webdataset", "--shard-size", "60KB", "-j", 2)
    script.write_text(RESIZE.replace("os.getppid() if index % 2 else os.getpid()", "os.getpid()"))
    assert process(script, *arguments, "--output", tmp_path / "local") == 0
    (tmp_path / "marks").mkdir()
    for index in (11, 20, 29):
        (tmp_path / "marks" / str(index)).touch()  # one is enough
    assert process(script, *arguments, "--output", tmp_path / "ray", "--engine", "ray") == 0
    assert (tmp_path / "marks" / "3").exists(), "a worker was killed"
    assert len(list((tmp_path / "local").glob("*.tar"))) > 2
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")


def test_ray_is_named_where_it_is_missing(tmp_path, files, script, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert process(script, "--input", files, "--output", tmp_path / "out", "--engine", "ray") == 1
    assert "--engine ray needs Ray, which is not installed: pip install ray" in capsys.readouterr().err


def test_failures(tmp_path, files, script, capsys):
    """They name the sample and the line of the script."""
    (files / "bee" / "004.jpg").write_bytes(b"no image")
    arguments = (script, "--input", files, "--output", tmp_path / "out", "-j", 2)
    line = 1 + RESIZE.splitlines().index('        "image": [jpeg(np.asarray(image)) for image in small],')
    assert process(*arguments) == 1
    shown = capsys.readouterr().err
    assert "bee/004: " in shown
    assert f"resize.py, line {line}: decoders.image: sample 0 ({files / 'bee' / '004.jpg'})" in shown
    assert process(*arguments, "--on-error", "skip") == 0
    assert "29 samples" in capsys.readouterr().out
    errors = (tmp_path / "out" / ".avida" / "errors.txt").read_text().splitlines()
    assert len(errors) == 1
    assert errors[0].startswith("bee/004\t")


def test_samples_are_left_out(tmp_path, files, capsys):
    """By the function: sources tell which ones remain, and these keep their names."""
    script = tmp_path / "drop.py"
    script.write_text(DROP)
    arguments = ("--input", files, "--output", tmp_path / "out", "--to", "mds", "--on-error", "skip")
    assert process(f"{script}:no_small_ones", *arguments, "--batch-size", 7) == 0
    reader = avida.readers.MDS(tmp_path / "out")
    keys = [bytes(np.asarray(reader[i]["__key__"])).decode() for i in range(len(reader))]
    classes = ["ant", "bee", "cat"]
    assert sorted(keys) == sorted(f"{classes[i % 3]}/{i:03}" for i in range(10, 30))


def test_a_script_that_changes_is_another_run(tmp_path, files, script, capsys):
    arguments = (script, "--input", files, "--output", tmp_path / "out")
    assert process(*arguments) == 0
    script.write_text(RESIZE.replace("[12, 16]", "[12, 17]"))
    assert process(*arguments) == 1
    assert "whose scripts differs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def other(batch): ...", "expected a function process, found none"),
        ("def process(batch): return 3", "expected a dictionary of columns from process(batch), got int"),
        ("def process(batch): return {'a': [1], 'b': [1, 2]}", "expected as many values in each column"),
        ("def process(batch): return {'a': [1, 2, 3]}", "samples may be left out of Batches"),
        ("def process(batch): return {'a': [object()]}", "expected bytes, text, numbers or arrays of them, got object"),
        ("def process(batch): return {'a': [1 / 0]}", "wrong.py, line 1: ZeroDivisionError: division by zero"),
        ("1 / 0", "wrong.py, line 1: ZeroDivisionError: division by zero"),
        ("def process(batch) return", "wrong.py, line 1: SyntaxError"),
    ],
)
def test_mistakes(tmp_path, files, capsys, body, message):
    script = tmp_path / "wrong.py"
    script.write_text(body)
    assert process(script, "--input", files, "--output", tmp_path / "out", "-j", 1) == 1
    assert message in capsys.readouterr().err
