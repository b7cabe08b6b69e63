"""The order of samples: shuffles are permutations, all equally likely, and batches follow from their position alone."""

import itertools
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from avida import _core

ORDERS = NONE, SHARD, ALL = "no shuffling", "random_shuffle", "shuffle_after_epoch"
WRAP, PAD, PARTIAL, DROP = _core.LAST_BATCHES


def state(phase, history=(), seed=0):
    """From the numbers that a phase has in the dictionary of a state."""
    names = ("shards", "base", "taken", "epoch", "done", "batch_size")
    numbers = dict(zip(names, phase[:6], strict=True))
    history = [list(earlier) for earlier in history]
    return _core.ReaderState(**numbers, stretches=list(phase[6:]), history=history, seed=seed)


class Blocks(NamedTuple):
    """A shuffle by blocks of these sizes, over and over."""

    shuffle: str
    sizes: list
    window: int

    def firsts(self, samples):
        sums = itertools.accumulate(itertools.cycle(self.sizes), initial=0)
        return list(itertools.takewhile(lambda first: first < samples, sums))


def schedule(samples, shards=1, shard=0, stick=False, last=WRAP, shuffle=NONE, seed=0, history=()):
    start = state((shards, 0, 0, 0, 0, 1), history, seed)
    blocks = None
    if isinstance(shuffle, Blocks):
        blocks = _core.ReaderBlocks(shuffle.firsts(samples), samples, shuffle.window)
        shuffle = shuffle.shuffle
    return _core.ReaderSchedule(start, samples, shard=shard, stick=stick, last=last, shuffle=shuffle, blocks=blocks)


def first_epoch(**kwargs):
    return [index for index, _ in schedule(**kwargs).batch(_core.ReaderCursor(), kwargs["samples"])]


@pytest.mark.parametrize("shuffle", [SHARD, ALL, Blocks(SHARD, [5, 1, 90], 2), Blocks(ALL, [7], 1)])
@pytest.mark.parametrize("samples", [1, 2, 3, 7, 64, 1000, 4099])
def test_shuffles_are_permutations(samples, shuffle):
    for seed in range(5):
        assert sorted(first_epoch(samples=samples, shuffle=shuffle, seed=seed)) == list(range(samples))


def chi_square(counts, expected):
    return sum((count - expected) ** 2 / expected for count in counts)


@pytest.mark.parametrize("samples", [2, 3, 4])
def test_all_orders_are_equally_likely(samples):
    seeds = 6000
    seen = Counter(tuple(first_epoch(samples=samples, shuffle=SHARD, seed=seed)) for seed in range(seeds))
    orders = list(itertools.permutations(range(samples)))
    # The 99.99 % quantiles for 1, 5 and 23 degrees of freedom.
    assert chi_square([seen[order] for order in orders], seeds / len(orders)) < {2: 15.1, 3: 25.7, 4: 55.1}[samples]


def test_places_in_large_shuffles_are_uniform():
    samples, bins = 10_000, 20
    order = np.array(first_epoch(samples=samples, shuffle=SHARD, seed=1))
    counts = np.histogram2d(np.arange(samples), order, bins=bins)[0].ravel()
    assert chi_square(counts, samples / bins**2) < 510  # 361 degrees of freedom: 99.9999 %
    steps = np.abs(np.diff(order))
    assert abs(steps.mean() / (samples / 3) - 1) < 0.05


def test_a_million_samples_cost_nothing_to_plan():
    large = schedule(10**12, shards=7, shard=3, shuffle=SHARD)
    batch = [index for index, _ in large.batch(_core.ReaderCursor(), 1000)]
    assert len(set(batch)) == 1000
    assert all(0 <= index < 10**12 for index in batch)


class Run:
    """All shards of a run, step by step."""

    def __init__(self, samples, shards, batch_size, last, stick, shuffle, place=None):
        self.settings = samples, stick, last, shuffle
        self.batch_size = batch_size
        phase, self.history = place or ((shards, 0, 0, 0, 0, 1), [])
        self.stretches = [*phase[6:], *phase[3:5], batch_size]
        self.shards = [schedule(samples, shards, s, stick, last, shuffle, 5, self.history) for s in range(shards)]
        self.cursors = [shard.cursor(state(phase)) for shard in self.shards]

    def step(self):
        """The batches of all shards at one step; None at the end of a shard's epoch."""
        out = []
        for i, shard in enumerate(self.shards):
            if shard.steps(self.cursors[i], self.batch_size) == 0:
                out.append(None)
                continue
            out.append(shard.batch(self.cursors[i], self.batch_size))
            self.cursors[i] = shard.after(self.cursors[i], self.batch_size)
        return out

    def steps_left(self):
        return [s.steps(c, self.batch_size) for s, c in zip(self.shards, self.cursors, strict=True)]

    def resume(self, by, shards, batch_size):
        """Another run from the state of one shard."""
        samples, stick, last, shuffle = self.settings
        at = self.cursors[by]
        phase = (len(self.shards), 0, 0, at.epoch, at.done, self.batch_size, *self.stretches)
        history = [phase for phase in self.history if last == WRAP or phase[3] == at.epoch]
        place = phase, history
        if shards != len(self.shards):
            place = (shards, 0, 0, at.epoch, 0, self.batch_size), [*history, phase]
        return Run(samples, shards, batch_size, last, stick, shuffle, place)


