"""torchvision, from a folder of its own, and without its compiled part, which is made for another PyTorch.

It lies outside of the environment, since a torchvision that cannot be imported would break what looks for it: here the
operators that its import names are declared first, and none of them is called.
"""

from __future__ import annotations

import pathlib
import re
import sys
from typing import Any

import torch

FOLDER = pathlib.Path(__file__).parent.parent.parent / "build" / "torchvision"
_OPERATORS = torch.library.Library("torchvision", "DEF")


def _imported() -> Any:
    registrations = FOLDER / "torchvision" / "_meta_registrations.py"
    if not registrations.exists():
        raise ModuleNotFoundError(f"expected torchvision in {FOLDER}; `make torchvision` installs it there")
    for name in sorted(
        set(re.findall(r'register_(?:meta|fake)\("(?:torchvision::)?(\w+)"', registrations.read_text()))
    ):
        _OPERATORS.define(f"{name}(Tensor x) -> Tensor")
    sys.path.append(str(FOLDER))
    try:
        import torchvision
        import torchvision.transforms.v2  # pyright: ignore[reportMissingImports]
    finally:
        sys.path.remove(str(FOLDER))
    for name in [each for each in sys.modules if each.startswith("avida.torchvision")]:
        del sys.modules[name]  # another test has imported it, when there was no torchvision; it is made anew
    return torchvision


torchvision = _imported()
