"""readers.Annotated: what YOLO, Pascal VOC and LabelMe say of images, as Scenes."""

import base64
import io
import json
import pickle
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

import avida
from avida._values.picture import png
from tests.storage.stores import objects_in

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* has the label"
)  # of data sets that have nothing to do with each other
HEIGHT, WIDTH = 40, 60
NAMES = ["bird", "cat", "dog"]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def picture(i=0, height=HEIGHT, width=WIDTH):
    return png(np.full((height, width, 3), 10 * i, np.uint8))


def reader(root, **arguments):
    return avida.readers.Annotated(file_root=root, last_batch="partial", **arguments)


def all_of(root, **arguments):
    return next(reader(root, **arguments).next_epoch(batch_size=100))


def yolo(root, rows, settings="names: [bird, cat, dog]\ntrain: images/train\nval: images/val\n"):
    """Images train/0, train/1, ... with these texts; without a text where it is None."""
    for i, text in enumerate(rows):
        write(root / f"images/train/{i}.png", picture(i))
        if text is not None:
            write(root / f"labels/train/{i}.txt", text)
    write(root / "images/val/9.png", picture(9))
    write(root / "labels/val/9.txt", rows[0])
    if settings:
        write(root / "data.yaml", settings)
    return root


def test_yolo_boxes(tmp_path):
    yolo(tmp_path, ["2 0.5 0.5 0.5 0.25\n\n0 .1 .5 .2 1\r\n", None, "", "1.0 0.25 0.75 0.1 0.2"])
    made = reader(tmp_path, split="train")
    assert (len(made), made.classes, made.swap) == (4, dict(enumerate(NAMES)), [])
    scene = next(made.next_epoch(batch_size=4))
    assert list(scene.fields) == ["boxes", "labels", "image_id"]
    assert [np.asarray(each).tolist() for each in scene.labels] == [[2, 0], [], [], [1]]
    np.testing.assert_allclose(scene.boxes.tensors[0], [[15, 15, 45, 25], [0, 0, 12, 40]], atol=1e-5)
    np.testing.assert_allclose(scene.boxes.tensors[3], [[12, 26, 18, 34]], atol=1e-5)
    assert [np.asarray(each).item() for each in scene.image_id] == [0, 1, 2, 3]
    assert [int(np.asarray(each)[0, 0, 0]) for each in scene.image] == [0, 10, 20, 30]
    assert scene.names == dict(enumerate(NAMES))
    assert len(reader(tmp_path)) == 5
    assert len(reader(tmp_path / "data.yaml", split="val")) == 1
    assert reader(tmp_path, classes=["a", "b", "c"]).classes == {0: "a", 1: "b", 2: "c"}


@pytest.mark.parametrize("layout", ["split/images", "beside", "list"])
def test_where_labels_are(tmp_path, layout):
    folder = {"split/images": ("train/images", "train/labels"), "beside": ("a", "a"), "list": ("images/b", "labels/b")}
    images, labels = folder[layout]
    for i in range(3):
        write(tmp_path / images / f"{i}.png", picture(i))
        write(tmp_path / labels / f"{i}.txt", f"{i} 0.5 0.5 1 1")
    arguments = {"split": "train"} if layout != "beside" else {}
    if layout == "list":
        write(tmp_path / "train.txt", "./images/b/2.png\nimages/b/0.png\n")
        write(tmp_path / "data.yaml", "train: train.txt\nnames: {0: bird, 1: cat, 2: dog}\n")
    scene = all_of(tmp_path, **arguments)
    assert [np.asarray(each).tolist() for each in scene.labels] == [[0], [2]] if layout == "list" else [[0], [1], [2]]


