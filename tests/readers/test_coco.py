"""readers.COCO: what annotations become, masks as COCO's own tools make them, and damaged files."""

import json
import pathlib
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

import avida
from avida._files.atomic import replaced_files


def image(number, name="cat.jpg", width=20, height=10):
    return {"id": number, "file_name": name, "width": width, "height": height}


def annotation(image_id=7, category=17, box=(1, 2, 3, 4), **more):
    return {"image_id": image_id, "category_id": category, "bbox": list(box), **more}


class Folder:
    def __init__(self, path):
        self.path = path
        for name in ("cat.jpg", "dog.jpg", "ü.jpg"):
            (path / name).write_bytes(name.encode())

    def write(self, content):
        file = self.path / "annotations.json"
        if not isinstance(content, bytes):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
        file.write_bytes(content)
        return {"file_root": self.path, "annotations_file": file}

    def document(self, annotations, images=None):
        images = [image(7)] if images is None else images
        categories = [{"id": 16}, {"id": 17}, {"id": 90}]
        return self.write({"images": images, "annotations": annotations, "categories": categories})

    def samples(self, arguments, **more):
        """The outputs of each sample."""
        reader = avida.readers.COCO(**arguments, **more)
        return [[np.asarray(output) for output in outputs] for outputs in reader.next_epoch()]


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_outputs(folder):
    more = {"segmentation": [[0, 0, 5, 0, 5, 5], [6, 6, 9, 6, 9, 9, 6, 9]], "iscrowd": 0}
    annotations = folder.document(
        [annotation(9, 90, (0, 0, 2, 4)), annotation(7, **more), annotation(7, 16)], [image(9), image(7, "dog.jpg")]
    )
    (name, boxes, labels, polygons, vertices, number), other = folder.samples(
        annotations, polygon_masks=True, image_ids=True
    )
    assert bytes(name) == b"dog.jpg"
    assert boxes.tolist() == [[1, 2, 3, 4], [1, 2, 3, 4]]
    assert labels.tolist() == [2, 1]
    assert polygons.tolist() == [[0, 0, 3], [0, 3, 7]]
    assert vertices.tolist() == [[0, 0], [5, 0], [5, 5], [6, 6], [9, 6], [9, 9], [6, 9]]
    assert number.tolist() == [7]
    assert [o.shape for o in other] == [(7,), (1, 4), (1,), (0, 3), (0, 2), (1,)]
    assert [str(o.dtype) for o in other] == ["uint8", "float32", "int32", "int32", "float32", "int32"]
    ltrb = folder.samples(annotations, ltrb=True, ratio=True)[1][1]
    np.testing.assert_array_equal(ltrb, np.float32([[0, 0, 0.1, 0.4]]))


def test_images_without_objects_have_types_and_shapes(folder):
    outputs = folder.samples(folder.document([]), pixelwise_masks=True)[0]
    assert [(str(o.dtype), o.shape) for o in outputs] == [
        ("uint8", (7,)),
        ("float32", (0, 4)),
        ("int32", (0,)),
        ("int32", (10, 20, 1)),
    ]
    assert not outputs[3].any()


def test_classes_are_names_by_label(folder):
    """Labels index them, numbers or ids; those without a category, or a name for it, are not there."""
    categories = [{"id": 16, "name": "bird"}, {"name": "c\u00e4t", "id": 17}, {"id": 90}, {"id": 16, "name": "again"}]
    categories += [{"id": 91, "name": 5}, {"id": 3, "name": 'a "dog"'}]
    document = {"images": [image(7)], "annotations": [annotation(7, 17)], "categories": categories}
    written = folder.write(document)
    reader = avida.readers.COCO(**written)
    assert reader.classes == {1: "bird", 2: "cät", 6: 'a "dog"'}
    [(_, _, labels)] = reader.next_epoch()
    assert reader.classes[labels.item()] == "cät"
    ids = avida.readers.COCO(**written, avoid_class_remapping=True)
    assert ids.classes == {3: 'a "dog"', 16: "bird", 17: "cät"}
    [(_, _, labels)] = ids.next_epoch()
    assert ids.classes[labels.item()] == "cät"


def test_sources_are_file_names(folder):
    reader = avida.readers.COCO(**folder.document([], [image(1, "ü.jpg"), image(2)]))
    for outputs in reader.next_epoch(batch_size=2):
        for output in outputs:
            assert [source.name for source in output.sources] == [
                str(folder.path / "ü.jpg"),
                str(folder.path / "cat.jpg"),
            ]


