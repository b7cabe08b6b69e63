"""Runs that are resumed again and again with other shards, batch sizes and epochs: never refused, and exact."""

import dataclasses
import itertools
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.readers.numbered import make_files, reader_of
from tests.readers.test_state import ORDERS


@dataclasses.dataclass
class Phase:
    """Whole epochs with these batch sizes, then some steps of another one."""

    shards: int
    epochs: list[int]
    steps: int
    batch_size: int


PHASES = st.builds(
    Phase,
    shards=st.integers(1, 9),
    epochs=st.lists(st.integers(1, 14), max_size=3).flatmap(lambda sizes: st.sampled_from([sizes, sizes[:1] * 4])),
    steps=st.integers(0, 4),
    batch_size=st.integers(1, 14),
)
CHAINS = st.lists(PHASES, min_size=1, max_size=5)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("numbered"), 40)


def ids(batch):
    return [(source.index, source.epoch) for source in batch[0].sources]


def run_epoch(iterators):
    return [[ids(batch) for batch in iterator] for iterator in iterators]


def run_chain(files, chain, options):
    """For each epoch, or part of one, the batches of every shard as lists of (sample, pass)."""
    state = None
    for phase in chain:
        readers = [reader_of(files, **options, num_shards=phase.shards, shard_id=i) for i in range(phase.shards)]
        if state is not None:
            for reader in readers:
                reader.set_state(state)
        for size in phase.epochs:
            yield run_epoch([reader.next_epoch(size) for reader in readers])
        iterators = [reader.next_epoch(phase.batch_size) for reader in readers]
        steps = min(phase.steps, max(map(len, iterators)) - 1)
        if steps > 0:
            yield run_epoch([itertools.islice(each, min(steps, len(each))) for each in iterators])
        states = {str(reader.get_state()) for reader in readers}
        assert len(states) == 1  # any shard tells where all of them stand
        state = states.pop()


