"""torchvision's transforms: the names of its first set are those of the second, `v2`, which does the same and more."""

from __future__ import annotations

from typing import Any

from avida.torchvision import _theirs
from avida.torchvision.transforms import functional as functional
from avida.torchvision.transforms import v2 as v2
from avida.torchvision.transforms.v2 import *  # noqa: F403


def __getattr__(name: str) -> Any:
    return _theirs.attribute_of("transforms", name)
