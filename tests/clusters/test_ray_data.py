"""Ray Data: stages in tasks and actors, readers as sources, rows as Batches, on a Ray of two CPUs."""

import os
import pathlib
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import ray
import ray.data
from ray.data import ActorPoolStrategy
from ray.exceptions import RayTaskError

import avida as ndd
from avida._values.picture import png
from avida.ray._read import ReaderSource
from tests.codecs.videos import all_videos
from tests.readers.mds_files import write_mds
from tests.readers.resumable import FORMATS

pytestmark = pytest.mark.usefixtures("nodes")
SAMPLES = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Images of two classes and various sizes."""
    root = tmp_path_factory.mktemp("images")
    random = np.random.default_rng(0)
    for i in range(SAMPLES):
        path = root / "ab"[i % 2] / f"{i:02}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(png(random.integers(0, 256, (20 + i, 30, 3), np.uint8)))
    return root


def augment(image, label):
    images = ndd.decoders.image(image)
    small = ndd.random_resized_crop(images, size=[8, 8], keyed_by=images)
    return {"image": images, "small": small, "label": label + 10, "drawn": ndd.random.uniform(keyed_by=image)}


def staged(ds, function, **options):
    return ds.map_batches(ndd.ray.Stage(function, **options), batch_format="pyarrow", batch_size=5)


def in_actors(ds, function, given=None, batch_size=3, **options):
    """With half a CPU for each of two actors, so that there is one left for tasks that read."""
    options = {"num_cpus": 0.5, "compute": ActorPoolStrategy(size=2)} | options
    return ds.map_batches(
        ndd.ray.Stage,
        fn_constructor_args=[function],
        fn_constructor_kwargs=given or {},
        batch_format="pyarrow",
        batch_size=batch_size,
        **options,
    )


def drawn(rows):
    return {row["source"]["index"]: (row["drawn"], row["small"].tobytes()) for row in rows}


def expected(folder):
    """The same without Ray."""
    reader = ndd.readers.File(file_root=folder)
    ndd.random.set_seed(0)
    files, labels = next(reader.next_epoch(batch_size=SAMPLES))
    made = augment(image=files, label=labels)
    numbers = zip(made["drawn"].torch().tolist(), made["small"].numpy(), strict=True)
    return {i: (number, small.tobytes()) for i, (number, small) in enumerate(numbers)}


def test_tasks_and_actors(folder):
    """The same bits, in whichever process and batch, as without Ray."""
    ds = ndd.ray.read(ndd.readers.File(file_root=folder), override_num_blocks=3)
    rows = staged(ds, augment).take_all()
    assert {row["image"].shape for row in rows} == {(20 + i, 30, 3) for i in range(SAMPLES)}
    assert sorted(row["label"] for row in rows) == [10] * 12 + [11] * 12
    assert drawn(rows) == expected(folder)
    assert drawn(in_actors(ds, augment).take_all()) == expected(folder)
    assert drawn(staged(ds, augment, seed=1).take_all()) != expected(folder)


def test_a_killed_worker_changes_nothing(folder, tmp_path):
    def killed_once(image, label):
        mark = tmp_path / "killed"
        if any(source.index == 7 for source in image.sources) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return augment(image, label)

    ds = ndd.ray.read(ndd.readers.File(file_root=folder), override_num_blocks=3)
    assert drawn(staged(ds, killed_once).take_all()) == expected(folder)
    assert (tmp_path / "killed").exists()


def test_threads_and_warm_up():
    def told(id, threads=None):
        warmed.append(len(id))
        return {"threads": [ndd.get_num_threads()] * len(id), "first": [warmed[0]] * len(id)}

    warmed: list[int] = []
    ds = ray.data.range(6, override_num_blocks=2)
    for cpus in (1, 2):
        rows = ds.map_batches(ndd.ray.Stage(told), batch_format="pyarrow", num_cpus=cpus).take_all()
        assert [row["threads"] for row in rows] == [cpus] * 6
    rows = staged(ds, told, num_threads=3).take_all()
    assert [row["threads"] for row in rows] == [3] * 6
    warm_up = pa.table({"id": list(range(100))})
    rows = in_actors(ds, told, {"warm_up": warm_up}, compute=ActorPoolStrategy(size=1), num_cpus=1).take_all()
    assert [(row["threads"], row["first"]) for row in rows] == [(1, 100)] * 6


def test_a_class_is_made_in_the_actor():
    class Model:
        def __init__(self):
            self.process = os.getpid()

        def __call__(self, id):
            return {"here": [self.process == os.getpid()] * len(id)}

    ds = in_actors(ray.data.range(4), Model, compute=ActorPoolStrategy(size=1))
    assert [row["here"] for row in ds.take_all()] == [True] * 4


def test_actors_on_a_gpu(folder):
    """Results come back to the CPU."""

    def on_gpu(image):
        images = ndd.resize(ndd.decoders.image(image, device="gpu"), size=[4, 6])
        return {"image": images, "gpu": [str(images.device)] * len(images)}

    ds = ndd.ray.read(ndd.readers.File(file_root=folder), override_num_blocks=1)
    emulated = {"env_vars": {"AVIDA_FAKE_GPU": "1"}}
    rows = in_actors(
        ds, on_gpu, compute=ActorPoolStrategy(size=1), num_gpus=1, num_cpus=1, runtime_env=emulated
    ).take_all()
    assert {row["image"].shape for row in rows} == {(4, 6, 3)}
    assert {row["gpu"] for row in rows} == {"gpu:0"}


def address(array):
    return np.asarray(array).__array_interface__["data"][0]


def test_no_copies_on_the_way():
    """Columns of Ray's object store become Batches where they are, and results tables where they are."""
    pixels = np.arange(2 * 3 * 4 * 5, dtype=np.uint8)
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(pixels.reshape(2, 3, 4, 5))
    stored = ray.get(ray.put(pa.table({"file": [b"a" * 1000, b"b" * 2000], "tensor": tensors})))
    seen = {}

    def look(file, tensor):
        seen["in"] = [address(each) for each in (*file, *tensor)]
        made = ndd.cast(tensor, dtype=ndd.float32).evaluate()
        seen["out"] = address(made)
        return {"made": made}

    made = ndd.ray.Stage(look)(stored)
    files = stored.column("file").chunk(0).buffers()[2].address
    elements = stored.column("tensor").chunk(0).storage.flatten().buffers()[1].address
    assert seen["in"] == [files, files + 1000, elements, elements + 60]
    assert made.column("made").chunk(0).storage.values.buffers()[1].address == seen["out"]
    assert ndd.from_arrow(made.select(["made"]))["made"].shape == [(3, 4, 5)] * 2


