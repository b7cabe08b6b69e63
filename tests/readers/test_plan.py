"""The order of samples: shuffles are permutations, all equally likely, and batches follow from their place alone."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from avida import _core

NONE, SHARD, ALL = range(3)


def plan(samples, shards=1, shard=0, stick=False, pad=False, shuffle=NONE, seed=0):
    return _core.ReaderPlan(samples, shards, shard, stick, pad, shuffle, seed)


def first_epoch(**kwargs):
    return plan(**kwargs).batch(_core.ReaderCursor(), kwargs["samples"])


@pytest.mark.parametrize("shuffle", [SHARD, ALL])
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
    large = plan(10**12, shards=7, shard=3, shuffle=SHARD)
    batch = large.batch(_core.ReaderCursor(), 1000)
    assert len(set(batch)) == 1000
    assert all(0 <= index < 10**12 for index in batch)


@given(
    samples=st.integers(1, 40),
    shards=st.integers(1, 6),
    batch_size=st.integers(1, 12),
    shuffle=st.sampled_from([NONE, SHARD, ALL]),
    stick=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_epochs_of_all_shards(samples, shards, batch_size, shuffle, stick):
    """Without padding the passes of all shards have each sample once; with it, all shards have as many batches."""
    samples = max(samples, shards)
    for epoch in range(3):
        seen, lengths = [], set()
        for shard in range(shards):
            padded = plan(samples, shards, shard, stick, True, shuffle, 5)
            cursor = _core.ReaderCursor()
            for _ in range(epoch):
                cursor = padded.next_epoch(cursor, batch_size)
            steps = padded.steps(epoch, batch_size)
            lengths.add(steps)
            # What is repeated at the end is the last sample.
            items = padded.batch(cursor, steps * batch_size)
            while len(items) > 1 and items[-1] == items[-2]:
                items.pop()
            seen += items
        assert len(lengths) == 1
        assert sorted(seen) == list(range(samples))


@given(samples=st.integers(1, 20), batch_size=st.integers(1, 50), shuffle=st.sampled_from([NONE, SHARD, ALL]))
@settings(max_examples=60, deadline=None)
def test_epochs_follow_one_another_without_gaps(samples, batch_size, shuffle):
    one = plan(samples, shuffle=shuffle)
    cursor, stream = _core.ReaderCursor(), []
    for epoch in range(4):
        stream += one.batch(cursor, one.steps(epoch, batch_size) * batch_size)
        cursor = one.next_epoch(cursor, batch_size)
    for start in range(0, len(stream) - samples + 1, samples):
        assert sorted(stream[start : start + samples]) == list(range(samples))
