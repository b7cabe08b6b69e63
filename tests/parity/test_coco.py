"""readers.COCO of both libraries over the same annotations: all options, masks, preprocessed folders, odd input."""

import inspect
import itertools
import json

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest
from pycocotools import mask as coco_mask

import avida

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def image(number, name, width=20, height=10):
    return {"id": number, "file_name": name, "width": width, "height": height, "license": 1, "date": None}


def annotation(image_id, category=1, box=(1, 2, 3, 4), mask=((1, 2, 4, 2, 4, 6),), crowd=0):
    return {
        "id": 1,
        "image_id": image_id,
        "category_id": category,
        "bbox": list(box),
        "iscrowd": crowd,
        "segmentation": mask if isinstance(mask, dict) else [list(polygon) for polygon in mask],
    }


def document(images, annotations, categories=(1, 2, 3)):
    return {
        "info": {"images": ["not these", '"]']},
        "images": images,
        "annotations": annotations,
        "categories": [{"id": number, "name": "ü"} for number in categories],
    }


def random_document():
    """Twelve images in an order of their own; polygons, both kinds of run lengths, crowds, small and outside boxes.

    Each label is in an image once: of several masks with one label, the real library loses run lengths.
    """
    random = np.random.default_rng(3)
    images, annotations = [], []
    for i, number in enumerate(random.permutation(1000)[:12].tolist()):
        width, height = random.integers(5, 60, 2).tolist()
        images.append(image(number, f"{i}.jpg", width, height))
        for category in random.permutation(9)[: random.integers(0, 6)].tolist():
            kind = random.integers(0, 4)
            mask = [
                (random.uniform(-0.2, 1.2, (int(random.integers(3, 9)), 2)) * [width, height]).round(2).ravel().tolist()
                for _ in range(int(random.integers(1, 4)))
            ]
            if kind >= 2:
                pixels = coco_mask.merge(coco_mask.frPyObjects(mask, height, width))
                mask = {"size": [height, width], "counts": pixels["counts"].decode()}  # pyright: ignore[reportAttributeAccessIssue]
                if kind == 3:
                    flat = coco_mask.decode(pixels).ravel(order="F")
                    ends = [0, *(np.flatnonzero(np.diff(flat)) + 1), flat.size]
                    mask["counts"] = [0] * int(flat[0]) + np.diff(ends).tolist()
            box = random.uniform(-1, 30, 4).round(3).tolist()
            annotations.append(annotation(number, category, box, mask, int(kind >= 2)))
    annotations = [annotations[i] for i in random.permutation(len(annotations))]
    return document(images, annotations, [7, 3, 1, 2, 90, 5])


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Files that hold their own name."""
    folder = tmp_path_factory.mktemp("images")
    for name in [*(f"{i}.jpg" for i in range(12)), "ü € x.jpg"]:
        (folder / name).write_bytes(name.encode())
    (folder / "random.json").write_text(json.dumps(random_document()))
    return folder


def read(library, arguments, batch_size=5):
    """Types, layouts, shapes and bytes of everything in an epoch."""
    reader = library.readers.COCO(**arguments)
    return [
        [(str(o.dtype), o.layout, [(tuple(s.shape), np.asarray(s).tobytes()) for s in o]) for o in outputs]
        for outputs in reader.next_epoch(batch_size=batch_size)
    ]


def both(batch_size=5, **arguments):
    try:
        theirs = read(dali, arguments, batch_size)
    except Exception as error:
        with pytest.raises(type(error)):
            read(avida, arguments, batch_size)
        return
    assert read(avida, arguments, batch_size) == theirs


def both_over(root, tmp_path, content, **arguments):
    path = tmp_path / "annotations.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    both(1, annotations_file=str(path), **({"file_root": str(root)} | arguments))


MASKS = [{}, {"polygon_masks": True}, {"masks": True}, {"pixelwise_masks": True}]
FORMS = [dict(zip(("ratio", "ltrb"), values, strict=True)) for values in itertools.product([False, True], repeat=2)]
FILTERS = [
    {},
    {"skip_empty": True},
    {"include_iscrowd": False},
    {"size_threshold": 8.0},
    {"size_threshold": 12, "skip_empty": True, "include_iscrowd": False},
    {"avoid_class_remapping": True},
]


@pytest.mark.parametrize("masks", MASKS, ids=str)
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("image_ids", [False, True])
def test_outputs(root, masks, form, image_ids):
    both(file_root=str(root), annotations_file=str(root / "random.json"), image_ids=image_ids, **masks, **form)


@pytest.mark.parametrize("masks", MASKS, ids=str)
@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_filters(root, masks, filters):
    both(file_root=str(root), annotations_file=str(root / "random.json"), **masks, **filters)


IMAGES = [["3.jpg", "0.jpg", "3.jpg"], ["nowhere.jpg", "1.jpg"], [], ["nowhere.jpg"], "2.jpg", None]


@pytest.mark.parametrize("images", IMAGES, ids=str)
@pytest.mark.parametrize("skip_empty", [False, True])
def test_images(root, images, skip_empty):
    arguments = {"images": images, "skip_empty": skip_empty, "image_ids": True, "polygon_masks": True}
    both(1, file_root=str(root), annotations_file=str(root / "random.json"), **arguments)


@pytest.mark.parametrize("masks", MASKS, ids=str)
@pytest.mark.parametrize("image_ids", [False, True])
@pytest.mark.parametrize("form", [{}, {"ratio": True, "ltrb": True}], ids=str)
def test_preprocessed_annotations(root, tmp_path, masks, image_ids, form):
    """The same files, which both libraries read."""
    written = {}
    for library in (dali, avida):
        folder = tmp_path / library.__name__
        folder.mkdir()
        wanted = {"file_root": str(root), "image_ids": image_ids, **masks}
        library.readers.COCO(
            annotations_file=str(root / "random.json"),
            save_preprocessed_annotations=True,
            save_preprocessed_annotations_dir=str(folder),
            **wanted,
            **form,
        ).get_metadata()
        written[library] = {path.name: path.read_bytes() for path in folder.iterdir()}
        both(preprocessed_annotations=str(folder), **wanted)
    assert written[avida] == written[dali]


@pytest.mark.parametrize(
    "arguments",
    [{"ltrb": True}, {"ratio": True}, {"skip_empty": True}, {"size_threshold": 1}, {"images": ["0.jpg"]}],
    ids=str,
)
def test_preprocessed_annotations_keep_their_form(root, tmp_path, arguments):
    save = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": str(tmp_path)}
    avida.readers.COCO(file_root=str(root), annotations_file=str(root / "random.json"), **save)
    both(file_root=str(root), preprocessed_annotations=str(tmp_path), **arguments)


SQUARE, CORNER = ((1, 1, 4, 1, 4, 4, 1, 4),), ((0, 0, 3, 0, 3, 3, 0, 3),)
ONE = [image(7, "0.jpg", 6, 5)]
DOCUMENTS = {
    "no annotations": document(ONE, []),
    "no images": document([], [annotation(7)]),
    "no categories": document(ONE, [annotation(7)], []),
    "unlisted category": document(ONE, [annotation(7, 9)]),
    "category twice": document(ONE, [annotation(7, 2), annotation(7, 3)], [2, 2, 3]),
    "annotation of no image": document(ONE, [annotation(9)]),
    "same id": document([*ONE, image(7, "1.jpg", 9, 9)], [annotation(7), annotation(7, 2)]),
    "negative ids": document([image(3, "0.jpg"), image(-3, "1.jpg"), image(0, "2.jpg")], [annotation(-3)]),
    "unicode": document([image(1, "ü € x.jpg")], [annotation(1)]),
    "box outside": document(ONE, [annotation(7, box=(-5, -5, 100, 100))]),
    "negative width": document(ONE, [annotation(7, box=(1, 1, -3, 2))]),
    "huge box": document(ONE, [annotation(7, box=(1e300, 1, 3, 2))]),
    "three numbers": document(ONE, [annotation(7, box=(1, 2, 3))]),
    "five numbers": document(ONE, [annotation(7, box=(1, 2, 3, 4, 5))]),
    "larger label first": document(ONE, [annotation(7, 2, mask=SQUARE), annotation(7, 1, mask=CORNER)]),
    "larger label last": document(ONE, [annotation(7, 1, mask=SQUARE), annotation(7, 2, mask=CORNER)]),
    "same label": document(ONE, [annotation(7, 2, mask=SQUARE), annotation(7, 2, mask=CORNER)]),
    "one object, two polygons": document(ONE, [annotation(7, 2, mask=SQUARE + CORNER)]),
    "no polygons": document(ONE, [annotation(7, mask=())]),
    "empty polygons": document(ONE, [annotation(7, mask=((), (1, 2))), annotation(7, mask=SQUARE)]),
    "line": document(ONE, [annotation(7, mask=((1, 1, 4, 4),))]),
    "polygon outside": document(ONE, [annotation(7, mask=((-3, -3, 10, -3, 10, 10, -3, 10),))]),
    "polygon far outside": document(ONE, [annotation(7, mask=((100, 100, 110, 100, 110, 110),))]),
    "few runs": document(ONE, [annotation(7, mask={"size": [5, 6], "counts": [3, 5]})]),
    "no run": document(ONE, [annotation(7, mask={"size": [5, 6], "counts": []})]),
    "runs without size": document(ONE, [annotation(7, mask={"counts": [3, 5, 22]})]),
    "only images": {"images": ONE},
    "only annotations": {"annotations": [annotation(7)]},
    "two lists of images": json.dumps(document(ONE, []))[:-1] + f', "images": {json.dumps([image(8, "1.jpg")])}}}',
    "another order": dict(reversed(list(document(ONE, [annotation(7, 2)]).items()))),
    "exponents": '{"images":[{"id":7,"file_name":"0.jpg","width":6,"height":5}],"annotations":[{"image_id":7,'
    '"category_id":1,"bbox":[1e0,2.5E-1,30e-1,0.2e+1]}],"categories":[{"id":1}]}',
    "fields missing": document(ONE, [{"image_id": 7, "bbox": [1, 1, 2, 2]}]),
    "an array": [],
    "no JSON": "",
    "a number": "5",
}


@pytest.mark.parametrize("masks", MASKS, ids=str)
@pytest.mark.parametrize("content", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_documents(root, tmp_path, content, masks):
    both_over(root, tmp_path, content, image_ids=True, **masks)


BAD = [
    {"file_root": None},
    {"annotations_file": None},
    {"annotations_file": "/nowhere.json"},
    {"annotations_file": "/nowhere.json", "lazy_init": True},
    {"preprocessed_annotations": "/nowhere", "annotations_file": None},
    {"pixelwise_masks": True, "polygon_masks": True},
    {"pixelwise_masks": True, "masks": True},
    {"masks": True, "polygon_masks": True},
    {"save_preprocessed_annotations": True},
    {"save_preprocessed_annotations_dir": "/tmp"},
    {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": "/nowhere"},
    {"file_root": "/nowhere"},
    {"filez": 1},
    {"save_img_ids": True},
    {"save_img_ids": True, "image_ids": True},
]


@pytest.mark.parametrize("arguments", BAD, ids=str)
def test_arguments(root, arguments):
    both(**({"file_root": str(root), "annotations_file": str(root / "random.json")} | arguments))


@pytest.mark.parametrize("batch_size", [1, 4, 7])
@pytest.mark.parametrize("shards", [1, 3])
def test_batches_of_shards(root, batch_size, shards):
    for shard in range(shards):
        counts = []
        for library in (avida, dali):
            reader = library.readers.COCO(
                file_root=str(root),
                annotations_file=str(root / "random.json"),
                image_ids=True,
                num_shards=shards,
                shard_id=shard,
            )
            epochs = [[outputs[3] for outputs in reader.next_epoch(batch_size=batch_size)] for _ in range(2)]
            counts.append([[np.stack([np.asarray(s) for s in o]).tolist() for o in e] for e in epochs])
        assert counts[0] == counts[1]


def test_signature():
    ours, theirs = (inspect.signature(library.readers.COCO).parameters for library in (avida, dali))
    assert [name for name in ours if name in theirs] == [name for name in theirs if not name.startswith("_")]
    assert all(p.default == ours[name].default for name, p in theirs.items() if name in ours)


def test_old_names_warn(root):
    arguments = {"file_root": str(root), "annotations_file": str(root / "random.json")}
    for old in ("masks", "save_img_ids"):
        for library in (avida, dali):
            with pytest.warns(DeprecationWarning, match="polygon_masks|image_ids"):
                library.readers.COCO(**arguments, **{old: True}).get_metadata()
