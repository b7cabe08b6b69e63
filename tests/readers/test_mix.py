"""readers.Mix: the shares of its parts, their orders, states and sources, over all kinds of readers."""

import itertools
import json
import math
import pickle
import random
from collections import Counter

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import avida as ndd
from tests.readers.mds_files import write_mds
from tests.readers.numbered import make_files
from tests.readers.tars import write_tar
from tests.storage.http_server import serving
from tests.storage.stores import HeldStore, objects_in, registered

Mix = ndd.readers.Mix


class Numbers:
    """A data set whose samples are numbers from `first` on."""

    def __init__(self, count, first=0, broken=()):
        self.count, self.first, self.broken = count, first, broken

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index in self.broken:
            raise ValueError(f"number {index} is broken")
        return np.int64(self.first + index)


def numbers(count, first=0, **options):
    return ndd.ExternalSource(Numbers(count, first), **options)


def read(reader, batch_size=7, epochs=1):
    """(part, index, pass) of the samples of each epoch."""
    found = []
    for _ in range(epochs):
        found.append([])
        for item in reader.next_epoch(batch_size):
            first = next(iter(item.values() if isinstance(item, dict) else item))
            found[-1] += [(source.part, source.index, source.epoch) for source in first.sources]
    return found


def flat(lists):
    return list(itertools.chain(*lists))


def alone(reader, passes):
    """(index, pass) of the samples of a reader, pass after pass."""
    found = []
    for _ in range(passes):
        for item in reader.next_epoch(64):
            first = next(iter(item.values() if isinstance(item, dict) else item))
            found += [(source.index, source.epoch) for source in first.sources]
    return found


def test_shares_are_exact():
    weights = [0.7, 0.2, 0.1]
    parts = [numbers(1000, 1000 * i, random_shuffle=True) for i in range(3)]
    reader = Mix(parts, weights=weights, stop=5000, last_batch="partial")
    assert len(reader) == 5000
    found = [int(part) for part, _, _ in read(reader, 256)[0]]
    for border in [*range(1024, 5000, 1024), 5000]:
        counts = Counter(found[:border])
        for part, weight in enumerate(weights):
            assert abs(counts[part] - weight * border) <= 1
    runs = [len(list(run)) for part, run in itertools.groupby(found) if part == 2]
    assert 1 < sum(runs) / len(runs) < 1.3, "the parts come in random order, not one behind the other"


def test_in_turn():
    reader = Mix([numbers(3), numbers(5, 10), numbers(4, 20)], last_batch="partial")
    first, second = read(reader, epochs=2)
    assert [part for part, _, _ in first] == ["0", "1", "2"] * 3
    assert [index for part, index, _ in first + second if part == "1"] == [0, 1, 2, 3, 4, 0]
    assert [(index, number) for part, index, number in second if part == "0"] == [(0, 1), (1, 1), (2, 1)]


@st.composite
def mixtures(draw):
    sizes = draw(st.lists(st.integers(1, 40), min_size=1, max_size=4))
    weighted = st.lists(st.floats(0.3, 3), min_size=len(sizes), max_size=len(sizes))
    return {
        "sizes": sizes,
        "weights": draw(st.none() | weighted),
        "stop": draw(st.sampled_from(["first", "all"]) | st.integers(1, 150)),
        "seed": draw(st.integers(0, 5)),
    }


def made(mixture, **options):
    parts = [numbers(size, 100 * i, random_shuffle=bool(i % 2), seed=i) for i, size in enumerate(mixture["sizes"])]
    given_options = {name: mixture[name] for name in ("weights", "stop", "seed")}
    return Mix(parts, **given_options, **{"last_batch": "partial"} | options)


@given(mixture=mixtures(), batch_size=st.integers(1, 60))
@settings(max_examples=40, deadline=None)
def test_each_part_goes_on_in_its_own_order(mixture, batch_size):
    reader = made(mixture)
    epochs = read(reader, batch_size, epochs=3)
    assert [len(epoch) for epoch in epochs] == [len(reader)] * 3
    for number, size in enumerate(mixture["sizes"]):
        found = [(index, number_of_pass) for part, index, number_of_pass in flat(epochs) if part == str(number)]
        own = numbers(size, random_shuffle=bool(number % 2), seed=number)
        assert found == alone(own, math.ceil(len(found) / size))[: len(found)]


