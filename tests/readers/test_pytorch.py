"""Readers in PyTorch's loaders: every sample once, in any number of workers, and from where a loader was left."""

import collections
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
import torch.distributed.checkpoint as stores
import torchdata.nodes as tn
from torchdata.stateful_dataloader import StatefulDataLoader

import avida
from tests.readers.numbered import epoch, flat, make_files, numbers, reader_of
from tests.readers.records import example, ints, write_tfrecords

data = torch.utils.data
SHUFFLED = {"random_shuffle": True, "seed": 3, "last_batch": "partial"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("numbered"), 50)


def number(file, label):
    """A transform; in a worker process too."""
    return label


def iterable(files, batch_size=None, **options):
    return avida.pytorch.IterableDataset(reader_of(files, **SHUFFLED | options), batch_size, number)


def items(loader):
    return [item.flatten().tolist() for item in loader]


def test_map_style(files):
    dataset = avida.pytorch.Dataset(reader_of(files))
    assert len(dataset) == 50
    file, label = dataset[7]
    assert isinstance(file, torch.Tensor)
    assert bytes(file.numpy()) == b"7"
    assert label.tolist() == [7]
    assert [label.item() for _, label in dataset.__getitems__([5, 1, 5])] == [5, 1, 5]
    with pytest.raises(IndexError):
        dataset[50]


@pytest.mark.parametrize("workers", [0, 2])
def test_map_style_in_a_loader(files, workers):
    dataset = avida.pytorch.Dataset(reader_of(files), transform=number)
    torch.manual_seed(0)
    loader = data.DataLoader(dataset, batch_size=8, shuffle=True, num_workers=workers)
    first, second = flat(items(loader)), flat(items(loader))
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second


def test_transform_may_return_anything(files):
    pair = collections.namedtuple("pair", ["file", "label"])

    def transform(file, label):
        return {"x": file, "more": [label, 5], "text": "a", "pair": pair(file, label)}

    item = avida.pytorch.Dataset(reader_of(files), transform)[3]
    assert item["x"].tolist() == [ord("3")]
    assert item["more"][0].tolist() == [3]
    assert (item["more"][1], item["text"]) == (5, "a")
    assert item["pair"].label.tolist() == [3]


def test_dictionaries(tmp_path):
    """Some readers make them of samples."""
    path = write_tfrecords(tmp_path / "a", [example(number=ints(i)) for i in range(6)])
    feature = avida.tfrecord.FixedLenFeature([], avida.tfrecord.int64, -1)
    options = {"path": path, "features": {"number": feature}}
    dataset = avida.pytorch.Dataset(avida.readers.TFRecord(**options))
    assert dataset[2]["number"].item() == 2
    assert [item["number"].item() for item in dataset.__getitems__([4, 1])] == [4, 1]
    dataset = avida.pytorch.IterableDataset(avida.readers.TFRecord(**options), 3, lambda item: item["number"] + 1)
    assert flat(items(dataset)) == [1, 2, 3, 4, 5, 6]
    node = avida.pytorch.nodes.Reader(avida.readers.TFRecord, batch_size=2, **options)
    assert [list(item) for item in node] == [["number"]] * 3


@pytest.mark.parametrize(
    ("batch_size", "workers", "shards"), [(None, 0, 1), (4, 0, 3), (None, 2, 1), (4, 2, 2), (4, 1, 1)]
)
def test_every_sample_once(files, batch_size, workers, shards):
    seen = [[], []]
    for shard in range(shards):
        dataset = iterable(files, batch_size, num_shards=shards, shard_id=shard)
        loader = data.DataLoader(dataset, batch_size=None, num_workers=workers)
        for part in seen:
            part += flat(items(loader))
    assert sorted(seen[0]) == sorted(seen[1]) == list(range(50))
    assert seen[0] != seen[1]


