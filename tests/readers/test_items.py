"""ExternalSource: items as they come, the names of samples, and rows that several threads read."""

import itertools
import pathlib
import threading
import time
import warnings

import numpy as np
import PIL.Image
import pyarrow
import pytest

import avida

IMAGE, MASK = np.zeros((4, 5, 3), np.uint8), np.ones((4, 5, 3), np.uint8)


def read_by_number(items):
    return avida.ExternalSource(list(items))


def read_in_order(items):
    return avida.ExternalSource(iter(list(items)))


READ = pytest.mark.parametrize("read", [read_by_number, read_in_order])


@READ
def test_tuples_are_outputs(read):
    images, masks = next(read([(IMAGE, MASK), (IMAGE, MASK)]).next_epoch(2))
    assert (images.shape, masks.shape) == ([(4, 5, 3)] * 2, [(4, 5, 3)] * 2)
    assert masks.torch().min() == 1
    image, mask = read([(IMAGE, MASK)])()
    assert (image.shape, mask.shape) == ((4, 5, 3), (4, 5, 3))
    assert read([[1, 2, 3]])().shape == (3,), "a list is an array"
    with pytest.raises(ValueError, match="a tuple of 2 outputs"):
        list(read([(IMAGE, MASK), (IMAGE, MASK, 1)]).next_epoch())
    (pairs,) = next(avida.ExternalSource([(1, 2), (3, 4)], num_outputs=1).next_epoch(2))
    assert pairs.numpy().tolist() == [[1, 2], [3, 4]]


@READ
def test_parts_of_items(read):
    rows = [(IMAGE, {"label": i, "boxes": {"ltrb": np.zeros((i, 4)), "ids": list(range(i + 1))}}) for i in range(3)]
    images, target = next(read(rows).next_epoch(3))
    assert images.batch_size == 3
    assert target["label"].numpy().tolist() == [0, 1, 2]
    assert target["boxes"]["ltrb"].shape == [(0, 4), (1, 4), (2, 4)]
    assert [x.tolist() for x in map(np.asarray, target["boxes"]["ids"])] == [[0], [0, 1], [0, 1, 2]]
    with pytest.raises(ValueError, match=r"the keys \['label', 'boxes'\] from the source, got \['label'\]"):
        list(read([rows[0], (IMAGE, {"label": 1})]).next_epoch())


def test_types_and_layouts_of_parts():
    source = avida.ExternalSource(
        [(IMAGE, {"mask": MASK, "label": 1})], layout={0: "HWC", "1.mask": "HWC"}, dtype={"label": "int64"}
    )
    image, target = source()
    assert (image.layout, target["mask"].layout, target["label"].dtype) == ("HWC", "HWC", avida.int64)


def test_files_of_hugging_face(tmp_path):
    path = tmp_path / "b"
    path.write_bytes(b"two")
    avida.storage.memory["items/c"] = b"three"
    files = [(b"one", None), (None, str(path)), (None, "memory://items/c")]
    rows = [{"image": {"bytes": content, "path": name}} for content, name in files]
    batch = next(avida.ExternalSource(rows).next_epoch(3))
    assert [bytes(np.asarray(x)) for x in batch["image"]] == [b"one", b"two", b"three"]


@pytest.mark.parametrize("make", [pyarrow.table, pyarrow.record_batch])
def test_tables_of_arrow(make):
    columns = {"n": [1, 2, 3], "file": [b"a", b"bc", b"d"], "boxes": [[1.0], [2.0, 3.0], [4.0]]}
    source = avida.ExternalSource(iter([make(columns), make(columns)]))
    batches = list(source.next_epoch(4))
    assert [batch["n"].numpy().tolist() for batch in batches] == [[1, 2, 3, 1], [2, 3]]
    assert [bytes(np.asarray(x)) for x in batches[1]["file"]] == [b"bc", b"d"]
    assert [np.asarray(x).tolist() for x in batches[0]["boxes"]] == [[1], [2, 3], [4], [1]]


