"""ExternalSource over what has __len__ and __getitem__: as other readers, without asking for more than is needed."""

import concurrent.futures
import contextlib
import contextvars
import gc
import itertools
import json
import pathlib
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import weakref
from typing import Any

import numpy as np
import pyarrow
import pytest

import avida

N = 23
DEPTHS = [None, 0, 3]


class Squares:
    """A data set as PyTorch has them: without an end, and without iteration."""

    def __init__(self, n=N):
        self.n = n
        self.asked = []

    def __len__(self):
        return self.n

    def __getitem__(self, i) -> Any:
        self.asked.append(i)
        return {"square": i * i, "name": f"number {i}"}


def indices(source, batch_size, epochs=1):
    """The numbers of the samples of the next epochs, batch by batch."""
    found = []
    for _ in range(epochs):
        for item in source.next_epoch(batch_size):
            first = next(iter(item.values())) if isinstance(item, dict) else item[0]
            sources = [first.source] if batch_size is None else first.sources
            found.append([(s.index, s.epoch) for s in sources])
    return found


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / f"{i}" for i in range(N)]
    for path in paths:
        path.write_bytes(b"x")
    return paths


OPTIONS = [
    dict(),
    dict(last_batch="wrap"),
    dict(last_batch="pad"),
    dict(last_batch="drop"),
    dict(random_shuffle=True),
    dict(random_shuffle=True, seed=5, last_batch="wrap"),
    dict(num_shards=3, shard_id=1),
    dict(num_shards=3, shard_id=2, random_shuffle=True, last_batch="wrap"),
    dict(num_shards=2, stick_to_shard=True, random_shuffle=True),
]


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
@pytest.mark.parametrize("batch_size", [None, 1, 4])
def test_the_same_order_as_other_readers(files, options, batch_size):
    other = avida.readers.File(files=files, **({"last_batch": "partial"} | options))
    source = avida.ExternalSource(Squares(), **options)
    assert len(source) == len(other) == N
    assert indices(source, batch_size, 3) == indices(other, batch_size, 3)
    assert source.epoch == other.epoch == 3


def test_outputs_are_dictionaries():
    source = avida.ExternalSource(Squares(), dtype={"square": "int64"}, layout={"name": "X"})
    batch = next(source.next_epoch(3))
    assert list(batch) == ["square", "name"]
    assert (batch["square"].dtype, batch["square"].numpy().tolist()) == (avida.int64, [0, 1, 4])
    assert batch["name"].layout == "X"
    assert bytes(batch["name"].tensors[2]).decode() == "number 2"
    assert source()["square"].item() == 0
    assert source[4]["square"].item() == 16


@pytest.mark.parametrize(
    "make",
    [list, tuple, np.array, lambda numbers: memoryview(np.array(numbers)), lambda numbers: range(len(numbers))],
)
def test_sequences(make):
    source = avida.ExternalSource(make(list(range(7))), random_shuffle=True)
    assert len(source) == 7
    values = [x.item() for (x,) in source.next_epoch()]
    assert sorted(values) == list(range(7))
    assert values != list(range(7))
    assert source[-1][0].item() == 6


def test_data_sets_of_torch():
    import torch

    data = torch.utils.data.TensorDataset(torch.arange(12).reshape(6, 2), torch.arange(6) % 3)
    source = avida.ExternalSource(data, num_outputs=2, random_shuffle=True, seed=1)
    for values, classes in source.next_epoch(4):
        numbers = [s.index for s in values.sources]
        assert values.numpy().tolist() == [[2 * i, 2 * i + 1] for i in numbers]
        assert classes.numpy().tolist() == [i % 3 for i in numbers]

    class Streamed(torch.utils.data.IterableDataset):
        def __len__(self):
            return 3

        def __iter__(self):
            return iter([5, 6, 7])

    assert [x.item() for (x,) in avida.ExternalSource(Streamed()).next_epoch()] == [5, 6, 7]