def test_workers_that_stay(files):
    loader = data.DataLoader(iterable(files), batch_size=7, num_workers=2, persistent_workers=True)
    epochs = [flat(items(loader)) for _ in range(3)]
    assert [sorted(numbers) for numbers in epochs] == [list(range(50))] * 3
    assert epochs[0] != epochs[1] != epochs[2]


def test_spawned_workers(files):
    """A reader travels to another process by its arguments and its state."""
    loader = data.DataLoader(iterable(files), batch_size=None, num_workers=1, multiprocessing_context="spawn")
    assert sorted(flat(items(loader))) == list(range(50))


def test_more_workers_than_samples(files):
    loader = data.DataLoader(iterable(files[:1]), batch_size=None, num_workers=2)
    assert [items(loader), items(loader)] == [[[0]], [[0]]]


def test_pickle(files):
    reader = reader_of(files, **SHUFFLED, num_shards=2, shard_id=1)
    iterator = reader.next_epoch(5)
    next(iterator)
    again = pickle.loads(pickle.dumps(reader))
    assert str(again.get_state()) == str(reader.get_state())
    assert epoch(again, 5) == [numbers(files) for files, _ in iterator]


def stateful_loader(dataset, workers):
    return StatefulDataLoader(dataset, batch_size=None, num_workers=workers, snapshot_every_n_steps=1)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("batch_size", [None, 4])
