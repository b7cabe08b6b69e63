import importlib.util
import pathlib

import pytest

pytest.importorskip("torch")


def test_accuracy_rises(capsys):
    path = pathlib.Path(__file__).parent.parent.parent / "examples" / "train_classifier.py"
    spec = importlib.util.spec_from_file_location("train_classifier", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    accuracies = example.main(["--images", "600", "--epochs", "5", "--size", "32"])
    assert len(accuracies) == 5
    assert max(accuracies) > 0.6, "four classes: guessing gives 0.25"
    assert max(accuracies) > accuracies[0] + 0.2
    assert "of the validation images right" in capsys.readouterr().out
