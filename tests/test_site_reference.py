"""Pages of the reference: every public module has one, and operators stand in the group of their folder."""

import importlib
import sys

import pytest

from tests.test_documents import ROOT


@pytest.fixture(scope="module")
def reference():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools" / "site"))
        yield importlib.import_module("reference")


def test_groups_and_modules(reference):
    pages = reference.pages()
    groups = {part.partition("\n")[0]: part for part in pages["operators.md"].split("\n## ")[1:]}
    assert set(groups) <= set(reference.FOLDERS.values())
    assert "[transforms.scale](" in groups["Geometry"]
    assert "[math.sqrt](" in groups["Arithmetic"]
    assert "| `resize` | [resize](resize.md) |" in pages["avida.experimental-module.md"]
    assert ".. autofunction:: avida.decoders.image_info" in pages["avida.decoders-module.md"]
    assert "integer_within" not in pages["avida.tfrecord-module.md"]


def test_ray_may_be_missing(reference, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    for name in ("_iterate", "_read", "_stage"):
        monkeypatch.delitem(sys.modules, f"avida.ray.{name}", raising=False)
    page = reference._module_page("avida.ray")
    assert "Ray Data: stages of Batches" in page
    assert "autofunction" not in page
