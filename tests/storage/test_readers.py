"""Every reader over every store: the same samples, and the requests of a batch at the same time."""

import contextlib
import json
import os
import wave

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import avida
from avida.readers._webdataset import index_webdataset
from avida.tfrecord import FixedLenFeature, int64, string
from tests.readers import lmdb_records
from tests.readers.mds_files import write_mds
from tests.readers.records import example, image, ints, recordio, strings, write_recordio, write_tfrecords
from tests.readers.tars import write_tar
from tests.storage.stores import HeldStore, objects_in, registered

SAMPLES = 12


def contents():
    rng = np.random.default_rng(3)
    return [rng.bytes(int(size)) for size in rng.integers(1, 40_000, SAMPLES)]


def files(folder):
    for i, content in enumerate(contents()):
        (folder / f"{i % 3}").mkdir(exist_ok=True)
        (folder / f"{i % 3}" / f"{i:02}.jpg").write_bytes(content)
    return lambda root: avida.readers.File(file_root=root)


def listed_files(folder):
    files(folder)
    (folder / "list.txt").write_text("".join(f"{i % 3}/{i:02}.jpg {i}\n" for i in range(SAMPLES)))
    return lambda root: avida.readers.File(file_list=f"{root}/list.txt", confine=True)


def named_files(folder):
    files(folder)
    names = [f"{i % 3}/{i:02}.jpg" for i in range(SAMPLES)]
    return lambda root: avida.readers.File(files=[f"{root}/{name}" for name in names])


def arrays(folder):
    for i, content in enumerate(contents()):
        np.save(folder / f"{i:02}.npy", np.frombuffer(content, np.uint8))
    return lambda root: avida.readers.Numpy(file_root=root)


def regions(folder):
    for i in range(SAMPLES):
        np.save(folder / f"{i:02}.npy", np.arange(100_000 + i).reshape(-1, 1))
    return lambda root: avida.readers.Numpy(file_root=root, roi_start=[90_000], roi_axes=[0])


def fits(folder):
    cards = ["SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 2", "END"]
    header = "".join(card.ljust(80) for card in cards).ljust(2880).encode()
    for i in range(SAMPLES):
        (folder / f"{i:02}.fits").write_bytes(header + bytes(range(i, i + 6)).ljust(2880, b"\0"))
    return lambda root: avida.experimental.readers.Fits(file_root=root, hdu_indices=[1])


def coco(folder):
    files(folder)
    images = [{"id": i, "file_name": f"{i % 3}/{i:02}.jpg", "width": 9, "height": 9} for i in range(SAMPLES)]
    boxes = [{"image_id": i, "category_id": 1, "bbox": [i, 1, 2, 3], "area": 6, "iscrowd": 0} for i in range(SAMPLES)]
    text = {"images": images, "annotations": boxes, "categories": [{"id": 1, "name": "cat"}]}
    (folder / "annotations.json").write_text(json.dumps(text))
    return lambda root: avida.readers.COCO(file_root=root, annotations_file=f"{root}/annotations.json")


def saved_coco(folder):
    coco(folder)
    (folder / "saved").mkdir()
    saving = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": str(folder / "saved")}
    root, annotations = str(folder), str(folder / "annotations.json")
    samples(avida.readers.COCO(file_root=root, annotations_file=annotations, ratio=True, **saving))
    return lambda root: avida.readers.COCO(file_root=root, preprocessed_annotations=f"{root}/saved")


def tfrecords(folder, **index):
    messages = [example(number=ints(i), image=strings(content)) for i, content in enumerate(contents())]
    write_tfrecords(folder / "a.tfrecord", messages)
    features = {"number": FixedLenFeature([], int64, 0), "image": FixedLenFeature([], string, "")}
    return lambda root: avida.readers.TFRecord(
        path=f"{root}/a.tfrecord", features=features, **{name: f"{root}/{path}" for name, path in index.items()}
    )


def indexed_tfrecords(folder):
    return tfrecords(folder, index_path="a.tfrecord.idx")


def mxnet(folder, **index):
    write_recordio(folder / "a.rec", [recordio(image(content, i)) for i, content in enumerate(contents())])
    return lambda root: avida.readers.MXNet(
        path=f"{root}/a.rec", **{name: f"{root}/{path}" for name, path in index.items()}
    )


def indexed_mxnet(folder):
    return mxnet(folder, index_path="a.rec.idx")


def webdataset(folder):
    for part in range(3):
        members = [(f"{i}.{ext}", content) for i, content in enumerate(contents()[part::3]) for ext in ("a", "b")]
        write_tar(folder / f"{part}.tar", members)
    return lambda root: avida.readers.Webdataset(paths=f"{root}/*.tar", ext=["a", "b"])


