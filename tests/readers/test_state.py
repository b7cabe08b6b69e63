"""A reader resumes where another one stood, with the same number of shards or with another."""

import itertools
import json
import pickle
import threading

import pytest

import avida
from tests.readers.numbered import epoch, flat, make_files, numbers, reader_of

ORDERS = [
    {"random_shuffle": True, "seed": 5},
    {"shuffle_after_epoch": True, "shuffle_after_epoch_seed": 5},
    {"stick_to_shard": True},
    {},
]
LAST = ["wrap", "pad", "partial", "drop"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("numbered"), 50)


def stream(reader, batch_size, batches):
    """Batches across epochs."""
    found = []
    while len(found) < batches:
        found += epoch(reader, batch_size)
    return found[:batches]


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("order", ORDERS)
def test_resume_anywhere(files, order, last):
    options = {**order, "last_batch": last, "num_shards": 3, "shard_id": 1}
    reader = reader_of(files, **options)
    states, batches = [str(reader.get_state())], []
    for _ in range(3):
        for batch, _ in reader.next_epoch(4):
            batches.append(numbers(batch))
            states.append(str(reader.get_state()))
    for i, state in enumerate(states[:-4]):
        again = reader_of(files, **options)
        again.set_state(state)
        assert stream(again, 4, 4) == batches[i : i + 4]


def test_epochs_keep_their_length(files):
    reader = reader_of(files, last_batch="partial")
    for step, _ in enumerate(reader.next_epoch(8)):
        if step == 2:
            state = reader.get_state()
    again = reader_of(files, last_batch="partial")
    again.set_state(state)
    assert again.epoch == 0
    rest = again.next_epoch(8)
    assert len(rest) == 4
    assert len(list(rest)) == 4
    assert again.epoch == 1
    assert len(again.next_epoch(8)) == 7


def test_state_behind_the_last_batch_is_the_next_epoch(files):
    reader = reader_of(files)
    for _ in reader.next_epoch(10):
        state = reader.get_state()
    assert (state.epoch, state.done) == (1, 0)
    assert str(reader.get_state()) == str(state)


def test_state_after_leaving_an_epoch(files):
    reader = reader_of(files)
    for batch, _ in reader.next_epoch(10):
        if numbers(batch)[0] == 20:
            break
    again = reader_of(files)
    again.set_state(reader.get_state())
    assert epoch(again, 10)[0][0] == 30
    # The reader itself goes on with a whole epoch.
    assert epoch(reader, 10)[0][0] == 0


def test_another_batch_size(files):
    reader = reader_of(files, random_shuffle=True, last_batch="partial")
    whole = flat(epoch(reader_of(files, random_shuffle=True, last_batch="partial"), 50))
    iterator = reader.next_epoch(7)
    next(iterator), next(iterator)
    for size in (1, 9, 64, None):
        again = reader_of(files, random_shuffle=True, last_batch="partial")
        again.set_state(reader.get_state())
        assert flat(epoch(again, size)) == whole[14:]


