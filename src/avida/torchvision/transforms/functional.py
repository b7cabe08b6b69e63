"""The functions of `v2.functional`, which do what those of torchvision's first set do, and more."""

from __future__ import annotations

from typing import Any

from avida.torchvision import _theirs
from avida.torchvision.transforms.v2.functional import *  # noqa: F403


def __getattr__(name: str) -> Any:
    return _theirs.attribute_of("transforms.functional", name)
