"""The reader of images with annotations in the format of COCO."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Sequence
from typing import Any, Unpack

from avida import _core
from avida._files.atomic import replaced_files
from avida._values.typing import DeviceArg
from avida.readers._options import ReaderOptions
from avida.readers._reader import Reader

Path = str | os.PathLike[str]


class COCO(Reader):
    """Reads images and what their annotations say of the objects in them.

    The outputs of each sample:

    * the bytes of the file (uint8),
    * boxes (float32, N x 4): x, y, width, height,
    * labels (int32, N),
    * with ``polygon_masks``: polygons (int32, P x 3) and vertices (float32, V x 2). A polygon is the number of its
      object, and the first and the end of its vertices. Objects whose mask is not given by polygons have none;
    * with ``pixelwise_masks``: an image (int32, H x W x 1) of the labels, 0 where there is no object. Where objects
      overlap, the larger label is seen;
    * with ``image_ids``: the image's id (int32, one element).

    Images come in the order of their ids. Annotations of images that are not listed are ignored.

    Args:
        annotations_file: The JSON file.
        avoid_class_remapping: Labels are the ids of categories as they are in the file. Default: ``False``, they are
            numbered from 1 in the order of the file; categories that it does not list are 0.
        confine: Refuse the name of an image that leads outside of ``file_root``: by being absolute, by ``..`` or by a
            symbolic link. Checked when the reader is made. Default: ``False``.
        dump_meta_files: Old name of ``save_preprocessed_annotations``.
        dump_meta_files_path: Old name of ``save_preprocessed_annotations_dir``.
        file_root: The folder that file names are relative to.
        image_ids: Add an output with the ids of images. Default: ``False``.
        images: The file names of the images to read, as in the annotations, in this order; a name may be there more
            than once. Default: all images.
        include_iscrowd: Keep objects that are marked as crowds. Default: ``True``.
        ltrb: Boxes are left, top, right, bottom. Default: ``False``.
        masks: Old form of ``polygon_masks``: polygons count coordinates, two for each vertex.
        meta_files_path: Old name of ``preprocessed_annotations``.
        pixelwise_masks: Add an output with images of labels, from polygons and run lengths. Default: ``False``.
        polygon_masks: Add outputs with polygons and their vertices. Default: ``False``.
        preprocessed_annotations: A folder that ``save_preprocessed_annotations`` has written, in place of
            ``annotations_file``. It must have been saved with the outputs that are asked for now; boxes and polygons
            are as they were then.
        ratio: Boxes and vertices are relative to width and height of the image. Default: ``False``.
        save_img_ids: Old name of ``image_ids``.
        save_preprocessed_annotations: Save what was made of the annotations for a faster start. Default: ``False``.
        save_preprocessed_annotations_dir: The folder for that; it must exist. Its files are replaced when all new ones
            are complete.
        size_threshold: Objects whose box is less wide or high than this, in pixels, are left out. Default: ``0.1``.
        skip_empty: Leave out images without objects. Default: ``False``.

    Example:
        >>> import json, pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> root = pathlib.Path(folder.name)
        >>> _ = (root / "cat.jpg").write_bytes(b"some bytes")
        >>> annotations = {
        ...     "images": [{"id": 7, "file_name": "cat.jpg", "width": 20, "height": 10}],
        ...     "annotations": [{"image_id": 7, "category_id": 17, "bbox": [1, 2, 3, 4]}],
        ...     "categories": [{"id": 16, "name": "bird"}, {"id": 17, "name": "cat"}],
        ... }
        >>> _ = (root / "annotations.json").write_text(json.dumps(annotations))
        >>> reader = avida.readers.COCO(file_root=root, annotations_file=root / "annotations.json", ltrb=True)
        >>> for jpegs, boxes, labels in reader.next_epoch(batch_size=1):
        ...     print(boxes.torch().tolist(), labels.torch().tolist())
        [[[1.0, 2.0, 4.0, 6.0]]] [[2]]
    """

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        annotations_file: Path | None = None,
        avoid_class_remapping: bool | None = None,
        confine: bool | None = None,
        dump_meta_files: bool | None = None,
        dump_meta_files_path: Path | None = None,
        file_root: Path | None = None,
        image_ids: bool | None = None,
        images: str | Sequence[str] | None = None,
        include_iscrowd: bool | None = None,
        ltrb: bool | None = None,
        masks: bool | None = None,
        meta_files_path: Path | None = None,
        pixelwise_masks: bool | None = None,
        polygon_masks: bool | None = None,
        preprocessed_annotations: Path | None = None,
        ratio: bool | None = None,
        save_img_ids: bool | None = None,
        save_preprocessed_annotations: bool | None = None,
        save_preprocessed_annotations_dir: Path | None = None,
        size_threshold: float | None = None,
        skip_empty: bool | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        if not hasattr(_core, "CocoOptions"):
            raise NotImplementedError("readers.COCO is not in this build of avida: simdjson was missing")
        save = _renamed("save_preprocessed_annotations", save_preprocessed_annotations, dump_meta_files=dump_meta_files)
        save_to = _renamed(
            "save_preprocessed_annotations_dir",
            save_preprocessed_annotations_dir,
            dump_meta_files_path=dump_meta_files_path,
        )
        folder = _renamed("preprocessed_annotations", preprocessed_annotations, meta_files_path=meta_files_path)
        image_ids = _renamed("image_ids", image_ids, save_img_ids=save_img_ids)
        if masks is not None:
            warnings.warn("masks is deprecated: use polygon_masks, which counts vertices", DeprecationWarning, 2)
        if file_root is None:
            raise RuntimeError("expected file_root, the folder of the images")
        if not annotations_file and not folder:
            raise RuntimeError("expected annotations_file or preprocessed_annotations")
        if bool(save) != bool(save_to):
            raise RuntimeError("save_preprocessed_annotations and save_preprocessed_annotations_dir go together")
        if pixelwise_masks and (polygon_masks or masks):
            raise RuntimeError("expected polygon_masks or pixelwise_masks, got both")
        if folder:
            given = {"images": images, "ltrb": ltrb, "ratio": ratio, "skip_empty": skip_empty}
            for argument, value in {**given, "size_threshold": size_threshold}.items():
                if value is not None:
                    raise RuntimeError(
                        f"preprocessed_annotations have {argument} as they were saved, it cannot be given"
                    )

        wanted = _core.CocoOptions()
        wanted.polygons = bool(polygon_masks or masks)
        wanted.in_coordinates = bool(masks)
        wanted.pixelwise = bool(pixelwise_masks)
        wanted.image_ids = bool(image_ids)
        wanted.ratio = bool(ratio)
        wanted.ltrb = bool(ltrb)
        wanted.remap = not avoid_class_remapping
        wanted.crowds = include_iscrowd is None or bool(include_iscrowd)
        wanted.skip_empty = bool(skip_empty)
        wanted.confine = bool(confine)
        if size_threshold is not None:
            wanted.size_threshold = float(size_threshold)
        names = [images] if isinstance(images, str) else list(images or []) or None
        root, ahead = os.fspath(file_root), bool(options.get("read_ahead"))

        def source() -> _core.ReaderSource:
            if folder:
                return _core.coco_from_folder(os.fspath(folder), root, wanted, ahead)
            assert annotations_file is not None
            with _save_to(save_to) as new_files:
                return _core.coco_from_json(os.fspath(annotations_file), root, names, wanted, new_files, ahead)

        super().__init__(source, max_batch_size, name, device, num_inputs, **options)


def _save_to(folder: Path | None) -> contextlib.AbstractContextManager[str]:
    if not folder:
        return contextlib.nullcontext("")
    if not os.path.isdir(folder):
        raise RuntimeError(f"expected a folder in save_preprocessed_annotations_dir, {os.fspath(folder)} is none")
    return replaced_files(folder, last="filenames.dat")  # without which no folder is read


def _renamed(name: str, value: Any, **old: Any) -> Any:
    """The value of an argument that may have been given under its old name."""
    (old_name, old_value), *_ = old.items()
    if old_value is None:
        return value
    if value is not None:
        raise TypeError(f"expected {name} alone, got also its old name {old_name}")
    warnings.warn(f"{old_name} is deprecated: use {name}", DeprecationWarning, 3)
    return old_value
