"""Mosaics of Scenes: four images in one, with all that is known of their objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from avida import _core, _ops
from avida._scenes.geometry import moved
from avida._scenes.scene import Scene
from avida._values.batch import Batch, as_batch
from avida._values.typing import KeyedBy
from avida.augment._draw import draw
from avida.augment._mixing.objects import joined, of_batch, others, picked, rows_of, run_on, selected
from avida.augment._mixing.pieces import (
    Piece,
    channels_as,
    channels_last,
    layout_of_mosaic,
    painted,
    sizes_of,
    with_sizes,
)
from avida.random._ops import uniform
from avida.random._rng import RNG

_RESHAPE = _core.op("reshape")


def mosaic_of_scenes(
    scene: Scene,
    size: np.ndarray,
    image_size: int | Batch,
    centres: tuple[float, float],
    min_visible: float,
    fill_value: float,
    interp_type: Any,
    *,
    rng: RNG | None,
    keyed_by: KeyedBy | None,
) -> Scene:
    image: Any = of_batch("mosaic", scene).image
    drawn = draw("mosaic", uniform, image, rng, keyed_by, range=[0.0, 1.0], shape=[5])
    drawn, longer = with_sizes(drawn, image_size)

    def function(samples: Scene, numbers: np.ndarray) -> tuple[Any, Mapping[str, Any]]:
        images: Any = samples.image
        layout = layout_of_mosaic(images)
        images = channels_last(images, layout)
        samples = samples._showing(images)
        n = images.batch_size
        centre = np.round((numbers[:, :2] * (centres[1] - centres[0]) + centres[0]) * size)
        sources = [list(range(n)), *map(list, zip(*others(numbers[:, 2:5], n, 3), strict=True))]
        sizes = sizes_of(numbers, 5, longer)
        pieces = [Piece(images, corner, sources[corner], centre, size, sizes) for corner in range(4)]
        parts: list[Any] = [
            _ops.resize(picked(samples, piece.sources), **piece.window, interp_type=interp_type, antialias=True)
            for piece in pieces
        ]
        fields = _objects(parts, pieces, size, min_visible)
        if "mask" in samples._fields:
            fields["mask"] = _label_map(samples, [part.mask for part in parts], pieces, size)
        return channels_as(layout, painted([part.image for part in parts], pieces, size, fill_value)), fields

    constants = (*size.tolist(), longer, *centres, min_visible, fill_value, interp_type)
    return run_on("mosaic", scene, scene._kept, function, drawn, constants, bends=True)


def _objects(parts: list[Scene], pieces: list[Piece], size: np.ndarray, min_visible: float) -> dict[str, Any]:
    """The rows of all parts, clipped at the borders of each, in positions of the whole."""
    rows = []
    for part, piece in zip(parts, pieces, strict=True):
        placed = rows_of(_placed(part.clean(min_visible=min_visible), piece, size))
        shown = (piece.end > piece.start).all(axis=1)
        rows.append(
            [each if seen else selected(each, np.zeros(0, int)) for each, seen in zip(placed, shown, strict=True)]
        )
    return dict(joined("mosaic", list(zip(*rows, strict=True)))) if rows[0][0] else {}


def _placed(part: Scene, piece: Piece, size: np.ndarray) -> Scene:
    """The part with positions, and masks of objects, in the whole."""
    matrices = np.tile(np.eye(3), (len(piece.start), 1, 1))
    matrices[:, :2, 2] = piece.start[:, ::-1]
    start = as_batch(-piece.start.astype(np.int32))

    def masked(mask: Any, fill: int) -> Batch:
        return _ops.slice(
            mask, start=start, shape=size.tolist(), axis_names="HW", out_of_bounds_policy="pad", fill_values=[fill]
        )

    without = {name: value for name, value in part.fields.items() if name != "mask"}
    bare = Scene.__new__(Scene)._set(part.image, without, part._kept)
    return moved(bare, part.image, as_batch(matrices), masked)


def _label_map(scene: Scene, maps: list[Any], pieces: list[Piece], size: np.ndarray) -> Any:
    flat = scene._kept.flat_mask
    if flat:
        maps = [_RESHAPE(each, src_dims=[0, 1, -1], layout="HWC") for each in maps]
    made = painted(maps, pieces, size, scene.ignore or 0)
    return _RESHAPE(made, src_dims=[0, 1], layout="HW") if flat else made