def test_palettes_are_colours_unless_indices_are_asked_for():
    image = PIL.Image.fromarray(np.full((2, 3), 7, np.uint8), mode="P")
    image.putpalette([i for n in range(256) for i in (n, 10, 20)])
    assert avida.ExternalSource([image])().numpy().tolist() == [[[7, 10, 20]] * 3] * 2
    assert avida.ExternalSource([image], layout="HW")().numpy().tolist() == [[7] * 3] * 2


def test_a_list_of_equal_images_is_said_to_be_one_array():
    pairs = [[np.zeros((4, 5, 3), np.uint8), np.ones((4, 5, 3), np.uint8)]] * 3
    with pytest.warns(UserWarning, match="a list of 2 arrays of one shape.* return a tuple") as caught:
        (made,) = next(avida.ExternalSource(pairs).next_epoch(3))
    assert made.shape == [(2, 4, 5, 3)] * 3
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        next(avida.ExternalSource(pairs, num_outputs=1).next_epoch(3))
        next(avida.ExternalSource(pairs, num_outputs=2).next_epoch(3))
        next(avida.ExternalSource([[1, 2], [3, 4]]).next_epoch(2))


@READ
def test_gray_images_among_others_are_named(read):
    rows = [{"id": i, "image": PIL.Image.new("L" if i == 2 else "RGB", (4, 4))} for i in range(4)]
    message = r"'image': expected samples with the same number of axes.*ExternalSource\[0\].*\[2\]"
    with pytest.raises(ValueError, match=message):
        next(read(rows).next_epoch(4))


@READ
def test_empty_lists_among_others_are_named(read):
    rows = [{"id": i, "objects": {"box": [[1.0, 2.0, 3.0, 4.0]] * i, "class": [1] * i}} for i in range(3)]
    with pytest.raises(ValueError, match=r"'objects.box': .* the shape \(0,\) .* empty list has one axis.*zeros"):
        next(read(rows).next_epoch(3))
    for row in rows:
        row["objects"]["box"] = np.reshape(row["objects"]["box"], (-1, 4)).astype(np.float32)
    with pytest.raises(TypeError, match=r"pass dtype=\{'objects.class': ...\}"):
        next(read(rows).next_epoch(3))
    batch = next(avida.ExternalSource(rows, dtype={"objects.class": avida.int64}).next_epoch(3))
    assert batch["objects"]["class"].shape == [(0,), (1,), (2,)]


@pytest.mark.parametrize("name", ["key", lambda row: row["key"]], ids=["key", "function"])
@pytest.mark.parametrize("read", [list, iter])
def test_names_of_samples(read, name):
    rows = [{"key": f"s3://bucket/{i}.jpg", "n": i} for i in range(5)]
    source = avida.ExternalSource(read(rows), name=name)
    names = [s.name for batch in source.next_epoch(2) for s in batch["n"].sources]
    assert names == [row["key"] for row in rows]


@pytest.mark.parametrize("read", [list, iter])
@pytest.mark.parametrize(("item", "got"), [({"id": 1, "n": 2}, "one with 'id', 'n'"), ((1, 2), "tuple")])
def test_items_without_their_name(read, item, got):
    with pytest.raises(ValueError, match=f"name='key': expected .* dictionaries with this key.* got {got}"):
        next(avida.ExternalSource(read([item]), name="key").next_epoch(1))


class Rows:
    """Rows of a slow store, which knows how many are being read."""

    def __init__(self, n, faulty=()):
        self.n, self.faulty = n, faulty
        self.lock, self.inside, self.most, self.threads = threading.Lock(), 0, 0, set()

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.threads.add(threading.get_ident())
        time.sleep(0.002)
        with self.lock:
            self.inside -= 1
        if i in self.faulty:
            raise OSError(f"no {i}")
        return {"n": i}


def read_all(source, size):
    return [batch["n"].numpy().tolist() for batch in source.next_epoch(size)]