def test_access_by_number():
    samples = Squares()
    source = avida.ExternalSource(samples)
    several = source[[5, 1]]
    assert several["square"].numpy().tolist() == [25, 1]
    assert [s.index for s in several["square"].sources] == [5, 1]
    assert source[20:]["square"].numpy().tolist() == [400, 441, 484]
    assert samples.asked == [5, 1, 20, 21, 22]
    with pytest.raises(IndexError, match="from -23 to 22"):
        source[23]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_resume_without_replay(options, depth):
    whole = indices(avida.ExternalSource(Squares(), **options), 4, 2)
    for stop in range(1, 6):
        source = avida.ExternalSource(Squares(), prefetch_queue_depth=depth, **options)
        epoch = source.next_epoch(4)
        taken = len(list(itertools.islice(epoch, stop)))
        samples = Squares()
        again = avida.ExternalSource(samples, prefetch_queue_depth=0, **options)
        again.load_state_dict(json.loads(json.dumps(source.state_dict())))
        rest = indices(again, 4, 2 if taken < len(epoch) else 1)
        assert rest == whole[taken : taken + len(rest)]
        asked = [index for batch in rest for index, _ in batch]
        assert samples.asked == asked


def test_other_numbers_of_shards_go_on():
    """Two shards stop in the middle of an epoch, three take the rest: every sample once."""
    shards = [avida.ExternalSource(Squares(), num_shards=2, shard_id=i, random_shuffle=True) for i in range(2)]
    seen = []
    for shard in shards:
        seen += [s.index for item in itertools.islice(shard.next_epoch(3), 2) for s in item["square"].sources]
    state = shards[0].get_state()
    for i in range(3):
        shard = avida.ExternalSource(Squares(), num_shards=3, shard_id=i, random_shuffle=True)
        shard.set_state(state)
        seen += [index for batch in indices(shard, 3) for index, _ in batch]
    assert sorted(seen) == list(range(N))


def test_seek_and_sampler():
    source = avida.ExternalSource(Squares(), random_shuffle=True)
    epochs = [indices(source, 5) for _ in range(3)]
    source.seek(1, 10)
    assert indices(source, 5) == epochs[1][2:]
    source.sampler = [3, 3, 8]
    assert [[i for i, _ in batch] for batch in indices(source, 2)] == [[3, 3], [8]]
    source.sampler = None
    by_hand = source.next_epoch(2, indices=[7, 0])
    assert len(by_hand) == 1
    assert [s.index for s in next(by_hand)["square"].sources] == [7, 0]


def test_pickle():
    source = avida.ExternalSource(Squares(), random_shuffle=True)
    epoch = source.next_epoch(5)
    next(epoch)
    again = pickle.loads(pickle.dumps(source))
    assert indices(again, 5) == [[(s.index, s.epoch) for s in item["square"].sources] for item in epoch]


class Faulty(Squares):
    def __getitem__(self, i):
        if i in (6, 7):
            raise OSError(f"no {i}")
        return super().__getitem__(i)


@pytest.mark.parametrize("depth", DEPTHS)
def test_errors_are_the_users_own(depth):
    epoch = avida.ExternalSource(Faulty(10), prefetch_queue_depth=depth).next_epoch(4)
    assert next(epoch)["square"].batch_size == 4
    with pytest.raises(OSError, match="no 6") as caught:
        next(epoch)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "__getitem__"
    assert "sample 6" in caught.value.__notes__[0]
    assert next(epoch)["square"].numpy().tolist() == [64, 81]
    with pytest.raises(StopIteration):
        next(epoch)


@pytest.mark.parametrize("depth", DEPTHS)
def test_samples_that_fail_can_be_left_out(depth):
    source = avida.ExternalSource(Faulty(10), prefetch_queue_depth=depth, on_error="skip")
    assert [[i for i, _ in batch] for batch in indices(source, 4)] == [[0, 1, 2, 3], [4, 5], [8, 9]]
    assert [(error.source, error.index, error.message) for error in source.errors] == [
        (f"ExternalSource[{i}]", i, f"OSError: no {i}") for i in (6, 7)
    ]