@given(mixture=mixtures())
@settings(max_examples=60, deadline=None)
def test_stop(mixture):
    if mixture["stop"] not in ("first", "all"):
        assert len(made(mixture)) == mixture["stop"]
        return
    counts = Counter((part, index) for part, index, _ in read(made(mixture), 64)[0])
    samples = [(str(part), index) for part, size in enumerate(mixture["sizes"]) for index in range(size)]
    complete = [all(counts[str(part), i] for i in range(size)) for part, size in enumerate(mixture["sizes"])]
    if mixture["stop"] == "first":
        assert max(counts.values()) == 1
        assert any(complete)
    else:
        assert counts.keys() == set(samples)
        assert any(max(counts[str(part), i] for i in range(size)) == 1 for part, size in enumerate(mixture["sizes"]))


def test_the_part_that_ends_first_is_whole_in_every_epoch():
    parts = [numbers(30, random_shuffle=True), numbers(100, random_shuffle=True)]
    reader = Mix(parts, weights=[1, 2], last_batch="partial")
    for number, epoch in enumerate(read(reader, 15, epochs=4)):
        assert sorted(index for part, index, _ in epoch if part == "0") == list(range(30))
        assert {passed for part, _, passed in epoch if part == "0"} == {number}
    assert len(reader) == 91