def test_columns_there_and_back():
    def make(n, **others):
        shapes = [(int(i), 2) for i in np.asarray(n)]
        ragged = ndd.batch([np.full(shape, i, np.float32) for i, shape in enumerate(shapes)])
        images = ndd.batch([np.zeros((*shape, 3), np.uint8) for shape in shapes], layout="HWC")
        return others | {"ragged": ragged, "images": images, "row": ndd.batch([[1.5] * i for i, _ in shapes])}

    texts = pa.array(["x", "y", "z"])
    table = pa.table({"n": [1, 2, 3], "text": texts, "file": [b"1", b"23", b"4"]})
    made = ndd.ray.Stage(make)(table)
    assert made.column_names == ["text", "file", "ragged", "images", "row"]
    assert made.column("text").chunk(0) == texts, "what is returned as it came stays what it was"

    def again(ragged, images, row):
        assert images.layout == "HWC"
        assert ragged.shape == [(1, 2), (2, 2), (3, 2)]
        assert row.shape == [(1,), (2,), (3,)]
        return {"sum": ndd.reductions.sum(ragged)}

    assert ndd.ray.Stage(again)(made).column("sum").to_pylist() == [0, 4, 12]


def test_tables_without_rows():
    def double(image, **others):
        return {"image": image * 2, "drawn": ndd.random.uniform(like=image)}

    table = pa.table({"image": pa.array([[1, 2], [3]], pa.list_(pa.int32())), "id": [1, 2]})
    for empty in (table.slice(0, 0), table.schema.empty_table()):
        made = ndd.ray.Stage(double, key="id")(empty)
        assert (made.num_rows, made.column_names) == (0, ["image", "drawn", "id"])