def test_set_state_on_a_reader_in_use(files):
    reader = reader_of(files)
    iterator = reader.next_epoch(5)
    next(iterator)
    state = reader.get_state()
    next(iterator)
    reader.set_state(state)
    assert numbers(next(iterator)[0]) == [10, 11, 12, 13, 14]  # not affected
    assert epoch(reader, 5)[0] == [5, 6, 7, 8, 9]
    fresh = reader_of(files, lazy_init=True)
    fresh.set_state(state)
    assert epoch(fresh, 5)[0] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("last", ["wrap", "pad", "partial"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shards", [(8, 3), (8, 1), (8, 16), (1, 5), (3, 4, 2), (2, 16, 3, 1)])
def test_other_numbers_of_shards(files, order, last, shards):
    """Every sample of the epoch once, whichever shard's state is taken."""
    state, seen, by = None, [], itertools.count()
    for place, count in enumerate(shards):
        readers = [reader_of(files, **order, last_batch=last, num_shards=count, shard_id=i) for i in range(count)]
        for reader in readers:
            if state is not None:
                reader.set_state(state)
        iterators = [reader.next_epoch(2) for reader in readers]
        if place == len(shards) - 1:
            items = [list(iterator) for iterator in iterators]
            steps = {len(item) for item in items}
            assert len(steps) == 1 or last == "wrap" or len(files) - len(set(seen)) < count
        else:
            items = [[next(iterator)] for iterator in iterators]
        seen += [(s.index, s.epoch) for item in items for files_, _ in item for s in files_.sources]
        state = str(readers[next(by) % count].get_state())
    first = [index for index, number in seen if number == 0]
    assert set(first) == set(range(50))
    if last != "pad":
        assert len(first) == 50


@pytest.mark.parametrize("last", ["wrap", "pad", "partial"])
@pytest.mark.parametrize("batch_size", [1, 2, 7])
def test_shards_of_different_lengths(files, last, batch_size):
    """A shard with a step less waits for the others: its state is enough all the same."""
    for before, after, steps in itertools.product((3, 6, 8), (1, 5), range(1, 9)):
        for which in (0, -1):
            options = {"last_batch": last, "random_shuffle": True}
            readers = [reader_of(files[:20], **options, num_shards=before, shard_id=i) for i in range(before)]
            iterators = [reader.next_epoch(batch_size) for reader in readers]
            items = [next(iterator, None) for _ in range(steps) for iterator in iterators]
            state = readers[which].get_state()
            readers = [reader_of(files[:20], **options, num_shards=after, shard_id=i) for i in range(after)]
            for reader in readers:
                reader.set_state(state)
            if state.epoch == 0:
                items += [item for reader in readers for item in reader.next_epoch(batch_size)]
            seen = [s.index for item in items if item for s in item[0].sources if s.epoch == 0]
            assert sorted(set(seen)) == list(range(20)), (before, after, steps, which)
            assert last == "pad" or len(seen) == 20, (before, after, steps, which)


def test_state_is_small_whatever_the_size(files):
    sizes = []
    for count in (10, 50):
        reader = reader_of(files[:count], random_shuffle=True, num_shards=2)
        next(reader.next_epoch(3))
        sizes.append(len(str(reader.get_state())))
    assert max(sizes) - min(sizes) <= 4
    assert max(sizes) < 300


def test_dictionaries(files):
    reader = reader_of(files)
    next(reader.next_epoch(6))
    state = json.loads(json.dumps(reader.state_dict()))
    again = reader_of(files)
    again.load_state_dict(state)
    assert epoch(again, 6)[0][0] == 6
    assert again.state_dict()["epoch"] == 1
    assert avida.readers.ReaderState.parse(str(reader.get_state())) == reader.get_state()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"random_shuffle": True}, "no shuffling"),
        ({"last_batch": "drop"}, "last_batch"),
        ({"stick_to_shard": True}, "stick_to_shard"),
    ],
)
def test_states_of_other_readers(files, options, match):
    state = reader_of(files).get_state()
    with pytest.raises(ValueError, match=match):
        reader_of(files, **options).set_state(state)


def test_states_of_other_data(files):
    with pytest.raises(ValueError, match="50 samples, this one has 49"):
        reader_of(files[1:]).set_state(reader_of(files).get_state())
    seeded = {"random_shuffle": True, "seed": 1}
    with pytest.raises(ValueError, match="seed 1"):
        reader_of(files, random_shuffle=True, seed=2).set_state(reader_of(files, **seeded).get_state())


def test_bad_states(files):
    reader = reader_of(files)
    for bad in ("", "x", "[]", "3", "{}", '{"version": 1}', json.dumps(reader.state_dict() | {"version": 3})):
        with pytest.raises((ValueError, TypeError)):
            reader.set_state(bad)
    for change in ({"epoch": -1}, {"done": 1.5}, {"history": [[1, 2]]}, {"history": [[0] * 6]}, {"order": 3}):
        with pytest.raises(ValueError, match="state of a reader"):
            reader.load_state_dict(reader.state_dict() | change)
    with pytest.raises(TypeError, match="got int"):
        reader.set_state(3)
    assert epoch(reader, 50) == [list(range(50))]


def test_pickling(files):
    reader = reader_of(files, random_shuffle=True, last_batch="partial")
    iterator = reader.next_epoch(7)
    next(iterator)
    again = pickle.loads(pickle.dumps(reader))
    assert epoch(again, 7) == [numbers(batch) for batch, _ in iterator]
    reader.sampler = [3, 1]
    assert epoch(pickle.loads(pickle.dumps(reader)), 2) == [[3, 1]]


def test_orders_of_the_users_own(files):
    """They are gone on with when they are the same, and refused when they are not."""

    class Backwards:
        def set_epoch(self, epoch):
            self.first = 49 - epoch

        def __iter__(self):
            return iter(range(self.first, -1, -1))

    reader = reader_of(files)
    reader.sampler = Backwards()
    iterator = reader.next_epoch(20)
    next(iterator)
    again = reader_of(files)
    again.sampler = Backwards()
    again.set_state(reader.get_state())
    assert epoch(again, 20) == [list(range(29, 9, -1)), list(range(9, -1, -1))]
    assert epoch(again, 50) == [list(range(48, -1, -1))]
    other = reader_of(files)
    other.sampler = [5, 4, 3]
    other.set_state(reader.get_state())
    with pytest.raises(ValueError, match="has another one"):
        next(other.next_epoch(20))

    reader = reader_of(files)
    iterator = reader.next_epoch(2, indices=[9, 8, 7])
    next(iterator)
    again = reader_of(files)
    again.set_state(reader.get_state())
    with pytest.raises(ValueError, match="has another one"):
        next(again.next_epoch(2))
    assert epoch(again, 2, indices=[9, 8, 7]) == [[7]]
    assert epoch(again, 50) == [list(range(50))]