def test_missing_file(folder):
    batches = list(avida.readers.COCO(**folder.document([], [image(1), image(2, "no.jpg")])).next_epoch(batch_size=1))
    batches[0][0].evaluate()
    with pytest.raises(RuntimeError, match=r"no\.jpg"):
        batches[1][0].evaluate()


def test_same_name_for_two_images(folder):
    samples = folder.samples(folder.document([annotation(8, 16), annotation(7)], [image(7), image(8)]), image_ids=True)
    assert [(s[2].tolist(), s[3].tolist()) for s in samples] == [([2], [7]), ([1], [8])]


def test_numbers_may_be_written_as_others(folder):
    annotations = folder.document([annotation(7.0, 17.0, (1e0, 2, 3.5, 4), iscrowd=True)], [image(7.0)])
    assert folder.samples(annotations)[0][2].tolist() == [2]
    assert folder.samples(annotations, include_iscrowd=False)[0][2].tolist() == []


def test_ids_beyond_int32(folder):
    annotations = folder.document([annotation(2**40)], [image(2**40)])
    assert folder.samples(annotations)[0][2].tolist() == [2]
    with pytest.raises(RuntimeError, match="1099511627776"):
        folder.samples(annotations, image_ids=True)


def test_escaped_names(folder):
    text = json.dumps({"images": [image(1, "ü.jpg")]}).replace('"images"', '  "images"\n\t')
    assert "\\u00fc" in text
    assert bytes(folder.samples(folder.write(text))[0][0]).decode() == "ü.jpg"


def test_strings_with_brackets_and_quotes(folder):
    info = {"a": 'x"]}', "b": ["\\", '\\"', "{"], "images": [1]}
    document = {"info": info, "images": [image(7) | {"note": '"}],'}], "annotations": [annotation(7) | {"x": '\\"'}]}
    assert len(folder.samples(folder.write(document))[0][1]) == 1


def test_files_larger_than_a_window(folder):
    """Elements on the border of what is read at a time, and elements that are larger."""
    images = [image(i, "cat.jpg") | {"note": "x" * (i * 997 % 5000)} for i in range(900)]
    annotations = [annotation(i, box=(i, 1, 2, 3)) for i in range(900)]
    annotations[5]["segmentation"] = [list(range(600_000))]
    arguments = folder.document(annotations, images)
    assert arguments["annotations_file"].stat().st_size > 5_000_000
    samples = folder.samples(arguments, polygon_masks=True, image_ids=True)
    assert [s[1][0, 0] for s in samples] == list(range(900))
    assert [s[5][0] for s in samples] == list(range(900))
    assert samples[5][4].shape == (300_000, 2)


WINDOW = 2**20  # what is read of a file at a time
SKIPPED = ['"a\\\\b\\"c"', '[{"a": "]"}, []]', '{"a": ["\\\\"]}', "-12.5e3", "null", f'"{"x" * 3 * WINDOW}"']


@pytest.mark.parametrize("value", SKIPPED, ids=lambda value: value[:16])
def test_values_that_are_left_out_over_the_edge_of_a_window(folder, value):
    rest = ', "images": ' + json.dumps([image(7)]) + "}"
    for inside in range(min(len(value), 20) + 3):
        head = '{"info": '
        text = head + " " * (WINDOW - len(head) - inside) + value + rest
        assert bytes(folder.samples(folder.write(text))[0][0]) == b"cat.jpg"


def test_names_with_null_characters(folder):
    with pytest.raises(RuntimeError, match=r"images\[0\]\.file_name: expected a text without null"):
        avida.readers.COCO(**folder.document([], [image(7, "cat.jpg\0")]))


# ---- masks


def uncompressed(pixels):
    flat = pixels.ravel(order="F")
    ends = [0, *(np.flatnonzero(np.diff(flat)) + 1), flat.size]
    return [0] * int(flat[0]) + np.diff(ends).tolist()


polygons = st.lists(st.tuples(st.floats(-20, 60, width=32), st.floats(-20, 60, width=32)), min_size=3, max_size=8)