def test_rows_left_out():
    def even(x):
        return {"x": x.tensors[[i for i, value in enumerate(np.asarray(x)) if value % 2 == 0]]}

    table = pa.table({"x": [4, 5, 6], "id": [10, 20, 30]})
    assert ndd.ray.Stage(even, key="id")(table).to_pydict() == {"x": [4, 6], "id": [10, 30]}
    with pytest.raises(ValueError, match="expected 3 rows, as the columns id have that it does not take, got 2"):
        ndd.ray.Stage(even)(table)


def test_keys():
    """Numbers and texts identify rows; where nothing does, keyed draws are an error."""

    def draw(x):
        return {"keyed": ndd.random.uniform(keyed_by=x), "other": ndd.random.uniform(like=x)}

    table = pa.table({"x": [1.0, 2.0, 3.0], "id": [7, 8, 9], "path": ["a", "b", "c"]})
    for key in ("id", "path"):
        stage = ndd.ray.Stage(draw, key=key)
        whole, part = stage(table), stage(table.slice(1, 2))
        assert whole == stage(table)
        assert whole.column("keyed").to_pylist()[1:] == part.column("keyed").to_pylist()
        assert whole.column("other").to_pylist()[1:] != part.column("other").to_pylist()
        assert whole.column("keyed") != ndd.ray.Stage(draw, key=key, epoch=1)(table).column("keyed")
    with pytest.raises(ValueError, match="expected samples that a reader has read"):
        ndd.ray.Stage(draw)(table)
    with pytest.raises(ValueError, match="key='row': expected the name of a column, got a table of x, id, path"):
        ndd.ray.Stage(draw, key="row")(table)
    with pytest.raises(TypeError, match="key='x': expected a column of numbers or texts, got double"):
        ndd.ray.Stage(draw, key="x")(table)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, y: {}, "expected the columns x, y, by its parameters, and y is not among x"),
        (lambda *x: {}, r"expected parameters that are names of columns, or \*\*columns, got \*x"),
        (lambda x: x, "expected a dictionary of columns, got Batch"),
        (3, "expected a function, got int"),
    ],
)
def test_wrong_functions(function, message):
    with pytest.raises(TypeError, match=message):
        ndd.ray.Stage(function)(pa.table({"x": [1]}))


def decode(image):
    return {"image": ndd.decoders.image(image)}


def test_errors(folder, tmp_path):
    """They name the row and the line, and Ray's own rules say what follows."""
    for path in folder.rglob("*.png"):
        (tmp_path / path.parent.name).mkdir(exist_ok=True)
        (tmp_path / path.parent.name / path.name).write_bytes(path.read_bytes())
    (tmp_path / "b" / "03.png").write_bytes(b"no image")
    ds = ndd.ray.read(ndd.readers.File(file_root=tmp_path), override_num_blocks=4)
    with pytest.raises(RayTaskError) as raised:
        staged(ds, decode).take_all()
    assert "b/03.png): expected an image in a known format" in str(raised.value)
    assert "called at" in str(raised.value)
    assert pathlib.Path(__file__).name in str(raised.value).partition("called at")[2]
    ds.context.max_errored_blocks = 1
    assert staged(ds, decode).count() == SAMPLES * 3 // 4


def test_errors_are_tried_again(tmp_path):
    def fails_once(id):
        mark = tmp_path / "failed"
        if not mark.exists():
            mark.touch()
            raise ConnectionError("away for a moment")
        return {"id": id}

    ds = ray.data.range(4, override_num_blocks=1)
    ds.context.retried_map_errors = ["away for a moment"]
    ds.context.max_map_retries = 1
    assert [row["id"] for row in staged(ds, fails_once).take_all()] == [0, 1, 2, 3]