def test_the_end_of_the_epoch_is_the_readers_own():
    class Ends(Squares):
        def __getitem__(self, i):
            raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration for sample 0"):
        next(avida.ExternalSource(Ends()).next_epoch(2))


def test_one_thread_calls_the_source_and_not_beyond_the_epoch():
    threads = set()

    class Watched(Squares):
        def __getitem__(self, i):
            threads.add(threading.get_ident())
            return super().__getitem__(i)

    samples = Watched(6)
    source = avida.ExternalSource(samples, prefetch_queue_depth=8)
    list(source.next_epoch(2))
    assert samples.asked == list(range(6))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def threads():
    names = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            names.append((task / "comm").read_text().strip())
    return names.count("avida-source")


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_dropping_an_epoch_ends_its_thread():
    before = threads()
    epoch = avida.ExternalSource(Squares()).next_epoch(2)
    next(epoch)
    assert threads() > before
    del epoch
    gc.collect()
    wait_for(lambda: threads() <= before)


class OneBuffer:
    """Gives the same memory for each sample, slowly, and notices when two threads ask for one at the same time."""

    def __init__(self, n=64):
        self.memory, self.n, self.inside = np.zeros(1000, np.int32), n, threading.Lock()

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        assert self.inside.acquire(blocking=False), "two threads"
        for part in np.split(self.memory, 10):
            part[:] = i
            time.sleep(1e-4)
        self.inside.release()
        return self.memory


def test_epochs_that_are_left_do_not_disturb_the_next_one():
    """The thread of the old epoch may still be inside of the source."""
    source = avida.ExternalSource(OneBuffer())
    for size in [4, 3, None] * 5:
        for (item,) in source.next_epoch(size):
            samples = [item] if size is None else item
            assert [np.unique(x).tolist() for x in samples] == [[i] for i in range(size or 1)]
            break


def test_one_thread_at_a_time_for_all_that_read():
    source = avida.ExternalSource(OneBuffer(), random_shuffle=True)

    def read_epoch():
        for (batch,) in source.next_epoch(8):
            assert [np.unique(x).tolist() for x in batch] == [[s.index] for s in batch.sources]

    def read_by_number():
        for i in range(20):
            assert np.unique(source[i][0]).tolist() == [i]

    with concurrent.futures.ThreadPoolExecutor() as pool:
        for done in [pool.submit(read_epoch), pool.submit(read_epoch), pool.submit(read_by_number)]:
            done.result()


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.filterwarnings("ignore:this epoch has ended")  # a thread came late
def test_threads_that_share_an_epoch_end_with_it(depth):
    for _ in range(10):
        epoch = avida.ExternalSource(list(range(100)), prefetch_queue_depth=depth).next_epoch(3)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            parts = [
                pool.submit(lambda items: [x.item() for (batch,) in items for x in batch], epoch) for _ in range(16)
            ]
        assert sorted(itertools.chain(*(part.result() for part in parts))) == list(range(100))


def test_a_source_that_reads_itself():
    class Doubled(Squares):
        def __getitem__(self, i):
            return i if i < 5 else source[i - 5][0].item() + 5

    for depth in (0, 2):
        source = avida.ExternalSource(Doubled(), prefetch_queue_depth=depth)
        assert [x.item() for (batch,) in source.next_epoch(5) for x in batch] == list(range(N))


def test_the_source_runs_as_its_caller_would():
    seen, setting, kept = [], contextvars.ContextVar("setting"), threading.local()

    class Watched(Squares):
        def __getitem__(self, i):
            kept.calls = getattr(kept, "calls", 0) + 1
            here = (avida.EvalMode.current(), avida.EvalContext.current().num_threads, setting.get(), kept.calls)
            seen.append(here)
            return avida.flip(np.full((2, 3, 1), i, np.uint8))

    setting.set("mine")
    with avida.EvalContext(num_threads=3), avida.EvalMode.deferred:
        (first,), _ = avida.ExternalSource(Watched(4)).next_epoch(2)
    assert [np.unique(x).tolist() for x in first] == [[0], [1]]
    assert seen == [(avida.EvalMode.deferred, 3, "mine", i + 1) for i in range(4)]


