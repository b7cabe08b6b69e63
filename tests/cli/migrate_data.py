"""The data that the scripts read: images of two classes, annotations, archives, arrays and sounds."""

import json
import pathlib

import numpy as np
import soundfile

from avida import _cli
from avida._values.picture import png
from tests.readers.records import example, ints, strings, tfrecord
from tests.readers.tars import write_tar


def make_data(folder: pathlib.Path) -> None:
    random = np.random.default_rng(0)
    coarse = [random.integers(0, 256, (5 + i % 3, 7, 3), np.uint8) for i in range(7)]
    images = [png(np.kron(image, np.ones((8, 8, 1), np.uint8))) for image in coarse]
    for i, image in enumerate(images):
        file = folder / "images" / ("cats", "dogs")[i % 2] / f"{i}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(image)
    _make_annotated(folder / "coco", images, coarse)
    _make_archives(folder, images)
    for name in ("arrays", "sounds"):
        (folder / name).mkdir()
    for i in range(3):
        np.save(folder / "arrays" / f"{i}.npy", random.integers(0, 12, (3, 4), np.int32))
        soundfile.write(folder / "sounds" / f"{i}.wav", random.uniform(-0.5, 0.5, (900 + i, 2)), 16000, "PCM_16")


def _make_annotated(folder, images, coarse):
    (folder / "images").mkdir(parents=True)
    files, boxes = [], []
    for i, image in enumerate(images[:5]):
        (folder / "images" / f"{i}.png").write_bytes(image)
        files.append({"id": i, "file_name": f"{i}.png", "width": 56, "height": 8 * len(coarse[i])})
        boxes += [{"image_id": i, "category_id": 1 + k, "bbox": [5 * k, 9, 20, 15]} for k in range(4 - i)]
    classes = [{"id": 1 + k, "name": f"class {k}"} for k in range(4)]
    annotations = {"images": files, "annotations": boxes, "categories": classes}
    (folder / "annotations.json").write_text(json.dumps(annotations))


def _make_archives(folder, images):
    records = [example(image=strings(image), label=ints(i)) for i, image in enumerate(images)]
    (folder / "records.tfrecord").write_bytes(b"".join(map(tfrecord, records)))
    pairs = [((f"{i}.png", image), (f"{i}.cls", b"%d" % i)) for i, image in enumerate(images)]
    members = [member for pair in pairs for member in pair]
    write_tar(folder / "archive.tar", members)
    assert _cli.main(["index", str(folder / "records.tfrecord"), str(folder / "archive.tar")]) == 0