class Model:
    """What wrapping means, with lists: no arithmetic over passes, and no states."""

    def __init__(self, samples, stick):
        self.samples, self.stick = samples, stick
        self.left = defaultdict(lambda: list(range(samples)))  # of each pass
        self.epoch, self.done, self.in_epoch = 0, 0, samples

    def part(self, items, shard, number, shards):
        k = shard if self.stick else (shard + number) % shards
        return items[len(items) * k // shards : len(items) * (k + 1) // shards]

    def stream(self, shard, shards):
        for number in itertools.count():
            for sample in self.part(self.left[number], shard, number, shards):
                yield sample, number

    def begin_phase(self, shards):
        self.shards = shards
        self.streams = [self.stream(shard, shards) for shard in range(shards)]
        self.taken = []

    def quota(self, shard):
        return len(self.part(range(self.in_epoch), shard, self.epoch, self.shards)) - self.done

    def steps(self, shard, batch_size):
        return max(0, -(-self.quota(shard) // batch_size))

    def run(self, batch_size, steps=None):
        """The batches of all shards, up to some step or to the end of the epoch."""
        counts = [self.steps(shard, batch_size) for shard in range(self.shards)]
        found = [
            [list(itertools.islice(stream, batch_size)) for _ in range(count if steps is None else min(count, steps))]
            for stream, count in zip(self.streams, counts, strict=True)
        ]
        self.taken += [pair for batches in found for batch in batches for pair in batch]
        if steps is None:
            self.epoch, self.done, self.in_epoch = self.epoch + 1, 0, self.samples
        else:
            self.done += steps * batch_size
        return found

    def end_phase(self, next_shards):
        """Other shards divide what is left; the same ones continue where they stand."""
        if next_shards == self.shards:
            return
        self.in_epoch = sum(max(0, self.quota(shard)) for shard in range(self.shards))
        self.done = 0
        for sample, number in self.taken:
            self.left[number].remove(sample)
        self.begin_phase(next_shards)

    def run_chain(self, chain):
        self.begin_phase(chain[0].shards)
        for phase in chain:
            self.end_phase(phase.shards)
            for size in phase.epochs:
                yield self.run(size)
            longest = max(self.steps(shard, phase.batch_size) for shard in range(phase.shards))
            steps = min(phase.steps, longest - 1)
            if steps > 0:
                yield self.run(phase.batch_size, steps)


def passes(epochs):
    return [[[[number for _, number in batch] for batch in shard] for shard in epoch] for epoch in epochs]


@given(samples=st.integers(9, 40), order=st.sampled_from(ORDERS), chain=CHAINS)
@settings(max_examples=60)
def test_wrapping(files, samples, order, chain):
    """Sample by sample what the model says; shuffled, every sample of a pass once, and batches of the same passes."""
    found = list(run_chain(files[:samples], chain, order))
    expected = list(Model(samples, bool(order) and "random_shuffle" not in order).run_chain(chain))
    if "seed" in str(order):
        assert passes(found) == passes(expected)
        pairs = [pair for epoch in found for shard in epoch for batch in shard for pair in batch]
        assert len(set(pairs)) == len(pairs)
    else:
        assert found == expected


@given(
    samples=st.integers(9, 40),
    order=st.sampled_from(ORDERS),
    last=st.sampled_from(["pad", "partial", "drop"]),
    chain=CHAINS,
)
@settings(max_examples=60)
def test_other_last_batches(files, samples, order, last, chain):
    """Padded or partial epochs have every sample, partial and dropping ones none twice."""
    chain.append(Phase(1, [4], 0, 1))  # ends the last epoch
    seen, batches = Counter(), 0
    for epoch in run_chain(files[:samples], chain, {**order, "last_batch": last}):
        seen.update(pair for shard in epoch for batch in shard for pair in batch)
        batches += sum(map(len, epoch))
    epochs = range(max((number for _, number in seen), default=-1) + 1)
    if last != "drop":
        assert set(seen) == {(sample, number) for sample in range(samples) for number in epochs}
    if last != "pad":
        assert set(seen.values()) <= {1}


def test_nine_epochs_then_fewer_shards(tmp_path):
    """Passes run ahead of epochs when every epoch ends with a batch that wraps."""
    files = make_files(tmp_path, 100)
    chain = [Phase(8, [8] * 9, 0, 8), Phase(4, [8], 0, 8), Phase(2, [8], 0, 8)]
    assert list(run_chain(files, chain, {})) == list(Model(100, False).run_chain(chain))


def test_shards_with_different_numbers_of_batches(tmp_path):
    """12 samples in one batch, 13 in two: the shards have taken different numbers of samples after an epoch."""
    files = make_files(tmp_path, 100)
    for order, stick in [({}, False), ({"stick_to_shard": True}, True)]:
        chain = [Phase(8, [12] * 3, 0, 12), Phase(8, [12, 6], 1, 12), Phase(4, [8, 25], 0, 8)]
        assert list(run_chain(files, chain, order)) == list(Model(100, stick).run_chain(chain))


def test_states_without_an_epoch_between_them(files):
    """A state that is passed on at once, through other shards, is the same position."""
    readers = [reader_of(files, num_shards=3, shard_id=i) for i in range(3)]
    for _ in range(4):
        for reader in readers:
            list(reader.next_epoch(7))
    direct, detour, other = (reader_of(files, num_shards=2), reader_of(files, num_shards=2), reader_of(files))
    direct.set_state(readers[0].get_state())
    other.set_state(readers[0].get_state())
    detour.set_state(other.get_state())
    assert run_epoch([direct.next_epoch(5)]) == run_epoch([detour.next_epoch(5)])


@pytest.mark.parametrize("stick", [False, True])
def test_resuming_far_away(files, stick):
    """A run of many epochs that began with gaps is resumed with other shards at once."""
    options = {"stick_to_shard": stick}
    readers = [reader_of(files, **options, num_shards=2, shard_id=i) for i in range(2)]
    iterators = [reader.next_epoch(3) for reader in readers]
    for iterator in iterators:
        next(iterator)
    reader = reader_of(files, **options, num_shards=5)
    reader.set_state(readers[0].get_state())
    list(reader.next_epoch(8))
    far = reader.state_dict() | {"epoch": 10**9}
    again = reader_of(files, **options)
    again.set_state(far)
    assert len(again.next_epoch(4)) == 10
    assert len({pair for batch in run_epoch([again.next_epoch(4)])[0] for pair in batch}) == 40


def test_shards_that_are_too_far_apart(files):
    """Parts of different sizes drift apart without end when shards keep them."""
    reader = reader_of(files, stick_to_shard=True, num_shards=3)
    list(reader.next_epoch(4))
    again = reader_of(files, stick_to_shard=True)
    again.set_state(reader.state_dict() | {"epoch": 10**12})
    with pytest.raises(ValueError, match="passes apart"):
        next(again.next_epoch(4))


def test_states_of_the_first_version(files):
    """They had no stretches: what every shard had taken was one number."""
    readers = [reader_of(files, num_shards=2, shard_id=i) for i in range(2)]
    for reader in readers:
        list(reader.next_epoch(6))
    state = readers[0].state_dict() | {"version": 1, "taken": 24}
    del state["stretches"]
    again = reader_of(files)
    again.set_state(state)
    other = reader_of(files)
    other.set_state(readers[0].get_state())
    assert run_epoch([again.next_epoch(6)]) == run_epoch([other.next_epoch(6)])


NUMBERS = st.one_of(st.integers(0, 50), st.integers(0, 2**40), st.sampled_from([2**31, 2**53, 2**62, 2**63 - 1]))


@given(
    numbers=st.tuples(*[NUMBERS] * 5),
    stretches=st.lists(NUMBERS, max_size=6),
    history=st.lists(
        st.lists(NUMBERS, min_size=6, max_size=9).map(lambda phase: [phase[0] % 42, *phase[1:]]), max_size=4
    ),
    shards=st.integers(1, 40),
    options=st.sampled_from([*ORDERS, *({"last_batch": last} for last in ("pad", "partial", "drop"))]),
)
@settings(max_examples=300)
def test_states_that_cannot_be(files, numbers, stretches, history, shards, options):
    """Whatever a state says, it is refused, or an epoch of samples that are there: nothing overflows or takes long."""
    reader = reader_of(files, **options)
    names = ["epoch", "done", "base", "taken", "batch_size"]
    state = reader.state_dict() | dict(zip(names, numbers, strict=True))
    state |= {"shards": shards, "stretches": stretches, "history": history}
    try:
        reader.set_state(state)
        epoch = reader.next_epoch(7)
        batches = run_epoch([itertools.islice(epoch, 3)])[0]
    except (ValueError, OverflowError, TypeError):
        return
    assert all(sample < len(files) for batch in batches for sample, _ in batch)
