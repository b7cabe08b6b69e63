"""Shuffling by blocks: which samples come when."""

import bisect
import itertools
import os
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import avida as ndd
from avida import _core
from tests.readers import tars
from tests.readers.numbered import flat, make_files
from tests.readers.resumable import FORMATS

SHARD, ALL = "random_shuffle", "shuffle_after_epoch"
MIB = 1 << 20


def passes(firsts, samples, window, *, shards=1, shard=0, stick=False, shuffle=SHARD, seed=3, number=2):
    """The samples of a shard in each pass."""
    blocks = _core.ReaderBlocks(firsts, samples, window)
    start = _core.ReaderState(shards=shards, seed=seed)
    schedule = _core.ReaderSchedule(
        start, samples, shard=shard, stick=stick, last="partial", shuffle=shuffle, blocks=blocks
    )
    cursor, found = _core.ReaderCursor(), []
    for _ in range(number):
        found.append([index for index, _ in schedule.batch(cursor, samples)])
        cursor = schedule.next_epoch(cursor, samples)
    return found


def block_of(firsts, sample):
    return bisect.bisect_right(firsts, sample) - 1


SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=40)


@given(
    sizes=SIZES,
    window=st.integers(1, 50),
    shards=st.integers(1, 7),
    shuffle=st.sampled_from([SHARD, ALL]),
    stick=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_a_shard_shares_no_block_but_its_first_and_its_last(sizes, window, shards, shuffle, stick):
    firsts, samples = list(itertools.accumulate(sizes, initial=0))[:-1], sum(sizes)
    shards = min(shards, samples)
    options = {"shards": shards, "stick": stick, "shuffle": shuffle}
    found = [passes(firsts, samples, window, shard=shard, **options) for shard in range(shards)]
    for of_shards in zip(*found, strict=True):  # each pass
        assert Counter(itertools.chain(*of_shards)) == Counter(range(samples))
        owners = Counter()
        for order in of_shards:
            owned = Counter(block_of(firsts, sample) for sample in order)
            owners.update(owned.keys())
            assert sum(count < sizes[block] for block, count in owned.items()) <= 2
        assert sum(owners.values()) <= len(sizes) + shards - 1


@given(sizes=SIZES, window=st.integers(1, 12), shuffle=st.sampled_from([SHARD, ALL]))
@settings(max_examples=100, deadline=None)
def test_a_window_is_read_before_the_next_begins(sizes, window, shuffle):
    firsts, samples = list(itertools.accumulate(sizes, initial=0))[:-1], sum(sizes)
    for order in passes(firsts, samples, window, shuffle=shuffle):
        blocks = [block_of(firsts, sample) for sample in order]
        while blocks:
            in_window = set(list(dict.fromkeys(blocks))[:window])
            count = sum(sizes[block] for block in in_window)
            assert set(blocks[:count]) == in_window
            assert not set(blocks[count:]) & in_window
            blocks = blocks[count:]


def test_blocks_and_samples_change_places_in_each_pass():
    firsts = list(range(0, 1000, 10))
    first, second = passes(firsts, 1000, 4)
    assert first != second
    assert {block_of(firsts, s) for s in first[:40]} != {block_of(firsts, s) for s in second[:40]}
    assert first[:10] != sorted(first[:10])
    assert passes(firsts, 1000, 4, seed=4)[0] != first
    assert passes(firsts, 1000, 4) == [first, second]


def test_all_orders_of_blocks_and_samples_are_as_likely():
    seeds, firsts = 3000, [0, 2]
    seen = Counter(tuple(passes(firsts, 4, 1, seed=seed, number=1)[0]) for seed in range(seeds))
    assert len(seen) == 8  # two blocks of two samples each
    expected = seeds / 8
    assert sum((count - expected) ** 2 / expected for count in seen.values()) < 29.9  # 7 degrees of freedom: 99.99 %


def test_shards_keep_their_blocks_when_they_stick_to_them():
    firsts = list(range(0, 1000, 10))
    first, second = passes(firsts, 1000, 4, shards=3, shard=1, stick=True)
    assert first != second
    assert set(first) == set(second)
    moved = passes(firsts, 1000, 4, shards=3, shard=1)
    assert not set(moved[0]) & set(moved[1])
    anew = passes(firsts, 1000, 4, shards=3, shard=1, stick=True, shuffle=ALL)
    assert 0 < len(set(anew[0]) & set(anew[1])) < len(anew[0])


def test_many_samples_cost_nothing_to_plan():
    firsts = list(range(0, 10**12, 10**7))
    order = _core.ReaderBlocks(firsts, 10**12, 16)
    start = _core.ReaderState(shards=7)
    schedule = _core.ReaderSchedule(start, 10**12, shard=3, shuffle=SHARD, blocks=order)
    batch = [index for index, _ in schedule.batch(_core.ReaderCursor(), 1000)]
    assert len(set(batch)) == 1000
    assert len({index // 10**7 for index in batch}) == 16


@pytest.mark.parametrize("firsts", [[], [1], [0, 5, 3], [0, 11], [0, -1], [10]])
def test_wrong_blocks_are_refused(firsts):
    with pytest.raises(RuntimeError, match="expected"):
        _core.ReaderBlocks(firsts, 10, 2)


def test_empty_blocks_are_none():
    assert passes([0, 0, 4, 4, 8, 8], 8, 1) == passes([0, 4], 8, 1)


def test_the_class():
    blocks = ndd.readers.Blocks(window=4)
    assert repr(blocks) == "Blocks(window=4)"
    assert blocks == ndd.readers.Blocks(np.int64(4)) == pickle.loads(pickle.dumps(blocks))
    assert ndd.readers.Blocks().window == 16
    assert {blocks: 1}[ndd.readers.Blocks(4)] == 1
    with pytest.raises(ValueError, match="window must be from 1"):
        ndd.readers.Blocks(window=0)
    with pytest.raises(TypeError):
        ndd.readers.Blocks(window=1.5)


def test_readers_without_blocks_say_which_have_some(tmp_path):
    make_files(tmp_path, 3)
    has = r"File has no blocks to shuffle; these readers have: .*MXNet.*TFRecord.*Webdataset"
    with pytest.raises(ValueError, match=has):
        ndd.readers.File(file_root=tmp_path, random_shuffle=ndd.readers.Blocks())


@pytest.fixture(scope="module", params=["MXNet", "TFRecord", "Webdataset"])
def made(request, tmp_path_factory):
    """What makes a reader of 90 samples of 1 MiB, in six blocks."""
    write, make = FORMATS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    write(folder, [bytes([i % 3]) * MIB for i in range(90)])
    return lambda **options: make(str(folder), last_batch="partial", **options)


def read(reader, batch_size=16):
    batches = []
    for item in reader.next_epoch(batch_size):
        first = next(iter(item.values() if isinstance(item, dict) else item))
        assert [sample[0] for sample in map(np.asarray, first)] == [s.index % 3 for s in first.sources]
        batches.append([source.index for source in first.sources])
    return batches


def test_blocks_of_files(made):
    """They fill 16 MiB as far as they can."""
    order = flat(read(made(random_shuffle=ndd.readers.Blocks(window=1))))
    assert sorted(order) == list(range(90))
    blocks = [sorted(order[i : i + 15]) for i in range(0, 90, 15)]
    assert sorted(blocks) == [list(range(i, i + 15)) for i in range(0, 90, 15)]
    assert blocks != sorted(blocks)


def test_resume_and_other_shards(made):
    options = {"random_shuffle": ndd.readers.Blocks(window=3), "seed": 5}
    whole = read(made(**options))
    reader = made(**options)
    epoch = reader.next_epoch(16)
    for _ in range(2):
        next(epoch)
    again = made(**options)
    again.set_state(str(reader.get_state()))
    assert read(again) == whole[2:]
    rest = []
    for shard in range(3):
        part = made(num_shards=3, shard_id=shard, **options)
        part.set_state(reader.get_state())
        rest += flat(read(part))
    assert sorted(rest) == sorted(flat(whole[2:]))


def test_states_know_the_window(made):
    state = made(random_shuffle=ndd.readers.Blocks(window=3)).get_state()
    for other in (ndd.readers.Blocks(window=4), True, False):
        with pytest.raises(ValueError, match=r"with random_shuffle, Blocks\(window=3\), .*, this one has"):
            made(random_shuffle=other).set_state(state)
    with pytest.raises(ValueError, match=r"this one has random_shuffle, Blocks\(window=3\)"):
        made(random_shuffle=ndd.readers.Blocks(window=3)).set_state(made(random_shuffle=True).get_state())
    made(random_shuffle=ndd.readers.Blocks(window=3)).set_state(state)


def test_an_order_of_the_users_own_comes_first(made):
    reader = made(random_shuffle=ndd.readers.Blocks())
    item = next(iter(reader.next_epoch(3, indices=[7, 1, 7])))
    first = next(iter(item.values() if isinstance(item, dict) else item))
    assert [source.index for source in first.sources] == [7, 1, 7]


def test_dealing_anew_in_each_epoch(made):
    options = {"random_shuffle": ndd.readers.Blocks(window=2), "shuffle_after_epoch": True}
    readers = [made(num_shards=2, shard_id=shard, **options) for shard in range(2)]
    epochs = [[set(flat(read(reader))) for reader in readers] for _ in range(2)]
    for first, second in epochs:
        assert first | second == set(range(90))
    assert epochs[0][0] != epochs[1][0]
    assert "shuffle_after_epoch, Blocks(window=2)" in readers[0].get_state().order


def test_archives_have_blocks_of_their_own(tmp_path):
    """Samples without bytes, and archives without samples, are no blocks."""
    tars.write_tar(tmp_path / "a.tar", [("1.x", b"a"), ("2.y", b"b"), ("3.x", b"c")])
    tars.write_tar(tmp_path / "b.tar", [])
    tars.write_tar(tmp_path / "c.tar", [("4.x", b"d"), ("5.x", b"e")])
    paths = [tmp_path / f"{name}.tar" for name in "abc"]
    reader = ndd.readers.Webdataset(paths=paths, ext="x", random_shuffle=ndd.readers.Blocks(window=1))
    for _ in range(8):
        names = [str(sample.source) for (sample,) in reader.next_epoch()]
        runs = [[name.rpartition("/")[2] for name in run] for _, run in itertools.groupby(names, os.path.dirname)]
        assert sorted(map(sorted, runs)) == [["1", "2", "3"], ["4", "5"]]
