"""Scene: images with their annotations."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, get_args

import numpy as np

from avida import _core
from avida._scenes.fields import FIELDS, PIXELS, annotation, checked, outline_of
from avida._scenes.masks import MasksForm, coco_dictionaries, dense, form_of, run_lengths
from avida._scenes.picture import Names, drawn, scene_html, scene_png
from avida._values.batch import Batch, as_batch
from avida._values.inputs import operator_input
from avida._values.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    from avida._values.typing import DeviceArg

BoxFormat = Literal["xyxy", "xywh", "cxcywh"]
BoxShape = Literal["corners", "ellipse"]

_CONVERT, _COMPOSE = _core.op("scenes.convert_boxes"), _core.op("scenes.compose")
_EXTENTS, _KEPT, _CLIP = _core.op("scenes.extents"), _core.op("scenes.kept"), _core.op("scenes.clip")
_SELECT, _BOXES_OF = _core.op("_select_rows"), _core.op("scenes.boxes_of_masks")
_MOVE_BOXES, _MOVE_POINTS, _MOVE_ROTATED = (_core.op(f"scenes.move_{name}") for name in ("boxes", "points", "rotated"))
_MOVED = ("boxes", "rotated", "keypoints", "masks")
"""Fields that are moved by matrices, when they are asked for; masks if they are polygons."""


class Kept(NamedTuple):
    """What stays as it is, whatever functions do to a Scene."""

    ignore: int | None
    per_image: tuple[str, ...]
    flat_mask: bool = False
    """Whether label maps have no axis of channels."""
    masks: MasksForm | None = None
    """What the masks of objects are, if there are any."""
    box_shape: BoxShape = "corners"
    names: Names | None = None
    """Of classes, for pictures."""

    @property
    def has_pixels(self) -> bool:
        """Whether masks of objects are moved with the pixels of the image, and not like points."""
        return self.masks in ("dense", "run_lengths")

    def having(self, fields: Mapping[str, Any]) -> Kept:
        flat = "mask" in fields and fields["mask"].ndim == 2
        return self._replace(flat_mask=flat, masks=form_of(fields["masks"]) if "masks" in fields else None)


class Scene:
    """Images with masks, boxes, points and labels, which functions move together.

    Functions on images take a Scene where they take a Batch: what moves pixels moves everything, what changes colours
    changes the image, and what cannot know refuses. A Scene does not change; functions return another one.

    Inside, coordinates are pixels in float32, from the corner of the first pixel on. Boxes are left, top, right and
    bottom. Nothing is clipped or dropped before :meth:`clean`. Annotations are on the CPU, wherever the image is.

    Args:
        image: Images (HWC, CHW, FHWC and the like): a Batch, or one image.
        mask: A label for each pixel, of the image's height and width.
        ignore: The label of pixels that do not count; those that come in from outside of the image get it. Without it
            they get 0.
        boxes: A row of four numbers for each object, or ``"masks"``: tight boxes around the masks.
        rotated: Boxes of any direction: centre x and y, width, height, and degrees counter-clockwise.
        masks: A mask for each object: N x H x W, 0 or 1; or for each image a list of what COCO calls a segmentation:
            polygons (``[[x, y, x, y, ...], ...]``, or arrays of x and y) or run lengths (``{"size": ..., "counts":
            ...}``, also as a compressed string). They stay polygons or run lengths; where one image has both, polygons
            are drawn. See :meth:`masks_as`.
        keypoints: Points of each object: N x K x 2, or x 3 with their visibility, which is 0 for missing ones.
        labels: The class of each object.
        format: What the numbers of ``boxes`` are: ``"xyxy"`` (corners), ``"xywh"`` (corner and extents) or
            ``"cxcywh"`` (centre and extents).
        relative: Whether ``boxes`` and ``keypoints`` count in shares of width and height.
        box_shape: What of its box an object fills, where there are no masks: all, or the ellipse in it. Around what is
            turned, a box is as tight.
        per_image: Which of ``fields`` belong to the image, beside ``image_id``: names, or one. All others have a row
            for each object.
        names: How classes are called, as a list or by their labels: for pictures. Readers that know them give them.
        fields: Anything else, under any name. It travels along; an object goes with all its rows.

    Raises:
        ValueError: Fields differ in the number of objects, a mask is not of the image's size, or coordinates are 2^24
            or more. The message names sample and field; like all errors of samples, it may come when a result is read.

    Example:
        >>> scene = avida.Scene(image, boxes=np.float32([[0, 1, 2, 3]]), labels=[5])
        >>> avida.flip(scene).boxes.numpy()
        array([[4., 1., 6., 3.]], dtype=float32)
    """

    __slots__ = ("_fields", "_found", "_image", "_kept", "_masks", "_pending", "_steps")

    _image: Batch | Tensor
    _fields: Mapping[str, Batch | Tensor]
    _kept: Kept
    _steps: tuple[Batch | Tensor, ...]
    """The matrices of all that has moved positions."""
    _pending: tuple[Batch | Tensor, ...]
    """The last ones of them. Boxes and points in ``_fields`` are those from before; they are moved when asked for."""
    _masks: Batch | Tensor | None
    """The masks from before."""
    _found: dict[str, Batch | Tensor]
    """Boxes and points that somebody has asked for."""

    def __init__(
        self,
        image: Any,
        *,
        mask: Any = None,
        ignore: int | None = None,
        boxes: Any = None,
        rotated: Any = None,
        masks: Any = None,
        keypoints: Any = None,
        labels: Any = None,
        format: BoxFormat = "xyxy",
        relative: bool = False,
        box_shape: BoxShape = "corners",
        per_image: str | Iterable[str] = (),
        names: Mapping[int, str] | Iterable[str] | None = None,
        **fields: Any,
    ) -> None:
        _check_format("Scene", format)
        if box_shape not in get_args(BoxShape):
            raise ValueError(f"Scene: expected one of {', '.join(get_args(BoxShape))} as box_shape, got {box_shape!r}")
        _check_names(fields)
        given = {"mask": mask, "boxes": boxes, "rotated": rotated, "masks": masks, "keypoints": keypoints}
        given = {name: value for name, value in {**given, "labels": labels, **fields}.items() if value is not None}
        image = image if isinstance(image, Batch | Tensor) else operator_input(image, "Scene", "data")
        around_masks = _takes_boxes_of_masks(given)
        made = {name: annotation(name, value, image) for name, value in given.items()}
        if relative or format != "xyxy":
            _to_pixels(image, made, format, relative)
        if around_masks:
            made["boxes"] = _BOXES_OF(made["masks"])
        of_image = (per_image,) if isinstance(per_image, str) else tuple(per_image)
        classes = None if names is None else names if isinstance(names, Names) else Names(names)
        kept = Kept(ignore, ("image_id", *of_image), box_shape=box_shape, names=classes).having(made)
        self._set(image, made, kept)
        self._set(image, checked(self), kept)

    def _set(
        self,
        image: Any,
        fields: Mapping[str, Any],
        kept: Kept,
        steps: tuple[Any, ...] = (),
        pending: tuple[Any, ...] = (),
        masks: Any = None,
    ) -> Scene:
        for name, value in zip(Scene.__slots__, (fields, {}, image, kept, masks, pending, steps), strict=True):
            object.__setattr__(self, name, value)
        return self

    def _showing(self, image: Any) -> Scene:
        """The same with another image."""
        made = Scene.__new__(Scene)
        return made._set(image, self._fields, self._kept, self._steps, self._pending, self._masks)

    def _having(self, image: Any, fields: Mapping[str, Any]) -> Scene:
        """The same with other fields."""
        return Scene.__new__(Scene)._set(image, fields, self._kept, self._steps)

    def _exchanging(self, keypoints: Any) -> Scene:
        """The same with other keypoints, those from before the steps."""
        made = Scene.__new__(Scene)
        fields = {**self._fields, "keypoints": keypoints}
        return made._set(self._image, fields, self._kept, self._steps, self._pending, self._masks)

    def _moved(self, image: Any, fields: Mapping[str, Any], step: Any) -> Scene:
        """After a step that moves positions by a matrix. Pixels of the fields are those after it, the others before."""
        masks = self._masks if self._pending else self._fields.get("masks")
        made = Scene.__new__(Scene)
        return made._set(image, fields, self._kept, (*self._steps, step), (*self._pending, step), masks)

    def _bent(self, image: Any, fields: Mapping[str, Any]) -> Scene:
        """After a step that has moved all fields, and has no matrix."""
        nowhere = np.full((3, 3), np.nan)
        step = as_batch([nowhere] * self.batch_size) if self._is_batch else as_tensor(nowhere)
        return Scene.__new__(Scene)._set(image, fields, self._kept, (*self._steps, step))

    def replace(self, **fields: Any) -> Scene:
        """The same Scene with other fields, which are checked again.

        Args:
            fields: Any of them, by their names; ``image=`` replaces the images, and ``None`` leaves a field out.

        Example:
            >>> scene = avida.Scene(image, boxes=np.float32([[0, 1, 2, 3]]))
            >>> scene.replace(labels=[7]).labels.numpy()
            array([7], dtype=int32)
        """
        image = fields.pop("image", self._image)
        image = image if isinstance(image, Batch | Tensor) else operator_input(image, "Scene", "data")
        _check_names(fields)
        around_masks = _takes_boxes_of_masks({**self._fields, **fields})
        if around_masks:
            fields["boxes"] = None
        made = {name: annotation(name, value, image) for name, value in fields.items() if value is not None}
        made = {name: value for name, value in self.fields.items() if name not in fields or name in made} | made
        if around_masks:
            made["boxes"] = _BOXES_OF(made["masks"])
        kept = self._kept.having(made)
        replaced = Scene.__new__(Scene)._set(image, made, kept, self._steps)
        return replaced._having(image, checked(replaced))

    @property
    def image(self) -> Batch | Tensor:
        """The images."""
        return self._image

    @property
    def mask(self) -> Any:
        """The label of each pixel; None if there is none."""
        return self._field("mask")

    @property
    def boxes(self) -> Any:
        """Left, top, right and bottom of each object; None if there are no boxes."""
        return self._field("boxes")

    @property
    def rotated(self) -> Any:
        """Centre x and y, width, height and degrees; None if there are no rotated boxes."""
        return self._field("rotated")

    @property
    def masks(self) -> Any:
        """A mask for each object; None if there are none. See :meth:`masks_as`."""
        return self._field("masks")

    @property
    def keypoints(self) -> Any:
        """The points of each object; None if there are none."""
        return self._field("keypoints")

    @property
    def labels(self) -> Any:
        """The class of each object; None if there are none."""
        return self._field("labels")

    @property
    def ignore(self) -> int | None:
        """The label of pixels that do not count."""
        return self._kept.ignore

    @property
    def names(self) -> dict[int, str]:
        """How classes are called, by their labels; empty if nobody has said it."""
        return dict(self._kept.names or {})

    @property
    def fields(self) -> dict[str, Any]:
        """All annotations, by their names."""
        return {name: self._field(name) for name in self._fields}

    @property
    def matrix(self) -> Batch | Tensor:
        """Where positions have gone since the Scene was made: 3 x 3 numbers a sample.

        Its inverse brings what a model finds back to them. Samples that went through a warp without a matrix, such as
        ``elastic`` or ``mosaic``, have NaN.

        Example:
            >>> scene = avida.crop(avida.Scene(image), crop=[2, 2], crop_pos_x=1, crop_pos_y=0)
            >>> scene.matrix.numpy()
            array([[ 1.,  0., -4.],
                   [ 0.,  1.,  0.],
                   [ 0.,  0.,  1.]])
        """
        return self._product(self._steps)

    @property
    def batch_size(self) -> int:
        """The number of samples."""
        if not isinstance(self._image, Batch):
            raise TypeError("this Scene is a single sample, and no batch")
        return self._image.batch_size

    def select(self, samples: int | slice | Sequence[int]) -> Scene:
        """One sample, or several, with all that belongs to them.

        Args:
            samples: The index of one, which becomes a Scene of one image, or which ones of the batch.

        Example:
            >>> scene = avida.Scene(batch, labels=[[1], [2]])
            >>> scene.select(1).labels.numpy()
            array([2], dtype=int32)
        """
        from avida._scenes.parts import parts_of, rebuilt

        if not self._is_batch:
            raise TypeError("this Scene is a single sample, and no batch")
        return rebuilt(self, [part.select(samples) for part in parts_of(self)])

    def boxes_as(self, format: BoxFormat, relative: bool = False) -> Any:
        """The boxes in another format.

        Args:
            format: Corners, corner and extents, or centre and extents.
            relative: Whether the numbers are shares of the image's width and height.

        Example:
            >>> scene = avida.Scene(image, boxes=np.float32([[0, 1, 2, 3]]))
            >>> scene.boxes_as("cxcywh").numpy()
            array([[1., 2., 2., 2.]], dtype=float32)
        """
        _check_format("boxes_as", format)
        if self.boxes is None:
            raise ValueError("boxes_as: this Scene has no boxes")
        return _CONVERT(self.boxes, self._extents(), to=format, to_relative=relative)

    def masks_as(self, form: MasksForm | Literal["coco"]) -> Any:
        """The masks of objects in another form.

        Args:
            form: ``"dense"``: N x H x W, drawn as COCO's tools do. ``"polygons"``, if they are such: N x corners x 2;
                a corner of NaN ends a polygon, and more of them fill the row. ``"run_lengths"``: height, width, and the
                lengths of runs outside and inside in turn, column by column; zeros fill the row. ``"coco"``: a list
                for each image, of dictionaries with compressed run lengths, as COCO's tools take them; this waits.

        Example:
            >>> scene = avida.Scene(image, masks=[[[1, 0, 4, 0, 4, 2, 1, 2]]], boxes="masks")
            >>> scene.masks_as("dense").shape
            (1, 4, 6)
            >>> scene.boxes.numpy()
            array([[1., 0., 4., 2.]], dtype=float32)
        """
        forms = (*get_args(MasksForm), "coco")
        if form not in forms:
            raise ValueError(f"masks_as: expected one of {', '.join(forms)} as form, got {form!r}")
        known = self._kept.masks
        if known is None:
            raise ValueError("masks_as: this Scene has no masks")
        if form == known:
            return self.masks
        if form == "polygons":
            raise ValueError("masks_as: masks of pixels have no corners; only polygons can be had as such")
        drawn = self.masks if known == "run_lengths" else dense(self.masks, self._extents())
        if form == "dense":
            return dense(drawn, self._extents())
        runs = drawn if known == "run_lengths" else run_lengths(drawn)
        if form == "run_lengths":
            return runs
        samples = runs if isinstance(runs, Batch) else [runs]
        found = [coco_dictionaries(np.asarray(_core.read_only(sample))) for sample in samples]
        return found if self._is_batch else found[0]

    def clean(self, *, min_visible: float = 0.0, min_size: float = 0.0) -> Scene:
        """Clips objects at the borders, and drops those of which too little is left.

        What is visible is measured by the boxes, else by the rotated boxes, the masks or the keypoints, against all of
        the object. An object goes with all its rows. Keypoints beyond the borders become invisible (0), if they have
        visibility.

        Args:
            min_visible: The share of an object's area, or of its points, that has to be visible.
            min_size: The least width and height in pixels of what is visible of a box or mask.

        Example:
            >>> boxes = np.float32([[0, 0, 2, 2], [3, 0, 9, 3]])
            >>> scene = avida.Scene(image, boxes=boxes, labels=[5, 6]).clean(min_visible=0.6)
            >>> scene.labels.numpy()
            array([5], dtype=int32)
        """
        if not 0 <= min_visible <= 1:
            raise ValueError(f"clean: expected a share from 0 to 1 as min_visible, got {min_visible}")
        kinds = ("boxes", "rotated", "masks", "keypoints")
        if not any(name in self._fields for name in kinds):
            return self
        extents = self._extents()
        fields = self.fields
        kept = _KEPT(extents, *map(fields.get, kinds), min_visible=min_visible, min_size=min_size)
        fields |= {name: _SELECT(fields[name], kept) for name in self._rows()}
        if "boxes" in fields:
            fields["boxes"] = _CLIP(fields["boxes"], extents, fields.get("masks"))
        if "keypoints" in fields:
            fields["keypoints"] = _CLIP(fields["keypoints"], extents)
        return self._having(self._image, fields)

    def torch(self, boxes: BoxFormat = "xyxy", *, relative: bool = False) -> tuple[Any, list[dict[str, Any]]]:
        """Images and targets, as torchvision's detection models take them.

        Args:
            boxes: The format of the boxes.
            relative: Whether they are shares of width and height.

        Returns:
            The images: a tensor N x ..., or a list of tensors where they differ in size. For each image a dictionary
            of tensors, by the names of the fields; ``labels`` are int64, ``masks`` are booleans.

        Example:
            >>> scene = avida.Scene(image, boxes=np.float32([[0, 1, 2, 3]]), labels=[5])
            >>> images, targets = scene.torch(boxes="cxcywh")
            >>> targets[0]["labels"]
            tensor([5])
        """
        from avida._scenes.targets import images_and_targets

        return images_and_targets(self, boxes, relative)

    def draw(self, size: int | None = None) -> Any:
        """The images with masks, boxes, points and names, to look at.

        They are uint8, HWC. A notebook shows a Scene so by itself. Images that are no bytes are stretched from black to
        white.

        Args:
            size: The longest side in pixels; smaller images become larger by a whole number. Default: as they are.

        Returns:
            A Batch, or a Tensor of a single sample.

        Example:
            >>> scene = avida.Scene(image, boxes=np.float32([[0, 0, 4, 3]]), labels=[0], names=["cat"])
            >>> scene.draw(size=60).shape
            (40, 60, 3)
        """
        return drawn(self, size)

    def to_device(self, device: DeviceArg) -> Scene:
        """The same with the image on another device. Annotations stay on the CPU."""
        return self._showing(self._image.to_device(device))

    def gpu(self, index: int | None = None) -> Scene:
        """The same with the image on a GPU."""
        return self._showing(self._image.gpu(index))

    def cpu(self) -> Scene:
        """The same with the image on the CPU."""
        return self._showing(self._image.cpu())

    def evaluate(self) -> Scene:
        """Waits until all of it is computed, and raises the error if that failed."""
        for value in (self._image, *self.fields.values()):
            value.evaluate()
        return self

    @property
    def _is_batch(self) -> bool:
        return isinstance(self._image, Batch)

    def _field(self, name: str) -> Any:
        """A field, with its positions moved by all steps at once: so boxes do not grow with each turn."""
        if not self._pending or name not in _MOVED or name not in self._fields:
            return self._fields.get(name)
        if name == "masks" and self._kept.has_pixels:
            return self._fields[name]
        if name not in self._found:
            self._found[name] = self._moved_field(name, self._fields[name], _composed(self._pending))
        return self._found[name]

    def _moved_field(self, name: str, rows: Any, matrix: Any) -> Any:
        if name == "boxes":
            return _MOVE_BOXES(rows, matrix, self._masks, around=self._kept.box_shape)
        return (_MOVE_ROTATED if name == "rotated" else _MOVE_POINTS)(rows, matrix)

    def _product(self, steps: tuple[Any, ...]) -> Any:
        """Where positions go by all of the steps."""
        if steps:
            return _composed(steps)
        return as_batch([np.eye(3)] * self.batch_size) if self._is_batch else as_tensor(np.eye(3))

    def _extents(self) -> Any:
        return _EXTENTS(outline_of(self._image))

    def _rows(self) -> list[str]:
        """The fields with a row for each object."""
        return [name for name in self._fields if name not in PIXELS and name not in self._kept.per_image]

    def __getattr__(self, name: str) -> Any:
        fields = object.__getattribute__(self, "_fields")
        if name in fields:
            return self._field(name)
        known = ", ".join(["image", *fields])
        raise AttributeError(f"this Scene has no {name!r}; it has {known}")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a Scene does not change; scene.replace({name}=...) makes another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a Scene does not change")

    def __copy__(self) -> Scene:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._image, self.fields, self._kept, (self.matrix,) if self._steps else ())

    def _repr_html_(self) -> str | None:
        return scene_html(self)

    def _repr_png_(self) -> bytes | None:
        return scene_png(self)

    def __repr__(self) -> str:
        samples = f"{self._image.batch_size} samples" if isinstance(self._image, Batch) else "one sample"
        return f"Scene({samples}: {', '.join(['image', *self._fields])})"


def _restored(image: Any, fields: dict[str, Any], kept: Kept, steps: tuple[Any, ...]) -> Scene:
    return Scene.__new__(Scene)._set(image, fields, kept, steps)


def _check_format(name: str, format: str) -> None:
    if format not in get_args(BoxFormat):
        raise ValueError(f"{name}: expected one of {', '.join(get_args(BoxFormat))} as format, got {format!r}")


def _check_names(fields: Iterable[str]) -> None:
    for name in fields:
        if hasattr(Scene, name) and name not in FIELDS:
            raise ValueError(f'Scene: "{name}" is something else of every Scene; give the field another name')


def _takes_boxes_of_masks(given: dict[str, Any]) -> bool:
    """Whether boxes are to be made, and not given; takes them out."""
    if not isinstance(given.get("boxes"), str):
        return False
    if given.pop("boxes") != "masks" or given.get("masks") is None:
        raise ValueError('Scene: expected rows of four numbers as boxes, or "masks" where there are masks')
    return True


def _composed(steps: tuple[Any, ...]) -> Any:
    return functools.reduce(_COMPOSE, steps)


def _to_pixels(image: Any, fields: dict[str, Any], format: str, relative: bool) -> None:
    extents = _EXTENTS(outline_of(image))
    if "boxes" in fields:
        fields["boxes"] = _CONVERT(fields["boxes"], extents, **{"from": format}, from_relative=relative)
    if "keypoints" in fields and relative:
        fields["keypoints"] = _MOVE_POINTS(fields["keypoints"], _core.op("scenes.scale")(extents))
    if "rotated" in fields and relative:
        raise ValueError("Scene: rotated boxes in shares of width and height have no angle; pass pixels")
