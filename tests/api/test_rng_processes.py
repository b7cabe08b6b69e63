"""Random numbers in child processes: each draws its own, and the same ones in the next run."""

import multiprocessing
import threading

import numpy as np
import pytest

import avida as ndd
from tests.children import in_child
from tests.readers.numbered import make_files, reader_of


def draw(_=None):
    return ndd.random.uniform(dtype="float64").item()


def draws_of_forks(count):
    """What plain forks draw."""
    return [in_child(draw) for _ in range(count)]


def send_draws(connection):
    connection.send([draw(), draw()])


def draws_of_processes(method, count):
    """What processes of Python's multiprocessing draw."""
    context = multiprocessing.get_context(method)
    drawn = []
    for _ in range(count):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=send_draws, args=(sender,))
        process.start()
        sender.close()
        drawn += receiver.recv()
        process.join()
    return drawn


def again(function, *arguments, seed=5):
    """What a function returns after seeding, and that it is the same the next time."""
    ndd.random.set_seed(seed)
    first = function(*arguments)
    ndd.random.set_seed(seed)
    assert function(*arguments) == first
    return first


def test_forks():
    drawn = again(draws_of_forks, 3)
    assert len({*drawn, again(draw)}) == 4
    assert drawn != again(draws_of_forks, 3, seed=6)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(method):
    drawn = again(draws_of_processes, method, 2)
    assert len({*drawn, again(draw)}) == 5


def test_children_of_children():
    def grandchildren():
        return in_child(lambda: [draw(), *draws_of_forks(2)]) + draws_of_forks(2)

    assert len(set(again(grandchildren))) == 5


def test_parent_draws_the_same_with_and_without_children():
    ndd.random.set_seed(5)
    alone = [draw(), draw()]
    ndd.random.set_seed(5)
    first = draw()
    draws_of_forks(1)
    draws_of_processes("spawn", 1)
    assert [first, draw()] == alone


def test_children_after_a_resume():
    """They draw what the children of the run that was not interrupted draw, not what its first ones drew."""
    ndd.random.set_seed(5)
    before = draws_of_forks(2)
    state = ndd.random.get_default_rng().state
    after = draws_of_forks(2)
    ndd.random.get_default_rng().state = state
    assert draws_of_forks(2) == after
    assert not {*before} & {*after}


def test_without_a_seed_children_differ():
    drawn = []
    thread = threading.Thread(target=lambda: drawn.extend([draw(), *draws_of_forks(2)]))  # has a generator of its own
    thread.start()
    thread.join()
    assert len(set(drawn)) == 3


def test_seed_for_keyed_draws_is_that_of_the_parent():
    ndd.random.set_seed(11)
    assert in_child(lambda: ndd.random.get_default_rng().seed) == 11


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("numbered"), 6)


def random_transform(file, label):
    return ndd.random.uniform(dtype="float64", shape=[2])


def draws_of_loader(kind, files, epochs, **options):
    import torch.utils.data

    dataset = getattr(ndd.pytorch, kind)(reader_of(files), transform=random_transform)
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, **options)
    return [np.concatenate([item.numpy() for item in loader]).tolist() for _ in range(epochs)]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("Dataset", {"num_workers": 0}),
        ("Dataset", {"num_workers": 2}),
        ("Dataset", {"num_workers": 2, "persistent_workers": True}),
        ("IterableDataset", {"num_workers": 0}),
        ("IterableDataset", {"num_workers": 2}),
        ("IterableDataset", {"num_workers": 2, "persistent_workers": True}),
    ],
)
def test_loaders(files, kind, options):
    """Every sample of every epoch has its own numbers."""
    drawn = again(lambda: draws_of_loader(kind, files, 2, **options))
    assert len({number for epoch in drawn for number in epoch}) == 2 * 6 * 2


def test_loader_that_spawns(files):
    options = {"num_workers": 2, "multiprocessing_context": "spawn", "persistent_workers": True}
    ndd.random.set_seed(5)
    drawn = draws_of_loader("IterableDataset", files, 2, **options)
    assert len({number for epoch in drawn for number in epoch}) == 2 * 6 * 2
