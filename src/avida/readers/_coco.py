"""What the reader of images with annotations does in Python."""

from __future__ import annotations

import os
from typing import Any

from avida import _core
from avida._files.atomic import replaced_files
from avida._running.warn import warn
from avida._scenes.scene import Scene
from avida.decoders._ops import image
from avida.readers._declared import DeclaredReader

_SAVE_TO = "save_preprocessed_annotations_dir"
_SAVED = ("images", "ltrb", "ratio", "skip_empty", "size_threshold")


class COCOHooks(DeclaredReader):
    """Replaces saved annotations at once, names labels, and makes Scenes."""

    _names: list[str] | None
    """Of the fields of Scenes, if there are to be any."""

    @property
    def classes(self) -> dict[int, str] | None:
        """The names of categories by their labels; ``None`` for preprocessed annotations, which have no names."""
        return self._set_up().classes

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
        return Scene(image(outputs[0]), **fields)

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
