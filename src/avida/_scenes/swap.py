"""Keypoints that change places where an image is mirrored: left and right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from avida import _core
from avida._scenes.scene import Scene

_SWAP_POINTS = _core.op("scenes.swap_points")


def swapping(name: str, scene: Any, swap: Sequence[Sequence[int]], **arguments: Any) -> Scene:
    """What an operator makes of a Scene, with pairs of keypoints exchanged in the samples that it has mirrored."""
    if not isinstance(scene, Scene) or "keypoints" not in scene._fields:
        raise TypeError(f'{name}: expected a Scene with keypoints for "swap", got {scene!r:.60}')
    try:
        pairs = [int(point) for first, second in swap for point in (first, second)]
    except (TypeError, ValueError):
        raise ValueError(f'{name}: expected pairs of keypoints in "swap", got {swap!r:.80}') from None
    made = _core.op(name)(scene, **arguments)
    return made._exchanging(_SWAP_POINTS(made._fields["keypoints"], made._steps[-1], swap=pairs))