@pytest.mark.parametrize("depth", DEPTHS)
def test_errors_keep_their_cause(depth):
    class Wraps(Squares):
        def __getitem__(self, i):
            try:
                {}["missing"]
            except KeyError as error:
                raise OSError(f"no {i}") from error

    source = avida.ExternalSource(Wraps(), prefetch_queue_depth=depth)
    for read in (lambda: next(source.next_epoch(2)), lambda: source[0]):
        with pytest.raises(OSError, match="no 0") as caught:
            read()
        assert isinstance(caught.value.__cause__, KeyError)


def test_a_source_that_refers_to_its_reader_is_collected():
    class Circle(Squares):
        reader: Any
        epoch: Any

    samples = Circle()
    samples.reader = avida.ExternalSource(samples)
    samples.epoch = samples.reader.next_epoch(2)
    next(samples.epoch)
    is_alive = weakref.ref(samples)
    del samples

    def collected():
        gc.collect()
        return is_alive() is None and threads() == 0

    wait_for(collected)


def run(code):
    code = "import gc, os, signal, threading, time\nimport avida as ndd\n" + textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)


BLOCKING = """
class Blocking:
    inside, free = threading.Event(), threading.Event()
    def __len__(self): return 20
    def __getitem__(self, i):
        if i == 6:
            self.inside.set()
            self.free.wait()
        return i
source = ndd.ExternalSource(Blocking())
items = source.next_epoch(4)
taken = next(items)[0].torch().tolist()
Blocking.inside.wait()
"""


def test_fork_while_the_source_runs():
    """The child reads again what the thread of the parent was reading."""
    done = run(
        BLOCKING
        + textwrap.dedent("""
        for round in range(10):
            pid = os.fork()
            if pid == 0:
                Blocking.free = threading.Event()
                Blocking.free.set()
                taken += [x.item() for (batch,) in items for x in batch]
                os._exit(taken == list(range(20)) and source[6][0].item() == 6)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
        Blocking.free.set()
        assert taken + [x.item() for (batch,) in items for x in batch] == list(range(20))
        print("fine")
        """)
    )
    assert done.stdout.strip() == "fine", done.stderr


@pytest.mark.parametrize("left", ["pass", "del items, source; gc.collect()", "os.kill(os.getpid(), signal.SIGINT)"])
def test_exit_while_the_source_blocks(left):
    done = run(BLOCKING + "print('fine', flush=True)\n" + left)
    assert done.stdout.strip() == "fine"
    assert (not done.stderr) or "KeyboardInterrupt" in done.stderr


def test_exit_while_the_source_calls_operators():
    done = run("""
        class Images:
            def __len__(self): return 10**6
            def __getitem__(self, i): return ndd.flip(ndd.tensor([[[i]]], layout="HWC"))
        items = ndd.ExternalSource(Images(), prefetch_queue_depth=8).next_epoch(4)
        next(items)
        print("fine")
    """)
    assert (done.stdout.strip(), done.stderr, done.returncode) == ("fine", "", 0)


def test_interrupt_while_another_thread_is_inside():
    done = run(
        BLOCKING
        + textwrap.dedent("""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            source[6]
        except KeyboardInterrupt:
            Blocking.free.set()
            print("interrupted", source[6][0].item(), [x.item() for x in next(items)[0]])
        """)
    )
    assert done.stdout.strip() == "interrupted 6 [4, 5, 6, 7]", done.stderr


def test_calls_follow_the_sources_own_order():
    source = avida.ExternalSource(Squares(3))
    assert [source()["square"].item() for _ in range(3)] == [0, 1, 4]
    assert source.get_state().done == 3
    with pytest.raises(StopIteration):
        source()
    with pytest.raises(TypeError, match=r"use next_epoch\(\) with random_shuffle"):
        avida.ExternalSource(Squares(3), random_shuffle=True)()


