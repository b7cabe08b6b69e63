"""Calls of operators with Scenes and with random arguments: what the core hands to Python."""

from __future__ import annotations

from typing import Any

from avida import _core
from avida._scenes.geometry import ON_MASK, Call, move, random_bbox_crop, random_resized_crop
from avida._scenes.operators import CHANGES_PIXELS
from avida._scenes.random_arguments import Random, draw_arguments
from avida._scenes.scene import Scene


def take_apart(name: str, inputs: list[Any], arguments: dict[str, Any], whole: list[str]) -> Any:
    """Makes a call whose arguments are drawn, or whose first input is a Scene."""
    first = inputs[0] if inputs else None
    image = first._image if isinstance(first, Scene) else first
    arguments = draw_arguments(name, image, arguments, whole)
    if not isinstance(first, Scene):
        return _core.op(name)(*inputs, **arguments)
    if any(isinstance(each, Scene) for each in [*inputs[1:], *arguments.values()]):
        raise TypeError(f"{name}: expected one Scene, as the first input")
    while inputs and inputs[-1] is None:
        inputs.pop()
    return on_scene(first, Call(name, inputs[1:], arguments))


def on_scene(scene: Scene, call: Call) -> Scene:
    """What an operator makes of a Scene."""
    if call.name in ON_MASK:
        return move(scene, call)
    if call.name == "random_resized_crop":
        return random_resized_crop(scene, call)
    if call.name == "random_bbox_crop":
        return random_bbox_crop(scene, call)
    if call.name in CHANGES_PIXELS:
        return scene._showing(call.on(scene.image))
    raise TypeError(
        f"{call.name}: this function does not know what becomes of masks, boxes and points; use scene.image, and "
        "scene.replace(image=...) where they stay as they are"
    )


_core.set_take_apart(Scene, Random, take_apart)