def test_stateful_loader(files, batch_size, workers):
    """The rest of an epoch, even if nothing is left of it, and the epochs after it."""
    loader = stateful_loader(iterable(files, batch_size), workers)
    whole, states = [], []
    for _ in range(2):
        for item in loader:
            whole.append(item.flatten().tolist())
            states.append(loader.state_dict())
    half = len(whole) // 2
    assert sorted(flat(whole[:half])) == list(range(50))
    for stop in (half // 2, half, half + 1):
        again = stateful_loader(iterable(files, batch_size), workers)
        again.load_state_dict(states[stop - 1])
        assert items(again) == (whole[stop:half] if stop <= half else whole[stop:])
        if stop <= half:
            assert items(again) == whole[half:]


@pytest.mark.parametrize("workers", [0, 2])
def test_stateful_loader_at_the_end(files, workers):
    loader = stateful_loader(iterable(files), workers)
    items(loader)
    again = stateful_loader(iterable(files), workers)
    again.load_state_dict(loader.state_dict())
    assert items(again) == items(loader)


def test_states_without_a_loader(files):
    dataset = iterable(files, 4)
    iterator = iter(dataset)
    next(iterator)
    again = iterable(files, 4)
    again.load_state_dict(json.loads(json.dumps(dataset.state_dict())))
    assert items(again) == items(iterator)


def test_state_set_before_workers_start(files):
    """A run without workers goes on with two."""
    dataset = iterable(files, 4)
    iterator = iter(dataset)
    begun = [next(iterator).flatten().tolist() for _ in range(5)]
    again = iterable(files, 4)
    again.load_state_dict(dataset.state_dict())
    loader = data.DataLoader(again, batch_size=None, num_workers=2)
    assert sorted(flat(begun + items(loader))) == list(range(50))
    assert sorted(flat(items(loader))) == list(range(50))


def nodes_loader(files, batch_size, *, around=lambda node: node, **options):
    nodes = avida.pytorch.nodes
    source = nodes.Reader(avida.readers.File, batch_size=batch_size, files=files, **SHUFFLED | options)
    return tn.Loader(around(nodes.ToTorch(nodes.DictMapper(source, lambda labels: labels + 100, "label"))))


def labels(loader):
    return [label.flatten().tolist() for _, label in loader]


def shapes_alike(files):
    return files[10:]  # two digits each, so that batches are not ragged


def behind_prefetcher(node):
    from torchdata.nodes import Prefetcher

    return Prefetcher(node, prefetch_factor=3)


@pytest.mark.parametrize("around", [lambda node: node, behind_prefetcher], ids=["plain", "prefetcher"])
@pytest.mark.parametrize("batch_size", [None, 7])
def test_nodes(files, batch_size, around):
    files = shapes_alike(files)
    loader = nodes_loader(files, batch_size, around=around)
    whole, states = [], []
    for _ in range(2):
        for _, label in loader:
            whole.append(label.flatten().tolist())
            states.append(json.loads(json.dumps(loader.state_dict())))
    half = len(whole) // 2
    assert sorted(flat(whole[:half])) == sorted(flat(whole[half:])) == list(range(100, 140))
    for stop in (1, half - 1, half + 1):
        again = nodes_loader(files, batch_size, around=around)
        again.load_state_dict(states[stop - 1])
        assert labels(again) == (whole[stop:half] if stop < half else whole[stop:])


def test_node_over_a_reader(files):
    nodes = avida.pytorch.nodes
    node = nodes.Reader(reader_of(files), batch_size=10, output_names=["file", "number"])
    assert list(next(node)) == ["file", "number"]
    assert node.get_metadata()["epoch_size"] == 50
    with pytest.raises(TypeError, match="has its arguments already"):
        nodes.Reader(reader_of(files), batch_size=10, seed=1)
    with pytest.raises(TypeError, match="expected a reader"):
        nodes.Reader(int, batch_size=10)
    with pytest.raises(ValueError, match="expected 2 output_names"):
        next(nodes.Reader(reader_of(files), batch_size=10, output_names=["file"]))


def test_end_of_an_epoch_is_not_the_start_of_the_next(files):
    node = avida.pytorch.nodes.Reader(reader_of(files), batch_size=10)
    for _ in range(5):
        next(node)
    again = avida.pytorch.nodes.Reader(reader_of(files), batch_size=10)
    again.reset(node.state_dict())
    assert list(again) == []
    again.reset()
    assert len(list(again)) == 5


@pytest.mark.filterwarnings("ignore")  # of a process group that is not there
def test_distributed_checkpoint(files, tmp_path):
    reader = reader_of(files, **SHUFFLED, num_shards=2)
    reader.set_state(state_of_other_shards(files))
    iterator = reader.next_epoch(5)
    next(iterator)
    stores.save({"reader": reader}, checkpoint_id=tmp_path / "stored", no_dist=True)
    again = reader_of(files, **SHUFFLED, num_shards=2)
    stores.load({"reader": again}, checkpoint_id=tmp_path / "stored", no_dist=True)
    assert str(again.get_state()) == str(reader.get_state())
    assert epoch(again, 5) == [numbers(files) for files, _ in iterator]


def state_of_other_shards(files):
    reader = reader_of(files, **SHUFFLED, num_shards=3)
    next(reader.next_epoch(4))
    return reader.get_state()


def test_torch_is_imported_when_needed():
    code = "import sys, avida; avida.pytorch; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import sys, avida; sys.modules['torch'] = None; avida.pytorch.Dataset"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "avida.pytorch.Dataset needs the package torch, which is not installed" in done.stderr
    with pytest.raises(AttributeError, match="Nothing"):
        avida.pytorch.Nothing  # noqa: B018
    assert {"Dataset", "IterableDataset", "nodes"} <= set(dir(avida.pytorch))


def test_readers_only():
    with pytest.raises(TypeError, match="expected a reader"):
        avida.pytorch.Dataset(np.arange(3))
    with pytest.raises(TypeError, match="expected a reader"):
        avida.pytorch.IterableDataset([1, 2])


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("last", ["wrap", "pad", "partial", "drop"])
def test_length(files, workers, last):
    """A loader's length is exact for any number of workers, and its items are the same."""
    loader = data.DataLoader(iterable(files, 4, last_batch=last), batch_size=None, num_workers=workers)
    alone = iterable(files, 4, last_batch=last)
    for _ in range(2):
        length = len(loader)
        seen, expected = items(loader), items(alone)
        assert len(seen) == length == len(loader)
        assert seen == expected


def pickled(dataset):
    """As a spawned worker gets it."""
    return pickle.loads(pickle.dumps(dataset))


@pytest.mark.parametrize("sent", [lambda dataset: dataset, pickled], ids=["forked", "pickled"])
def test_wrapping_epochs_of_new_workers(files, sent):
    """They begin behind the samples that filled up the last batch of the epoch before; shards have 16 or 17 samples."""

    def dataset():
        return iterable(files, 16, last_batch="wrap", random_shuffle=False, num_shards=3)

    left_early = dataset()
    next(iter(left_early))
    left_early = sent(left_early)
    loader = data.DataLoader(left_early, batch_size=None, num_workers=2)
    alone = dataset()
    items(alone)
    for _ in range(3):
        length, expected = len(loader), items(alone)
        assert items(loader) == expected
        assert length == len(expected)
    assert items(left_early) == items(alone)


@pytest.mark.parametrize("workers", [0, 2])
def test_length_of_a_resumed_epoch(files, workers):
    """It is that of the whole epoch, as Lightning expects it."""
    loader = stateful_loader(iterable(files, 4), workers)
    iterator = iter(loader)
    begun = [next(iterator).flatten().tolist() for _ in range(5)]
    again = stateful_loader(iterable(files, 4), workers)
    again.load_state_dict(loader.state_dict())
    rest = items(again)
    assert len(again) == 13 == len(begun + rest)
    assert sorted(flat(begun + rest)) == list(range(50))


def test_single_samples_have_no_length(files):
    """How many batches a loader makes of them depends on its workers; a wrong length would be worse."""
    with pytest.raises(TypeError, match="give batch_size to it"):
        len(data.DataLoader(iterable(files), batch_size=4))


@pytest.mark.parametrize("sent", [lambda dataset: dataset, pickled], ids=["forked", "pickled"])
def test_left_early_without_workers(files, sent):
    """Then with workers: the next epoch, and all of it."""
    dataset = iterable(files, 4)
    next(iter(dataset))
    loader = data.DataLoader(sent(dataset), batch_size=None, num_workers=2)
    expected = iterable(files, 4)
    items(expected)
    assert items(loader) == items(expected)


@pytest.mark.parametrize("generator", [None, torch.Generator().manual_seed(3)], ids=["unseeded", "seeded"])
def test_workers_agree_about_the_order_of_a_sampler(files, generator):
    """PyTorch seeds every worker differently, and each has a copy of the sampler."""
    reader = reader_of(files, last_batch="partial")
    reader.sampler = data.RandomSampler(range(50), generator=generator)
    loader = data.DataLoader(avida.pytorch.IterableDataset(reader, 4, number), batch_size=None, num_workers=2)
    if generator:
        assert sorted(flat(items(loader))) == list(range(50))
    else:
        with pytest.raises(RuntimeError, match="gives each worker another order"):
            items(loader)


def test_workers_then_none(files):
    """Epochs go on where workers have ended."""
    dataset = iterable(files, 4)
    items(data.DataLoader(dataset, batch_size=None, num_workers=2))
    expected = iterable(files, 4)
    items(expected)
    assert items(dataset) == items(expected)


@pytest.mark.parametrize("workers", [0, 2])
def test_python_source(workers):
    source = avida.ExternalSource(range(23), random_shuffle=True, seed=7)
    dataset = avida.pytorch.IterableDataset(source, 4)
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=workers)
    epochs = [[number for (numbers,) in loader for number in numbers.tolist()] for _ in range(2)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(23))] * 2
    assert epochs[0] != epochs[1]
    assert len(loader) == 6


def test_python_source_by_number():
    dataset = avida.pytorch.Dataset(avida.ExternalSource([10, 20, 30]))
    assert [item[0].item() for item in torch.utils.data.DataLoader(dataset, batch_size=None)] == [10, 20, 30]
