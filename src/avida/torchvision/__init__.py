"""torchvision's transforms of images, boxes, masks and points by avida's operators.

A program changes its imports: `avida.torchvision` where it said `torchvision`. What is not here comes from torchvision.

Example:
    >>> from avida.torchvision.transforms import v2
    >>> resize = v2.Resize(32)
"""

from __future__ import annotations

from typing import Any

from avida.torchvision import _theirs
from avida.torchvision import transforms as transforms
from avida.torchvision import tv_tensors as tv_tensors


def __getattr__(name: str) -> Any:
    return _theirs.attribute_of("", name)
