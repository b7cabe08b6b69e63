"""readers.COCO as Scenes: decoded images with all that the annotations say of them."""

import io
import json
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco_mask

import avida
from avida.augment import between, chance
from tests.ahead.loops import run

POLYGON = [5, 5, 25, 6, 20, 18]
RUNS = {"size": [30, 40], "counts": [100, 50, 1050]}


@pytest.fixture
def arguments(tmp_path):
    images, objects = [], []
    for i in range(12):
        file = io.BytesIO()
        Image.fromarray(np.full((30, 40, 3), 20 * i, np.uint8)).save(file, "JPEG")
        (tmp_path / f"{i}.jpg").write_bytes(file.getvalue())
        images.append({"id": 100 + i, "file_name": f"{i}.jpg", "width": 40, "height": 30})
        person = {"bbox": [5, 5, 20, 13], "segmentation": [POLYGON], "keypoints": [6, 7, 2, 0, 0, 0], "iscrowd": 0}
        objects.append({"image_id": 100 + i, "category_id": 3, **person})
        if i % 2:
            objects.append(
                {"image_id": 100 + i, "category_id": 9, "bbox": [3, 0, 3, 30], "segmentation": RUNS, "iscrowd": 1}
            )
    file = tmp_path / "annotations.json"
    file.write_text(json.dumps({"images": images, "annotations": objects, "categories": [{"id": 3}, {"id": 9}]}))
    return {"file_root": tmp_path, "annotations_file": file}


def test_scenes(arguments):
    reader: Any = avida.readers.COCO(**arguments, scene=True, instance_masks=True, keypoints=True)
    scene = next(reader.next_epoch(batch_size=2))
    assert isinstance(scene, avida.Scene)
    assert list(scene.fields) == ["boxes", "masks", "keypoints", "labels", "image_id", "iscrowd"]
    assert scene.image.shape == [(30, 40, 3)] * 2
    _, targets = scene.torch()
    assert targets[1]["image_id"].tolist() == [101]
    assert targets[1]["labels"].tolist() == [1, 2]
    assert targets[1]["iscrowd"].tolist() == [0, 1]
    assert targets[1]["boxes"].tolist() == [[5, 5, 25, 18], [3, 0, 6, 30]]
    assert targets[1]["keypoints"].tolist() == [[[6, 7, 2], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]]
    runs = [coco_mask.merge(coco_mask.frPyObjects([POLYGON], 30, 40)), coco_mask.frPyObjects(RUNS, 30, 40)]
    np.testing.assert_array_equal(targets[1]["masks"], [coco_mask.decode(each) for each in runs])


def test_loops_run_ahead(arguments):
    reader: Any = avida.readers.COCO(**arguments, scene=True, instance_masks=True)

    def body(i, scene):
        scene = avida.rotate(scene, angle=between(-9, 9), fill_value=0)
        return avida.flip(scene, horizontal=chance(0.5)).clean().evaluate()

    class Each:
        """Items as tuples."""

        def __init__(self, epoch):
            self.epoch = epoch

        def __len__(self):
            return len(self.epoch)

        def __iter__(self):
            return ((item,) for item in self.epoch)

    _, count = run(Each(reader.next_epoch(batch_size=2)), body, 10)
    assert count >= 3 * 10


def test_what_a_scene_has_is_not_given_otherwise(arguments):
    for name in ("ratio", "ltrb", "polygon_masks", "pixelwise_masks"):
        with pytest.raises(
            ValueError, match=f"scene=True has boxes and masks in the form of a Scene: leave out {name}"
        ):
            avida.readers.COCO(**arguments, scene=True, **{name: True})
    with pytest.raises(RuntimeError, match="expected annotations_file for instance_masks, keypoints and iscrowd"):
        avida.readers.COCO(file_root=".", preprocessed_annotations="x", keypoints=True)


def test_parts_of_a_mix_and_rows_of_ray(arguments):
    reader = avida.readers.COCO(**arguments, scene=True)
    mixed = avida.readers.Mix([reader, avida.readers.COCO(**arguments, scene=True)])
    assert list(next(mixed.next_epoch(batch_size=4)).fields) == ["boxes", "labels", "image_id", "iscrowd"]
    with pytest.raises(
        ValueError, match=r"items of one form; the part '0' gives \('Scene', 'image', 'boxes', 'labels'"
    ):
        avida.readers.Mix([reader, avida.readers.COCO(**arguments, ltrb=True, image_ids=True, iscrowd=True)])
    with pytest.raises(
        TypeError, match=r"expected outputs that are columns, got a Scene from .*: leave out scene=True"
    ):
        pytest.importorskip("avida.ray._read").ReaderSource(reader)


