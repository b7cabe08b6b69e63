"""A Scene as the values of which it consists, and back: for functions that run in the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from avida._scenes.scene import Scene


def form_of(x: Any) -> tuple[Any, ...]:
    """By which calls with Scenes of one kind are recognised."""
    return (*x._fields, str(x._kept), bool(x._steps)) if isinstance(x, Scene) else ()


def parts_of(x: Any) -> list[Any]:
    """The values of which it consists: for a Scene, with what is still to be done to positions, and the matrix."""
    if not isinstance(x, Scene):
        return [x]
    masks = [x._masks if x._pending else x.masks] if _has_tight_boxes(x) else []
    return [x.image, *x._fields.values(), *masks, x._product(x._pending), x.matrix]


def _has_tight_boxes(x: Scene) -> bool:
    return "boxes" in x._fields and "masks" in x._fields


def rebuilt(x: Any, parts: Sequence[Any], to_cpu: bool = False) -> Any:
    """A Scene of those parts, or the only one. A call puts all its results on one device."""
    if not isinstance(x, Scene):
        return parts[0]
    count = len(x._fields)
    fields, others = dict(zip(x._fields, parts[1 : count + 1], strict=True)), parts[count + 1 :]
    if to_cpu:
        fields = {n: value.cpu() if x._fields[n]._gpu < 0 else value for n, value in fields.items()}
        others = [value.cpu() for value in others]
    *masks, pending, step = others
    return Scene.__new__(Scene)._set(parts[0], fields, x._kept, (step,), (pending,), masks[0] if masks else None)
