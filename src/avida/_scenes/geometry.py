"""Functions that move pixels: what they do to masks, boxes and points of a Scene."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from avida import _core
from avida._scenes.fields import outline_of
from avida._scenes.masks import dense, run_lengths
from avida._scenes.operators import BENDS, DRAWS, TEARS
from avida._scenes.scene import Scene
from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida.random._rng import repeating

_CLIP, _CONVERT = _core.op("scenes.clip"), _core.op("scenes.convert_boxes")
_EXTENTS, _SPLIT = _core.op("scenes.extents"), _core.op("scenes.split_edges")
_RESHAPE, _WARP, _CROP, _FLIP, _CAST = (_core.op(name) for name in ("reshape", "warp_affine", "crop", "flip", "cast"))
_NEAREST = 0  # INTERP_NN


class Call(NamedTuple):
    """A call of an operator on a Scene."""

    name: str
    inputs: list[Any]
    """Those after the image."""
    arguments: dict[str, Any]
    again: Callable[[], None] | None = None
    """Lets the next call of a random operator draw the same numbers."""

    def on(self, image: Any) -> Any:
        return self.of(self.name, image, *self.inputs)

    def of(self, operator: str, *inputs: Any) -> Any:
        """Calls an operator of the same arguments."""
        if self.again is not None:
            self.again()
        return _core.op(operator)(*inputs, **self.arguments)

    def beside(self, kind: str, scene: Scene, *rows: Any) -> Any:
        """Calls the operator on the CPU that stands beside this one, and looks at the shape of the image."""
        inputs = [each.cpu() if isinstance(each, Batch | Tensor) else each for each in self.inputs]
        return self.having(("save_attrs",)).of(f"scenes.{kind}{self.name}", outline_of(scene.image), *inputs, *rows)

    def matrix(self, scene: Scene) -> Any:
        """Where positions go."""
        return self.beside("", scene)

    def having(self, without: tuple[str, ...] = (), **others: Any) -> Call:
        """The same with other arguments."""
        left = {name: value for name, value in self.arguments.items() if name not in ("device", *without)}
        return self._replace(arguments={**left, **others})


OnMask = Callable[[Call, Any, int], Any]
"""What a call does to a mask of channels-last, with the label for what comes from outside."""


def flip(call: Call, mask: Any, fill: int) -> Any:
    return call.having().on(mask)


def window(call: Call, mask: Any, fill: int) -> Any:
    return call.having(("dtype", "output_dtype"), fill_values=[fill]).on(mask)


def resize(call: Call, mask: Any, fill: int) -> Any:
    filters = ("dtype", "min_filter", "mag_filter")
    return call.having(filters, interp_type=_NEAREST, antialias=False).on(mask)


def warp(call: Call, mask: Any, fill: int) -> Any:
    return call.having(("dtype", "output_dtype"), interp_type=_NEAREST, fill_value=fill).on(mask)


def perspective(call: Call, mask: Any, fill: int) -> Any:
    return call.having(("border_mode",), interp_type=_NEAREST, fill_value=[fill]).on(mask)


def augmented(call: Call, mask: Any, fill: int) -> Any:
    return call.having(("border",), interp_type=_NEAREST, fill_value=[fill]).on(mask)


def remap(call: Call, mask: Any, fill: int) -> Any:
    nearest = call.having(interp="nn")
    return _CAST(nearest.on(mask ^ fill) ^ fill, dtype=mask.dtype) if fill else nearest.on(mask)


def pad(call: Call, mask: Any, fill: int) -> Any:
    return call.having(fill_value=fill).on(mask)


def crop_mirror(call: Call, mask: Any, fill: int) -> Any:
    given = call.arguments
    places = ("crop", "crop_d", "crop_h", "crop_w", "crop_pos_x", "crop_pos_y", "crop_pos_z", "rounding")
    taken = {name: given[name] for name in (*places, "out_of_bounds_policy") if name in given}
    cropped = _CROP(mask, **taken, fill_values=[fill])
    return _FLIP(cropped, horizontal=given["mirror"]) if "mirror" in given else cropped


ON_MASK: Mapping[str, OnMask | None] = {
    "augment.affine": augmented,
    "augment.elastic": augmented,
    "augment.grid_distortion": augmented,
    "augment.jigsaw": flip,
    "augment.optical_distortion": augmented,
    "augment.perspective": augmented,
    "augment.thin_plate_spline": augmented,
    "crop": window,
    "crop_mirror_normalize": crop_mirror,
    "experimental.remap": remap,
    "experimental.warp_perspective": perspective,
    "flip": flip,
    "jitter": warp,
    "letterbox": None,  # by the matrix: it has linear interpolation only
    "pad": pad,
    "paste": None,
    "resize": resize,
    "resize_crop_mirror": resize,
    "rotate": warp,
    "slice": window,
    "sphere": warp,
    "warp_affine": warp,
    "water": warp,
}
"""Operators that move pixels, and how masks follow."""


def move(scene: Scene, call: Call) -> Scene:
    """What a geometric operator makes of a scene."""
    if call.arguments.get("save_attrs") or call.arguments.get("save_matrix"):
        raise ValueError(f"{call.name}: a Scene has no second result; scene.matrix has the matrix")
    if call.name in ("pad", "slice"):
        _check_axes(call)
    if call.name == "pad":
        call = call.having(axis_names=call.arguments.get("axis_names", "HW"))
    if call.name in DRAWS:
        call = call._replace(again=repeating(call.arguments.get("rng"), call.arguments.get("keyed_by")))
    image = call.on(scene.image)
    if call.name in BENDS:
        return _bent(scene, call, image)
    matrix = call.matrix(scene)

    def masked(mask: Any, fill: int) -> Any:
        on_mask = ON_MASK[call.name]
        if on_mask is not None:
            return on_mask(call, mask, fill)
        size = _EXTENTS(outline_of(image))
        rows = matrix.slice[:2] if scene._is_batch else matrix[:2]
        return _WARP(mask, matrix=rows, inverse_map=False, size=size, interp_type=_NEAREST, fill_value=fill)

    return moved(scene, image, matrix, masked)


def moved(scene: Scene, image: Any, matrix: Any, masked: Callable[[Any, int], Any]) -> Scene:
    """The scene with a new image, positions moved by a matrix, and masks as ``masked(mask, fill)`` makes them."""
    fields = dict(scene._fields)
    if scene.mask is not None:
        fields["mask"] = _on_label_map(scene, masked)
    if scene._kept.has_pixels:
        fields["masks"] = _on_masks(scene, masked)
    return scene._moved(image, fields, matrix)


def _bent(scene: Scene, call: Call, image: Any) -> Scene:
    """After a step that has no matrix: boxes and points are moved at once."""
    if call.name in TEARS:
        scene = _without_lines(scene, call.name)
    fields = scene.fields
    masks = [fields["masks"]] if "masks" in fields else []
    if masks and call.name in TEARS:
        masks = [dense(masks[0], scene._extents())]
    for name, kind in (("boxes", "boxes."), ("rotated", "rotated."), ("keypoints", "points.")):
        if name in fields:
            fields[name] = call.beside(kind, scene, fields[name], *(masks if name == "boxes" else []))

    def masked(mask: Any, fill: int) -> Any:
        on_mask = ON_MASK[call.name]
        assert on_mask is not None  # what bends has no matrix by which masks could follow
        return on_mask(call, mask, fill)

    if "mask" in fields:
        fields["mask"] = _on_label_map(scene, masked)
    if scene._kept.has_pixels:
        fields["masks"] = _on_masks(scene, masked)
    elif masks:
        fields["masks"] = call.beside("points.", scene, _SPLIT(masks[0]))
    return scene._bent(image, fields)


def _without_lines(scene: Scene, name: str) -> Scene:
    """The same with run lengths for polygons, of which pieces would not be connected."""
    fields = scene.fields
    if "rotated" in fields:
        raise ValueError(
            f"{name}: expected no rotated boxes, as the pieces of one lie in no rectangle; boxes can be moved, and "
            "scene.replace(rotated=None) leaves these out"
        )
    if scene._kept.masks != "polygons":
        return scene
    fields["masks"] = run_lengths(dense(fields["masks"], scene._extents()))
    return Scene.__new__(Scene)._set(scene.image, fields, scene._kept._replace(masks="run_lengths"))


def _on_masks(scene: Scene, masked: Callable[[Any, int], Any]) -> Any:
    """Masks of objects as ``masked`` makes them, in the form that they have."""
    frames = _RESHAPE(dense(scene.masks, scene._extents()), src_dims=[0, 1, 2, -1], layout="FHWC")
    made = _RESHAPE(masked(frames, 0), src_dims=[0, 1, 2], layout="NHW")
    return run_lengths(made) if scene._kept.masks == "run_lengths" else made


def _on_label_map(scene: Scene, masked: Callable[[Any, int], Any]) -> Any:
    fill = scene.ignore or 0
    if not scene._kept.flat_mask:
        return masked(scene.mask, fill)
    image = _RESHAPE(scene.mask, src_dims=[0, 1, -1], layout="HWC")
    return _RESHAPE(masked(image, fill), src_dims=[0, 1], layout="HW")


def _check_axes(call: Call) -> None:
    """Masks have other axes than the image: they share height and width only."""
    if "axes" in call.arguments:
        raise ValueError(f'{call.name}: expected axis_names for a Scene, such as "HW", got axes')
    names = call.arguments.get("axis_names", "HW")
    if not names or not set(names) <= set("HW"):
        raise ValueError(f'{call.name}: expected axes among "HW" for a Scene, got {names!r}')


def random_resized_crop(scene: Scene, call: Call) -> Scene:
    """The window is drawn first, and shown by all."""
    given = dict(call.arguments)
    drawn = ("num_attempts", "random_area", "random_aspect_ratio", "rng", "keyed_by")
    extents = _EXTENTS(outline_of(scene.image))
    start, shape = _core.op("random_crop_generator")(extents, **{n: given.pop(n) for n in drawn if n in given})
    size = given.pop("size")
    sizes = [int(each) for each in size] if isinstance(size, list | tuple) else [int(size)]
    size = sizes * 2 if len(sizes) == 1 else sizes
    return move(scene, Call("resize", [], {**given, "roi_start": start, "roi_end": start + shape, "size": size}))


def random_bbox_crop(scene: Scene, call: Call) -> Scene:
    """The window is drawn first. Which objects are left is for `clean` to say."""
    if scene.boxes is None:
        raise ValueError("random_bbox_crop: expected a Scene with boxes")
    given = dict(call.arguments)
    for name in ("bbox_layout", "bbox_prune_threshold", "crop_shape", "input_shape", "ltrb", "output_bbox_indices"):
        if name in given or call.inputs:
            raise ValueError(
                f"random_bbox_crop: expected no labels and no {name} beside a Scene, which has its boxes in pixels; "
                "clean(min_visible=...) drops objects"
            )
    extents = scene._extents()
    inside = _CLIP(scene.boxes, extents)
    boxes = _CONVERT(inside, extents, to="xyxy", to_relative=True)
    anchor, shape, _ = _core.op("random_bbox_crop")(boxes, **given)
    return move(scene, Call("slice", [anchor, shape], {"axis_names": "WH"}))