def test_yolo_segments(tmp_path):
    corners = np.array([[5, 5], [30, 8], [40, 30], [10, 25]])
    row = " ".join(f"{x / WIDTH} {y / HEIGHT}" for x, y in corners)
    yolo(tmp_path, [f"1 {row}\n0 0.5 0.5 0.5 0.5\n2 0.1 0.1 0.2 0.2 0.1 0.3", "", "0 .5 .5 .5 .5"])
    scene = all_of(tmp_path, split="train", masks=True)
    np.testing.assert_allclose(scene.boxes.tensors[0], [[5, 5, 40, 30], [15, 10, 45, 30], [6, 4, 12, 12]], atol=1e-5)
    assert scene.masks.shape == [(3, 4, 2), (0, 1, 2), (1, 4, 2)]
    dense = scene.masks_as("dense")
    masks = np.asarray(dense.tensors[0])
    expected = Image.new("L", (WIDTH, HEIGHT))
    ImageDraw.Draw(expected).polygon([tuple(corner) for corner in corners.tolist()], 1)
    assert masks.shape == (3, HEIGHT, WIDTH)
    assert (masks[0] != np.asarray(expected)).mean() < 0.03
    assert masks[1, 10:30, 15:45].all()
    assert masks[1].sum() == 600
    assert dense.shape[1] == (0, HEIGHT, WIDTH)
    assert "masks" not in all_of(tmp_path, split="train").fields


def test_yolo_rotated(tmp_path):
    rng = np.random.default_rng(0)
    boxes = np.stack([[30, 20, 20, 8, angle] for angle in rng.uniform(-170, 170, 20)])
    rows = []
    for x, y, width, height, angle in boxes:
        c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        right, down = np.array([c, -s]) * width / 2, np.array([s, c]) * height / 2
        middle = np.array([x, y])
        corners = [middle - right - down, middle + right - down, middle + right + down, middle - right + down]
        rows.append("0 " + " ".join(f"{a / WIDTH} {b / HEIGHT}" for a, b in corners))
    yolo(tmp_path, ["\n".join(rows)])
    scene = all_of(tmp_path, split="train")
    assert list(scene.fields) == ["rotated", "labels", "image_id"]
    np.testing.assert_allclose(scene.rotated.tensors[0], boxes, atol=1e-3)
    quad = np.float32([[10, 10], [40, 14], [38, 30], [9, 22]])  # no rectangle: the smallest one around it
    write(tmp_path / "labels/train/0.txt", "0 " + " ".join(f"{a / WIDTH} {b / HEIGHT}" for a, b in quad))
    _, _, width, height, angle = np.asarray(all_of(tmp_path, split="train").rotated.tensors[0])[0]
    areas = []
    for turn in np.radians(np.arange(0, 90, 0.01)):
        along = quad @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
        areas.append(np.prod(np.ptp(along, axis=0)))
    np.testing.assert_allclose(width * height, min(areas), rtol=1e-3)


def test_yolo_keypoints(tmp_path):
    settings = "names: [person]\ntrain: images/train\nkpt_shape: [3, {}]\nflip_idx: [0, 2, 1]\n"
    yolo(tmp_path, ["0 .5 .5 .5 .5 .1 .1 2 .2 .2 1 0 0 0", ""], settings.format(3))
    made = reader(tmp_path, split="train")
    scene = made[[0, 1]]
    np.testing.assert_allclose(scene.keypoints.tensors[0], [[[6, 4, 2], [12, 8, 1], [0, 0, 0]]], atol=1e-5)
    assert scene.keypoints.shape[1] == (0, 3, 3)
    assert made.swap == [(1, 2)]
    assert avida.flip(scene, swap=made.swap).keypoints.tensors[0].shape == (1, 3, 3)
    yolo(tmp_path, ["0 .5 .5 .5 .5 .1 .1 .2 .2 0 0"], settings.format(2))
    points = reader(tmp_path, split="train")[[0]].keypoints
    np.testing.assert_allclose(points.tensors[0], [[[6, 4, 2], [12, 8, 2], [0, 0, 0]]], atol=1e-5)


