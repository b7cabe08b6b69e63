"""Stores with faults: the same samples in the same order, servers that go away, processes of a DataLoader, blocks."""

import os
import random
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import avida
from avida.tfrecord import FixedLenFeature, string
from tests.readers.records import example, image, recordio, strings, write_recordio, write_tfrecords
from tests.readers.tars import write_tar
from tests.storage import test_readers
from tests.storage.http_server import serving
from tests.storage.stores import objects_in

SAMPLES, PARTS = 120, 6
SECONDS_AWAY = float(os.environ.get("AVIDA_SECONDS_AWAY", "1"))  # of a server; `make stores` has 10
WORKERS = int(os.environ.get("AVIDA_WORKERS", "2"))  # rounds of a DataLoader; `make stores` has 100
DEADLINE = 300


@pytest.fixture(autouse=True)
def without_settings_of_others(monkeypatch):
    for name in os.environ:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    yield
    avida.storage.configure("s3://")


def configure(server, **options):
    avida.storage.configure("s3://", **{"endpoint": server.url, "anonymous": True, "deadline": DEADLINE, **options})


def contents():
    rng = np.random.default_rng(0)
    return [rng.bytes(int(size)) for size in rng.integers(1, 20_000, SAMPLES)]


def files(folder):
    for i, content in enumerate(contents()):
        (folder / f"{i % 3}").mkdir(exist_ok=True)
        (folder / f"{i % 3}" / f"{i:03}.jpg").write_bytes(content)
    return lambda root, **options: avida.readers.File(file_root=root, **options)


def archives(folder):
    for part in range(PARTS):
        members = [(f"{i:03}.jpg", content) for i, content in enumerate(contents()[part::PARTS])]
        write_tar(folder / f"{part}.tar", members)
    return lambda root, **options: avida.readers.Webdataset(paths=f"{root}/{{0..5}}.tar", ext="jpg", **options)


def tfrecords(folder):
    for part in range(PARTS):
        records = [example(image=strings(content)) for content in contents()[part::PARTS]]
        write_tfrecords(folder / f"{part}.tfrecord", records)
    features = {"image": FixedLenFeature([], string, "")}
    return lambda root, **options: avida.readers.TFRecord(path=f"{root}/*.tfrecord", features=features, **options)


def recordios(folder):
    for part in range(PARTS):
        write_recordio(folder / f"{part}.rec", [recordio(image(each, 0)) for each in contents()[part::PARTS]])
    return lambda root, **options: avida.readers.MXNet(path=f"{root}/?.rec", **options)


BLOCKS = avida.readers.Blocks(window=2)
READERS = {
    "files": (files, {"random_shuffle": True}),
    "archives": (archives, {"random_shuffle": True}),
    "archives in blocks": (archives, {"random_shuffle": BLOCKS}),
    "tfrecords in blocks": (tfrecords, {"random_shuffle": BLOCKS}),
    "records in blocks": (recordios, {"random_shuffle": BLOCKS}),
}


def rows(batches):
    return [tuple(np.asarray(x).tobytes() for x in row) for batch in batches for row in zip(*batch, strict=True)]


def faults(seed):
    """5 % of the answers are overload, 1 % resets, 1 % end early, at random."""
    choose, lock = random.Random(seed), threading.Lock()

    def fault(handler, _):
        with lock:
            draw = choose.random()
        if draw < 0.05:
            handler.refuse(503, "SlowDown")
        elif draw < 0.06:
            handler.reset()
        handler.ends_early = 0.06 <= draw < 0.07
        return draw < 0.06

    return fault


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", READERS)
def test_the_same_samples_in_the_same_order(tmp_path, name, seed):
    make, options = READERS[name]
    made = make(tmp_path)
    options = options | {"seed": seed}
    expected = [test_readers.samples(made(tmp_path, **options)) for _ in range(2)]
    assert expected[0] == expected[1]
    assert len(expected[0]) == SAMPLES
    with serving(objects_in(tmp_path)) as server:
        configure(server)
        server.fault = faults(seed)
        assert test_readers.samples(made("s3://data", **options)) == expected[0]