@given(mixture=mixtures(), batch_size=st.integers(1, 30), data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_position_alone_tells_the_sample(mixture, batch_size, data):
    whole = read(made(mixture), epochs=3)
    epoch = data.draw(st.integers(0, 2))
    position = data.draw(st.integers(0, len(whole[0]) - 1))
    reader = made(mixture)
    reader.seek(epoch, position)
    assert read(reader, batch_size)[0] == whole[epoch][position:]
    (sample,) = made(mixture)[position]
    assert (sample.source.part, sample.source.index, sample.source.epoch) == whole[0][position]
    assert sample.item() == 100 * int(sample.source.part) + sample.source.index
    indices = [data.draw(st.integers(0, len(whole[0]) - 1)) for _ in range(3)]
    (batch,) = made(mixture)[indices]
    assert [(s.part, s.index, s.epoch) for s in batch.sources] == [whole[0][i] for i in indices]


@pytest.mark.parametrize("last", ["wrap", "partial", "pad", "drop"])
def test_resumes_with_other_shards(last):
    """2, 3 and 1 shards, with batches that are read ahead: each position once, in all."""
    choose = random.Random(last)
    mixture = {"sizes": [23, 61, 40], "weights": [0.2, 0.5, 0.3], "stop": "first", "seed": 3}
    whole = flat(read(made(mixture), epochs=6))
    for _ in range(4):
        size, seen, state = choose.randint(1, 9), [], None
        for shards in [2, 3, 1, 4, 1]:
            readers = [made(mixture, num_shards=shards, shard_id=i, last_batch=last) for i in range(shards)]
            for reader in readers if state else []:
                reader.set_state(pickle.loads(pickle.dumps(state)))
            for _ in range(1 if shards > 1 else 2):
                steps, epochs = choose.randint(1, 4), [reader.next_epoch(size) for reader in readers]
                for _ in range(steps):
                    items = [next(epoch, None) for epoch in epochs]
                    seen += [(s.part, s.index, s.epoch) for item in items if item for s in item[0].sources]
            state = readers[0].get_state()
        if last in ("wrap", "partial"):
            left = Counter(whole) - Counter(seen)
            assert not Counter(seen) - Counter(whole), "nothing twice"
            rest = made(mixture, last_batch=last)
            rest.set_state(state)
            found = flat(read(rest, size, epochs=2))
            assert all(left[sample] for sample in found[: len(found) // 2])


def test_a_resumed_epoch_is_complete():
    mixture = {"sizes": [30, 61, 45], "weights": [0.2, 0.5, 0.3], "stop": "all", "seed": 3}
    expected = Counter(read(made(mixture))[0])
    seen, state, choose = Counter(), None, random.Random(1)
    for shards in [2, 3, 1, 5, 2, 1]:
        readers = [made(mixture, num_shards=shards, shard_id=i) for i in range(shards)]
        for reader in readers:
            if state:
                reader.set_state(json.loads(json.dumps(state)))
        epochs = [reader.next_epoch(4) for reader in readers]
        for _ in range(choose.randint(1, 2)):
            for (batch,) in [next(epoch) for epoch in epochs]:
                seen.update((s.part, s.index, s.epoch) for s in batch.sources)
        state = readers[-1].state_dict()
    last = made(mixture)
    last.set_state(state)
    seen.update(read(last)[0])
    assert seen == expected


def test_wrapping_epochs_read_every_pass_once():
    reader = Mix([numbers(10), numbers(7, 100)], weights=[1, 1], last_batch="wrap")
    found = flat(read(reader, 4, epochs=7))[: 6 * len(reader)]
    assert Counter(number for part, _, number in found if part == "1") == dict.fromkeys(range(6), 7)


def cat(number):
    return f"cat {number}"


def test_nested():
    cats = numbers(20, name=cat)
    inner = Mix([cats, numbers(30, 100)], weights=[1, 3], name="pets", seed=5)
    outer = [inner, numbers(15, 200)]
    reader = Mix(outer, weights=[2, 1], stop="all", last_batch="partial")
    (found,) = read(reader)
    assert {part for part, _, _ in found} == {"pets/0", "pets/1", "1"}
    order = alone_with_parts(Mix([numbers(20), numbers(30, 100)], weights=[1, 3], seed=5), 3)
    own = [(part.removeprefix("pets/"), index, number) for part, index, number in found if part != "1"]
    assert own == order[: len(own)]
    assert "cat 17" in {source.name for (batch,) in reader.next_epoch(9) for source in batch.sources}
    resumed = pickle.loads(pickle.dumps(reader))
    assert read(resumed) == read(reader)
    assert reader.parts == outer


def alone_with_parts(reader, passes):
    return flat(read(reader, 64, passes))


# Over all kinds of readers


def rows_of(count, first):
    return [{"image": bytes([first + i]) * (1 + i % 5), "label": first + i} for i in range(count)]


def make_parts(folder):
    """What makes a part of each kind from a root: dictionaries of images and labels."""
    write_mds(folder / "mds", {"image": "jpeg", "label": "int64"}, rows_of(20, 0))
    (folder / "table").mkdir()
    for i in range(3):
        table = pyarrow.Table.from_pylist(rows_of(8, 50 + 8 * i))
        pyarrow.parquet.write_table(table, folder / "table" / f"{i}.parquet", row_group_size=4)
    blocks = ndd.readers.Blocks(window=2)
    return {
        "mds": lambda root: ndd.readers.MDS(f"{root}/mds", random_shuffle=True, name="mds"),
        "table": lambda root: ndd.readers.Parquet(
            f"{root}/table/*.parquet", columns=["image", "label"], random_shuffle=blocks, name="table"
        ),
        "rows": lambda root: ndd.ExternalSource(
            rows_of(17, 100), dtype={"label": ndd.int64}, random_shuffle=True, seed=3
        ),
    }


def content_of(reader, batch_size, epochs=2):
    found = []
    for _ in range(epochs):
        for batch in reader.next_epoch(batch_size):
            for image, label, source in zip(batch["image"], batch["label"], batch["image"].sources, strict=True):
                assert set(bytes(image)) == {label.item()}
                found.append((source.part, source.index, source.epoch, label.item()))
    return found


@pytest.mark.parametrize("weights", [None, [0.5, 0.3, 0.2]])
def test_files_tables_and_python_objects_in_one_batch(tmp_path, weights):
    parts = make_parts(tmp_path)

    def mixed(**options):
        return Mix([make(tmp_path) for make in parts.values()], weights=weights, last_batch="partial", **options)

    whole = content_of(mixed(), 8)
    assert {part for part, *_ in whole} == {"mds", "table", "2"}
    assert content_of(mixed(), 5) == content_of(mixed(prefetch_queue_depth=4), 1) == whole
    for name, make in zip(["mds", "table", "2"], parts.values(), strict=True):
        own = [(index, number) for part, index, number, _ in whole if part == name]
        assert own == alone(make(tmp_path), 4)[: len(own)]
    reader = mixed()
    for batch in itertools.islice(reader.next_epoch(8), 3):
        assert batch["image"].batch_size == batch["label"].torch().shape[0] == 8
    again = mixed()
    again.set_state(str(reader.get_state()))
    assert content_of(again, 8, epochs=1) == whole[24 : len(reader)]
    one = mixed()[4]
    assert set(one) == {"image", "label"}
    assert (one["label"].source.part, one["label"].item()) == (whole[4][0], whole[4][3])


def make_archives(folder):
    """Two archives of many blocks, and a folder of files."""
    for name, first in (("a", 0), ("b", 100)):
        (folder / name).mkdir()
        for shard in range(6):
            members = [(f"{shard}-{i}.bin", bytes([first + 5 * shard + i]) * 2000) for i in range(5)]
            write_tar(folder / name / f"{shard}.tar", members)

    def make(root, **options):
        parts = [
            ndd.readers.Webdataset(
                paths=f"{root}/{name}/{{0..5}}.tar",
                ext="bin",
                random_shuffle=ndd.readers.Blocks(window=2),
                name=name,
                cache=cache,
            )
            for name, cache in zip("ab", options.pop("caches", (None, None)), strict=True)
        ]
        return Mix(parts, weights=[3, 1], last_batch="partial", **options)

    return make


def files_of(reader, batch_size=4, epochs=2):
    found = []
    for _ in range(epochs):
        for (files,) in reader.next_epoch(batch_size):
            found += [(s.part, s.index, s.epoch, bytes(file)) for s, file in zip(files.sources, files, strict=True)]
    return found


def test_blocks_of_parts_on_another_machine(tmp_path):
    make = make_archives(tmp_path)
    expected = files_of(make(tmp_path))
    assert sorted(index for part, index, number, _ in expected if part == "a" and number == 0) == list(range(30))
    with serving(objects_in(tmp_path)) as server:
        reader = make(f"{server.url}/data", prefetch_queue_depth=2)
        with server.lock:
            server.asked.clear()
        assert files_of(reader) == expected
        with server.lock:
            asked = Counter(path[: len("/data/a")] for path, headers in server.asked if "Range" in headers)
        # Each block once in a pass, of two and what is fetched ahead; batches alone would ask more than 40 times.
        assert 6 <= asked["/data/a"] <= 24
        assert 4 <= asked["/data/b"] <= 12


def test_each_part_has_its_own_cache(tmp_path):
    make = make_archives(tmp_path)
    expected = files_of(make(tmp_path))
    caches = ndd.storage.Cache(memory="1MB"), ndd.storage.Cache(tmp_path / "cache", "1MB")
    with serving(objects_in(tmp_path)) as server:
        assert files_of(make(f"{server.url}/data", caches=caches)) == expected
        assert all(cache.bytes > 0 for cache in caches)
        read_once = len([path for path, headers in server.asked if "Range" in headers])
        assert files_of(make(f"{server.url}/data", caches=caches)) == expected
        asked = [path for path, headers in server.asked if "Range" in headers]
        assert len(asked) - read_once < read_once / 2


def test_a_batch_of_all_parts_is_one_round_of_requests():
    objects = {f"{name}/0/{i:02}.jpg": bytes([i]) for name in "ab" for i in range(20)}
    with registered(HeldStore(objects, together=40), at_once=40) as store:
        parts = [ndd.readers.File(file_root=f"held://{name}") for name in "ab"]
        reader = Mix(parts, prefetch_queue_depth=1)
        batch, labels = next(reader.next_epoch(batch_size=40, indices=range(40)))
        assert [int(np.asarray(sample)[0]) for sample in batch] == [i // 2 for i in range(40)]
        assert labels.torch().shape == (40, 1)
        assert store.asked == 40


# Errors


@pytest.fixture
def folders(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "0").mkdir(parents=True)
        make_files(tmp_path / name / "0", 6)
    return tmp_path


def test_samples_that_cannot_be_read(folders):
    def mixed(**options):
        rows = [(np.frombuffer(b"%d" % i, np.uint8), np.array([9], np.int32)) for i in range(6)]
        parts = [
            ndd.readers.File(file_root=folders / "one", name="one"),
            ndd.readers.File(file_root=folders / "two"),
            ndd.ExternalSource(Broken(rows, 4)),
        ]
        return Mix(parts, last_batch="partial", **options)

    reader, epoch = mixed(on_error="skip"), mixed().next_epoch(3)
    (folders / "one" / "0" / "00002.jpg").unlink()
    (folders / "two" / "0" / "00005.jpg").unlink()
    sizes = [files.batch_size for files, _ in reader.next_epoch(9)]
    assert sizes == [8, 7]
    found = {(error.part, error.index, error.epoch) for error in reader.errors}
    assert found == {("one", 2, 0), ("1", 5, 0), ("2", 4, 0)}
    assert {error.source.rpartition("/")[2] for error in reader.errors} == {
        "00002.jpg",
        "00005.jpg",
        "ExternalSource[4]",
    }
    errors = []
    for _ in range(6):
        try:
            next(epoch)[0].evaluate()
        except (RuntimeError, ValueError) as error:
            errors.append(str(error))
    assert len(errors) == 3
    assert "00002.jpg" in errors[0]
    assert "row 4 is broken" in errors[1]
    assert "00005.jpg" in errors[2]


class Broken(list):
    def __init__(self, rows, broken):
        super().__init__(rows)
        self.broken = broken

    def __getitem__(self, index):
        if index == self.broken:
            raise ValueError(f"row {index} is broken")
        return super().__getitem__(index)


def test_parts_must_agree(tmp_path, folders):
    files = ndd.readers.File(file_root=folders / "one", name="files")
    np.save(tmp_path / "a.npy", np.zeros((2, 3), np.float32))
    arrays = ndd.readers.Numpy(files=[str(tmp_path / "a.npy")])
    with pytest.raises(
        ValueError,
        match='same outputs; the part "files" gives uint8 with 1 axis, int32 with 1 axis, the part "1" gives f',
    ):
        Mix([files, arrays])
    write_mds(tmp_path / "mds", {"x": "jpeg"}, [{"x": b"1"}])
    write_tar(tmp_path / "a.tar", [("1.bin", b"1")])
    tar = ndd.readers.Webdataset(paths=tmp_path / "a.tar", ext="bin")
    mds = ndd.readers.MDS(tmp_path / "mds")
    with pytest.raises(ValueError, match=r"items of one form; the part '0' gives \{'x': 0\}, the part '1' \(0,\)"):
        Mix([mds, tar])
    with pytest.raises(ValueError, match=r"items of one form; the part '0' gives \('text',\), the part '1' \(0,\)"):
        Mix([ndd.readers.Webdataset(paths=tmp_path / "a.tar", ext="bin", decode={"bin": "text"}), tar])
    for rows, kind, message in [
        ([np.float32(1)], ValueError, r'"0" gives uint8 with 1 axis, the part "1" gives float32 with 0 axes'),
        (
            [(b"1", b"2")],
            ValueError,
            r'"0" gives uint8 with 1 axis, the part "1" gives uint8 with 1 axis, uint8 with 1 axis',
        ),
        ([{"x": b"1"}], ValueError, r"items of one form"),
    ]:
        with pytest.raises(kind, match=message):
            next(Mix([tar, ndd.ExternalSource(rows)]).next_epoch(2))


def test_what_cannot_be_a_part(folders):
    files = ndd.readers.File(file_root=folders / "one")
    generator = ndd.ExternalSource(lambda: iter([1]))
    for part, kind, message in [
        (generator, TypeError, "part 1 of a Mix needs a source with __len__ and __getitem__"),
        ([1, 2], TypeError, "expected readers as parts of a Mix, got list as part 1; avida.ExternalSource makes"),
        (ndd.readers.File(file_root=folders / "two", num_shards=2), ValueError, "the part '1' has 2 shards"),
    ]:
        with pytest.raises(kind, match=message):
            Mix([files, part])
    files.sampler = [0, 1]
    with pytest.raises(ValueError, match="the part '0' has a sampler"):
        Mix([files])
    source = numbers(3)
    for options, kind, message in [
        ({"weights": [1, 2]}, ValueError, "expected a weight for each of 1 readers, got 2"),
        ({"weights": [0]}, ValueError, "expected weights above 0, got 0"),
        ({"weights": [math.nan]}, ValueError, "expected weights above 0, got nan"),
        ({"stop": "last"}, ValueError, 'expected "first", "all" or a number of samples as stop'),
        ({"stop": 0}, ValueError, "expected at least one sample as stop, got 0"),
        ({"stop": 1.5}, TypeError, "float"),
        ({"num_shards": 4}, RuntimeError, "expected at least one sample for each of 4 shards, got 3"),
    ]:
        with pytest.raises(kind, match=message):
            Mix([source], **options)
    with pytest.raises(ValueError, match="expected at least one reader"):
        Mix([])
    with pytest.raises(ValueError, match="too small"):
        Mix([source, source], weights=[1, 1e-300])


def test_states_of_other_mixtures_are_refused():
    def mixed(sizes=(9, 9), weights=(1, 2), stop="first", seed=None, shuffle=True, own_seed=1):
        parts = [numbers(size, random_shuffle=shuffle, seed=own_seed) for size in sizes]
        return Mix(parts, weights=weights, stop=stop, seed=seed)

    state = mixed().get_state()
    mixed().set_state(state)
    for other in [
        mixed(weights=(2, 1)),
        mixed(weights=None),
        mixed(stop="all"),
        mixed(seed=8),
        mixed(shuffle=False),
        mixed(own_seed=2),
        mixed(sizes=(9, 10)),
        mixed(sizes=(9, 9, 9), weights=(1, 2, 3)),
    ]:
        with pytest.raises(ValueError, match=r"is of a reader with a Mix of 2 readers by the weights 1\.0, 2\.0"):
            other.set_state(state)
    with pytest.raises(ValueError, match="this one has a Mix"):
        mixed().set_state(numbers(9).get_state())


# Random numbers, processes, loops


def draws_of(reader, batch_size, named=False):
    found = {}
    for (files,) in reader.next_epoch(batch_size):
        drawn = ndd.random.uniform(keyed_by=(files, "noise") if named else files, rng=ndd.random.RNG(seed=7))
        found |= {(s.part, s.index, s.epoch): x.item() for s, x in zip(files.sources, drawn, strict=True)}
    return found


@pytest.mark.parametrize("named", [False, True])
def test_keyed_draws_belong_to_the_samples_of_a_part(tmp_path, named):
    write_tar(tmp_path / "a.tar", [(f"{i:02}.bin", b"%d" % i) for i in range(20)])
    tar = ndd.readers.Webdataset(paths=tmp_path / "a.tar", ext="bin")
    texts = ndd.ExternalSource([b"%d" % i for i in range(20)])
    whole = draws_of(Mix([tar, texts], last_batch="partial"), 8, named)
    assert len(set(whole.values())) == 40, "samples of equal numbers draw apart"
    other = draws_of(Mix([tar, texts], weights=[1, 3], stop="all", last_batch="partial"), 5, named)
    assert other.items() >= whole.items()
    alone = draws_of(tar, 20, named)
    assert {key[1:]: drawn for key, drawn in whole.items() if key[0] == "0"} == {
        key[1:]: drawn for key, drawn in alone.items()
    }
    nested = draws_of(Mix([Mix([tar]), texts], last_batch="partial"), 8, named)
    assert sorted(nested.values()) == sorted(whole.values())


def test_a_loop_that_runs_ahead(tmp_path):
    write_tar(tmp_path / "a.tar", [(f"{i:02}.bin", bytes([i, i])) for i in range(40)])

    def sums(ahead):
        parts = [
            ndd.readers.Webdataset(paths=tmp_path / "a.tar", ext="bin", random_shuffle=True, seed=s) for s in (1, 2)
        ]
        reader = Mix(parts, weights=[1, 1], last_batch="partial")
        found = []
        for _ in range(2):
            for (files,) in reader.next_epoch(8, ahead=ahead):
                noisy = files + ndd.random.uniform(keyed_by=files, rng=ndd.random.RNG(seed=1))
                found += [np.asarray(sample).sum() for sample in noisy]
        return found

    assert sums(0) == sums(2)


def test_leaving_epochs_and_calls():
    reader = Mix([numbers(20), numbers(30, 100)], weights=[1, 1])
    whole = flat(read(Mix([numbers(20), numbers(30, 100)], weights=[1, 1]), 10, 3))
    for _ in range(2):
        for (batch,) in reader.next_epoch(10):
            assert batch.batch_size == 10
            break
    assert read(reader, 10)[0] == whole[2 * len(reader) :]
    endless = Mix([numbers(2), numbers(2, 100)])
    assert [endless()[0].item() for _ in range(6)] == [0, 100, 1, 101, 0, 100]


def first_number(batch):
    return batch


def test_in_worker_processes():
    """Parts travel to processes that are spawned."""
    mixture = {"sizes": [11, 20], "weights": [1, 2], "stop": "first", "seed": 1}
    expected = [int(number) for (batch,) in made(mixture).next_epoch(4) for number in batch]
    dataset = ndd.pytorch.IterableDataset(made(mixture), 4, first_number)
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=2)
    assert [int(x) for batch in loader for x in batch] == expected
    dataset = ndd.pytorch.IterableDataset(made(mixture), 4, first_number)
    spawned = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=1, multiprocessing_context="spawn")
    assert [int(x) for batch in spawned for x in batch] == expected


def test_pickled_in_the_middle_of_an_epoch():
    mixture = {"sizes": [11, 20], "weights": [1, 2], "stop": "all", "seed": 1}
    reader = made(mixture)
    epoch = reader.next_epoch(4)
    next(epoch)
    again = pickle.loads(pickle.dumps(reader))
    assert read(again) == [flat(read(made(mixture)))[4:]]


def test_several_threads_for_python_objects():
    """That of the part with the most threads, beside one that has one."""
    parts = [numbers(40, num_threads=threads) for threads in (1, 4, 2)]
    assert read(Mix(parts), 12) == read(Mix([numbers(40)] * 3), 12)


def test_classes(tmp_path):
    for folder, names in {"one": ["cat", "dog"], "two": ["cat", "dog"], "three": ["ant", "cat"]}.items():
        for name in names:
            (tmp_path / folder / name).mkdir(parents=True)
            (tmp_path / folder / name / "1.jpg").write_bytes(b"1")

    def part(folder):
        return ndd.readers.File(file_root=tmp_path / folder)

    one, two = part("one"), part("two")
    assert Mix([one, two]).classes == ["cat", "dog"]
    assert Mix([one, ndd.ExternalSource([(b"1", np.array([1], np.int32))])]).classes is None
    with pytest.warns(UserWarning, match="the class 'cat' has the label"):
        three = part("three")
    with pytest.warns(UserWarning, match="the class 'cat' has the label 0 in one part and 1 in another"):
        assert Mix([one, three]).classes is None


def test_what_it_says_of_itself():
    reader = Mix([numbers(3), numbers(4)], lazy_init=True)
    assert repr(reader) == "readers.Mix(not opened yet, epoch 0)"
    assert reader.get_metadata()["epoch_size"] == len(reader) == 6
    assert repr(reader) == "readers.Mix(6 samples, epoch 0)"
    state = reader.get_state().order
    assert state.startswith("a Mix of 2 readers in turn, stop='first', their orders ")
    assert state.endswith(', last_batch="wrap"')