@pytest.mark.parametrize("depth", [None, 0, 3])
def test_rows_are_read_by_several_threads(depth):
    rows = Rows(50)
    options = {"random_shuffle": True, "seed": 3, "prefetch_queue_depth": depth}
    source = avida.ExternalSource(rows, num_threads=8, **options)
    expected = read_all(avida.ExternalSource(Rows(50), **options), 16)
    assert read_all(source, 16) == expected
    assert 1 < rows.most <= 8
    if depth != 0:
        assert len(rows.threads) <= 8, "for the whole epoch"
    assert source[[3, 1]]["n"].numpy().tolist() == [3, 1]


def test_shards_and_states_with_several_threads():
    options = {"num_threads": 4, "random_shuffle": True, "num_shards": 3, "shard_id": 1}
    whole = read_all(avida.ExternalSource(Rows(40), **options), 4)
    source = avida.ExternalSource(Rows(40), **options)
    taken = [batch["n"].numpy().tolist() for batch in itertools.islice(source.next_epoch(4), 2)]
    again = avida.ExternalSource(Rows(40), **options)
    again.set_state(str(source.get_state()))
    assert taken + read_all(again, 4) == whole


@pytest.mark.parametrize("depth", [None, 0])
def test_errors_with_several_threads(depth):
    epoch = avida.ExternalSource(Rows(20, [6, 7]), num_threads=4, prefetch_queue_depth=depth).next_epoch(10)
    with pytest.raises(OSError, match="no 6"):
        next(epoch)
    assert next(epoch)["n"].numpy().tolist() == list(range(10, 20))
    source = avida.ExternalSource(Rows(20, [6, 7]), num_threads=4, prefetch_queue_depth=depth, on_error="skip")
    assert read_all(source, 10) == [[0, 1, 2, 3, 4, 5, 8, 9], list(range(10, 20))]
    assert [error.index for error in source.errors] == [6, 7]


def name_of(task):
    try:
        return (task / "comm").read_text().strip()
    except OSError:  # it has ended meanwhile
        return ""


def test_threads_end_with_the_epoch():
    def threads():
        return sum(name_of(task) == "avida-source" for task in pathlib.Path("/proc/self/task").iterdir())

    before = threads()
    epoch = avida.ExternalSource(Rows(100), num_threads=6).next_epoch(20)
    next(epoch)
    assert threads() > before
    del epoch
    end = time.monotonic() + 60
    while threads() > before:
        assert time.monotonic() < end
        time.sleep(0.01)


class Together(Rows):
    """Gives several rows at once."""

    def __init__(self, n, faulty=()):
        super().__init__(n, faulty)
        self.asked = []

    def __getitems__(self, indices):
        self.asked.append(indices)
        return [self[i] for i in indices]


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_are_asked_for_together(threads):
    rows = Together(20)
    assert read_all(avida.ExternalSource(rows, num_threads=threads), 10) == [list(range(10)), list(range(10, 20))]
    assert sorted(itertools.chain(*rows.asked)) == list(range(20))
    assert len(rows.asked) == 2 * threads
    source = avida.ExternalSource(Together(20, [6]), num_threads=threads, on_error="skip")
    assert read_all(source, 10)[0] == [0, 1, 2, 3, 4, 5, 7, 8, 9]


def test_threads_need_a_source_that_is_read_by_index():
    with pytest.raises(TypeError, match="num_threads expected a source with __len__"):
        avida.ExternalSource(iter([1]), num_threads=2)
    with pytest.raises(ValueError, match="num_threads must be from 1"):
        avida.ExternalSource([1], num_threads=0)


def test_classes_are_those_of_the_source():
    datasets = pytest.importorskip("datasets")

    class Folder(list):
        classes = ("cat", "dog")

    labels = datasets.ClassLabel(names=["cat", "dog"])
    rows = datasets.Dataset.from_dict({"label": [0, 1]}, features=datasets.Features({"label": labels}))
    for source in (Folder([1, 2]), rows):
        assert avida.ExternalSource(source).classes == ["cat", "dog"]
    both = datasets.Features({"a": labels, "b": labels})
    for source in (
        [1, 2],
        rows.remove_columns("label"),
        datasets.Dataset.from_dict({"a": [0], "b": [1]}, features=both),
    ):
        assert avida.ExternalSource(source).classes is None