@settings(max_examples=60)
@given(
    polygon=polygons, height=st.integers(1, 40), width=st.integers(1, 40), kind=st.sampled_from(["poly", "rle", "text"])
)
def test_masks_are_those_of_cocos_tools(tmp_path_factory, polygon, height, width, kind):
    flat = [float(x) for vertex in polygon for x in vertex]
    encoded = coco_mask.frPyObjects([flat], height, width)[0]
    expected = coco_mask.decode(encoded)
    mask = {
        "poly": [flat],
        "rle": {"size": [height, width], "counts": uncompressed(expected)},
        "text": {"size": [height, width], "counts": encoded["counts"].decode()},
    }[kind]
    folder = Folder(tmp_path_factory.getbasetemp())
    arguments = folder.document([annotation(7, segmentation=mask)], [image(7, width=width, height=height)])
    np.testing.assert_array_equal(folder.samples(arguments, pixelwise_masks=True)[0][3][..., 0], expected * 2)


def test_all_masks_of_a_label_are_seen(folder):
    """Run lengths beside polygons, and several of them."""
    masks = [{"size": [10, 20], "counts": [i * 10, 10]} for i in (0, 3)] + [[[5, 0, 7, 0, 7, 10, 5, 10]]]
    arguments = folder.document([annotation(7, 17, segmentation=mask) for mask in masks])
    mask = folder.samples(arguments, pixelwise_masks=True)[0][3][..., 0]
    assert np.flatnonzero(mask.all(axis=0)).tolist() == [0, 3, 5, 6]
    assert set(mask.ravel().tolist()) == {0, 2}


def test_the_larger_label_covers_the_smaller(folder):
    polygon = [[0, 0, 20, 0, 20, 10, 0, 10]]
    arguments = folder.document([annotation(7, c, segmentation=polygon) for c in (17, 90, 16)])
    assert (folder.samples(arguments, pixelwise_masks=True)[0][3] == 3).all()


def test_far_outlines_are_quick(folder):
    polygon = [[-1e30, -1e30, 1e30, -1e30, 1e30, 1e30, -1e30, 1e30]]
    arguments = folder.document([annotation(7, segmentation=polygon)])
    assert (folder.samples(arguments, pixelwise_masks=True)[0][3] == 2).all()


def test_outlines_that_go_to_and_fro_are_refused(folder):
    """A few numbers that would take gigabytes."""
    width = 2**20
    polygon = [[x for i in range(200) for x in (i % 2 * width, i % 3)]]
    arguments = folder.document([annotation(7, segmentation=polygon)], [image(7, width=width, height=2)])
    with pytest.raises(RuntimeError, match=r"cat\.jpg.*at most 33554432 columns of pixels, got 209"):
        folder.samples(arguments, pixelwise_masks=True)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ({"size": [4, 4], "counts": [3, 5]}, "10 x 20, got 4 x 4"),
        ({"size": [10, 20], "counts": [3, 500]}, "200 pixels.*503"),
    ],
)
def test_run_lengths_that_do_not_fit(folder, mask, message):
    reader = avida.readers.COCO(**folder.document([annotation(7, segmentation=mask)]), pixelwise_masks=True)
    with pytest.raises(RuntimeError, match=rf"cat\.jpg.*{message}"):
        next(reader.next_epoch(batch_size=1))[0].evaluate()


def test_masks_of_impossible_images(folder):
    arguments = folder.document([], [image(7, width=2**31 - 1, height=2**31 - 1)])
    with pytest.raises(RuntimeError, match="pixels"):
        next(avida.readers.COCO(**arguments, pixelwise_masks=True).next_epoch(batch_size=1))[0].evaluate()


# ---- preprocessed annotations


def saved(folder, tmp_path, **wanted):
    target = tmp_path / "saved"
    target.mkdir()
    masks = [[[0, 0, 5, 0, 5, 5]], {"size": [10, 20], "counts": [3, 5]}]
    arguments = folder.document([annotation(7, segmentation=mask) for mask in masks])
    save = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": target}
    return target, folder.samples(arguments, **save, **wanted)