def test_upright_images(tmp_path):
    """Shares are those of the image as it is seen."""
    file = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(np.zeros((40, 60, 3), np.uint8)).save(file, "JPEG", exif=exif)
    write(tmp_path / "a.jpg", file.getvalue())
    write(tmp_path / "a.txt", "0 .5 .5 1 1")
    scene = all_of(tmp_path)
    assert scene.image.shape == [(60, 40, 3)]
    assert np.asarray(scene.boxes.tensors[0]).tolist() == [[0, 0, 40, 60]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 .5 .5 .5 .5\n0 .5 .5 .5", "1.txt:2: expected a class and 4 numbers, centre, width and height, got 3"),
        ("\n\n1 a .5 .5 .5", '1.txt:3: expected numbers, got "a"'),
        ("7 .5 .5 .5 .5", "1.txt:1: expected a class from 0 to 2, got 7"),
        ("-1 .5 .5 .5 .5", "1.txt:1: expected a class, an integer from 0 on, got -1"),
        ("1.5 .5 .5 .5 .5", "1.txt:1: expected a class, an integer from 0 on, got 1.5"),
        ("1 15 .5 .5 .5", "1.txt:1: expected shares of width and height, from 0 to 1, got 15"),
        ("1 nan .5 .5 .5", '1.txt:1: expected numbers, got "nan"'),
        ("1 .5 .5 -0.005 .5", "1.txt:1: expected a width and a height from 0 on, got -0.005"),
    ],
)
def test_broken_texts(tmp_path, text, message):
    yolo(tmp_path, ["0 .5 .5 .5 .5", text, "1 .5 .5 .5 .5"])
    with pytest.raises(RuntimeError) as error:
        all_of(tmp_path, split="train", format="yolo").labels.evaluate()
    assert message in str(error.value)
    made = reader(tmp_path, split="train", format="yolo", on_error="skip")
    assert next(made.next_epoch(batch_size=3)).batch_size == 2
    assert message in made.errors[0].message


VOC = """<?xml version="1.0"?>
<annotation>
  <folder>VOC2012</folder><filename>other.jpg</filename><!-- a comment -->
  <object>
    <name>dog</name><pose>Left</pose><truncated>1</truncated><difficult>0</difficult>
    <part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part>
    <bndbox><xmin>11</xmin><ymin>6.5</ymin><xmax>30</xmax><ymax>20</ymax></bndbox>
  </object>
  <object><name>cat &amp; &#x6b;itten</name><difficult>1</difficult>
    <bndbox><xmax>60</xmax><xmin>1</xmin><ymax>40</ymax><ymin>1</ymin></bndbox></object>
</annotation>
"""


def voc(root):
    objects = np.zeros((HEIGHT, WIDTH), np.uint8)
    objects[5:20, 10:30], objects[30:, :] = 1, 2
    classes = np.where(objects == 1, 12, objects * 4).astype(np.uint8)
    classes[0] = 255
    for i in range(3):
        write(root / f"JPEGImages/{i}.png", picture(i))
        write(root / f"Annotations/{i}.xml", VOC if i < 2 else "<annotation/>")
        for folder, pixels in (("SegmentationClass", classes), ("SegmentationObject", objects)) if i != 1 else ():
            mask = Image.fromarray(pixels, "P")
            mask.putpalette(list(range(256)) * 3)
            file = io.BytesIO()
            mask.save(file, "PNG")
            write(root / folder / f"{i}.png", file.getvalue())
    write(root / "ImageSets/Main/train.txt", "0\n1\n")
    write(root / "ImageSets/Segmentation/train.txt", "0\n2\n")
    return objects, classes


