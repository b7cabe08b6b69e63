"""dump_image: the files that it writes, when, and what it refuses."""

import numpy as np
import pytest

import avida as ndd

IMAGE = (np.arange(24) * 7).astype(np.uint8).reshape(2, 4, 3)
TEXT = "P3\n4 2\n255\n0 7 14 21 28 35 42 49 56 63 70 77 \n84 91 98 105 112 119 126 133 140 147 154 161 \n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files(folder):
    made = ndd.dump_image(ndd.tensor(IMAGE, layout="HWC"), suffix="a").evaluate()
    np.testing.assert_array_equal(made, IMAGE)
    assert made.layout == "HWC"
    assert (folder / "0-a-0.ppm").read_text() == TEXT
    gray = IMAGE[:, :, :1].copy()
    ndd.dump_image(ndd.batch([gray, gray[:1]])).evaluate()
    assert names(folder) == ["0--0.ppm", "0-a-0.ppm", "1--0.ppm"]
    assert (folder / "1--0.ppm").read_text() == "P2\n4 1\n255\n0 21 42 63 \n"


def test_calls_whose_results_nobody_reads_run_too(folder):
    for i in range(20):
        ndd.dump_image(IMAGE, suffix=str(i))
    ndd.EvalContext.current().evaluate_all()
    assert len(names(folder)) == 20


def test_deferred_calls_run_when_they_are_read(folder):
    with ndd.EvalMode.deferred:
        made = ndd.dump_image(IMAGE)
        assert names(folder) == []
        made.evaluate()
    assert names(folder) == ["0--0.ppm"]


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 0, 3)])
def test_empty_images(folder, shape):
    ndd.dump_image(np.zeros(shape, np.uint8)).evaluate()
    assert (folder / "0--0.ppm").read_text().split()[:4] == ["P3", str(shape[1]), str(shape[0]), "255"]


@pytest.mark.parametrize(
    ("image", "arguments", "message"),
    [
        (IMAGE.astype(np.float32), {}, "expected images of uint8"),
        (IMAGE[:, :, :2].copy(), {}, "1 or 3 channels"),
        (IMAGE[0], {}, "2 axes"),
        (IMAGE, {"input_layout": "CHW"}, "expected input_layout"),
        (IMAGE, {"suffix": "no/folder"}, 'cannot write "0-no/folder-0.ppm"'),
    ],
)
def test_errors(folder, image, arguments, message):
    with pytest.raises(RuntimeError, match=message):
        ndd.dump_image(image, **arguments).evaluate()
    assert names(folder) == []
