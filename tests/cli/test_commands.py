"""The commands on a small folder of images."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import avida
from avida import _cli
from avida._cli import images, info, stages, view
from avida._values.picture import contact_sheet, png


def noise(height, width, channels=3):
    return np.random.default_rng(height).integers(0, 256, (height, width, channels), np.uint8)


@pytest.fixture
def folder(tmp_path):
    """Six images in two folders, one that is cut short, and something else."""
    for i in range(6):
        file = tmp_path / "images" / f"class{i % 2}" / f"{i}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(png(noise(50 + i, 70 - i)))
    (tmp_path / "images" / "class0" / "cut.png").write_bytes(png(noise(50, 50))[:2000])
    (tmp_path / "images" / "notes.txt").write_text("not an image")
    return tmp_path / "images"


def decode(file):
    return np.asarray(avida.decoders.image(np.fromfile(file, np.uint8)))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 3), (64, 200)])
def test_png(tmp_path, shape, channels):
    image = noise(*shape, channels)
    (tmp_path / "x.png").write_bytes(png(image))
    assert np.array_equal(decode(tmp_path / "x.png"), np.broadcast_to(image, (*shape, 3)))


def test_contact_sheet():
    """Images stand in the middle of their cells, missing ones are grey."""
    red = np.full((4, 8, 3), (255, 0, 0), np.uint8)
    gray = np.full((8, 8, 1), 7, np.uint8)
    sheet = contact_sheet([[red, gray], [None, red], [gray, gray]], across=2, cell=8, gap=2)
    assert sheet.shape == (2 * 10 + 2, 2 * 18 + 8 + 4, 3)
    assert (sheet[4:8, 2:10] == (255, 0, 0)).all()
    assert (sheet[2:4, 2:10] == 235).all()
    assert (sheet[2:10, 12:20] == 7).all()
    assert (sheet[2:10, 28:36] == 200).all()
    assert (sheet[12:20, 2:10] == 7).all()
    assert (sheet[12:20, 28:] == 235).all(), "there is no fourth strip"


def test_find_images(folder):
    names = [path.name for path in images.find_images(folder)]
    assert names == ["0.png", "2.png", "4.png", "cut.png", "1.png", "3.png", "5.png"]


@pytest.mark.parametrize("pillow", [False, True])
def test_make_images(tmp_path, monkeypatch, pillow):
    if not pillow:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert images.make_images(tmp_path, 2) == ("JPEG" if pillow else "PNG")
    files = images.find_images(tmp_path)
    assert len(files) == 2
    assert all(decode(file).std() > 20 for file in files)


def test_info(capsys):
    assert _cli.main(["info"]) == 0
    shown = capsys.readouterr().out
    assert avida.__version__ in shown
    for word in ("JPEG", "PNG", "threads", "memory", "GPU", "instructions"):
        assert word in shown
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in shown.splitlines()}
    assert "(libpng 1." in " ".join(shown.split())
    assert re.match(r"WAV, .*FLAC.* \(libsndfile 1\.", lines["sound"])
    assert re.match(r"H\.264, .*\(FFmpeg ", " ".join(shown.split("video ")[1].split()))


def test_instructions():
    v2, v3, v4 = (info.LEVELS[f"x86-64-v{n}"] for n in (2, 3, 4))
    assert info.instructions(v2 | v3 | v4).startswith("x86-64-v4 variant")
    assert info.instructions(v2 | v3).startswith("x86-64-v3 variant")
    assert info.instructions(v2 | v4).startswith("x86-64-v2 variant")


def test_view(folder, tmp_path, capsys):
    output = tmp_path / "sheet.png"
    assert _cli.main(["view", str(folder), "-o", str(output), "--cell", "32", "--variants", "2"]) == 0
    said = capsys.readouterr()
    assert "6 of 7 images" in said.out
    assert "cut.png" in said.err
    sheet = decode(output)
    assert sheet.shape[1] > 3 * 32
    assert 100 < sheet.mean() < 254


def test_view_of_a_video(tmp_path, capsys):
    video = tmp_path / "clip.y4m"
    frames = [b"FRAME\n" + bytes([16 * i] * 64 + [128] * 32) for i in range(8)]
    video.write_bytes(b"YUV4MPEG2 W8 H8 F25:1\n" + b"".join(frames))
    output = tmp_path / "sheet.png"
    assert _cli.main(["view", str(video), "-o", str(output), "-n", "4", "--cell", "32"]) == 0
    assert "4 frames, 8 x 8, from 0 to 0.28 s (frames 0 to 7)" in capsys.readouterr().out
    assert output.read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def annotated(tmp_path):
    """A folder of YOLO, with the file of a policy beside."""
    for i in range(3):
        for name, content in {
            f"images/{i}.png": png(np.full((40, 60, 3), 80, np.uint8)),
            f"labels/{i}.txt": b"",
        }.items():
            (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "data" / name).write_bytes(content or (b"0 .5 .5 .5 .5" if i < 2 else b"broken"))
    (tmp_path / "policy.json").write_text('[["rotate", {"angle": {"between": [-90, 90]}, "fill_value": 0}]]')
    return tmp_path


def test_view_of_a_policy(annotated, folder, capsys):
    output, policy = annotated / "sheet.png", ["--policy", str(annotated / "policy.json"), "--variants", "2"]
    assert _cli.main(["view", str(annotated / "data"), "-o", str(output), "--cell", "60", *policy]) == 0
    said = capsys.readouterr()
    assert "2 of 3 images with annotations; each is followed by 2 augmented forms" in said.out
    assert "2.txt:1: expected numbers" in said.err
    sheet = decode(output)
    assert (np.ptp(sheet, axis=2) > 60).sum() > 100  # boxes have colours
    assert _cli.main(["view", str(folder), "-o", str(output), "--cell", "32", *policy]) == 0
    assert "6 of 7 images; each is followed by 2 augmented forms" in capsys.readouterr().out


def test_view_of_annotations(annotated, capsys):
    content = {
        "images": [{"id": 1, "file_name": "0.png", "width": 60, "height": 40}],
        "annotations": [{"image_id": 1, "category_id": 1, "bbox": [5, 5, 20, 20]}],
        "categories": [{"id": 1, "name": "cat"}],
    }
    (annotated / "coco.json").write_text(json.dumps(content))
    options = ["--annotations", str(annotated / "coco.json"), "-o", str(annotated / "sheet.png")]
    assert _cli.main(["view", str(annotated / "data/images"), *options]) == 0
    assert "1 of 1 images with annotations" in capsys.readouterr().out
    assert (np.ptp(decode(annotated / "sheet.png"), axis=2) > 60).sum() > 100
    (annotated / "policy.json").write_text('[["rotat", {}]]')
    assert _cli.main(["view", str(annotated / "data"), "--policy", str(annotated / "policy.json")]) == 2
    assert "policy.json: " in capsys.readouterr().err
    assert _cli.main(["view", str(annotated / "data"), "--split", "test"]) == 1
    assert 'the split "test"' in capsys.readouterr().err


def test_view_repeats(folder, tmp_path):
    """The seed decides, and nothing else."""
    files = images.find_images(folder)
    sheets = []
    for i, seed in enumerate((1, 1, 2)):
        view.write_sheet(files, tmp_path / f"{i}.png", cell=32, seed=seed)
        sheets.append((tmp_path / f"{i}.png").read_bytes())
    assert sheets[0] == sheets[1] != sheets[2]


def test_measure(folder):
    measured = stages.measure(images.find_images(folder), stages.Job(batch_size=4, size=16), repeat=2)
    assert measured.images == 12
    assert len(measured.errors) == 1
    assert list(measured.rates) == ["read", "decode", "resize", "normalise", "hand over"]
    assert all(rate > 0 for rate in measured.rates.values())
    shares = [float(word[:-1]) for word in measured.table().split() if word.endswith("%")]
    assert sum(shares) == pytest.approx(100, abs=0.3)


def test_demo(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("avida._cli.demo._LEAST", 1)
    assert _cli.main(["demo", str(folder), "-o", str(tmp_path / "demo.png")]) == 0
    said = capsys.readouterr()
    assert "all together" in said.out
    assert "cut.png" in said.err
    assert decode(tmp_path / "demo.png").ndim == 3


def test_bench(folder, capsys):
    assert _cli.main(["bench", str(folder), "--files", "12", "--batch", "4", "--size", "16"]) == 0
    said = capsys.readouterr().out
    assert "images/s" in said
    assert "16x16" in said


@pytest.mark.parametrize("command", ["view", "demo", "bench"])
def test_nothing_to_work_on(tmp_path, capsys, command):
    assert _cli.main([command, str(tmp_path)]) == 2
    assert "has no images" in capsys.readouterr().err
    assert _cli.main([command, str(tmp_path / "none")]) == 2
    assert "is not a folder" in capsys.readouterr().err


def test_module():
    done = subprocess.run([sys.executable, "-m", "avida", "--help"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0
    for name in _cli.COMMANDS:
        assert name in done.stdout


def test_contestants(folder, tmp_path):
    """The benchmark's own contestant runs, as the others would."""
    root = pathlib.Path(__file__).parent.parent.parent
    files = [str(file) for file in images.find_images(folder) if file.name != "cut.png"]
    for job in ("resize", "random_crop"):
        settings = {"files": files, "job": job, "threads": 1, "batch": 4, "size": 16}
        (tmp_path / "settings.json").write_text(json.dumps(settings))
        program = root / "benchmarks" / "contestants" / "classification.py"
        command = [sys.executable, program, "avida", tmp_path / "settings.json"]
        done = subprocess.run([*command, "--save", tmp_path / "x.npy"], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["seconds"] > 0
        batch = np.load(tmp_path / "x.npy")
        assert batch.shape == (4, 3, 16, 16)
        assert batch.dtype == np.float32


def run_command(*arguments, streams="", timeout=600):
    """In a process of its own, with redirections of the shell."""
    command = " ".join(shlex.quote(str(word)) for word in [sys.executable, "-m", "avida", *arguments])
    buffered = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    shell = ["sh", "-c", f"{command} {streams}"]
    return subprocess.run(shell, capture_output=True, text=True, timeout=timeout, env=buffered)


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        _cli.main(["--version"])
    assert not ended.value.code
    assert capsys.readouterr().out == f"avida {avida.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["view", "x", "-n", "0"],
        ["view", "x", "-n", "-3"],
        ["view", "x", "-n", "many"],
        ["view", "x", "--variants", "-1"],
        ["view", "x", "--cell", "0"],
        ["view", "x", "--seed", "-1"],
        ["bench", "--threads", "0"],
        ["bench", "--files", "0"],
        ["bench", "--batch", "-1"],
        ["bench", "--size", "0"],
        ["index", "x", "-j", "0"],
    ],
)
def test_numbers_have_bounds(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        _cli.main(arguments)
    assert ended.value.code == 2
    assert "expected an integer from " in capsys.readouterr().err


def test_view_of_an_image(folder, tmp_path, capsys):
    output = tmp_path / "sheet.png"
    assert _cli.main(["view", str(folder / "class0" / "0.png"), "-o", str(output), "--cell", "32"]) == 0
    assert "1 of 1 images" in capsys.readouterr().out
    assert decode(output).ndim == 3


def test_view_of_another_file(folder, capsys):
    assert _cli.main(["view", str(folder / "notes.txt")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("avida view: ")
    assert "notes.txt: expected a video" in said


def test_view_into_a_folder(folder, tmp_path, capsys):
    assert _cli.main(["view", str(folder), "-o", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"avida view: {tmp_path}: expected a file for the contact sheet, found a folder\n"


@pytest.mark.parametrize("options", [["--variants", "100000"], ["--cell", "16384"]])
def test_huge_sheets(folder, tmp_path, capsys, options):
    assert _cli.main(["view", str(folder), "-o", str(tmp_path / "x.png"), *options]) == 2
    assert "lower --images, --variants or --cell" in capsys.readouterr().err
    assert not (tmp_path / "x.png").exists()


@pytest.mark.skipif(not pathlib.Path("/dev/full").is_char_device(), reason="there is no full device")
@pytest.mark.parametrize("arguments", [["info"], ["--help"]])
def test_full_disk(arguments):
    done = run_command(*arguments, streams=">/dev/full")
    assert done.returncode == 1
    assert done.stderr in ("avida info: No space left on device\n", "avida: No space left on device\n")


def test_full_disk_of_the_sheet(folder, tmp_path):
    """As a limit on the size of files, which any user may set."""
    command = f"ulimit -f 1; trap '' XFSZ; exec {sys.executable} -m avida view {folder} -o {tmp_path}/x.png"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"avida view: {tmp_path}/x.png: File too large"
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize("streams", ["2>&-", ">&- 2>&-"])
def test_closed_streams(folder, tmp_path, streams):
    """A damaged image is told nowhere, and not into the sheet."""
    done = run_command("view", folder, "-o", tmp_path / "x.png", "--cell", "32", streams=streams)
    assert done.returncode == 0
    assert "cut.png" not in done.stdout
    assert decode(tmp_path / "x.png").ndim == 3


@pytest.mark.parametrize("command", [["index"], ["index", "-f", "recordio"], ["view"]])
def test_special_files(tmp_path, command):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        done = run_command(*command, path)
        assert done.returncode in (1, 2)
        assert str(path) in done.stderr
        assert "Traceback" not in done.stderr