def test_a_server_that_goes_away(tmp_path):
    """In the middle of an epoch it is gone, with all its connections, and comes back after a while."""
    made = files(tmp_path)
    options = {"random_shuffle": True, "seed": 3, "prefetch_queue_depth": 1}
    expected = test_readers.samples(made(tmp_path, **options))
    over = threading.Event()
    with serving(objects_in(tmp_path)) as server:
        configure(server, connect_timeout=1)
        epoch = made("s3://data", **options).next_epoch(batch_size=5)
        found = [next(epoch) for _ in range(3)]
        server.fault = lambda handler, _: handler.reset() or True  # for connections that it has
        server.shutdown()
        server.server_close()

        def come_back():
            over.wait(SECONDS_AWAY)
            with serving(server.objects, port=server.server_port):
                over.wait()

        other = threading.Thread(target=come_back)
        other.start()
        try:
            found += epoch
        finally:
            over.set()
            other.join()
    assert rows(found) == expected


def test_all_answers_are_overload():
    with serving({}) as server:
        configure(server, deadline=1)
        server.fault = lambda handler, _: handler.refuse(503, "SlowDown") or True
        pattern = r"s3://data/a.*the server answered 503 \(SlowDown\); gave up after [2-9] tries in [01] s"
        with pytest.raises(RuntimeError, match=pattern):
            avida.readers.File(files=["s3://data/a"])[0]


DATA_LOADER = """
import sys
import numpy as np
import torch
import avida

avida.storage.configure("s3://", endpoint=sys.argv[1], anonymous=True)

class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 24
    def __getitem__(self, i):
        name = f"s3://data/{i % 3}/{i:03}.jpg"
        reader = avida.readers.File(files=[name])
        content, _ = reader[0]
        assert bytes(np.asarray(content)) == avida.storage.read(name)
        return i

if __name__ == "__main__":
    method, rounds = sys.argv[2], int(sys.argv[3])
    epoch = avida.readers.File(file_root="s3://data").next_epoch(batch_size=4)
    for i in range(rounds):
        assert avida.storage.ls("s3://data") == ["0/", "1/", "2/"]
        assert next(epoch, None) or True  # and others are under way
        if i % 20 == 19:
            epoch = avida.readers.File(file_root="s3://data").next_epoch(batch_size=4)
        loader = torch.utils.data.DataLoader(
            Images(), batch_size=4, num_workers=2, multiprocessing_context=method, timeout=600
        )
        assert torch.cat(list(loader)).tolist() == list(range(24))
        print("round", i, flush=True)
"""


