"""What the documents say is true: their code runs, and what they show stands in the sources."""

import doctest
import importlib
import pathlib
import pkgutil
import re

import numpy as np
import pytest

import avida
from avida import _core
from avida._picture import png

ROOT = pathlib.Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)\)")
OPERATORS = [op for op in map(_core.describe_op, range(_core.op_count())) if not op["hidden"]]
WRITTEN_BY_HAND = ["avida"] + [
    module.name
    for module in pkgutil.walk_packages(avida.__path__, "avida.")
    if not module.name.endswith(("._ops", "._core"))
]
NEEDS = {"avida.pytorch._datasets": "torch", "avida.pytorch.nodes": "torchdata"}


def names() -> dict:
    """What every example finds defined."""
    image = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    return {
        "avida": avida,
        "np": np,
        "image": avida.as_tensor(image, layout="HWC"),
        "batch": avida.as_batch([image, image[:3, :5]], layout="HWC"),
        "train_step": lambda images, labels: None,
    }


def fences(document: pathlib.Path) -> list[tuple[str, str, str]]:
    """(language, file that is shown, text) of every code block."""
    return FENCE.findall(document.read_text())


def name_of(document: pathlib.Path) -> str:
    return str(document.relative_to(ROOT))


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A current folder with images of two classes under train/ and downloads/, one of the latter being bad."""
    random = np.random.default_rng(0)
    for i in range(12):
        image = random.integers(0, 256, (40 + i, 60 - i, 3), np.uint8)
        for folder in ("train", "downloads"):
            file = tmp_path / folder / ("cats", "dogs")[i % 2] / f"{i}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(png(image))
    (tmp_path / "downloads" / "dogs" / "broken.png").write_bytes(png(image)[:1000])
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_code_runs(document, folders):
    """The Python blocks of a document run one after another, as a reader would run them."""
    scope = names()
    for package, sign in (("torch", ".torch()"), ("torchdata", "import torchdata")):
        if any(sign in code for _, _, code in fences(document)):
            pytest.importorskip(package)
    for language, shown, code in fences(document):
        if language == "python" and not shown:
            exec(compile(code, name_of(document), "exec"), scope)
    avida.EvalContext.current().evaluate_all()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_what_is_shown_is_there(document):
    """A block with title=FILE shows consecutive lines of that file; a link leads somewhere."""
    for _, shown, code in fences(document):
        if shown:
            assert code in (ROOT / shown).read_text(), f"{shown} has changed, {name_of(document)} has not"
    for target in LINK.findall(FENCE.sub("", document.read_text())):
        assert (document.parent / target).exists(), f"{name_of(document)} links to {target}, which is not there"


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda op: op["name"])
def test_operator_example(operator):
    lines = operator["example"].splitlines()
    assert lines, f"{operator['name']} has no example"
    code = "\n".join(line.removeprefix(">>> ").removeprefix("... ") for line in lines)
    with avida.EvalMode.sync_cpu:  # errors surface at the call
        exec(compile(code, f"the example of {operator['name']}", "exec"), names())


@pytest.mark.parametrize("module", WRITTEN_BY_HAND)
def test_docstrings(module):
    if module in NEEDS:
        pytest.importorskip(NEEDS[module])
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    for case in finder.find(importlib.import_module(module), extraglobs=names()):
        runner.run(case, out=report.append)
    assert not report, "\n".join(report)


def test_lengths():
    """Short enough to be read."""
    assert len((ROOT / "README.md").read_text().splitlines()) <= 60
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 150