@pytest.mark.parametrize("points", [[1, 2], ["x", 1, 2], 5])
def test_damaged_keypoints(arguments, points):
    content = json.loads(arguments["annotations_file"].read_text())
    content["annotations"][2]["keypoints"] = points
    arguments["annotations_file"].write_text(json.dumps(content))
    with pytest.raises(RuntimeError, match=r"annotations\[2\].keypoints: expected"):
        avida.readers.COCO(**arguments, keypoints=True)


def dense_masks(arguments, **options):
    reader = avida.readers.COCO(**arguments, instance_masks=True, **options)
    return [np.asarray(each) for *_, masks in reader.next_epoch(batch_size=5) for each in masks]


def scene_masks(arguments, **options):
    reader: Any = avida.readers.COCO(**arguments, scene=True, instance_masks=True, **options)
    return [scene for batch in reader.next_epoch(batch_size=5) for scene in batch.masks_as("dense")], reader


def test_masks_are_as_the_file_has_them(arguments):
    """Run lengths of all objects, if any has them: a batch without crowds has the same form as others."""
    made, reader = scene_masks(arguments)
    for ours, theirs in zip(made, dense_masks(arguments), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    (scene,) = reader.next_epoch(batch_size=12)
    assert scene.masks.dtype == avida.uint32
    crowds = [np.asarray(rows)[1].tolist() for rows in scene.masks if len(rows) == 2]
    assert crowds == [[30, 40, 100, 50, 1050] + [0] * (len(crowds[0]) - 5)] * 6
    made, reader = scene_masks(arguments, include_iscrowd=False)
    for ours, theirs in zip(made, dense_masks(arguments, include_iscrowd=False), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    (scene,) = reader.next_epoch(batch_size=12)
    assert scene.masks.dtype == avida.float32
    assert np.asarray(scene.masks.tensors[0]).tolist() == [np.reshape(POLYGON, (-1, 2)).tolist()]


def test_masks_of_many_parts(arguments):
    """Parts that overlap, lie outside, are empty or missing, and run lengths that end before the image or touch."""
    rng = np.random.default_rng(0)
    content = json.loads(arguments["annotations_file"].read_text())
    for i, each in enumerate(content["annotations"]):
        count = rng.integers(0, 4)
        parts = [rng.uniform(-8, 45, 2 * rng.integers(3, 8)).round(2).tolist() for _ in range(count)]
        each["segmentation"] = parts
        if i % 5 == 3:
            each["segmentation"] = {
                "size": [30, 40],
                "counts": [[0, 1200], [0, 30, 0, 30, 60], [700], [1199, 1]][i % 4],
            }
    for name, objects in (("mixed", content["annotations"]), ("polygons", None)):
        if objects is None:
            for each in content["annotations"]:
                if isinstance(each["segmentation"], dict):
                    each["segmentation"] = [[1, 1, 5, 5, 5, 1], []]
        file = arguments["annotations_file"].with_name(f"{name}.json")
        file.write_text(json.dumps(content))
        given = {**arguments, "annotations_file": file}
        made, reader = scene_masks(given)
        for ours, theirs in zip(made, dense_masks(given), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        (scene,) = reader.next_epoch(batch_size=12)
        assert scene.masks.dtype == (avida.uint32 if name == "mixed" else avida.float32)
        moved = avida.flip(scene.replace(boxes="masks")).clean(min_visible=0.5)
        assert max(len(np.asarray(rows)) for rows in moved.masks) > 0


def test_masks_of_large_images_are_small(arguments):
    """As dense ones they would have a gigabyte."""
    content = json.loads(arguments["annotations_file"].read_text())
    for image in content["images"]:
        image |= {"width": 8000, "height": 8000}
    for each in content["annotations"]:
        each |= {"segmentation": [[10, 10, 7000, 20, 4000, 6000]], "iscrowd": 0}
    content["annotations"] *= 20
    arguments["annotations_file"].write_text(json.dumps(content))
    with pytest.raises(RuntimeError, match="expected at most 1073741824 bytes for the masks of an image"):
        dense_masks(arguments)
    reader: Any = avida.readers.COCO(**arguments, scene=True, instance_masks=True)
    (scene,) = reader.next_epoch(batch_size=12)
    assert scene._fields["masks"].shape[0] == (20, 3, 2)