def read_from(reader, state):
    reader.set_state(state)
    return epoch(reader, 10)


@pytest.mark.parametrize("stick", [False, True])
def test_places_far_away(files, stick):
    """Many epochs cost no time to go on behind."""
    options = {"stick_to_shard": stick, "num_shards": 3, "shard_id": 1}
    reader = reader_of(files, **options)
    reader.seek(2**40, 2**45)
    state = reader.get_state()
    assert (state.epoch, state.taken) == (2**40, 2**45)
    near = reader_of(files, **options)
    iterator = near.next_epoch(4)
    next(iterator)
    once_round = 17 if stick else 50  # the shard alone, or all of them in turn
    reader.set_state(near.state_dict() | {"taken": once_round * 10**9})
    assert epoch(reader, 4) == [numbers(batch) for batch, _ in iterator]
    with pytest.raises(ValueError, match=f"epoch must be from 0 to {2**53}, got {2**60}"):
        reader.seek(2**60)


@pytest.mark.parametrize(
    "change",
    [
        {"shards": 2**31 - 1},
        {"shards": 0},
        {"done": 2**63, "taken": 2**63},
        {"history": [[2**32, 0, 1, 0, 0, 1]]},
        {"history": [[60, 0, 5, 0, 0, 1]]},
        {"history": [[2, 5, 1, 0, 0, 1]]},
        {"history": [[2, 0, 1, 0, 0, 0]]},
    ],
)
def test_states_that_make_no_sense(files, change):
    for options in ({}, {"stick_to_shard": True}):
        reader = reader_of(files, **options)
        with pytest.raises((ValueError, OverflowError, TypeError)):
            read_from(reader, reader.state_dict() | change)


def test_states_while_others_read(files):
    """A state taken by another thread is that of some item's end."""
    reader = reader_of(files, last_batch="partial")
    states, done = [], threading.Event()

    def watch():
        while not done.is_set():
            states.append(reader.get_state())

    thread = threading.Thread(target=watch)
    thread.start()
    for _ in range(20):
        list(reader.next_epoch(7))
    done.set()
    thread.join()
    assert all(state.done % 7 == 0 and state.done <= 50 for state in states)
    assert [s.epoch for s in states] == sorted(s.epoch for s in states)


@pytest.mark.parametrize("form", [str, lambda state: str(state).encode(), lambda state: state, lambda s: s.to_dict()])
@pytest.mark.parametrize("order", ORDERS[:2])
def test_reader_without_a_seed_takes_up_that_of_the_state(files, order, form):
    reader = reader_of(files, **order)
    epoch(reader, 7)
    running = reader.next_epoch(7)
    next(running)
    state = form(reader.get_state())
    without_seed = {name: value for name, value in order.items() if not name.endswith("seed")}
    again = reader_of(files, **without_seed)
    again.set_state(state)
    assert epoch(again, 7) == [numbers(batch) for batch, _ in running]
    assert epoch(again, 7) == epoch(reader, 7), "and keeps it"
    assert epoch(pickle.loads(pickle.dumps(again)), 7) == epoch(reader, 7)


def test_state_without_shuffling_has_no_seed(files):
    """A state of an unshuffled reader says nothing of the seed, and one that does not shuffle needs none."""
    reader = reader_of(files, seed=3)
    reader.set_state(str(reader_of(files, seed=4).get_state()))
    assert flat(epoch(reader, 10)) == list(range(50))


@pytest.mark.parametrize("state", [b"\xff\xfe", b"", "x", b"[]"])
def test_bytes_that_are_no_state(files, state):
    with pytest.raises((ValueError, TypeError), match="state of a reader"):
        reader_of(files).set_state(state)


def test_an_epoch_that_was_left_leaves_nothing_to_a_reader_that_was_moved(files):
    """What it had read ahead has another seed than the state."""
    options = {"random_shuffle": True, "last_batch": "partial"}
    other = reader_of(files, seed=5, **options)
    epoch(other, 4)
    reader = reader_of(files, **options)
    left = reader.next_epoch(4)
    next(left)
    reader.set_state(other.get_state())
    list(left)
    assert epoch(reader, 4) == epoch(other, 4)
