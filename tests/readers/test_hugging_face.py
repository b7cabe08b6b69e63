"""readers.HuggingFace: data sets by name from a server that answers as the Hub does, and those of `datasets`."""

import io
import itertools
import pickle

import datasets
import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

import avida
from avida.readers import Blocks, HuggingFace
from tests.children import in_child
from tests.readers.parquet_files import numbers, read, rows_of, write
from tests.storage.hub import hub_of

WHOLE = {"last_batch": "partial"}
FEATURES = datasets.Features(
    {"image": datasets.Image(), "label": datasets.ClassLabel(names=["ant", "bee"]), "number": datasets.Value("int32")}
)


@pytest.fixture(autouse=True)
def no_cache(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    datasets.disable_progress_bars()


def png(number):
    content = io.BytesIO()
    Image.fromarray(np.full((4, 5 + number % 3, 3), number, np.uint8)).save(content, "PNG")
    return content.getvalue()


def rows(begin, end):
    """A data set of images that know their number."""
    images = [{"bytes": png(i), "path": f"{i}.png"} for i in range(begin, end)]
    columns = {"image": images, "label": [i % 2 for i in range(begin, end)], "number": range(begin, end)}
    return datasets.Dataset.from_dict(columns, features=FEATURES)


# --- of the Hub ---


def write_converted(root, config, split, *parts):
    for i, (begin, end) in enumerate(parts):
        path = root / "refs/convert/parquet" / config / split / f"{i:04}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows(begin, end).to_parquet(path, batch_size=4)


def test_names(tmp_path):
    write_converted(tmp_path, "default", "train", (0, 10), (10, 15))
    write_converted(tmp_path, "default", "test", (20, 23))
    with hub_of(tmp_path) as server:
        reader = HuggingFace("owner/name", **WHOLE)
        assert len(reader) == 15
        assert reader.classes == ["ant", "bee"]
        assert len(server.asked) <= 1 + 2 * 2, "a listing, and each file's version and footer"
        found = read(reader)
        assert [row["number"] for row in found] == list(range(15))
        assert [row["image"] for row in found] == [png(i) for i in range(15)]
        assert reader[3]["image"].source.name == "3.png"
        pixels = avida.decoders.image(reader[:]["image"])
        assert [np.asarray(image)[0, 0, 0] for image in pixels] == list(range(15))
        assert numbers(HuggingFace("owner/name", split="test", **WHOLE)) == [20, 21, 22]
        few = HuggingFace("owner/name", columns=["number"], filters=[("label", "==", 1)], **WHOLE)
        assert numbers(few) == [1, 3, 5, 7, 9, 11, 13]
        shuffled = HuggingFace("owner/name", random_shuffle=Blocks(window=2), cache="memory", **WHOLE)
        assert sorted(numbers(shuffled)) == list(range(15))
        assert numbers(pickle.loads(pickle.dumps(reader))) == list(range(15))
        with pytest.raises(ValueError, match=r"expected one of 'test', 'train' as split, got 'val'; \"partial-\""):
            HuggingFace("owner/name", split="val")
        with pytest.raises(RuntimeError, match="404"):
            HuggingFace("owner/name", revision="main")


def test_configurations(tmp_path):
    write_converted(tmp_path, "small", "train", (0, 3))
    with hub_of(tmp_path):
        assert numbers(HuggingFace("owner/name", **WHOLE)) == [0, 1, 2]
    write_converted(tmp_path, "large", "train", (0, 9))
    with hub_of(tmp_path):
        assert len(HuggingFace("owner/name", config="large")) == 9
        for config in (None, "none"):
            with pytest.raises(ValueError, match=r"expected one of 'large', 'small' as config, got"):
                HuggingFace("owner/name", config=config)


def test_files_of_the_data_set_itself(tmp_path):
    """They have the split in their name."""
    for i, name in enumerate(["data/train-00000-of-00002", "data/train-00001-of-00002", "data/trainable", "x/test"]):
        write(tmp_path / "v1.0" / f"{name}.parquet", pa.table({"number": [i]}))
    (tmp_path / "v1.0" / "data" / "train.json").write_text("{}")
    with hub_of(tmp_path):
        assert numbers(HuggingFace("owner/name", revision="v1.0", **WHOLE)) == [0, 1]
        assert numbers(HuggingFace("owner/name", revision="v1.0", config="x", split="test", **WHOLE)) == [3]
        with pytest.raises(ValueError, match="expected Parquet files with 'val' in their name, found none among"):
            HuggingFace("owner/name", revision="v1.0", split="val")
        with pytest.raises(RuntimeError, match=r"404.*revision=\"main\" reads the data set's own Parquet files"):
            HuggingFace("owner/name")
    write(tmp_path / "v1.0" / "more" / "train.parquet", pa.table({"number": [9]}))
    with hub_of(tmp_path):
        with pytest.raises(ValueError, match=r"expected config.*\['data', 'more'\]"):
            HuggingFace("owner/name", revision="v1.0")
        assert numbers(HuggingFace("owner/name", revision="v1.0", config="more", **WHOLE)) == [9]


@pytest.mark.parametrize("name", ["", "a/b/c", "owner/na me", "https://huggingface.co/datasets/x"])
def test_what_is_no_name(name):
    with pytest.raises(ValueError, match=r"expected the name of a data set, such as \"owner/name\""):
        HuggingFace(name)


# --- of the package ---


@pytest.mark.parametrize("stored", [False, True])
def test_data_sets(stored, tmp_path):
    """In memory and on a disk, as they are and in the order that they were given."""
    whole = rows(0, 30)
    if stored:
        whole.save_to_disk(tmp_path / "rows")
        whole = datasets.Dataset.load_from_disk(tmp_path / "rows")
    reader = HuggingFace(whole, **WHOLE)
    assert reader.classes == ["ant", "bee"]
    assert read(reader) == [{"image": png(i), "label": i % 2, "number": i} for i in range(30)]
    assert reader[2]["image"].source.name == "2.png"
    for changed in (
        whole.shuffle(seed=3),
        whole.select([7, 3, 3, 29]),
        whole.filter(lambda row: row["number"] % 5 == 1),
        datasets.concatenate_datasets([whole, rows(40, 45)]),
        whole.shuffle(seed=3).shard(3, 1),
    ):
        expected = list(changed.with_format("numpy")["number"][:])
        assert numbers(HuggingFace(changed, **WHOLE)) == expected
        for order in (True, Blocks(window=2)):
            assert sorted(numbers(HuggingFace(changed, random_shuffle=order, **WHOLE))) == sorted(expected)


def test_many_rows():
    """Blocks are of 1,000 rows, and the rows of a data set are no objects of Python."""
    columns = {"number": range(4500), "text": [f"row {i}" for i in range(4500)]}
    reader = HuggingFace(datasets.Dataset.from_dict(columns), random_shuffle=Blocks(window=1), **WHOLE)
    found = read(reader, 100)
    assert all(row["text"] == b"row %d" % row["number"] for row in found)
    blocks = [row["number"] // 1000 for row in found]
    assert sorted(row["number"] for row in found) == list(range(4500))
    assert sum(one != other for one, other in itertools.pairwise(blocks)) == 4


def test_columns_states_and_pickles(tmp_path):
    rows(0, 30).save_to_disk(tmp_path / "rows")
    whole = datasets.Dataset.load_from_disk(tmp_path / "rows").shuffle(seed=1)
    assert list(HuggingFace(whole, columns=["number", "label"])[0]) == ["number", "label"]
    assert list(HuggingFace(whole.with_format("torch", columns=["number"]))[0]) == ["number"]
    reader = HuggingFace(whole, random_shuffle=True, **WHOLE)
    epoch = reader.next_epoch(4)
    next(epoch)
    again = pickle.loads(pickle.dumps(reader))
    rest = [row["number"] for batch in epoch for row in rows_of(batch)]
    assert numbers(again, 4) == rest
    shards = [HuggingFace(whole, num_shards=2, shard_id=i, **WHOLE) for i in range(2)]
    assert sorted(number for shard in shards for number in numbers(shard)) == list(range(30))
    assert sorted(in_child(lambda: numbers(reader))) == list(range(30))


def test_arrays_of_features():
    lists = datasets.Sequence(datasets.Value("int8"))
    features = datasets.Features({"x": datasets.Array2D((2, 3), "float32"), "y": lists})
    values = {"x": np.arange(12, dtype="f4").reshape(2, 2, 3), "y": [[1], [2, 3]]}
    reader = HuggingFace(datasets.Dataset.from_dict(values, features=features))
    assert np.array_equal(reader[:]["x"].numpy(), values["x"])
    assert [np.asarray(y).tolist() for y in reader[:]["y"]] == values["y"]


def test_what_is_refused():
    whole = rows(0, 3)
    for data, message in [
        (datasets.DatasetDict({"train": whole}), r"expected one split, as dataset\['train'\]"),
        (whole.to_iterable_dataset(), "got IterableDataset; ExternalSource reads streams"),
        ([1, 2], "got list"),
        (whole.with_transform(lambda row: row), r"has a transform; ExternalSource calls it"),
    ]:
        with pytest.raises(TypeError, match=message):
            HuggingFace(data)
    with pytest.raises(TypeError, match="split, filters: for data sets by name, a Dataset has been opened"):
        HuggingFace(whole, split="train", filters=[("label", "==", 1)])
    nulls = datasets.Dataset.from_dict({"x": [1, None, 3]})
    with pytest.raises(ValueError, match=r"row 1 of column 'x' is null"):
        HuggingFace(nulls)[1]
    assert [row["x"] for row in read(HuggingFace(nulls, on_error="skip", **WHOLE))] == [1, 3]


# --- streams, by ExternalSource ---


def test_streams_in_tables():
    """Tables of Arrow go through ExternalSource as they are, without an object for each row."""
    stream = rows(0, 25).to_iterable_dataset(num_shards=2).with_format("arrow")

    def tables():
        yield from stream.iter(batch_size=10)

    reader = avida.ExternalSource(tables)
    for _ in range(2):
        found = [row for batch in reader.next_epoch(batch_size=10) for row in rows_of(batch)]
        assert [(row["number"], row["image"]) for row in found] == [(i, png(i)) for i in range(25)]
