"""ExternalSource: Python code as a reader, in the caller's thread and in the background."""

import contextlib
import gc
import json
import pathlib
import subprocess
import sys
import textwrap
import threading
import time
import traceback

import numpy as np
import pytest

import avida

DEPTHS = [None, 0, 3]


def numbers(batch):
    return [x.item() for x in batch]


def threads():
    names = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            names.append((task / "comm").read_text().strip())
    return [name for name in names if name == "avida-source"]


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    gc.collect()
    wait_for(lambda: not threads())


def counting(n):
    yield from range(n)


class Counter:
    """A function with a state."""

    def __init__(self, n):
        self.n, self.i = n, 0

    def __call__(self):
        if self.i == self.n:
            self.i = 0
            raise StopIteration
        self.i += 1
        return self.i - 1


SOURCES = {
    "list": lambda: list(range(5)),
    "array": lambda: np.arange(5),
    "range": lambda: range(5),
    "generator function": lambda: lambda: (yield from counting(5)),
    "function": lambda: Counter(5),
    "samples and batches": lambda: [avida.batch([0, 1, 2]), 3, avida.batch([4])],
}


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", SOURCES)
def test_epochs(kind, depth):
    source = avida.ExternalSource(SOURCES[kind](), prefetch_queue_depth=depth)
    for _ in range(2):
        assert [numbers(batch) for (batch,) in source.next_epoch(2)] == [[0, 1], [2, 3], [4]]
    assert [sample.item() for (sample,) in source.next_epoch()] == list(range(5))


class Slow:
    """An iterator of which one thread may ask for an item at a time, as with a generator."""

    def __init__(self, n):
        self.items, self.lock = iter(range(n)), threading.Lock()

    def __iter__(self):
        return self

    def __next__(self):
        assert self.lock.acquire(blocking=False), "two threads"
        time.sleep(0.001)
        self.lock.release()
        return next(self.items)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", ["iterator", "function"])
def test_the_rest_of_an_epoch_that_was_left(kind, depth):
    iterator = Slow(23)
    source = avida.ExternalSource(
        iterator if kind == "iterator" else lambda: next(iterator), prefetch_queue_depth=depth
    )
    items = [source().item()]
    for size in (4, 4, None, 3, 3, None, 1):
        for (item,) in source.next_epoch(size):
            items += [item.item()] if size is None else numbers(item)
            assert source.get_state().done == len(items)
            break
    for (item,) in source.next_epoch(5):
        assert [x.epoch for x in item.sources] == [0] * len(item)
        assert [x.index for x in item.sources] == numbers(item)
        items += numbers(item)
    assert items == list(range(23))
    assert source.epoch == 1


@pytest.mark.parametrize("depth", DEPTHS)
def test_two_epochs_of_an_iterator_share_its_items(depth):
    source = avida.ExternalSource(iter(range(12)), prefetch_queue_depth=depth)
    first, second = source.next_epoch(2), source.next_epoch(3)
    assert numbers(next(first)[0]) == [0, 1]
    assert numbers(next(second)[0]) == [2, 3, 4]
    assert numbers(next(first)[0]) == [5, 6, 7]  # in batches of the newest epoch
    assert source.get_state().done == 8
    assert [numbers(batch) for (batch,) in first] == [[8, 9, 10], [11]]
    assert source.epoch == 1