WANTED = [{}, {"image_ids": True}, {"polygon_masks": True}, {"pixelwise_masks": True, "image_ids": True}]


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_preprocessed_annotations(folder, tmp_path, wanted):
    target, expected = saved(folder, tmp_path, **wanted)
    loaded = folder.samples({"file_root": folder.path, "preprocessed_annotations": target}, **wanted)
    for a, b in zip(loaded[0], expected[0], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("wanted", WANTED[1:], ids=str)
def test_preprocessed_annotations_that_lack_outputs(folder, tmp_path, wanted):
    target, _ = saved(folder, tmp_path)
    with pytest.raises(RuntimeError, match="saved with"):
        avida.readers.COCO(file_root=folder.path, preprocessed_annotations=target, **wanted)


def test_damaged_preprocessed_annotations(folder, tmp_path):
    """Each file cut off, emptied, or with other numbers at any place: an error that names it, or a sample."""
    wanted = {"pixelwise_masks": True, "image_ids": True}
    target, _ = saved(folder, tmp_path, **wanted)
    for file in sorted(target.iterdir()):
        good = file.read_bytes()
        damaged = [b"", good[:-1], good[: len(good) // 2], good + b"xyz"]
        for at in range(0, len(good), 4):
            damaged += [good[:at] + number + good[at + 4 :] for number in (b"\xff\xff\xff\xff", b"\x00\x00\x00\x7f")]
        for content in damaged:
            file.write_bytes(content)
            try:
                folder.samples({"file_root": folder.path, "preprocessed_annotations": target}, **wanted)
            except RuntimeError as error:
                assert str(target) in str(error) or "pixels" in str(error) or str(folder.path) in str(error)
        file.write_bytes(good)


def test_preprocessed_annotations_that_overlap(folder, tmp_path):
    """The same vertices for many polygons would make a large data set of a small file."""
    target = tmp_path / "saved"
    target.mkdir()
    annotations = [annotation(i, segmentation=[[0, 0, 5, 0, 5, 5]]) for i in (7, 7, 8)]
    save = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": target}
    folder.samples(folder.document(annotations, [image(7), image(8)]), **save, polygon_masks=True)
    for name, dtype, place in [
        ("polygon_data.dat", np.int32, 1 + 3 + 1),
        ("polygon_offset.dat", np.int64, 1),
        ("vertices_offset.dat", np.int64, 1),
    ]:
        good = (target / name).read_bytes()
        numbers = np.frombuffer(good[:4] * (dtype == np.int32) + good[4:], dtype).copy()
        assert numbers[place] in (2, 3, 6)
        numbers[place] -= 1
        (target / name).write_bytes(good[:4] * (dtype == np.int64) + numbers.tobytes())
        with pytest.raises(RuntimeError, match=rf"{name}: "):
            avida.readers.COCO(file_root=folder.path, preprocessed_annotations=target, polygon_masks=True)
        (target / name).write_bytes(good)
    assert len(folder.samples({"file_root": folder.path, "preprocessed_annotations": target}, polygon_masks=True)) == 2


# ---- errors


BROKEN = [
    ("{", "byte 1: expected a name"),
    ('{"images": [{"id": 1, "file_name": "x"}', "byte 39: the file ends here"),
    ('{"images": [{"id": 1', "byte 12: .*does not end"),
    ('{"images": 5}', "byte 11: expected an array, got '5'"),
    ('{"images": [5]}', r"images\[0\]: expected an object"),
    ('{"images": [{"id": 1 "x": 2}]}', r"byte \d+: images\[0\].*JSON"),
    ('{"images": [], }', "byte 15: expected a name"),
    ('{"images" []}', "byte 10: expected ':'"),
    ('{"images": []} x', "byte 15: expected nothing more"),
    ("", "byte 0: expected an object"),
    ("[]", "byte 0: expected an object"),
    ('{"images": [' + "[" * 5000 + "]" * 5000 + "]}", "brackets"),
    (b'{"images": [{"id": 1, "file_name": "\xff\xfe"}]}', "JSON"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_broken_json(folder, text, message):
    with pytest.raises(RuntimeError, match=rf"annotations\.json, {message}|annotations\.json, byte \d+.*{message}"):
        avida.readers.COCO(**folder.write(text))


WRONG = [
    ({"image_id": "7"}, "image_id: expected an integer"),
    ({"image_id": 7.5}, "image_id: expected an integer"),
    ({"category_id": "x"}, "category_id: expected an integer"),
    ({"category_id": 2**40}, "category_id: expected an integer that fits"),
    ({"iscrowd": "no"}, "iscrowd"),
    ({"segmentation": [1, 2, 3, 4]}, "segmentation: expected a list of polygons"),
    ({"segmentation": "x"}, "segmentation: expected a list of polygons"),
    ({"segmentation": [["a", 1]]}, "segmentation: expected numbers"),
    ({"segmentation": {"counts": [1]}}, "segmentation.size"),
    ({"segmentation": {"size": [10, 20]}}, "segmentation.counts"),
    ({"segmentation": {"size": [10, 20], "counts": [3, -5]}}, "segmentation.counts"),
    ({"segmentation": {"size": [10], "counts": [3]}}, "segmentation.size"),
    ({"segmentation": {"size": [10, 20], "counts": "\x01"}}, "segmentation.counts: expected compressed"),
    ({"segmentation": {"size": [10, 20], "counts": "ooooooooooooo"}}, "segmentation.counts: expected compressed"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_wrong_annotations(folder, wrong, message):
    good = annotation()
    with pytest.raises(RuntimeError, match=rf"annotations\.json, byte \d+: annotations\[1\]\.{message}"):
        avida.readers.COCO(**folder.document([good, {**good, **wrong}]), pixelwise_masks=True)


def test_boxes_have_four_numbers(folder):
    for box in ([], [1, 2, 3], [1, 2, 3, 4, 5], ["1", 2, 3, 4]):
        with pytest.raises(ValueError, match=r"annotations\[0\]\.bbox: expected exactly 4 numbers"):
            avida.readers.COCO(**folder.document([annotation(box=box)]))


@pytest.mark.parametrize("field", ["id", "file_name"])
def test_images_without_what_they_need(folder, field):
    broken = image(7)
    del broken[field]
    with pytest.raises(RuntimeError, match=rf"images\[0\]\.{field}: expected"):
        avida.readers.COCO(**folder.document([], [broken]))


def test_sizes_are_needed_for_some_outputs(folder):
    arguments = folder.document([annotation()], [{"id": 7, "file_name": "cat.jpg"}])
    assert len(folder.samples(arguments)[0][1]) == 1
    for wanted in ({"ratio": True}, {"pixelwise_masks": True}):
        with pytest.raises(RuntimeError, match=r"a width and a height above 0.*cat\.jpg"):
            avida.readers.COCO(**arguments, **wanted)


def test_mutated_annotations_give_samples_or_errors(folder):
    masks = [[[0, 0, 5, 0, 5, 5]], {"size": [10, 20], "counts": [3, 5]}, {"size": [10, 20], "counts": "04"}]
    arguments = folder.document([annotation(segmentation=mask) for mask in masks])
    good = arguments["annotations_file"].read_bytes()
    random = np.random.default_rng(0)
    for _ in range(200):
        text = bytearray(good)
        for _ in range(int(random.integers(1, 4))):
            at = int(random.integers(len(text)))
            text[at : at + int(random.integers(0, 3))] = bytes(
                random.choice(list(b'[]{}",:-0e9. \\\x00\xff'), 1).tolist()
            )
        folder.write(bytes(text))
        try:
            folder.samples(arguments, pixelwise_masks=True)
        except (RuntimeError, ValueError) as error:
            assert "annotations.json" in str(error) or str(folder.path) in str(error)


OLD = [
    ("save_img_ids", "image_ids", True),
    ("dump_meta_files", "save_preprocessed_annotations", False),
    ("dump_meta_files_path", "save_preprocessed_annotations_dir", ""),
]


@pytest.mark.parametrize(("old", "new", "value"), OLD)
def test_old_names(folder, old, new, value):
    arguments = folder.document([annotation()])
    with pytest.warns(DeprecationWarning, match=f"{old} is deprecated: use {new}") as caught:
        avida.readers.COCO(**arguments, **{old: value})
    assert caught[0].filename == __file__
    with pytest.raises(TypeError, match=old):
        avida.readers.COCO(**arguments, **{old: value, new: value})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        avida.readers.COCO(**arguments, **{new: value})


def test_memory_of_the_parser_is_small(folder):
    """75 MB of annotations of which little is kept are never in memory."""
    rest = json.dumps([[0.5] * 1000])
    with (folder.path / "annotations.json").open("w") as file:
        file.write(json.dumps({"images": [image(7)]})[:-1] + ', "annotations": [')
        for i in range(15_000):
            file.write(("," if i else "") + json.dumps(annotation())[:-1] + f', "segmentation": {rest}}}')
        file.write("]}")
    code = (
        "import avida, resource, sys\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "avida.readers.COCO(file_root='', annotations_file=sys.argv[1])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(folder.path / "annotations.json")], capture_output=True, text=True, check=True
    )
    assert int(run.stdout) < 40_000  # KiB


@pytest.mark.parametrize("name", ["../cat.jpg", "{folder}/../cat.jpg", "link.jpg"])
def test_names_that_lead_outside(tmp_path, name):
    (tmp_path / "cat.jpg").write_bytes(b"outside")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "saved").mkdir()
    (tmp_path / "images" / "link.jpg").symlink_to(tmp_path / "cat.jpg")
    folder = Folder(tmp_path / "images")
    arguments = folder.document([annotation()], [image(7, name.format(folder=folder.path))])
    saved = folder.path / "saved"
    save = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": saved}
    assert bytes(folder.samples(arguments, **save)[0][0]) == b"outside"
    with pytest.raises(RuntimeError, match=r"annotations\.json: expected the names of files within .*/images/, got"):
        avida.readers.COCO(**arguments, confine=True)
    with pytest.raises(RuntimeError, match=r"/saved: expected the names of files within .*/images/, got"):
        avida.readers.COCO(file_root=folder.path, preprocessed_annotations=saved, confine=True)


SAVE_AND_DIE = """
import os, pathlib, sys
import avida
replace = pathlib.Path.replace
files = 0
def die(self, target):
    global files
    files += 1
    if files > int(sys.argv[1]):
        os._exit(9)
    return replace(self, target)
pathlib.Path.replace = die
avida.readers.COCO(file_root=sys.argv[2], annotations_file=sys.argv[2] + "/annotations.json",
    save_preprocessed_annotations=True, save_preprocessed_annotations_dir=sys.argv[2] + "/saved")
"""


@pytest.mark.parametrize("moved", [0, 1, 3, 4, 5])
def test_saving_is_killed(folder, moved):
    """What is there afterwards is the old set, no set, or the new one; what the killed process left is removed."""
    saved = folder.path / "saved"
    saved.mkdir()
    folder.document([annotation()])
    run = [sys.executable, "-c", SAVE_AND_DIE]
    assert subprocess.run([*run, "99", str(folder.path)], timeout=600, check=False).returncode == 0
    names = sorted(path.name for path in saved.iterdir())
    assert "filenames.dat" in names
    assert not any(name.endswith(".tmp") for name in names)

    arguments = folder.document([annotation(), annotation(7, 16)])
    died = subprocess.run([*run, str(moved), str(folder.path)], timeout=600, check=False).returncode
    assert died == (9 if moved < 5 else 0)
    assert any(path.name.endswith(".tmp") for path in saved.iterdir()) == (moved < 5)
    options = {"file_root": folder.path, "preprocessed_annotations": saved}
    if died:
        with pytest.raises(RuntimeError, match=r"saved/filenames\.dat: cannot be opened"):
            avida.readers.COCO(**options)
    save = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": saved}
    expected = folder.samples(arguments, **save)
    assert sorted(path.name for path in saved.iterdir()) == names
    for found, wanted in zip(folder.samples(options), expected, strict=True):
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(a, b)


def test_saving_at_the_same_time(tmp_path):
    """Nobody removes the files that another one is about to write."""

    def save(_):
        for _ in range(100):
            with replaced_files(tmp_path, last="b") as new:
                for name in "ab":
                    pathlib.Path(new, name).touch()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, range(4)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_saving_without_room(folder):
    """The error names the file, the old files stay, and nothing else does."""
    saved = folder.path / "saved"
    saved.mkdir()
    arguments = folder.document([annotation()])
    save = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": saved}
    expected = folder.samples(arguments, **save)
    before = sorted(path.name for path in saved.iterdir())
    folder.document([annotation()] * 10_000)
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n" + SAVE_AND_DIE
    run = [sys.executable, "-c", code, "99", str(folder.path)]
    failed = subprocess.run(run, timeout=600, check=False, capture_output=True, text=True)
    assert "boxes.dat: cannot be written: File too large" in failed.stderr
    assert sorted(path.name for path in saved.iterdir()) == before
    found = folder.samples({"file_root": folder.path, "preprocessed_annotations": saved})
    np.testing.assert_array_equal(found[0][1], expected[0][1])
    with pytest.raises(RuntimeError, match=r"expected a folder in save_preprocessed_annotations_dir, .*/no is none"):
        avida.readers.COCO(
            **arguments, save_preprocessed_annotations=True, save_preprocessed_annotations_dir=saved / "no"
        )
