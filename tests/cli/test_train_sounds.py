"""The example that trains a classifier of sounds."""

import importlib.util
import pathlib


def test_accuracy_rises(capsys, one_thread):
    path = pathlib.Path(__file__).parent.parent.parent / "examples" / "train_sounds.py"
    spec = importlib.util.spec_from_file_location("train_sounds", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    accuracies = example.main(["--sounds", "420", "--epochs", "4", "--batch", "16"])
    assert len(accuracies) == 4
    assert max(accuracies) > 0.6, "seven notes: guessing gives 0.14"
    assert "validation accuracy" in capsys.readouterr().out
