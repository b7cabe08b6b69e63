"""The example that trains a classifier."""

import importlib.util
import pathlib


def test_accuracy_rises(capsys, one_thread):
    path = pathlib.Path(__file__).parent.parent.parent / "examples" / "train_classifier.py"
    spec = importlib.util.spec_from_file_location("train_classifier", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    accuracies = example.main(["--images", "500", "--epochs", "4", "--size", "32", "--batch", "16"])
    assert len(accuracies) == 4
    assert max(accuracies) > 0.6, "four classes: guessing gives 0.25"
    assert max(accuracies) > accuracies[0] + 0.2
    assert "validation accuracy" in capsys.readouterr().out
