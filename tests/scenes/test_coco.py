"""readers.COCO as Scenes: decoded images with all that the annotations say of them."""

import io
import json

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
    reader = avida.readers.COCO(**arguments, scene=True, instance_masks=True, keypoints=True)
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
    reader = avida.readers.COCO(**arguments, scene=True, instance_masks=True)

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