def indexed_webdataset(folder):
    webdataset(folder)
    for part in range(3):
        text = index_webdataset(folder / f"{part}.tar")
        (folder / f"{part}.idx").write_text(text)
    return lambda root: avida.readers.Webdataset(
        paths=f"{root}/{{0..2}}.tar", index_paths=f"{root}/{{0..2}}.idx", ext=["a", "b"]
    )


def several_records(folder):
    for part in range(2):
        records = [recordio(image(content, i)) for i, content in enumerate(contents()[part::2])]
        write_recordio(folder / f"{part}.rec", records)
    return lambda root: avida.readers.MXNet(path=f"{root}/?.rec", index_path=[f"{root}/{{0,1}}.rec.idx"])


def braced_files(folder):
    files(folder)
    return lambda root: avida.readers.File(files=f"{root}/{{0/00,1/01,2/02,0/03,1/04,2/05}}.jpg")


def speech(folder):
    lines = []
    for i in range(SAMPLES):
        with wave.open(str(folder / f"{i:02}.wav"), "wb") as file:
            file.setparams((1, 2, 8000, 4, "NONE", ""))
            file.writeframes(np.arange(1000 + i, dtype=np.int16).tobytes())
        lines.append(json.dumps({"audio_filepath": f"{i:02}.wav", "text": f"{i}", "offset": 0.01 * (i % 2)}))
    (folder / "train.json").write_text("\n".join(lines))
    return lambda root: avida.readers.NemoAsr(manifest_filepaths=f"{root}/train.json")


def videos(folder):
    for i in range(3):
        frames = [b"FRAME\n" + bytes([16 * k + i] * 16 + [128] * 8) for k in range(6)]
        (folder / f"{i}.y4m").write_bytes(b"YUV4MPEG2 W4 H4 F25:1\n" + b"".join(frames))
    (folder / "list.txt").write_text("".join(f"{i}.y4m {i}\n" for i in range(3)))
    return lambda root: avida.experimental.readers.Video(file_list=f"{root}/list.txt", sequence_length=3)


def listed_videos(folder):
    videos(folder)
    return lambda root: avida.readers.Video(filenames=[f"{root}/{i}.y4m" for i in range(3)], sequence_length=3)


def resized_videos(folder):
    videos(folder)
    return lambda root: avida.readers.VideoResize(
        filenames=f"{root}/{{0..2}}.y4m", sequence_length=3, resize_x=2, resize_y=2
    )


def caffe2(folder):
    label = lmdb_records.tensor(lmdb_records.INT32, dims=[1], values=[7])
    images = [lmdb_records.tensor(lmdb_records.STRING, dims=[1], data=content) for content in contents()]
    lmdb_records.write(folder / "db", [lmdb_records.record(each, label) for each in images])
    return lambda root: avida.readers.Caffe2(path=f"{root}/db")


def caffe(folder):
    lmdb_records.write(folder / "db", [lmdb_records.datum(content, i) for i, content in enumerate(contents())])
    return lambda root: avida.readers.Caffe(path=f"{root}/db")


def mds(folder, compression=None):
    rows = [{"image": content, "label": i} for i, content in enumerate(contents())]
    write_mds(folder / "data", {"image": "jpeg", "label": "int"}, rows, compression=compression)
    return lambda root: avida.readers.MDS(f"{root}/data")


def compressed_mds(folder):
    return mds(folder, "zstd")


def tables(folder):
    table = pyarrow.table({"image": contents(), "label": range(SAMPLES)})
    for part in range(2):
        pyarrow.parquet.write_table(table.slice(part * 6, 6), folder / f"{part}.parquet", row_group_size=2)
    return lambda root: avida.readers.Parquet(f"{root}/*.parquet")


MAKERS = [
    *(files, listed_files, named_files, braced_files, several_records, arrays, regions, fits, coco, saved_coco),
    *(tfrecords, indexed_tfrecords, mxnet, indexed_mxnet, webdataset, indexed_webdataset, speech, videos),
    *(listed_videos, resized_videos, caffe, caffe2, mds, compressed_mds, tables),
]


def samples(reader):
    """The outputs of all samples, as bytes."""
    found = []
    for outputs in reader.next_epoch(batch_size=5):
        outputs = outputs.values() if isinstance(outputs, dict) else outputs
        columns = [[np.asarray(sample.cpu()).tobytes() for sample in output] for output in outputs]
        found += zip(*columns, strict=True)
    return found


@contextlib.contextmanager
def in_memory(folder):
    names = objects_in(folder, "test")
    avida.storage.memory.update(names)
    try:
        yield "memory://test"
    finally:
        for name in names:
            del avida.storage.memory[name]


@pytest.mark.parametrize("make", MAKERS)
def test_the_same_samples_from_every_store(tmp_path, make):
    made = make(tmp_path)
    expected = samples(made(tmp_path))
    assert len(expected) >= 6
    with in_memory(tmp_path) as root:
        assert samples(made(root)) == expected
    with registered(HeldStore(objects_in(tmp_path))):
        assert samples(made("held://data")) == expected