@pytest.mark.filterwarnings("ignore:this epoch is empty")  # the others were faster
@pytest.mark.parametrize("depth", [None, 3])
def test_threads_with_epochs_of_one_iterator(depth):
    for _ in range(5):
        source, items, start = (
            avida.ExternalSource(iter(range(300)), prefetch_queue_depth=depth),
            [],
            threading.Barrier(3),
        )

        def work(size, source=source, items=items, start=start):
            start.wait()
            for (item,) in source.next_epoch(size):
                items.extend(numbers(item) if isinstance(item, avida.Batch) else [item.item()])

        workers = [threading.Thread(target=work, args=(size,)) for size in (2, 3, None)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert sorted(items) == list(range(300))


def test_other_batch_sizes_of_an_iterator_leave_no_threads():
    source = avida.ExternalSource(iter(range(1000)))
    for size in [1, 2] * 20:
        next(source.next_epoch(size))
    wait_for(lambda: len(threads()) == 1)


def test_errors_behind_the_rest_of_an_epoch():
    count = Counter(9)

    def function():
        if count.i == 4:
            count.i += 1
            raise ValueError("item 4")
        return count()

    for _ in range(2):
        source = avida.ExternalSource(function)
        assert numbers(next(source.next_epoch(2))[0]) == [0, 1]
        wait_for(lambda: count.i == 5)  # the error is prefetched
        rest = source.next_epoch()
        assert [next(rest)[0].item() for _ in range(2)] == [2, 3]
        with pytest.raises(ValueError, match="item 4"):
            next(rest)
        assert [numbers(batch) for (batch,) in source.next_epoch(3)] == [[5, 6, 7], [8]]


@pytest.mark.parametrize("depth", DEPTHS)
def test_an_epoch_whose_items_were_all_taken_is_over(depth):
    source = avida.ExternalSource(Counter(4), prefetch_queue_depth=depth)
    for _ in range(3):
        epoch = source.next_epoch(2)
        assert [numbers(next(epoch)[0]) for _ in range(2)] == [[0, 1], [2, 3]]


@pytest.mark.parametrize("depth", DEPTHS)
def test_calls_after_an_epoch_that_was_left(depth):
    source = avida.ExternalSource(iter(range(9)), prefetch_queue_depth=depth)
    assert source().item() == 0
    epoch = source.next_epoch(2)
    assert numbers(next(epoch)[0]) == [1, 2]
    with pytest.raises(RuntimeError, match="next_epoch"):
        source()
    assert [numbers(batch) for (batch,) in source.next_epoch(3)] == [[3, 4, 5], [6, 7, 8]]
    with pytest.raises(StopIteration):
        source()


def test_an_iterator_that_has_ended_says_so():
    source = avida.ExternalSource(counting(3))
    assert len(list(source.next_epoch())) == 3
    with pytest.warns(UserWarning, match="an iterator that has ended"):
        assert list(source.next_epoch()) == []


def test_repr():
    source = avida.ExternalSource([1, 2])
    assert repr(source) == "ExternalSource(list, 2 samples, epoch 0)"
    list(source.next_epoch())
    assert repr(source) == "ExternalSource(list, 2 samples, epoch 1)"
    assert repr(avida.ExternalSource(counting)) == "ExternalSource(function, epoch 0)"


def test_two_epochs_at_once():
    source = avida.ExternalSource(lambda: (yield from counting(3)))
    pairs = zip(source.next_epoch(), source.next_epoch(), strict=True)
    assert [(a.item(), b.item()) for (a,), (b,) in pairs] == [(0, 0), (1, 1), (2, 2)]


def test_calls_beside_epochs():
    source = avida.ExternalSource(range(4))
    assert source().item() == 0
    assert len(list(source.next_epoch())) == 4
    assert source().item() == 1


def test_leaving_captured_loses_nothing():
    source = avida.ExternalSource(range(6))
    assert source().item() == 0
    for batch in source.captured(2):
        assert numbers(batch) == [1, 1]
        break
    assert source().item() == 2
    assert [numbers(batch) for batch in source.captured(1)] == [[3], [4], [5]]


@pytest.mark.parametrize("depth", DEPTHS)
def test_outputs(depth):
    items = [(np.full((2, 2), i, np.uint8), float(i)) for i in range(3)]
    source = avida.ExternalSource(
        items, 2, layout=["HW", None], dtype=[None, avida.float64], prefetch_queue_depth=depth
    )
    a, b = source()
    assert (a.layout, b.layout, a.dtype, b.dtype) == ("HW", None, avida.uint8, avida.float64)
    batches = list(source.next_epoch(2))
    assert [a.shape for a, _ in batches] == [[(2, 2)] * 2, [(2, 2)]]
    assert batches[0][0].layout == "HW"
    assert numbers(batches[1][1]) == [2.0]


def test_ragged_samples():
    source = avida.ExternalSource([np.zeros((i, 2)) for i in range(1, 4)])
    assert [batch.shape for (batch,) in source.next_epoch(2)] == [[(1, 2), (2, 2)], [(3, 2)]]


def test_memory_that_is_used_again():
    memory = np.zeros(3, np.int32)

    def source():
        for i in range(6):
            memory[:] = i
            yield memory

    for (batch,) in avida.ExternalSource(source).next_epoch(6):
        assert [np.asarray(x)[0] for x in batch] == list(range(6))


def test_identity():
    source = avida.ExternalSource(lambda: (yield from [10, avida.batch([11, 12]), 13]))
    (all_of_them,) = next(source.next_epoch(4))
    assert all_of_them.sources == [avida.SampleSource(f"ExternalSource[{i}]", i, 0) for i in range(4)]
    assert (all_of_them + 1).sources == all_of_them.sources
    (again,) = next(source.next_epoch(4))
    rng = avida.random.RNG(seed=1)
    first, second = (numbers(avida.random.uniform(keyed_by=batch, rng=rng)) for batch in (all_of_them, again))
    assert set(first).isdisjoint(second), "another epoch"
    apart = [avida.random.uniform(keyed_by=x, rng=rng).item() for (x,) in avida.ExternalSource(range(4)).next_epoch()]
    assert apart == first


def test_samples_of_other_readers_keep_their_identity(tmp_path):
    (tmp_path / "a").mkdir()
    for i in range(3):
        (tmp_path / "a" / f"{i}.jpg").write_bytes(b"abc")
    reader = avida.readers.File(file_root=str(tmp_path))
    source = avida.ExternalSource(lambda: (yield from ((files + 1, label) for files, label in reader.next_epoch())), 2)
    files, labels = next(source.next_epoch(3))
    assert files.sources == labels.sources
    assert [source.name for source in files.sources] == [f"{tmp_path}/a/{i}.jpg" for i in range(3)]


def failing():
    yield 0
    yield 1
    inner_function()


def inner_function():
    raise KeyError("my own")


@pytest.mark.parametrize("depth", DEPTHS)
def test_errors_are_the_users_own(depth):
    source = avida.ExternalSource(failing, prefetch_queue_depth=depth)
    items = source.next_epoch()
    assert [next(items)[0].item(), next(items)[0].item()] == [0, 1]
    with pytest.raises(KeyError, match="my own") as caught:
        next(items)
    assert caught.value.__cause__ is None
    assert [f.name for f in traceback.extract_tb(caught.value.__traceback__)][-2:] == ["failing", "inner_function"]
    with pytest.raises(StopIteration):  # as a generator that has failed
        next(items)


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_function_goes_on_after_an_error(depth):
    calls = iter(range(4))

    def source():
        i = next(calls)
        if i == 1:
            raise OSError("once")
        return i

    items = avida.ExternalSource(source, prefetch_queue_depth=depth).next_epoch(3)
    with pytest.raises(OSError, match="once"):
        next(items)
    assert numbers(next(items)[0]) == [0, 2, 3]


@pytest.mark.parametrize("depth", DEPTHS)
def test_bad_items(depth):
    source = avida.ExternalSource([1, None, 3], prefetch_queue_depth=depth)
    items = source.next_epoch()
    next(items)
    with pytest.raises(ValueError, match="got None") as caught:
        next(items)
    assert "in sample 1 of" in caught.value.__notes__[0]
    assert next(items)[0].item() == 3
    with pytest.raises(ValueError, match="differ in their number"):
        next(avida.ExternalSource([(1, avida.batch([1, 2]))], 2, prefetch_queue_depth=depth).next_epoch(2))


def test_reads_ahead_and_no_further():
    polled = []

    def source():
        for i in range(100):
            polled.append(i)
            yield i

    items = avida.ExternalSource(source, prefetch_queue_depth=4).next_epoch()
    next(items)
    wait_for(lambda: len(polled) == 5)
    time.sleep(0.05)
    assert len(polled) == 5


def test_dropping_ends_the_thread_and_the_generator():
    closed = threading.Event()

    def source():
        try:
            yield from counting(100)
        finally:
            closed.set()

    items = avida.ExternalSource(source).next_epoch()
    next(items)
    assert threads()
    del items
    gc.collect()
    wait_for(lambda: not threads())
    wait_for(closed.is_set)


def test_a_source_that_blocks_does_not_hold_up_its_reader():
    release, released = threading.Event(), []

    def source():
        yield 1
        released.append(release.wait(600))
        yield 2

    items = avida.ExternalSource(source).next_epoch()
    next(items)
    del items
    gc.collect()
    release.set()
    wait_for(lambda: not threads())
    assert released in ([], [True])  # never waited for to its end


def test_the_source_runs_as_its_caller_would():
    seen = []

    def source():
        seen.append((avida.EvalMode.current(), avida.EvalContext.current().num_threads, threading.current_thread()))
        yield 1

    with avida.EvalContext(num_threads=3), avida.EvalMode.deferred:
        list(avida.ExternalSource(source).next_epoch())
    assert seen[0][:2] == (avida.EvalMode.deferred, 3)
    assert seen[0][2] is not threading.current_thread()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: avida.ExternalSource(5), TypeError, "expected an iterable"),
        (lambda: avida.ExternalSource(None), TypeError, "expected an iterable"),
        (lambda: avida.ExternalSource(lambda i: i), ValueError, "without parameters"),
        (lambda: avida.ExternalSource([1], 0), ValueError, "num_outputs"),
        (lambda: avida.ExternalSource([1], cycle="often"), ValueError, "cycle is"),
        (lambda: avida.ExternalSource(counting(3), cycle="quiet"), TypeError, "cannot begin again"),
        (lambda: avida.ExternalSource(lambda: 1, cycle="no"), ValueError, "cannot begin again"),
        (lambda: avida.ExternalSource([1], prefetch_queue_depth=-1), ValueError, "from 0 to 65536"),
        (lambda: avida.ExternalSource([1], prefetch_queue_depth=10**12), ValueError, "from 0 to 65536"),
        (lambda: avida.ExternalSource([1], layout=3), TypeError, "expected a layout"),
        (lambda: avida.ExternalSource([1], 2, layout=["HW"]), ValueError, "one layout for each"),
        (lambda: avida.ExternalSource([1])(batch_size=-1), ValueError, "from 0"),
        (lambda: avida.ExternalSource([1]).next_epoch(0), RuntimeError, "from 1"),
        (lambda: avida.ExternalSource([1]).captured(1, ctx=3), TypeError, "EvalContext"),
        (lambda: avida.ExternalSource([1], 2)(), ValueError, "a tuple of 2"),
    ],
)
def test_wrong_use(make, error, text):
    with pytest.raises(error, match=text):
        make()


