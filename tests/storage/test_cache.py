"""Caches: what is kept is not asked for again, whatever happens to processes, disks and files."""

import contextlib
import os
import pathlib
import pickle
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import avida
from avida.storage import Cache
from avida.storage._cache import _bytes_of
from tests.children import in_child
from tests.storage import test_readers
from tests.storage.cache_user import OBJECTS, content, objects, read
from tests.storage.http_server import serving
from tests.storage.stores import objects_in
from tests.storage.test_http import serving_s3

ALL = objects()
BYTES = sum(map(len, ALL.values()))
SMALL = {f"data/small/{number:03}": bytes([number % 256, number // 256]) * 1000 for number in range(700)}
KILLS = int(os.environ.get("AVIDA_KILLS", 0)) or 5
# Nothing of these is listed: a listing is asked for each time.
WITHOUT_LISTING = [
    *(test_readers.named_files, test_readers.indexed_tfrecords, test_readers.tfrecords, test_readers.indexed_mxnet),
    *(test_readers.indexed_webdataset, test_readers.mds, test_readers.compressed_mds, test_readers.caffe),
    *(test_readers.saved_coco, test_readers.speech, test_readers.listed_videos),
]


@pytest.fixture(autouse=True)
def without_settings_of_others(monkeypatch):
    for name in os.environ:
        if name.startswith("AWS_") or name.lower() in ("http_proxy", "all_proxy"):
            monkeypatch.delenv(name)
    yield
    avida.storage.configure("s3://")


@contextlib.contextmanager
def using(server, folder, **options):
    """A process that reads through a cache once it is sent a line."""
    given = [f"--{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "tests.storage.cache_user", server.url, str(folder), *given]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def begin(process):
    process.stdin.write("\n")
    process.stdin.flush()


def size(folder):
    total = 0
    for path in pathlib.Path(folder, "avida-cache").iterdir():
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def read_small(cache, order):
    """Objects of 2 KB, in an order; returns how many there were."""
    files = list(SMALL)
    reader = avida.readers.File(files=[f"s3://{name}" for name in files], cache=cache, last_batch="partial")
    for batch, labels in reader.next_epoch(batch_size=100, indices=order):
        for file, label in zip(batch, labels, strict=True):
            assert bytes(np.asarray(file)) == SMALL[files[label.item()]]


def segments(folder):
    return sorted(pathlib.Path(folder, "avida-cache").glob("segment-*"))


def through(cache, reader):
    """The same reader with a cache."""
    args, given = reader._arguments
    return type(reader)(*args, **given, cache=cache)


@pytest.mark.parametrize("make", test_readers.MAKERS)
def test_the_same_samples_through_a_cache(tmp_path, make):
    data = tmp_path / "data"
    data.mkdir()
    made = make(data)
    expected = test_readers.samples(made(data))
    with serving_s3(objects_in(data)) as server:
        plain = made("s3://data")
        for cache in (Cache(tmp_path / "cache", "20MB"), Cache(memory="20MB")):
            assert test_readers.samples(through(cache, plain)) == expected
            server.asked.clear()
            assert test_readers.samples(through(cache, plain)) == expected
            listings = [path for path, _ in server.asked if "list-type" in path]
            assert make not in WITHOUT_LISTING or not listings
            assert len(server.asked) == len(listings), "a warm cache asks for nothing but listings"


def test_a_second_process_asks_for_nothing(tmp_path):
    with serving_s3(ALL) as server:
        read(server.url, Cache(tmp_path, "100MB"), 1)
        assert len(server.asked) == OBJECTS
        with using(server, tmp_path) as process:
            begin(process)
            assert process.wait(300) == 0
        assert len(server.asked) == OBJECTS


def test_ranges_of_an_object_are_fetched_once(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    values = np.random.default_rng(1).integers(0, 255, (40, 100_000), np.uint8)
    messages = [test_readers.example(image=test_readers.strings(row.tobytes())) for row in values]
    test_readers.write_tfrecords(data / "a.tfrecord", messages)
    features = {"image": avida.tfrecord.FixedLenFeature([], avida.tfrecord.string, "")}

    def reader(root, **options):
        paths = {"path": f"{root}/a.tfrecord", "index_path": f"{root}/a.tfrecord.idx"}
        return avida.readers.TFRecord(**paths, features=features, random_shuffle=True, **options)

    with serving_s3(objects_in(data)) as server:
        cache = Cache(tmp_path / "cache", "500MB")
        for _ in range(2):
            found = [bytes(np.asarray(sample["image"])) for sample in reader("s3://data", cache=cache).next_epoch()]
            assert sorted(found) == sorted(row.tobytes() for row in values)
        there = sum(len(each) for each in server.objects.values())
        assert server.sent <= 1.05 * there, "aligned blocks, each of them once"


def test_tables_through_a_cache(tmp_path):
    table = pyarrow.table({"image": [content(number) for number in range(OBJECTS)]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=10)
    names = ["s3://data/a.parquet"]
    with serving_s3({"data/a.parquet": (tmp_path / "a.parquet").read_bytes()}) as server:
        for cache in (Cache(tmp_path / "cache", "100MB"), Cache(memory="100MB")):
            for _ in range(2):
                asked = len(server.asked)
                found = avida.readers.Parquet(names, cache=cache)[:]
                assert [bytes(np.asarray(each)) for each in found["image"]] == [content(n) for n in range(OBJECTS)]
            assert len(server.asked) == asked


def test_the_limit_holds_while_four_processes_write(tmp_path):
    """To less room than their data takes: they also make room."""
    limit, over = 2_000_000, []
    with serving_s3(ALL) as server, contextlib.ExitStack() as stack:
        users = [stack.enter_context(using(server, tmp_path, limit=limit, seed=i, epochs=3)) for i in range(4)]
        for user in users:
            begin(user)
        while any(user.poll() is None for user in users):
            found = size(tmp_path)
            over += [found] if found > limit else []
            time.sleep(0.001)
        assert [user.returncode for user in users] == [0] * 4
        assert not over
        assert size(tmp_path) > limit / 2
        assert Cache(tmp_path, limit).bytes <= limit


@pytest.mark.parametrize("place", ["disk", "memory"])
def test_of_a_large_data_set_a_part_stays(tmp_path, place):
    """In any order; and what is not used any more makes room for another data set."""
    cache = Cache(tmp_path, "1MB") if place == "disk" else Cache(memory="1MB")
    with serving_s3({**SMALL, **ALL}) as server:
        for epoch in range(3):
            server.asked.clear()
            read_small(cache, np.random.default_rng(epoch).permutation(len(SMALL)))
            assert 500_000 < cache.bytes <= 1_000_000
        assert len(server.asked) < 0.5 * len(SMALL)
        for epoch in range(2):
            read(server.url, cache, epoch)
        server.asked.clear()
        read_small(cache, range(len(SMALL)))
        assert len(server.asked) > 0.9 * len(SMALL)
        for _ in range(4):
            server.asked.clear()
            read_small(cache, range(len(SMALL)))
        assert len(server.asked) < 0.6 * len(SMALL)


def test_a_limit_that_changes(tmp_path):
    with serving_s3(ALL) as server:
        cache = Cache(tmp_path, "8MB")
        read(server.url, cache, 1)
        before = cache.bytes
        assert Cache(tmp_path, "4MB").bytes <= 4_000_000 < before
        assert size(tmp_path) <= 4_000_000
        assert Cache(tmp_path, "20MB").bytes == cache.bytes
        Cache(tmp_path, "500MB")  # too many segments for the index: it begins anew
        assert size(tmp_path) < 2_000_000
        read(server.url, cache, 1)  # and goes on without
        read(server.url, Cache(tmp_path, "500MB"), 1)
        assert size(tmp_path) > BYTES


def test_files_of_others(tmp_path):
    own = tmp_path / "avida-cache"
    own.mkdir(mode=0o700)
    foreign = [tmp_path / "notes.txt", tmp_path / "segment-0", own / "notes.txt", own / "segment-1", own / "segment-x"]
    for path in foreign:
        path.write_bytes(b"of somebody else" * 200_000)
    with serving_s3({**SMALL, **ALL}) as server:
        cache = Cache(tmp_path, "2MB")
        for _ in range(2):
            server.asked.clear()
            read_small(cache, range(len(SMALL)))
        assert server.asked == [], "they take nothing of the limit"
        for epoch in range(3):
            read(server.url, cache, epoch)
        assert cache.bytes <= 2_000_000
    for path in foreign:
        assert path.read_bytes() == b"of somebody else" * 200_000


def test_killed_processes(tmp_path):
    """At random moments, while they fill the cache and make room in it."""
    choose = random.Random(5)
    with serving_s3(ALL) as server:
        for kill in range(KILLS):
            limit = choose.choice(["2MB", "2MB", "6MB"])
            with using(server, tmp_path, seed=kill, epochs=1000, limit=limit) as process:
                begin(process)
                time.sleep(choose.uniform(0, 0.3))
                process.send_signal(signal.SIGKILL)
                process.wait()
            if kill % 4 == 3:
                read(server.url, Cache(tmp_path, "6MB"), kill)
                assert size(tmp_path) <= 6_000_000
        read(server.url, Cache(tmp_path, "100MB"), 0)
        server.asked.clear()
        read(server.url, Cache(tmp_path, "100MB"), 1)
        assert server.asked == []


@pytest.mark.parametrize("damage", ["bits", "cut", "gone", "zeros", "index", "short index", "no index"])
def test_damaged_files_are_fetched_again(tmp_path, damage):
    with serving_s3(ALL) as server:
        read(server.url, Cache(tmp_path, "20MB"), 1)
        asked = len(server.asked)
        index = tmp_path / "avida-cache" / "index"
        choose = random.Random(1)
        for path in segments(tmp_path):
            found = bytearray(path.read_bytes())
            if damage == "bits":
                for _ in range(20):
                    found[choose.randrange(len(found))] ^= 1 << choose.randrange(8)
                path.write_bytes(found)
            elif damage == "cut":
                os.truncate(path, len(found) // 2)
            elif damage == "zeros":
                path.write_bytes(bytes(len(found)))
            elif damage == "gone":
                path.unlink()
        if damage == "index":
            index.write_bytes(np.random.default_rng(1).bytes(index.stat().st_size))
        elif damage == "short index":
            index.unlink()
            index.write_bytes(b"avidac01")
        elif damage == "no index":
            index.unlink()
        with using(server, tmp_path, limit="20MB") as process:
            begin(process)
            assert process.wait(300) == 0
        assert len(server.asked) > asked
        asked = len(server.asked)
        read(server.url, Cache(tmp_path, "20MB"), 1)
        assert len(server.asked) == asked, "what was damaged is there again"


def test_damaged_places_in_the_index(tmp_path):
    """A machine that stopped has written some pages of it and others not."""
    with serving_s3(ALL) as server:
        read(server.url, Cache(tmp_path, "20MB"), 1)
        index = tmp_path / "avida-cache" / "index"
        found = bytearray(index.read_bytes())
        found[4096:] = np.random.default_rng(2).bytes(len(found) - 4096)
        index.write_bytes(found)
        with using(server, tmp_path, limit="20MB") as process:
            begin(process)
            assert process.wait(300) == 0
        assert size(tmp_path) <= 20_000_000


def test_a_full_disk(tmp_path):
    """No file may have more than 300 KB: reading goes on, with one warning."""

    def reading():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cache = Cache(tmp_path, "20MB")
            read(server.url, cache, 1)
            read(server.url, cache, 2)
        return [str(each.message) for each in caught if "cannot be written" in str(each.message)], cache.bytes

    with serving_s3(ALL) as server:
        told, kept = in_child(reading)
        assert len(told) == 1
        assert str(tmp_path) in told[0]
        assert kept > 200_000
        asked = len(server.asked)
        read(server.url, Cache(tmp_path, "20MB"), 3)
        assert len(server.asked) < asked + OBJECTS, "what was kept before that is used"


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount")
@pytest.mark.parametrize("room", ["8k", "1m"])
def test_a_disk_of_its_own_that_is_full(tmp_path, room):
    """It has no room for the index, or for the index alone and some segments."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room}", "none", tmp_path], check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:

        def reading():
            for epoch in range(2):
                read(server.url, Cache(tmp_path, "100MB"), epoch)

        def told():
            with pytest.warns(RuntimeWarning, match=r"No space left on device.*Reading goes on"):
                reading()
            return True

        with serving_s3(ALL) as server:
            assert in_child(told)
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)


def test_two_processes_fetch_each_byte_once(tmp_path):
    with serving_s3(ALL) as server, using(server, tmp_path) as one, using(server, tmp_path, seed=1) as other:
        begin(one)
        begin(other)
        assert one.wait(300) == other.wait(300) == 0
        assert BYTES <= server.sent <= 1.05 * BYTES


def test_a_killed_process_frees_what_it_fetched(tmp_path):
    """Another one waits for it, answers interrupts meanwhile, and fetches the object itself when it is gone."""
    is_asked, over = threading.Event(), threading.Event()
    name = f"data/{OBJECTS - 1:03}"
    with serving_s3({name: ALL[name]}) as server:

        def fault(handler, number):
            is_asked.set()
            return number == 1 and over.wait(300)

        server.fault = fault
        cache = Cache(tmp_path, "100MB")
        reader = avida.readers.File(files=[f"s3://{name}"], cache=cache)
        child = os.fork()
        if child == 0:
            reader[0]
            os._exit(0)
        try:
            assert is_asked.wait(300)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(InterruptedError), alarms():
                reader[0]
            assert len(server.asked) == 1
            os.kill(child, signal.SIGKILL)
            assert bytes(np.asarray(reader[0][0])) == ALL[name]
            assert len(server.asked) == 2
        finally:
            over.set()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


@contextlib.contextmanager
def alarms():
    def interrupt(*_):
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("place", ["disk", "memory"])
def test_children_and_pickles(tmp_path, place):
    cache = Cache(tmp_path, "100MB") if place == "disk" else Cache(memory="100MB")
    files = [f"s3://data/{number:03}" for number in range(OBJECTS)]
    with serving_s3(ALL) as server:
        reader = avida.readers.File(files=files, cache=cache)
        epoch = reader.next_epoch(batch_size=8)
        first = [bytes(np.asarray(file)) for batch, _ in (next(epoch), next(epoch)) for file in batch]
        expected = [content(number) for number in range(OBJECTS)]
        assert first == expected[:16]
        for _ in range(5):
            rest = in_child(lambda: [bytes(np.asarray(file)) for batch, _ in epoch for file in batch])
            assert rest == expected[16:]
        assert "cache" not in str(reader.get_state())
        copy = pickle.loads(pickle.dumps(reader))
        assert [bytes(np.asarray(file)) for batch, _ in copy.next_epoch(batch_size=8) for file in batch] == rest
        if place == "disk":
            assert len(server.asked) == OBJECTS, "all of them share it"


def test_objects_that_change(tmp_path):
    names = ["s3://data/a", "s3://data/b"]

    def contents(**options):
        reader = avida.readers.File(files=names, cache=Cache(tmp_path, "100MB", **options))
        return [bytes(np.asarray(file)) for file, _ in reader.next_epoch()]

    with serving_s3({"data/a": b"one", "data/b": b"two"}) as server:
        assert contents() == [b"one", b"two"]
        server.objects["data/b"] = b"three"
        assert contents() == [b"one", b"two"], "they are taken to never change"
        assert contents(check=True) == [b"one", b"three"]
        assert contents() == [b"one", b"three"]
        assert avida.storage.read("s3://data/b") == b"three"


def test_a_version_that_is_pinned(tmp_path):
    """A reader never gets bytes of another version than that of the object that it has opened."""
    make = test_readers.mxnet(tmp_path)
    cache = Cache(tmp_path / "cache", "100MB")
    with serving_s3(objects_in(tmp_path, "data")) as server:
        reader = through(cache, make("s3://data"))
        first = test_readers.samples(reader)
        server.objects["data/a.rec"] = server.objects["data/a.rec"][:-1] + b"x"
        assert set(test_readers.samples(reader)) == set(first), "all of it is cached"
        for path in segments(tmp_path / "cache"):
            os.truncate(path, 64)
        with pytest.raises(RuntimeError, match=r"s3://data/a.rec.*changed after it was opened"):
            test_readers.samples(reader)
        assert len(test_readers.samples(through(cache, make("s3://data")))) == len(first)


def test_services_with_the_same_names(tmp_path):
    cache = Cache(tmp_path, "100MB")
    with serving({"data/a": b"one"}) as first, serving({"data/a": b"two"}) as second:
        for server, expected in ((first, b"one"), (second, b"two"), (first, b"one")):
            avida.storage.configure("s3://", endpoint=server.url, anonymous=True)
            ((file, _),) = avida.readers.File(files=["s3://data/a"], cache=cache).next_epoch()
            assert bytes(np.asarray(file)) == expected


def test_memory_has_a_budget():
    with serving_s3(ALL) as server:
        cache = Cache(memory="2MB")
        for epoch in range(3):
            read(server.url, cache, epoch)
            assert 1_000_000 < cache.bytes <= 2_000_000
        server.asked.clear()
        read(server.url, "memory", 0, epochs=3)
        assert len(server.asked) == OBJECTS


def test_missing_objects_and_faults(tmp_path):
    with serving_s3(ALL) as server:
        reader = avida.readers.File(
            files=["s3://data/000", "s3://data/none", "s3://data/001"],
            cache=Cache(tmp_path, "100MB"),
            on_error="skip",
        )
        for _ in range(2):
            found = [bytes(np.asarray(file)) for batch, _ in reader.next_epoch(batch_size=3) for file in batch]
            assert found == [content(0), content(1)]
        assert "there is no such object" in reader.errors[0].message
        asked = [path for path, _ in server.asked]
        assert asked.count("/data/000") == 1


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ((), TypeError, "expected a folder and a limit"),
        (("folder",), TypeError, "the most bytes to take in the folder"),
        (("folder", "many"), ValueError, 'such as "200GB"'),
        (("folder", "1.2.3GB"), ValueError, 'such as "200GB"'),
        (("folder", True), ValueError, 'such as "200GB"'),
        (("folder", 1000), ValueError, r"limit must be from 1,000,000 to .* bytes, got 1,000"),
    ],
)
def test_wrong_arguments(given, error, message):
    with pytest.raises(error, match=message):
        Cache(*given)


def test_wrong_caches(tmp_path):
    with pytest.raises(TypeError, match=r'expected an avida.storage.Cache or "memory" as cache, got 5'):
        avida.readers.File(files=["a"], cache=5)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(RuntimeError, match=r"the cache in .*file cannot be opened: "):
        Cache(tmp_path / "file", "1GB")
    (tmp_path / "avida-cache").mkdir()
    (tmp_path / "avida-cache").chmod(0o777)
    with pytest.raises(RuntimeError, match="that this user alone writes to"):
        Cache(tmp_path, "1GB")


def test_sizes():
    assert repr(Cache(memory="1.5 GiB")) == "Cache(memory='1.5 GiB')"
    for text, number in {"2MB": 2_000_000, "2mib": 2 << 20, "1TB": 10**12, "3000000": 3_000_000}.items():
        assert _bytes_of("limit", text) == number
