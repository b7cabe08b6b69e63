"""Stores: their names, what they list, what they answer, and what goes wrong."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import avida
from avida.tfrecord import FixedLenFeature, int64
from tests.readers.records import example, ints, tfrecord
from tests.readers.tars import write_tar
from tests.storage.stores import HeldStore, registered


@pytest.fixture
def memory():
    """Memory without the objects of this test afterwards."""
    yield avida.storage.memory
    for name in [name for name in avida.storage.memory if name.startswith("test/")]:
        del avida.storage.memory[name]


def read(name):
    return np.asarray(avida.io.file.read(np.frombuffer(name.encode(), np.uint8))).tobytes()


def test_memory_is_a_mapping(memory):
    memory["test/a"] = b"one"
    memory["test/a"] = bytearray(b"two")
    memory["test/b/c"] = memoryview(b"")
    assert dict(memory)["test/a"] == b"two"
    assert memory["test/b/c"] == b""
    assert read("memory://test/a") == b"two"
    assert "test/x" not in memory
    with pytest.raises(KeyError):
        del memory["test/x"]
    with pytest.raises(RuntimeError, match=r'"memory://test/x": cannot be opened: there is no object of this name'):
        read("memory://test/x")


def test_folders_are_listed(memory, tmp_path):
    names = ["a/1", "a/2", "a/b/3", "c/4", "d"]
    for name in names:
        memory[f"test/{name}"] = b"x"
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "c" / "loop").symlink_to(tmp_path)
    with registered({f"test/{name}": b"x" for name in names}):
        for root in ("memory://test", "memory://test/", "held://test", str(tmp_path), tmp_path.as_uri()):
            assert avida._core.list_names(root, False) == [("a", True), ("c", True), ("d", False)], root
            assert avida._core.list_names(root, True) == [(name, False) for name in names], root


def test_names_with_a_scheme_of_files(tmp_path):
    path = tmp_path / "with a blank & an umlaut ä"
    path.write_bytes(b"content")
    assert read(path.as_uri()) == read(str(path)) == read(f"file://{path}") == b"content"


def test_a_folder_that_looks_like_a_scheme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd:").mkdir()
    (tmp_path / "odd:" / "a").write_bytes(b"content")
    with pytest.raises(RuntimeError, match=r"no store is registered for odd://; there are: file, .*memory.*\./odd://a"):
        read("odd://a")
    assert read("./odd://a") == b"content"


@pytest.mark.parametrize("scheme", ["file", "", "s", "a b", "s3://", "3s"])
def test_schemes_that_cannot_be(scheme):
    with pytest.raises(ValueError, match="expected a scheme"):
        avida.storage.register(scheme, {})


def test_what_is_no_store():
    with pytest.raises(TypeError, match="expected a mapping from names to bytes"):
        avida.storage.register("toys", ["a"])
    with pytest.raises(ValueError, match="at_once=0"):
        avida.storage.register("toys", {}, at_once=0)


class Faulty(HeldStore):
    def __getitem__(self, name):
        raise OSError("the line is dead")


def test_errors_of_a_store_are_those_of_the_sample():
    with registered(Faulty({"a": b""})), pytest.raises(RuntimeError, match=r'"held://a": .*OSError: the line is dead'):
        read("held://a")
    with registered({"a": 5}), pytest.raises(RuntimeError, match=r'"held://a": cannot be read: TypeError'):
        read("held://a")


def test_a_child_asks_by_itself():
    with registered(HeldStore({"a": b"content"})):
        assert read("held://a") == b"content"
        child = os.fork()
        if child == 0:
            os._exit(0 if read("held://a") == b"content" else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert read("held://a") == b"content"


class Silent(HeldStore):
    """Sends one signal when it is asked for something, and never answers before it is told to."""

    def __init__(self, objects):
        super().__init__(objects)
        self.answer = threading.Event()
        self._signals = [signal.SIGINT]

    def __getitem__(self, name):
        for number in [self._signals.pop()] if self._signals else []:
            os.kill(os.getpid(), number)
        self.answer.wait(timeout=300)
        return self.objects[name]


@pytest.mark.parametrize(
    "use",
    [
        lambda: avida.readers.File(file_list="held://list.txt").next_epoch(),
        lambda: avida.readers.MXNet(path="held://a.rec").next_epoch(),
        lambda: list(avida.readers.File(files=["held://a"]).next_epoch(batch_size=1)),
    ],
)
def test_interrupts_while_a_store_is_silent(use):
    store = Silent({"list.txt": b"a 0\n", "a.rec": b"", "a": b""})
    with registered(store):
        try:
            with pytest.raises(KeyboardInterrupt):
                use()
        finally:
            store.answer.set()


def test_the_process_ends_while_a_store_is_silent():
    code = """