def run(code, **options):
    code = "import os, signal, sys, threading, time\nimport avida as ndd\n" + textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, **options)


def test_fork():
    done = run(
        """
        polled = []
        def source():
            for i in range(10):
                polled.append(i)
                yield i
        items = ndd.ExternalSource(source, prefetch_queue_depth=3).next_epoch()
        taken = [next(items)[0].item()]
        while len(polled) < 4:
            time.sleep(0.01)
        time.sleep(0.2)  # the thread waits for room in its queue
        pid = os.fork()
        assert taken + [x.item() for (x,) in items] == list(range(10))
        if pid == 0:
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0

        inside, forked = threading.Event(), threading.Event()
        def slow():
            yield 0
            inside.set()
            forked.wait()
            yield 1
        es = ndd.ExternalSource(slow)
        items = es.next_epoch()
        next(items)
        inside.wait()
        pid = os.fork()
        forked.set()
        if pid == 0:
            try:
                next(items)
            except RuntimeError as error:
                assert "forked while" in str(error)
                os._exit(len(list(es.next_epoch())))
            os._exit(9)
        assert next(items)[0].item() == 1
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2

        inside, forked, numbers = threading.Event(), threading.Event(), iter(range(4))
        def function():
            number = next(numbers)
            if number == 1:
                inside.set()
                forked.wait()
            return number
        es = ndd.ExternalSource(function)
        next(es.next_epoch())
        inside.wait()
        pid = os.fork()
        forked.set()
        if pid == 0:  # the item that the thread was asking for is lost, and the next epoch goes on behind it
            os._exit([x.item() for (x,) in es.next_epoch()] == [2, 3])
        assert [x.item() for (x,) in es.next_epoch()] == [1, 2, 3]
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
        print("fine")
        """
    )
    assert done.stdout.strip() == "fine", done.stderr