def test_keys_must_be_the_same():
    rows = [{"a": 1, "b": 2}, {"b": 4, "a": 3}, {"a": 5}]
    epoch = avida.ExternalSource(rows).next_epoch(2)
    assert {key: value.numpy().tolist() for key, value in next(epoch).items()} == {"a": [1, 3], "b": [2, 4]}
    with pytest.raises(ValueError, match=r"keys \['a', 'b'\] from the source, got \['a'\]"):
        next(epoch)
    with pytest.raises(ValueError, match="got None") as caught:
        avida.ExternalSource([{"a": None}])()
    assert caught.value.__notes__[0] == "in 'a'"


def test_items_of_any_kind(tmp_path):
    texts = ["a.jpg", "grün"]
    (batch,) = next(avida.ExternalSource(texts).next_epoch(2))
    assert [bytes(text).decode() for text in batch] == texts
    (batch,) = next(avida.ExternalSource([b"ab", bytearray(b"c")]).next_epoch(2))
    assert (batch.dtype, batch.shape) == (avida.uint8, [(2,), (1,)])
    ragged = avida.ExternalSource([[np.zeros(2), np.zeros(3)], [b"a", b"b"]])
    assert ragged().shape == [(2,), (3,)]
    assert ragged().shape == [(1,), (1,)]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: avida.ExternalSource({"a": [1]}), TypeError, "got dict; give its rows"),
        (lambda: avida.ExternalSource("abc"), TypeError, "got str"),
        (lambda: avida.ExternalSource(iter([1]), num_shards=2), TypeError, "num_shards expected a source with __len__"),
        (lambda: len(avida.ExternalSource(iter([1]))), TypeError, r"len\(\) needs a source"),
        (lambda: avida.ExternalSource(iter([1]))[0], TypeError, "needs a source with __len__"),
        (lambda: avida.ExternalSource([1, 2], num_shards=3), RuntimeError, "ExternalSource: .*each of 3 shards"),
        (lambda: iter(avida.ExternalSource([1])), TypeError, "next_epoch"),
        (lambda: avida.ExternalSource([1], last_batch="some"), ValueError, "last_batch"),
        (lambda: next(avida.ExternalSource(np.zeros((2, 2)), 2).next_epoch(1)), ValueError, "a tuple of 2"),
        (lambda: avida.ExternalSource([avida.batch([1])], random_shuffle=True)[[0]], TypeError, "got a Batch"),
    ],
)
def test_wrong_use(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("make", [list, iter])
@pytest.mark.parametrize("values", [[1, 0.5], [[0.5, 1], [1, 2]], [np.uint8(1), np.int64(300)]])
def test_types_that_differ_are_not_guessed(make, values):
    with pytest.raises(TypeError, match=r"one element type from the source, got \w+ and \w+; pass dtype="):
        next(avida.ExternalSource(make(values)).next_epoch(batch_size=2))
    (batch,) = next(avida.ExternalSource(make(values), dtype="float32").next_epoch(batch_size=2))
    assert batch.torch().tolist() == values


def test_columns_of_arrow():
    for column in (pyarrow.array([b"ab", b"c"]), pyarrow.chunked_array([[b"ab", b"c"]])):
        (batch,) = next(avida.ExternalSource(column).next_epoch(batch_size=2))
        assert batch.dtype == avida.uint8
        assert [bytes(sample) for sample in batch] == [b"ab", b"c"]


def test_tables_are_refused():
    table = pyarrow.table({"a": [1, 2]})
    with pytest.raises(TypeError, match="give its rows"):
        avida.ExternalSource(table)
    assert avida.ExternalSource(table.to_pylist())()["a"].item() == 1


def test_a_source_is_true():
    assert avida.ExternalSource(iter([1]))
    assert avida.ExternalSource([])
    assert list(avida.ExternalSource([]).next_epoch(2)) == []