def test_voc(tmp_path):
    objects, classes = voc(tmp_path)
    made = reader(tmp_path, split="train")
    assert made.classes == {0: "cat & kitten", 1: "dog"}
    scene = made[[0, 1]]
    assert list(scene.fields) == ["boxes", "labels", "difficult", "truncated", "pose", "image_id"]
    _, targets = scene.torch()
    assert targets[1]["boxes"].tolist() == [[10, 5.5, 30, 20], [0, 0, 60, 40]]
    for name, values in {"labels": [1, 0], "difficult": [0, 1], "truncated": [1, 0], "pose": [2, 0]}.items():
        assert targets[0][name].tolist() == values
    assert len(reader(tmp_path)) == 3
    made = reader(tmp_path, split="train", mask=True, masks=True, classes=["dog", "cat & kitten"])
    scene = made[[0, 1]]
    assert scene.ignore == 255
    np.testing.assert_array_equal(np.asarray(scene.mask.tensors[0])[..., 0], classes)
    np.testing.assert_array_equal(scene.masks.tensors[0], [objects == 1, objects == 2])
    assert scene.masks.shape[1] == (0, HEIGHT, WIDTH)
    assert np.asarray(scene.labels.tensors[0]).tolist() == [0, 1]
    for file in (tmp_path / "Annotations").iterdir():
        file.unlink()
    scene = all_of(tmp_path, mask=True)
    assert (list(scene.fields), scene.image.shape) == (["mask", "image_id"], [(HEIGHT, WIDTH, 3)] * 2)
    assert len(reader(tmp_path, mask=True, split="train")) == 2
    with pytest.raises(RuntimeError, match="expected annotations in"):
        reader(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<annotation><object></annotation>", "1.xml:1: expected </object>, got </annotation>"),
        ("<annotation>\n<object>\n", "1.xml:2: the element <object> does not end"),
        ("<annotation>\n<object>\n<bndbox/></object></annotation>", "1.xml:2: expected <name> in <object>, found none"),
        (
            '<!DOCTYPE a [<!ENTITY b "c">]>\n<annotation/>',
            "1.xml:1: expected annotations, found a declaration (DOCTYPE)",
        ),
        ("<annotation>&lol;</annotation>", "1.xml:1: the entity &lol; is unknown"),
        (VOC.replace("6.5", "x"), '1.xml:7: expected a number in <ymin>, got "x"'),
        (VOC.replace("6.5", "60"), "1.xml:7: expected xmin <= xmax and ymin <= ymax, got 11, 60, 30, 20"),
        (VOC.replace("dog", "cow"), '1.xml:5: the class "cow" is not among classes'),
        ("<a>" * 100, "1.xml:1: more than 64 elements in one another"),
        ("<annotation/>\n<more/>", "1.xml:2: expected nothing behind the first element"),
        ("<annotation a=b/>", "1.xml:1: expected an attribute in quotes"),
        ("", "1.xml:1: expected an element, but the file ends here"),
    ],
)
def test_broken_xml(tmp_path, text, message):
    voc(tmp_path)
    write(tmp_path / "Annotations/1.xml", text)
    made = reader(tmp_path, on_error="skip", classes=["dog", "cat & kitten"])
    assert next(made.next_epoch(batch_size=3)).batch_size == 2
    assert message in made.errors[0].message


def shape(kind, points, label="cat", **others):
    return {"label": label, "shape_type": kind, "points": points, "group_id": None, "flags": {}, **others}


def labelme(root, shapes, name="0", **others):
    content = {"version": "5.4.1", "shapes": shapes, "imagePath": "0.png", "imageData": None, **others}
    write(root / f"{name}.json", json.dumps(content, indent=2))


SHAPES = [
    shape("polygon", [[5, 5], [30, 5], [30, 25], [5, 25]], "dog", group_id=4),
    shape("rectangle", [[40, 30], [20.5, 10]]),
    shape("circle", [[30, 20], [30, 30]]),
    shape("point", [[7, 8]]),
    shape("line", [[7, 8], [17, 4]], "dog"),
    shape("linestrip", [[7, 8], [17, 4], [9, 20]]),
]