SHUFFLES = st.sampled_from(ORDERS) | st.builds(
    Blocks, st.sampled_from([SHARD, ALL]), st.lists(st.integers(1, 12), min_size=1, max_size=4), st.integers(1, 5)
)
RUNS = {
    "samples": st.integers(1, 60),
    "shards": st.integers(1, 6),
    "batch_size": st.integers(1, 12),
    "shuffle": SHUFFLES,
    "stick": st.booleans(),
}


@given(**RUNS, last=st.sampled_from([PAD, PARTIAL, DROP]))
@settings(max_examples=150, deadline=None)
def test_epochs_of_all_shards(samples, shards, batch_size, shuffle, stick, last):
    """Every sample once, and as many batches in all shards."""
    samples = max(samples, shards)
    for epoch in range(3):
        seen, lengths = [], set()
        for shard in range(shards):
            one = schedule(samples, shards, shard, stick, last, shuffle, 5)
            at = one.cursor(state((shards, epoch, 0, epoch, 0, 1)))
            lengths.add(one.steps(at, batch_size))
            for _ in range(one.steps(at, batch_size)):
                seen.append(one.batch(at, batch_size))
                at = one.after(at, batch_size)
            assert at.epoch == epoch + bool(lengths - {0})
        if last == PARTIAL and batch_size == 1:
            assert max(lengths) - min(lengths) <= 1  # there is no other way
        else:
            assert len(lengths) == 1
        assert {p for batch in seen for _, p in batch} <= {epoch}
        found = Counter(index for batch in seen for index, _ in batch)
        if last == PAD:
            assert set(found) == set(range(samples))
            assert all(len(batch) == batch_size for batch in seen)
        elif last == PARTIAL:
            assert all(seen)
            assert found == Counter(range(samples))
        else:
            assert max(found.values(), default=1) == 1
            assert all(len(batch) == batch_size for batch in seen)
            assert len(found) >= samples - shards * batch_size


@given(samples=st.integers(1, 20), batch_size=st.integers(1, 50), shuffle=SHUFFLES)
@settings(max_examples=60, deadline=None)
def test_epochs_follow_one_another_without_gaps(samples, batch_size, shuffle):
    one = schedule(samples, shuffle=shuffle)
    cursor, stream = _core.ReaderCursor(), []
    for epoch in range(4):
        while cursor.epoch == epoch:
            stream += [index for index, _ in one.batch(cursor, batch_size)]
            cursor = one.after(cursor, batch_size)
    for start in range(0, len(stream) - samples + 1, samples):
        assert sorted(stream[start : start + samples]) == list(range(samples))


@given(
    **RUNS,
    last=st.sampled_from([WRAP, PAD, PARTIAL]),
    phases=st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 5), st.integers(1, 9), st.integers(1, 12)), min_size=1, max_size=4
    ),
)
@settings(max_examples=600, deadline=None)
def test_other_numbers_of_shards(samples, shards, batch_size, shuffle, stick, last, phases):
    """A run that goes on with other shards, from the state of any one shard, still reads every sample once."""
    samples = max(samples, shards, *(phase[2] for phase in phases))
    run = Run(samples, shards, batch_size, last, stick, shuffle)
    seen = []

    def step():
        seen.extend(pair for batch in run.step() if batch for pair in batch)

    for steps, by, shards_after, batch_after in phases:
        for _ in range(steps):
            # All shards stand at the same step of one epoch.
            if len(set(run.steps_left())) > 1 or run.steps_left()[0] <= (1 if last == WRAP else 0):
                break
            step()
        if len({cursor.epoch for cursor in run.cursors}) > 1:
            break
        run = run.resume(by % len(run.shards), shards_after, batch_after)
    last_pass = max((p for _, p in seen), default=0)
    while min(cursor.pass_ for cursor in run.cursors) <= last_pass:
        epoch = min(cursor.epoch for cursor in run.cursors)
        before = [cursor.epoch for cursor in run.cursors]
        if any(n == 0 and e == epoch for n, e in zip(run.steps_left(), before, strict=True)):
            for i, shard in enumerate(run.shards):
                if run.cursors[i].epoch == epoch and shard.steps(run.cursors[i], run.batch_size) == 0:
                    run.cursors[i] = shard.next_epoch(run.cursors[i], run.batch_size)
            continue
        step()
    counts = Counter(seen)
    if last == PAD:
        assert set(counts) == {(i, number) for i in range(samples) for number in range(last_pass + 1)}
        repeated = sum(n * (size + 1) for n, size in [(shards, batch_size), *((p[2], p[3]) for p in phases)])
        assert len(seen) - len(counts) <= repeated * (last_pass + 1)
        return
    for number in range(last_pass + 1):
        assert Counter({i: counts[i, number] for i in range(samples)}) == Counter(range(samples)), number


@pytest.mark.parametrize("shuffle", [SHARD, Blocks(SHARD, [7, 2], 2)])
@pytest.mark.parametrize("last", [WRAP, PAD, PARTIAL])
def test_the_same_shards_go_on_from_the_state_of_any(last, shuffle):
    for steps, by in itertools.product(range(9), range(3)):
        run = Run(40, 3, 5, last, False, shuffle)
        for _ in range(steps):
            run.step()
        if len({cursor.epoch for cursor in run.cursors}) > 1:
            continue
        again = run.resume(by, 3, 5)
        for _ in range(12):
            assert run.step() == again.step()