def test_results_are_written(folder, tmp_path):
    """By Ray; our own readers read them."""
    ds = ndd.ray.read(ndd.readers.File(file_root=folder), override_num_blocks=2)
    rows = staged(ds, augment).select_columns(["image", "small", "label", "drawn"])
    rows.write_parquet(str(tmp_path / "tables"))
    table = pyarrow.parquet.read_table(tmp_path / "tables")
    assert table.num_rows == SAMPLES
    assert {tuple(image.shape) for image in ndd.from_arrow(table)["image"]} == {(20 + i, 30, 3) for i in range(SAMPLES)}

    def named(image, label):
        return {
            "__key__": [str(s.index) for s in image.sources],
            "png": image,
            "cls": [f"{each.item()}" for each in label],
        }

    files = ds.map_batches(ndd.ray.Stage(named), batch_format="pyarrow").drop_columns(["source"])
    files.write_webdataset(str(tmp_path / "archives"), encoder=lambda sample: sample)
    reader = ndd.readers.Webdataset(paths=f"{tmp_path}/archives/*.tar", ext=["png", "cls"])
    files = {path.read_bytes() for path in folder.rglob("*.png")}
    assert {bytes(np.asarray(image)) for image, _ in reader.next_epoch()} == files


@pytest.mark.parametrize("name", FORMATS)
def test_reading_every_format(name, tmp_path):
    """Each sample once, in parts whose sizes are known before."""
    write, make = FORMATS[name]
    samples = [bytes([i]) * (20 + i) for i in range(11)]
    (tmp_path / "data").mkdir()
    write(tmp_path / "data", samples)
    reader = make(str(tmp_path / "data"))
    item = reader[[0]]
    columns = None if isinstance(item, dict) else [f"c{i}" for i in range(len(item))]
    source = ReaderSource(reader, columns)
    tasks = source.get_read_tasks(4)
    tables = [pa.concat_tables(task(), promote_options="permissive") for task in tasks]
    assert [table.num_rows for table in tables] == [task.metadata.num_rows for task in tasks]
    assert sum(table.num_rows for table in tables) == 11
    assert [row["index"] for table in tables for row in table.column("source").to_pylist()] == list(range(11))
    assert source.estimate_inmemory_data_size() > sum(map(len, samples)) / 4
    again = [pa.concat_tables(task(), promote_options="permissive") for task in tasks]
    assert again == tables, "a task that is tried again reads the same"