def test_exit_while_the_source_runs():
    done = run(
        """
        def source():
            for i in range(10**6):
                yield ndd.flip(ndd.batch([[[[i]]]], layout="HWC"))
        items = ndd.ExternalSource(source, prefetch_queue_depth=8).next_epoch(4)
        next(items)
        print("fine")
        """
    )
    assert (done.stdout.strip(), done.returncode) == ("fine", 0), done.stderr


def test_exit_while_the_source_blocks():
    done = run(
        """
        def source():
            yield 1
            time.sleep(3600)
        items = ndd.ExternalSource(source).next_epoch()
        next(items)
        print("fine")
        """
    )
    assert (done.stdout.strip(), done.returncode) == ("fine", 0), done.stderr


def test_interrupt_while_waiting():
    code = """
    def source():
        yield 1
        released.wait()
        yield 2
    released = threading.Event()
    items = ndd.ExternalSource(source).next_epoch()
    next(items)
    try:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        next(items)
    except KeyboardInterrupt:
        released.set()
        print("interrupted", next(items)[0].item())
    """
    done = run(code)
    assert done.stdout.strip() == "interrupted 2", done.stderr


def test_a_thread_that_cannot_be_started():
    done = run(
        """
        threading.stack_size(2**52)  # bytes, more than the address space has
        items = ndd.ExternalSource(range(3)).next_epoch()
        for _ in range(3):
            try:
                next(items)
            except RuntimeError as error:
                print(error)
        threading.stack_size(0)
        print([x.item() for (x,) in items])
        """
    )
    assert done.stdout.splitlines() == ["can't start new thread"] * 3 + ["[0, 1, 2]"], done.stderr