import time
import avida
from collections.abc import Mapping
class Silent(Mapping):
    def __getitem__(self, name):
        print("asked", flush=True)
        time.sleep(3600)
    def __iter__(self):
        return iter(["a"])
    def __len__(self):
        return 1
avida.storage.register("held", Silent())
epoch = avida.readers.File(files=["held://a"]).next_epoch(batch_size=1)
def interrupt(*_):
    raise SystemExit(7)
import signal
signal.signal(signal.SIGALRM, interrupt)
signal.alarm(1)
next(epoch)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 7, done.stderr
    assert done.stdout.startswith("asked")


def test_many_files_few_descriptors(tmp_path):
    code = """
import os, resource, sys
import numpy as np
import avida
folder = sys.argv[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
files = [f"{folder}/{i:03}" for i in range(200)]
for i, file in enumerate(files):
    with open(file, "wb") as out:
        out.write(b"%d" % i)
reader = avida.readers.File(files=files, prefetch_queue_depth=4)
most = 0
for contents, labels in reader.next_epoch(batch_size=50):
    most = max(most, len(os.listdir("/proc/self/fd")))
    assert [int(bytes(np.asarray(each))) for each in contents] == labels.torch().flatten().tolist()
read = avida.io.file.read(avida.as_batch([file.encode() for file in files]))
assert [int(bytes(np.asarray(each))) for each in read] == list(range(200))
print(most < 100)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == "True\n", done.stderr


def test_a_file_that_another_one_replaces(tmp_path):
    for name in "ab":
        write_tar(tmp_path / f"{name}.tar", [(f"{name}.txt", name.encode() * (600 if name == "b" else 5))])
    reader = avida.readers.Webdataset(paths=tmp_path / "a.tar", ext="txt")
    (before,) = reader[0]
    assert bytes(np.asarray(before)) == b"aaaaa"
    reader = avida.readers.Webdataset(paths=tmp_path / "a.tar", ext="txt")
    os.replace(tmp_path / "b.tar", tmp_path / "a.tar")
    with pytest.raises(RuntimeError, match=r"a\.tar/a\): .*the file changed after it was opened: another one"):
        next(reader.next_epoch(batch_size=1))[0].evaluate()


class Versions(HeldStore):
    number = 1

    def version(self, name):
        return f"{name} {self.number}"


def test_an_object_that_changes_between_requests():
    store = Versions({"a.tfrecord": tfrecord(example(number=ints(1))) * 3})
    with registered(store):
        reader = avida.readers.TFRecord(path="held://a.tfrecord", features={"number": FixedLenFeature([], int64, 0)})
        store.number = 2
        with pytest.raises(
            RuntimeError,
            match=r"record 0 at byte 0: the object changed after it was opened: "
            r"expected version a\.tfrecord 1, found a\.tfrecord 2",
        ):
            next(reader.next_epoch())["number"].evaluate()


def test_children_of_a_process_whose_threads_ask_python():
    """Python knows these threads while they ask it: a fork finds none of its locks taken by them."""
    names = avida.as_batch([np.frombuffer(f"held://{i}".encode(), np.uint8) for i in range(64)])
    done = threading.Event()

    def ask():
        while not done.is_set():
            avida.io.file.read(names).evaluate()

    with registered({str(i): b"one" for i in range(64)}, at_once=32):
        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(200):
                ended = in_time(os.fork())
                assert ended, "a child has not come back from the fork"
        finally:
            done.set()
            for thread in threads:
                thread.join()


def in_time(child):
    """Ends the child at once; the parent returns whether it has ended within a minute."""
    if child == 0:
        os._exit(0)
    latest = time.monotonic() + 60
    while time.monotonic() < latest:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False
