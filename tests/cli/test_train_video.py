"""The example that trains on clips of videos."""

import importlib.util
import pathlib

import pytest
import torch


@pytest.fixture
def one_thread():
    """PyTorch's threads spin while they wait for each other, which is slow beside other tests."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_accuracy_rises(capsys, one_thread):
    path = pathlib.Path(__file__).parent.parent.parent / "examples" / "train_video.py"
    spec = importlib.util.spec_from_file_location("train_video", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    accuracies = example.main(["--videos", "64", "--epochs", "6"])
    assert len(accuracies) == 6
    assert max(accuracies) > 0.6, "four classes: guessing gives 0.25"
    assert "validation accuracy" in capsys.readouterr().out