def test_dropped_by_the_garbage_collector_while_another_is_in_use():
    done = run(
        """
        import gc
        gc.set_threshold(1)
        kept = ndd.ExternalSource(range(300), prefetch_queue_depth=2).next_epoch()
        for _ in range(100):
            cycle = [ndd.ExternalSource(range(3)).next_epoch()]
            next(cycle[0])
            cycle.append(cycle)
            del cycle
            next(kept)
        print("fine")
        """
    )
    assert (done.stdout.strip(), done.returncode) == ("fine", 0), done.stderr


@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize("size", [None, 1, 3, 7])
def test_state(batches, size):
    """The rest of the epoch, whatever the items of the source are."""
    items = [avida.batch([np.int64(i), np.int64(i + 1)]) for i in range(0, 20, 2)] if batches else list(range(20))

    def epoch(source):
        return [[x.item() for x in (out if size else [out])] for (out,) in source.next_epoch(size)]

    whole = epoch(avida.ExternalSource(items))
    for stop in range(1, len(whole)):
        source = avida.ExternalSource(items)
        iterator = source.next_epoch(size)
        for _ in range(stop):
            next(iterator)
        again = avida.ExternalSource(items)
        again.load_state_dict(json.loads(json.dumps(source.state_dict())))
        assert epoch(again) == whole[stop:]
        assert again.get_state().epoch == 1
        assert epoch(again) == whole


def test_state_of_calls():
    source = avida.ExternalSource([1, 2, 3, 4], cycle="quiet")
    for _ in range(6):
        source()
    again = avida.ExternalSource([1, 2, 3, 4], cycle="quiet")
    again.set_state(str(source.get_state()))
    assert [again().item() for _ in range(3)] == [3, 4, 1]
    with pytest.raises(ValueError, match="ExternalSource"):
        again.set_state(avida.readers.ReaderState(shards=1, order="other"))
    checkpoint = avida.checkpoint.Checkpoint()
    checkpoint.register(source, "source")
    checkpoint.collect()
    assert checkpoint.is_complete
