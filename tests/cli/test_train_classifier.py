import importlib.util
import pathlib

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture
def one_thread():
    """PyTorch's threads spin while they wait for each other, which is slow beside other tests."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_accuracy_rises(capsys, one_thread):
    path = pathlib.Path(__file__).parent.parent.parent / "examples" / "train_classifier.py"
    spec = importlib.util.spec_from_file_location("train_classifier", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    accuracies = example.main(["--images", "500", "--epochs", "4", "--size", "32", "--batch", "16"])
    assert len(accuracies) == 4
    assert max(accuracies) > 0.6, "four classes: guessing gives 0.25"
    assert max(accuracies) > accuracies[0] + 0.2
    assert "of the validation images right" in capsys.readouterr().out
