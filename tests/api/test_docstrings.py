"""Docstrings: a summary that fits into one line of a hover, and sections in one order."""

import inspect
import pkgutil
import re
import types

import pytest

import avida
from avida import _core

OPERATORS = [op for op in map(_core.describe_op, range(_core.op_count())) if not op["hidden"]]
SECTIONS = ["Args", "Returns", "Raises", "Example"]


def operator_doc(op: dict) -> str:
    found: object = avida
    for name in op["name"].split("."):
        found = getattr(found, name)
    return inspect.getdoc(found) or ""


def public_objects() -> dict[str, object]:
    """Public modules, and what they define by hand: functions, classes, methods, properties."""
    found: dict[str, object] = {"avida": avida}
    for info in pkgutil.walk_packages(avida.__path__, "avida."):
        if info.name.startswith("avida.torchvision."):
            continue  # torchvision's names, which its documentation describes
        if info.name != "avida.as_dali" and not any(part.startswith("_") for part in info.name.split(".")):
            found[info.name] = __import__(info.name, fromlist=["_"])
    members = {}
    for module in found.values():
        assert isinstance(module, types.ModuleType)
        for name, value in vars(module).items():
            defined = getattr(value, "__module__", "") or ""
            if name.startswith("_") or not defined.startswith("avida") or defined.endswith("._ops"):
                continue
            if inspect.isclass(value):
                members[f"{module.__name__}.{name}"] = value
                members |= {
                    f"{module.__name__}.{name}.{attribute}": member
                    for attribute, member in vars(value).items()
                    if not attribute.startswith("_")
                    and (inspect.isfunction(member) or isinstance(member, property | staticmethod | classmethod))
                }
            elif inspect.isfunction(value):
                members[f"{module.__name__}.{name}"] = value
    return found | members


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op["name"])
def test_summary_of_an_operator(op):
    summary = operator_doc(op).split("\n")[0]
    assert summary.endswith(".")
    assert len(summary) < 80, f"the first sentence of its declaration is too long: {summary}"


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op["name"])
def test_sections_of_an_operator(op):
    doc = operator_doc(op)
    sections = re.findall(r"^(\w+):$", doc, re.MULTILINE)
    assert sections == [name for name in SECTIONS if name in sections]
    assert {"Args", "Returns", "Example"} <= set(sections)
    arguments = doc.partition("\nArgs:\n")[2].partition("\n\n")[0]
    documented = re.findall(r"^    (\w[\w ,]*): ", arguments, re.MULTILINE)
    ignored = [arg["name"] for arg in op["args"] if arg["deprecated"]]
    assert (documented[-1] == "Ignored, accepted for compatibility") == bool(ignored)
    assert not set(ignored) & set(documented)
    assert {arg["name"] for arg in op["args"]} - set(ignored) <= set(documented)


@pytest.mark.parametrize("name", sorted(public_objects()))
def test_summary_of_what_is_written_by_hand(name):
    summary = (inspect.getdoc(public_objects()[name]) or "").split("\n")[0]
    assert summary, "no docstring"
    assert len(summary) < 80, f"the first line is too long: {summary}"


def readers():
    return [cls for cls in public_objects().values() if isinstance(cls, type) and hasattr(cls, "_declared")]


@pytest.mark.parametrize("reader", readers())
def test_readers_document_their_arguments(reader):
    doc = inspect.getdoc(reader) or ""
    for name in inspect.signature(reader).parameters:
        assert re.search(rf"\b{name}\b", doc), f"{name} is not documented"
    assert "\nRaises:\n" in doc