def test_labelme(tmp_path):
    write(tmp_path / "0.png", picture(0))
    labelme(tmp_path, SHAPES)
    data = base64.b64encode(picture(5, 10, 21)).decode()
    labelme(tmp_path, [shape("point", [[3, 4]])], "deep/1", imagePath="..\\nowhere.jpg", imageData=data)
    made = reader(tmp_path, masks=True, keypoints=True)
    assert made.classes == {0: "cat", 1: "dog"}
    scene = made[[0, 1]]
    assert scene.image.shape == [(HEIGHT, WIDTH, 3), (10, 21, 3)]
    _, targets = scene.torch()
    assert targets[0]["labels"].tolist() == [1, 0, 0, 0, 1, 0]
    assert targets[0]["kind"].tolist() == [0, 1, 2, 3, 4, 5]
    assert targets[0]["group"].tolist() == [4, -1, -1, -1, -1, -1]
    boxes = [[5, 5, 30, 25], [20.5, 10, 40, 30], [20, 10, 40, 30], [7, 8, 7, 8], [7, 4, 17, 8], [7, 4, 17, 20]]
    np.testing.assert_allclose(targets[0]["boxes"], boxes, atol=1e-5)
    masks = targets[0]["masks"].numpy()
    assert masks[0].sum() == 25 * 20
    assert abs(int(masks[2].sum()) - np.pi * 100) < 8
    assert not masks[3:].any()
    assert targets[0]["keypoints"][3:].tolist() == [
        [[7, 8, 2], [0, 0, 0], [0, 0, 0]],
        [[7, 8, 2], [17, 4, 2], [0, 0, 0]],
        [[7, 8, 2], [17, 4, 2], [9, 20, 2]],
    ]
    assert "keypoints" not in all_of(tmp_path).fields


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shapes": [SHAPES[0], shape("polygon", [[1, 2], [3, 4]])]}, "shapes[1]: expected three corners or more"),
        (
            {"shapes": [shape("mask", [[1, 2], [3, 4]])]},
            "shapes[0]: expected polygon, rectangle, circle, point, line or",
        ),
        ({"shapes": [shape("point", [[1, 2, 3]])]}, "shapes[0]: expected x and y for each"),
        ({"shapes": [shape("point", [[1, 2]], 5)]}, 'shapes[0]: expected a text in "label"'),
        ({"shapes": 5}, "expected LabelMe's JSON"),
        ({"shapes": [], "imageData": "????"}, "expected the image in base64"),
        ({"shapes": [], "imagePath": None}, "expected an image in"),
    ],
)
def test_broken_labelme(tmp_path, change, message):
    write(tmp_path / "0.png", picture(0))
    labelme(tmp_path, SHAPES)
    labelme(tmp_path, **{"name": "1", "shapes": [], **change})
    made = reader(tmp_path, on_error="skip", classes=["cat", "dog"])
    assert next(made.next_epoch(batch_size=2)).batch_size == 1
    assert "1.json:" in made.errors[0].message
    assert message in made.errors[0].message


def test_lines_of_broken_shapes(tmp_path):
    write(tmp_path / "0.png", picture(0))
    labelme(tmp_path, [*SHAPES, shape("polygon", [])])
    line = (tmp_path / "0.json").read_text().split("\n").index(
        '      "points": [],'
    ) - 2  # behind its bracket, label and type
    with pytest.raises(RuntimeError, match=rf"0.json:{line}: shapes\[6\]: expected three corners"):
        all_of(tmp_path).labels.evaluate()


def test_names_that_lead_elsewhere(tmp_path):
    write(tmp_path / "0.png", picture(0))
    labelme(tmp_path, SHAPES, "data/0", imagePath="../0.png")
    assert all_of(tmp_path / "data").evaluate().batch_size == 1
    with pytest.raises(RuntimeError, match="expected the name of an image within"):
        all_of(tmp_path / "data", confine=True).labels.evaluate()


