"""Readers of one script that give one class two labels: said once, since nothing else would fail."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Mapping
from typing import Any

from avida._running.warn import warn


class _Named:
    """A reader, while it is in use, with the labels that it gives to names."""

    def __init__(self, reader: Any, labels: Mapping[str, int]) -> None:
        self.reader = weakref.ref(reader)
        self.labels = labels


_named: list[_Named] = []  # is replaced, never changed: several threads may make readers


def compare_classes(reader: Any, title: str, classes: Mapping[int, str] | None, chosen: bool) -> None:
    """Warns where a reader and another of its kind number a class differently; not where the user chose labels."""
    global _named
    if not classes:
        return
    labels = {name: label for label, name in classes.items()}
    found = [(each.reader(), each) for each in _named]
    alike = [(other, each.labels) for other, each in found if other is not None and type(other) is type(reader)]
    _named = [each for other, each in found if other is not None] + [_Named(reader, labels)]
    if chosen:
        return
    for other, theirs in alike:
        if name := next((name for name, label in labels.items() if theirs.get(name, label) != label), None):
            advice = "pass classes=reader.classes of the one that has all classes to the others"
            if "classes" not in inspect.signature(type(reader)).parameters:
                advice = "their labels must not be mixed"
            warn(
                f"{title}: the class {name!r} has the label {labels[name]} in {reader._data_name()}, and "
                f"{theirs[name]} in {other._data_name()}. If both are parts of one data set, {advice}"
            )
            return
