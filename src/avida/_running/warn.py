"""Warnings that point at the user's line."""

from __future__ import annotations

import pathlib
import sys
import warnings

_PACKAGE = str(pathlib.Path(__file__).parents[1]) + "/"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the nearest caller outside this package; by default Python shows that once for each line."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, registry=registry)
