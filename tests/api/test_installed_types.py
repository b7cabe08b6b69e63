"""What type checkers know of a package that is installed: there, imported names are private unless marked."""

import importlib
import importlib.util
import json
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import avida

PROGRAM = """
import avida as ndd
from typing import assert_type

reader = ndd.experimental.readers.Video(file_root="videos", sequence_length=8, step=4, random_shuffle=True)
assert_type(ndd.imread("x.jpg"), ndd.Tensor)
assert_type(ndd.imread(["x.jpg"], device="gpu"), ndd.Batch)
assert_type(ndd.random_bbox_crop(ndd.batch([[[0.1, 0.2, 0.5, 0.6]]])), tuple[ndd.Batch, ...])
assert_type(ndd.random_bbox_crop(ndd.tensor([[0.1, 0.2, 0.5, 0.6]])), tuple[ndd.Tensor, ...])
"""


def public_names() -> list[str]:
    """Of all namespaces under avida, as users write them."""
    found = []
    for module in pkgutil.walk_packages(avida.__path__, "avida."):
        parts = module.name.split(".")
        if any(part.startswith("_") for part in parts) or parts[-1] == "as_dali":
            continue
        if {"pytorch", "torchcodec", "torchvision"} & set(parts):  # which need PyTorch
            continue
        found.append(module.name)
        namespace = importlib.import_module(module.name)
        for name, value in vars(namespace).items():
            is_module = type(value) is type(avida)
            is_ours = getattr(value, "__name__" if is_module else "__module__", "").startswith("avida")
            if is_ours and not is_module and not name.startswith("_") and module.ispkg:
                found.append(f"{module.name}.{name}")
    return found


def test_installed(tmp_path):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    packages = tmp_path / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    packages.mkdir(parents=True)
    numpy = importlib.util.find_spec("numpy").submodule_search_locations[0]
    for folder in (pathlib.Path(avida.__file__).parent, pathlib.Path(numpy)):
        (packages / folder.name).symlink_to(folder)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + "\n".join(f"{name.replace('avida', 'ndd', 1)}" for name in public_names()))
    settings = {"venvPath": ".", "venv": "venv", "include": ["program.py"], "reportUnusedExpression": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    run = [sys.executable, "-m", "pyright", "--outputjson"]
    told = json.loads(subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=600).stdout)
    assert told["summary"]["filesAnalyzed"] == 1
    assert [problem["message"] for problem in told["generalDiagnostics"]] == []