def test_what_cannot_be_given(tmp_path):
    yolo(tmp_path, ["0 .5 .5 .5 .5"])
    for arguments, message in [
        ({"masks": True}, "masks are not in this format, yolo"),
        ({"mask": True}, "label maps .* are not in this format, yolo"),
        ({"format": "yolo-keypoints"}, "expected keypoint_shape"),
        ({"keypoint_shape": (0, 3)}, "expected the number of points and 2 or 3 numbers"),
        ({"classes": []}, "classes must not be an empty list"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            reader(tmp_path, **arguments)
    with pytest.raises(ValueError, match='expected a split among "train", "val", got "test"'):
        reader(tmp_path, split="test")
    with pytest.raises(RuntimeError, match=r"expected annotations in .*: texts of YOLO"):
        reader(tmp_path / "images")
    with pytest.raises(RuntimeError, match='format must be "yolo", "yolo-segments"'):
        reader(tmp_path, format="coco")


def test_masks_have_a_limit(tmp_path):
    voc(tmp_path)
    write(tmp_path / "JPEGImages/0.png", png(np.zeros((4000, 4000, 1), np.uint8)))
    thing = VOC[VOC.index("<object>") : VOC.rindex("</annotation>")]
    write(tmp_path / "Annotations/0.xml", f"<annotation>{thing * 35}</annotation>")
    with pytest.raises(RuntimeError, match="expected at most 1073741824 bytes for the masks of an image, got 70 masks"):
        all_of(tmp_path, masks=True).labels.evaluate()


def test_points_have_a_limit(tmp_path):
    """A long outline among many objects is not made as long for all."""
    write(tmp_path / "0.png", picture(0))
    long = shape("polygon", [[1, 2], [3, 4], [5, 7]] * 4000)
    labelme(tmp_path, [long, *[shape("point", [[1, 1]])] * 9000])
    with pytest.raises(
        RuntimeError, match="expected at most 1073741824 bytes for the points of an image, got 9001 obj"
    ):
        all_of(tmp_path, masks=True).labels.evaluate()


SETTINGS = """# a comment
path: "coco8"  # the root
train: images/train
val: [images/val, 'more, of # it']
download: |
  a script: with
    names: [x]
nc: 3
names:
  0: person
  1: "traffic: light"  # red
  3: 'it''s'
colors: {a: 1, 'b c': "d, e"}
list:
- one
- "two # three"
"""


def test_settings():
    from avida.readers._names.settings import parse_yaml

    assert parse_yaml(SETTINGS, "data.yaml") == {
        "path": "coco8",
        "train": "images/train",
        "val": ["images/val", "more, of # it"],
        "download": None,
        "nc": "3",
        "names": {"0": "person", "1": "traffic: light", "3": "it's"},
        "colors": {"a": "1", "b c": "d, e"},
        "list": ["one", "two # three"],
    }
    for text, message in [("just text", "data.yaml:1: expected"), ("a: 1\nb: [1, 2", 'data.yaml:2: expected "]"')]:
        with pytest.raises(RuntimeError, match=message):
            parse_yaml(text, "data.yaml")


def test_as_other_readers(tmp_path):
    """Shards, shuffling, states, stores, keys, mixtures and pickles."""
    yolo(tmp_path, [f"{i % 3} 0.5 0.5 0.5 0.{i + 1}" for i in range(9)])

    def labels(made, size=2):
        return [
            (np.asarray(i).item(), np.asarray(label).tolist())
            for scene in made.next_epoch(batch_size=size)
            for i, label in zip(scene.image_id, scene.labels, strict=True)
        ]

    whole = labels(reader(tmp_path, split="train"))
    assert whole == [(i, [i % 3]) for i in range(9)]
    parts = [reader(tmp_path, split="train", num_shards=2, shard_id=k, random_shuffle=True) for k in range(2)]
    assert sorted(labels(parts[0]) + labels(parts[1])) == whole
    made = reader(tmp_path, split="train", random_shuffle=True, seed=3)
    epoch = made.next_epoch(batch_size=2)
    first = np.asarray(next(epoch).image_id.tensors[0]).item()
    again = pickle.loads(pickle.dumps(made))
    rest = labels(again)
    assert len(rest) == 7
    assert first not in [i for i, _ in rest]
    mixed = avida.readers.Mix([reader(tmp_path, split="train"), reader(tmp_path, split="val")])
    scene: Any = next(mixed.next_epoch(batch_size=4))
    drawn: Any = avida.random.uniform(range=[0, 1], keyed_by=scene.image)
    assert drawn.batch_size == 4
    for name, content in objects_in(tmp_path, "data").items():
        avida.storage.memory[name] = content
    try:
        stored = reader("memory://data", split="train", cache="memory")
        assert labels(stored, 4) == whole
        np.testing.assert_array_equal(
            stored[[3]].boxes.tensors[0], reader(tmp_path, split="train")[[3]].boxes.tensors[0]
        )
    finally:
        for name in list(avida.storage.memory):
            del avida.storage.memory[name]