@pytest.mark.parametrize("part", range(-(-WORKERS // 10)))
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_a_data_loader(tmp_path, method, part):
    """After the parent has listed and read: none hangs."""
    files(tmp_path)
    program = tmp_path / "program.py"
    program.write_text(DATA_LOADER)
    rounds = min(10, WORKERS - 10 * part) if method == "fork" or WORKERS > 2 else 1
    with serving({name: content for name, content in objects_in(tmp_path).items() if name.endswith(".jpg")}) as server:
        done = subprocess.run(
            [sys.executable, str(program), server.url, method, str(rounds)],
            capture_output=True,
            text=True,
            timeout=1000,
            check=False,
        )
    assert done.stdout.splitlines() == [f"round {i}" for i in range(rounds)], done.stderr


@pytest.mark.parametrize("what", ["listing", "epoch", "batch"])
def test_interrupts_while_a_server_is_slow(tmp_path, what):
    """The server does not answer before the interrupt has come through."""
    over = threading.Event()
    made = archives(tmp_path)
    with serving(objects_in(tmp_path)) as server:
        configure(server)
        reader = made("s3://data", random_shuffle=BLOCKS)
        reader.next_epoch(batch_size=1, indices=[0])  # has found the samples
        uses = {
            "listing": lambda: avida.storage.ls("s3://data"),
            "epoch": lambda: made("s3://data").next_epoch(),
            "batch": lambda: next(reader.next_epoch(batch_size=4))[0].evaluate(),
        }
        once = iter([signal.SIGINT])

        def fault(*_):
            for number in once:
                os.kill(os.getpid(), number)
            return over.wait(DEADLINE)

        server.fault = fault
        try:
            with pytest.raises(KeyboardInterrupt):
                uses[what]()
        finally:
            over.set()


MIB = 1 << 20


def large_archives(folder):
    for part in range(3):
        members = [(f"{i:03}.bin", bytes([part, i]) * (MIB // 2 - 3 * i)) for i in range(37)]
        write_tar(folder / f"{part}.tar", members)
    return lambda root, **options: avida.readers.Webdataset(paths=f"{root}/{{0..2}}.tar", ext="bin", **options)


def large_records(folder):
    for part in range(3):
        records = [recordio(image(bytes([part, i]) * (MIB // 2 - 3 * i), 0)) for i in range(37)]
        write_recordio(folder / f"{part}.rec", records)
    return lambda root, **options: avida.readers.MXNet(path=f"{root}/?.rec", **options)


@pytest.mark.parametrize("make", [large_archives, large_records])
def test_requests_of_an_epoch_in_blocks(tmp_path, make, monkeypatch):
    """Each byte of a shard is asked for once in an epoch, in requests of about 8 MiB."""
    made = make(tmp_path)
    objects = objects_in(tmp_path)
    shards = [name for name in objects if name.endswith((".tar", ".rec"))]
    options = {"random_shuffle": BLOCKS, "seed": 5, "last_batch": "partial"}
    expected = test_readers.samples(made(tmp_path, **options))
    with serving(objects) as server:
        configure(server)
        reader = made("s3://data", **options)
        reader.next_epoch(batch_size=1, indices=[0])  # whatever it has to find first
        monkeypatch.setattr(type(reader), "_epochs_apart", True)  # nothing is fetched for the next epoch
        server.asked.clear()
        assert rows(reader.next_epoch(batch_size=5)) == expected
    asked = [headers["Range"].removeprefix("bytes=").split("-") for _, headers in server.asked]
    total = sum(len(objects[name]) for name in shards)
    received = sum(int(last) + 1 - int(first) for first, last in asked)
    assert received <= total
    assert len(asked) <= 1.1 * total / (8 * MIB) + len(shards)


MEMORY = """
import json, sys
import avida

def memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

endpoint, name, size = sys.argv[1:]
avida.storage.configure("s3://", endpoint=endpoint, anonymous=True)
blocks = avida.readers.Blocks(window=2)
reader = {
    "files": lambda: avida.readers.File(file_root="s3://data", random_shuffle=True),
    "archives": lambda: avida.readers.Webdataset(paths="s3://data/{0..5}.tar", ext="jpg", random_shuffle=blocks),
}[name]()
seen = []
while len(seen) < 1000:
    for batch in reader.next_epoch(batch_size=int(size)):
        batch[0].evaluate()
        seen.append(memory())
print(max(seen[:200]), max(seen))
"""


@pytest.mark.parametrize(("make", "size"), [(files, 4), (archives, 40)])
def test_memory_over_a_thousand_batches(tmp_path, make, size):
    """It stays what it was after 200; the others have ten times what it may grow by."""
    make(tmp_path)
    with serving(
        {name: each for name, each in objects_in(tmp_path).items() if name.endswith((".jpg", ".tar"))}
    ) as server:
        command = [sys.executable, "-c", MEMORY, server.url, make.__name__, str(size)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    before, after = map(int, done.stdout.split())
    assert after - before < 0.1 * 800 * size * np.mean([len(each) for each in contents()]) / 1024, "KiB"
