"""What the readers of images with annotations do in Python."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

from avida import _core
from avida._files.atomic import replaced_files
from avida._running.warn import warn
from avida._scenes.picture import Names
from avida._scenes.scene import Scene
from avida.decoders._ops import image
from avida.readers._declared import DeclaredReader
from avida.readers._names.settings import find_settings

_SAVE_TO = "save_preprocessed_annotations_dir"
_SAVED = ("images", "ltrb", "ratio", "skip_empty", "size_threshold")


class OfClasses(DeclaredReader):
    """Names the labels of annotations."""

    @property
    def classes(self) -> dict[int, str] | None:
        """The names of classes by their labels; ``None`` where there are none, as in preprocessed annotations."""
        return self._set_up().classes

    @functools.cached_property
    def _class_names(self) -> Names | None:
        classes = self.classes
        return None if classes is None else Names(classes)


class COCOHooks(OfClasses):
    """Replaces saved annotations at once, names labels, and makes Scenes."""

    _names: list[str] | None
    """Of the fields of Scenes, if there are to be any."""

    def _prepare(self, given: dict[str, Any]) -> None:
        self._names = _scene_names(given) if given["scene"] else None
        if given["masks"] is not None:
            warn("masks is deprecated: use polygon_masks, which counts vertices", DeprecationWarning)
        for name in _SAVED if given["preprocessed_annotations"] else ():
            if given[name] is not None:
                raise RuntimeError(f"preprocessed_annotations have {name} as they were saved, it cannot be given")

    def _item(self, outputs: tuple) -> Any:
        if self._names is None:
            return outputs
        fields = dict(zip(self._names, outputs[1:], strict=True))
        return Scene(image(outputs[0]), **fields, names=self._class_names)

    def _item_form(self, outputs: int) -> Any:
        return super()._item_form(outputs) if self._names is None else ("Scene", "image", *self._names)

    @classmethod
    def _open(cls, arguments: _core.ReaderArguments, given: dict[str, Any]) -> _core.ReaderSource:
        folder = given[_SAVE_TO]
        if not folder or given["preprocessed_annotations"]:
            return super()._open(arguments, given)
        if not os.path.isdir(folder):
            raise RuntimeError(f"expected a folder in {_SAVE_TO}, {os.fspath(folder)} is none")
        with replaced_files(folder, last="filenames.dat") as new_files:  # without which no folder is read
            arguments.set(_SAVE_TO, new_files)
            return super()._open(arguments, given)


def _scene_names(given: dict[str, Any]) -> list[str]:
    """The fields of Scenes in the order of the outputs, which are asked for as Scenes have them."""
    for name in ("ltrb", "ratio", "masks", "polygon_masks", "pixelwise_masks", "preprocessed_annotations"):
        if given[name]:
            raise ValueError(f"scene=True has boxes and masks in the form of a Scene: leave out {name}")
    given.update(ltrb=True, image_ids=True, iscrowd=True)
    asked = [field for name, field in _ASKED.items() if given[name]]
    return ["boxes", "labels", "image_id", *asked, "iscrowd"]


_ASKED = {"instance_masks": "masks", "keypoints": "keypoints"}


class AnnotatedHooks(OfClasses):
    """Reads YOLO's settings, and makes Scenes."""

    @property
    def swap(self) -> list[tuple[int, int]]:
        """The pairs of keypoints that are left and right, as YOLO's settings have them: for ``avida.flip(swap=)``."""
        settings = find_settings(self._root) if self._root is not None and self._reads_yolo else None
        return settings.swap if settings else []

    @functools.cached_property
    def _fields(self) -> list[str]:
        return [name for name, _ in self._set_up().columns]

    if TYPE_CHECKING:

        def __getitem__(self, index: SupportsIndex | slice | Sequence[SupportsIndex]) -> Scene: ...  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        def __call__(self, *, batch_size: int | None = None) -> Scene: ...  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        def next_epoch(self, batch_size: int | None = None, *args: Any, **kwargs: Any) -> Iterator[Scene]: ...  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]

    def _prepare(self, given: dict[str, Any]) -> None:
        self._root = None if given["file_root"] is None else os.fspath(given["file_root"])
        self._reads_yolo = given["format"] is None or given["format"].startswith("yolo")

    def _item(self, outputs: tuple) -> Any:
        fields = dict(zip(self._fields, outputs, strict=True))
        if "mask" in fields:
            fields |= {"mask": image(fields["mask"], output_type="indices"), "ignore": _VOID}
        return Scene(image(fields.pop("image")), **fields, names=self._class_names)

    def _item_form(self, outputs: int) -> Any:
        return ("Scene", *self._fields)

    @classmethod
    def _open(cls, arguments: _core.ReaderArguments, given: dict[str, Any]) -> _core.ReaderSource:
        by_name = given["format"] is None or given["format"].startswith("yolo")
        settings = find_settings(os.fspath(given["file_root"])) if by_name and given["file_root"] is not None else None
        if settings:
            arguments.set("file_root", settings.root)
            if settings.names:
                arguments.set("class_names", settings.names)
            if settings.keypoint_shape and given["keypoint_shape"] is None and given["format"] in (None, _KEYPOINTS):
                arguments.set("keypoint_shape", settings.keypoint_shape)
            if given["split"] is not None and settings.splits:
                arguments.set("image_folders", settings.folders(given["split"]))
        return super()._open(arguments, given)


_VOID, _KEYPOINTS = 255, "yolo-keypoints"