def test_a_batch_is_one_round_of_requests():
    """256 files, none of which is answered before all are asked for."""
    objects = {f"a/{i:03}.jpg": bytes([i]) for i in range(256)}
    # Under a name of its own, which the readers of tests before do not ask.
    with registered(HeldStore(objects, together=256), "together", at_once=256) as store:
        reader = avida.readers.File(file_root="together://", prefetch_queue_depth=1)
        batch, _ = next(reader.next_epoch(batch_size=256, indices=range(256)))  # and no other epoch ahead of it
        assert [np.asarray(sample)[0] for sample in batch] == list(range(256))
        assert store.asked == 256, "no object is asked for twice for a batch, nor for its size"


def test_a_store_is_asked_for_so_many_objects_at_once():
    """Also by several batches that are read at the same time."""
    objects = {f"a/{i:03}.jpg": bytes([i]) for i in range(240)}
    with registered(HeldStore(objects, together=8), at_once=8) as store:
        reader = avida.readers.File(file_root="held://", prefetch_queue_depth=3)
        seen = [int(np.asarray(sample)[0]) for batch, _ in reader.next_epoch(batch_size=40) for sample in batch]
        assert seen == list(range(240))
        assert store.most == 8


def test_images_of_a_call_are_one_round_of_requests():
    with registered(HeldStore({f"{i}": bytes([i]) for i in range(100)}, together=100)) as store:
        names = [np.frombuffer(f"held://{i}".encode(), np.uint8) for i in range(100)]
        assert [int(np.asarray(each)[0]) for each in avida.io.file.read(avida.as_batch(names))] == list(range(100))
        assert store.asked == 100


def test_an_object_that_a_call_has_twice_is_asked_for_once():
    with registered(HeldStore({"a": b"one", "b": b"two"})) as store:
        names = [np.frombuffer(f"held://{name}".encode(), np.uint8) for name in "aba"]
        files = avida.io.file.read(avida.as_batch(names))
        assert [bytes(np.asarray(file)) for file in files] == [b"one", b"two", b"one"]
        assert store.asked == 2


def test_records_that_are_near_are_one_request(tmp_path):
    made = indexed_tfrecords(tmp_path)
    with registered(HeldStore(objects_in(tmp_path))) as store:
        reader = made("held://data")
        store.asked = 0
        (batch,) = reader.next_epoch(batch_size=SAMPLES, indices=range(SAMPLES))  # and no other epoch after it
        batch["number"].evaluate()
        assert store.asked == 1


def test_files_whose_names_have_braces(tmp_path):
    for name in ("{a,b}.jpg", "a[1].jpg", "c.jpg"):
        (tmp_path / name).write_bytes(name.encode())
    reader = avida.readers.File(file_root=tmp_path, files=["{a,b}.jpg", "a[1].jpg", "{c..c}.jpg"])
    assert [bytes(np.asarray(file)) for file, _ in reader.next_epoch()] == [b"{a,b}.jpg", b"a[1].jpg", b"c.jpg"]


def test_objects_that_are_missing_are_skipped():
    objects = {f"a/{i}.jpg": bytes([i]) for i in range(6)}
    store = HeldStore(dict(objects))
    with registered(store):
        reader = avida.readers.File(file_root="held://", on_error="skip")
        failing = avida.readers.File(file_root="held://")
        for i in (1, 4):
            del store.objects[f"a/{i}.jpg"]
        ((batch, _),) = reader.next_epoch(batch_size=6)
        assert [int(np.asarray(sample)[0]) for sample in batch] == [0, 2, 3, 5]
        assert [error.source for error in reader.errors] == ["held://a/1.jpg", "held://a/4.jpg"]
        assert "no object of this name" in reader.errors[0].message
        with pytest.raises(RuntimeError, match=r"sample 1 \(held://a/1\.jpg\): cannot be opened"):
            next(failing.next_epoch(batch_size=6))[0].evaluate()


@pytest.mark.parametrize("name", ["../b/x.jpg", "memory://x", "/etc/passwd", "a/../../x"])
def test_names_that_lead_out_of_a_store(name):
    with (
        registered(HeldStore({"data/list.txt": f"{name} 0\n".encode()})),
        pytest.raises(
            RuntimeError, match=r"held://data/list\.txt: expected (the names of files within|a name without)"
        ),
    ):
        avida.readers.File(file_list="held://data/list.txt", confine=True).next_epoch()


def test_a_child_reads_on():
    with registered(HeldStore({f"a/{i:02}.jpg": bytes([i]) for i in range(40)})):
        epoch = avida.readers.File(file_root="held://").next_epoch(batch_size=4)
        next(epoch)
        child = os.fork()
        if child == 0:
            left = [int(np.asarray(sample)[0]) for batch, _ in epoch for sample in batch]
            os._exit(0 if left == list(range(4, 40)) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert [int(np.asarray(sample)[0]) for batch, _ in epoch for sample in batch] == list(range(4, 40))