def halves(picture, number):
    return {"picture": ndd.cast(picture // 2, dtype=ndd.uint8), "number": number}


def test_videos_and_streaming_data_sets(tmp_path):
    """Clips and columns of MDS, decoded by tasks, have the bits and layouts that they have without Ray."""
    all_videos()["h264.mp4"].tofile(tmp_path / "a.mp4")
    videos = ndd.experimental.readers.Video(filenames=tmp_path / "a.mp4", sequence_length=4, enable_frame_num="scalar")
    pictures = [np.full((2, 3 + i, 3), 7 * i, np.uint8) for i in range(5)]
    rows = [{"picture": picture, "number": i} for i, picture in enumerate(pictures)]
    write_mds(tmp_path / "mds", {"picture": "ndarray:uint8", "number": "int64"}, rows, per_shard=2)
    readers: list[tuple[Any, Any]] = [(videos, ["picture", "number"]), (ndd.readers.MDS(tmp_path / "mds"), None)]
    for reader, columns in readers:
        item = reader[list(range(len(reader)))]
        whole = dict(zip(columns, item, strict=True)) if columns else item
        ds = staged(ndd.ray.read(reader, columns=columns, override_num_blocks=2), halves)
        (batch,) = ndd.ray.iterate(ds, 100, ordered=True)
        assert [s.index for s in batch["picture"].sources] == list(range(len(reader)))
        assert batch["picture"].layout == whole["picture"].layout
        for made, alone in zip(batch["picture"], whole["picture"], strict=True):
            np.testing.assert_array_equal(np.asarray(made), np.asarray(alone) // 2)
        assert [each.item() for each in batch["number"]] == [each.item() for each in whole["number"]]


def test_reading_in_the_order_of_a_reader(folder):
    """Epochs, shuffling and samplers of the reader count; its shards do not."""

    def order(reader, **options):
        ds = ndd.ray.read(reader, override_num_blocks=3, **options)
        ds.context.execution_options.preserve_order = True
        return [(row["source"]["index"], row["source"]["epoch"]) for row in ds.take_all()]

    shuffled = ndd.readers.File(file_root=folder, random_shuffle=True, seed=5, num_shards=2, shard_id=1)
    first, second = order(shuffled), order(shuffled, epoch=1)
    assert sorted(first) == [(i, 0) for i in range(SAMPLES)]
    assert sorted(second) == [(i, 1) for i in range(SAMPLES)]
    assert [i for i, _ in first] != [i for i, _ in second]
    assert first == order(shuffled)
    sampled = ndd.readers.File(file_root=folder)
    sampled.sampler = [5, 3, 3, 8]
    assert order(sampled) == [(5, 0), (3, 0), (3, 0), (8, 0)]


def test_names_of_columns(tmp_path):
    (tmp_path / "0.npy").write_bytes(b"")
    np.save(tmp_path / "0.npy", np.zeros(3))
    assert "array" in ndd.ray.read(ndd.readers.Numpy(file_root=tmp_path)).schema().names
    pairs = ndd.ExternalSource([(1, 2)])
    with pytest.raises(ValueError, match=r"expected a name for each of 2 outputs of .*, in columns=\[...\], got \[\]"):
        ndd.ray.read(pairs)
    assert ndd.ray.read(pairs, columns=["a", "b"]).take_all()[0]["b"] == 2
    with pytest.raises(ValueError, match="the data has a column 'source'"):
        ndd.ray.read(ndd.ExternalSource([{"source": 1}]))


def test_iterating(folder):
    ds = staged(ndd.ray.read(ndd.readers.File(file_root=folder), override_num_blocks=4), augment)
    with ndd.profile() as profile:
        batches = list(ndd.ray.iterate(ds, 7, ordered=True, prefetch=3))
    assert [len(batch["image"]) for batch in batches] == [7, 7, 7, 3]
    assert [source.index for batch in batches for source in batch["small"].sources] == list(range(SAMPLES))
    assert batches[0]["small"].torch().shape == (7, 8, 8, 3)
    assert batches[0]["small"].layout == "HWC"
    assert len(ndd.random.uniform(keyed_by=batches[0]["image"])) == 7
    assert "4 batches" in str(profile)
    assert set(batches[0]) == {"image", "small", "label", "drawn"}
    (first, *_) = ndd.ray.iterate(ds, 7, columns=["label"], drop_last=True)
    assert list(first) == ["label"]
    assert len(list(ndd.ray.iterate(ds, 7, drop_last=True))) == 3


def test_iterating_without_a_data_set():
    with pytest.raises(TypeError, match=r"ordered=True expected a Dataset, got .*Iterator.*; for Ray Train, set"):
        ndd.ray.iterate(ray.data.range(3).iterator(), 2, ordered=True)
    rows = ray.data.range(5, override_num_blocks=1).iterator()
    batches = list(ndd.ray.iterate(rows, 2, columns=["id"], key="id", epoch=4))
    assert [(s.index, s.epoch) for batch in batches for s in batch["id"].sources] == [(i, 4) for i in range(5)]


PINNED = """
import pyarrow as pa
from avida import _core
from avida.ray._iterate import _batches
table = pa.table({"x": [1.0, 2.0], "y": [[1], [2, 3]]})
before = [batch._pinned for batch in _batches(table, None, None, 0).values()]
_core.pin_from_now_on()  # as a process does that hands results to another library that uses CUDA
print(before, [batch._pinned for batch in _batches(table, None, None, 0).values()])
"""
MISSING = """
import sys
sys.modules["ray"] = None
import avida
try:
    avida.ray.Stage
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("program", "output"),
    [
        (PINNED, "[False, False] [True, True]"),
        (MISSING, "avida.ray.Stage needs the package ray, which is not installed: pip install 'avida[ray]'"),
    ],
)
def test_in_other_surroundings(program, output):
    """Pinned memory where CUDA is used; the extra is named where Ray is missing."""
    environment = os.environ | {"AVIDA_FAKE_GPU": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() == output, done.stderr
