"""Signals at random microseconds, whose handler raises: nothing is lost, nothing leaks, nothing hangs.

Each scenario takes a fixed number of interrupts. `make interrupts` runs all of them for an hour instead, and
`make interrupts SECONDS=60` for a minute.
"""

import faulthandler
import functools
import gc
import itertools
import os
import random
import signal
import sys
import threading
import time

import numpy as np
import pytest

import avida
from avida.checkpoint import Checkpoint

SECONDS = float(os.environ.get("AVIDA_INTERRUPT_SECONDS", "0"))  # for all scenarios together
INTERRUPTS = 150  # of each scenario, unless there is a time for them


class Interrupt(BaseException):
    """What the handler raises; not an Exception, as KeyboardInterrupt is not."""


class TimeOut(Exception):
    """The same as an Exception, as handlers of SIGALRM raise it."""


class Fire:
    """Runs functions again and again under fire: an interrupt strikes within the first microseconds of each attempt."""

    def __init__(self, kind, seconds):
        self.random = random.Random(None if seconds else 13)
        self.kind = kind
        self.interrupts = 0
        self.armed = False
        self.seconds = seconds
        self.end = time.monotonic() + seconds

    def goes_on(self):
        return time.monotonic() < self.end if self.seconds else self.interrupts < INTERRUPTS

    def strike(self, *_):
        if self.armed:  # another thread may have got the signal, and tell of it too late
            self.interrupts += 1
            raise self.kind

    def __call__(self, function, longest=1e-3, between=lambda: None):
        """Calls function() until it returns; between() after each interrupt."""
        while True:
            try:
                self.armed = True
                signal.setitimer(signal.ITIMER_REAL, 10 ** self.random.uniform(-6, np.log10(longest)))
                function()
                signal.setitimer(signal.ITIMER_REAL, 0)
                self.armed = False
                return
            except self.kind:
                self.armed = False
                between()


pytestmark = pytest.mark.filterwarnings("ignore:this epoch has ended")  # a loop is begun again


@pytest.fixture(params=[Interrupt, TimeOut])
def fire(request):
    scenarios = [item for item in request.session.items if "fire" in item.fixturenames]
    made = Fire(request.param, SECONDS / len(scenarios))
    faulthandler.dump_traceback_later(600 + 10 * made.seconds, exit=True)  # a hang shows where it is
    before = signal.signal(signal.SIGALRM, made.strike)
    threads = len(os.listdir("/proc/self/task"))
    yield made
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    end = time.monotonic() + 60
    gc.collect()
    while len(os.listdir("/proc/self/task")) > threads + 5:
        assert time.monotonic() < end, "threads pile up"
        time.sleep(0.01)
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / f"{i:02}.txt" for i in range(23)]
    for path in paths:
        path.write_text(path.stem)
    return [str(path) for path in paths]


def place(reader):
    state = reader.get_state()
    return state.epoch, state.done, state.taken


def read_epoch(fire, calm, reader, batch_size, content):
    """An epoch under interrupts has the items of a calm one, and its reader is at the same position after each."""
    expected, places, items = [], [place(calm)], []
    for item in calm.next_epoch(batch_size):
        expected.append(content(item))
        places.append(place(calm))
    epoch = reader.next_epoch(batch_size)

    def read():
        for item in epoch:
            items.append(item)

    def look():
        is_over = len(items) == len(expected) and place(reader) == place(calm)
        assert place(reader) == places[len(items)] or is_over

    fire(read, between=look)
    assert [content(item) for item in items] == expected
    assert place(reader) == place(calm)


@pytest.mark.parametrize("batch_size", [None, 4])
@pytest.mark.parametrize("last", ["wrap", "partial"])
def test_readers(fire, files, batch_size, last):
    if batch_size:
        os.unlink(files[7])  # to be left out

    def make():
        return avida.readers.File(
            files=files, random_shuffle=True, seed=5, last_batch=last, on_error="skip", prefetch_queue_depth=3
        )

    def names(item):
        outputs = item[0] if batch_size else [item[0]]
        return [bytes(np.asarray(sample)).decode() for sample in outputs]

    calm, reader = make(), make()
    while fire.goes_on():
        read_epoch(fire, calm, reader, batch_size, names)
        assert str(reader.get_state()) == str(calm.get_state())
        assert reader.errors == calm.errors


@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("batch_size", [None, 1, 4])
@pytest.mark.parametrize("kind", ["list", "iterable", "function", "batches"])
def test_external_source(fire, depth, batch_size, kind):
    values = list(range(23))
    if kind == "batches":
        values = [avida.batch([np.int32(i), np.int32(i + 1)]) for i in range(0, 22, 2)]
    endless = itertools.cycle([*values, None])

    def function():
        value = next(endless)
        if value is None:
            raise StopIteration
        return value

    class Each:
        __iter__ = values.__iter__

    # A Python function that runs in the interrupted thread is itself interrupted, behind its next(endless).
    source = values if kind in ("list", "batches") else function if kind == "function" and depth else Each()
    calm = avida.ExternalSource(values if kind == "list" else Each())
    reader = avida.ExternalSource(source, prefetch_queue_depth=depth)

    def numbers(item):
        return [x.item() for x in item[0]] if batch_size else item[0].item()

    while fire.goes_on():
        read_epoch(fire, calm, reader, batch_size, numbers)


@pytest.mark.filterwarnings("ignore:this epoch is empty")  # an interrupt came behind the last item
@pytest.mark.parametrize("sizes", [[4], [4, None, 3]])
def test_epochs_of_an_iterator_that_are_left(fire, sizes):
    """The next epoch is the rest of the one that an interrupt has ended."""
    while fire.goes_on():
        source, items, size = avida.ExternalSource(iter(range(200))), [], itertools.cycle(sizes)

        def read(source=source, items=items, size=size):
            for (item,) in source.next_epoch(next(size)):
                items.append(item)

        fire(read)
        values = [item.tensors if isinstance(item, avida.Batch) else [item] for item in items]
        assert [x.item() for samples in values for x in samples] == list(range(200))


@pytest.mark.parametrize("depth", [0, 2])
def test_calls_of_an_external_source(fire, depth):
    source = avida.ExternalSource(range(11), cycle="quiet", prefetch_queue_depth=depth)
    items = []

    def captured():
        for item in source.captured(1):
            items.append(item)
            if len(items) % 50 == 0:
                return

    def call():  # from C to C, for a signal handler may run between a call and an assignment
        items.extend(itertools.starmap(source, itertools.repeat((), 7)))

    while fire.goes_on():
        fire(captured)
        fire(call)
    assert [
        np.asarray(item).item() if isinstance(item, avida.Tensor) else item.tensors[0].item() for item in items
    ] == [i % 11 for i in range(len(items))]


@pytest.mark.parametrize("depth", [0, 2])
def test_generators_ahead(fire, depth):
    while fire.goes_on():
        source = iter(range(50))  # which an exception does not end
        ahead, items = avida.ahead(source, depth), []

        def read(ahead=ahead, items=items):
            for item in ahead:
                items.append(item)

        fire(read, longest=1e-4)
        assert items == list(range(50))


def test_with_blocks(fire):
    context = avida.EvalContext(num_threads=1)

    def settings():
        return avida.EvalMode.current(), avida.EvalContext.current(), avida.Device.current(), avida._core.mode()

    def enter():
        for _ in range(20):
            with avida.EvalMode.deferred:
                with context, avida.Device("cpu"), avida.EvalMode.sync_cpu:
                    pass
                with avida.EvalMode.sync_full, context, context:
                    pass

    before = settings()

    def look():
        assert settings() == before

    while fire.goes_on():
        fire(enter, longest=2e-4, between=look)
        look()
    thread = threading.Thread(target=enter)  # nobody else has the context
    thread.start()
    thread.join()


def test_values(fire):
    @avida.operator
    def slow(x):
        time.sleep(0.0005)
        return x + 1

    other = avida.EvalContext(num_threads=1)
    readers = [np.asarray, np.sum, bytes, lambda x: np.stack([x, x]), lambda x: x.torch(), lambda x: x.shape, repr]
    while fire.goes_on():
        with other:
            first = slow(avida.tensor([1, 2]))
        value = slow(first * 10)

        def read(value=value):
            fire.random.choice(readers)(value)

        fire(read)
        assert np.asarray(value).tolist() == [21, 31]


def test_values_that_their_reader_computes(fire):
    mode = itertools.cycle([avida.EvalMode.deferred, avida.EvalMode.eager])
    x = avida.tensor(np.zeros(20_000, np.float32))
    while fire.goes_on():
        with next(mode):
            value = x
            for _ in range(30):
                value = value + 1

        fire(value.evaluate)
        assert np.asarray(value).max() == 30


def test_checkpoints(fire, tmp_path):
    rng = avida.random.RNG(seed=1)
    path = tmp_path / "state.json"
    checkpoint = Checkpoint()
    checkpoint.register(rng, "rng")
    known = set()

    def save():
        rng.advance(1)
        known.add(rng.state)
        checkpoint.collect()
        checkpoint.save(path)

    def look():
        if path.exists():
            again, loaded = avida.random.RNG(), Checkpoint()
            loaded.load(path)
            loaded.register(again, "rng")
            assert again.state in known

    save()
    while fire.goes_on():
        fire(save, longest=3e-3, between=look)
        look()
        assert rng.state in path.read_text()


def struck_after(number, function):
    """Calls a function, with an exception after the given number of calls within; whether there are that many.

    CPython runs signal handlers when a Python function begins and after a function in C.
    """
    left = number

    def profile(frame, event, arg):
        nonlocal left
        left -= event in ("call", "c_return")
        if left == 0:
            raise Interrupt

    sys.setprofile(profile)
    try:
        function()
    except Interrupt:
        pass
    finally:
        sys.setprofile(None)
    return left <= 0


class Each:
    def __iter__(self):
        return iter(range(5))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # what ends a generator is swallowed
@pytest.mark.parametrize("kind", ["files", "list", "iterable", "in the background", "calls"])
def test_an_exception_after_any_call(files, kind):
    if kind == "files":
        reader = avida.readers.File(files=files[:5], last_batch="partial")
    else:
        source = list(Each()) if kind == "list" else Each()
        depth = 2 if kind == "in the background" else 0
        reader = avida.ExternalSource(source, cycle="raise", prefetch_queue_depth=depth)

    step = 1 if kind == "calls" else 2
    for number in itertools.count(1):
        items, (first, _, _) = [], place(reader)
        epoch = reader.captured(1) if kind == "calls" else reader.next_epoch(2)  # pyright: ignore[reportAttributeAccessIssue]

        def read(items=items, epoch=epoch):
            for item in epoch:
                items.append(item)

        struck = struck_after(number, read)
        at, is_over = place(reader)[:2], step * len(items) >= 5
        assert at == (first, min(step * len(items), 5)) or (is_over and at == (first + 1, 0))
        if at[0] == first:
            read()
        assert sum(len(item.tensors if kind == "calls" else item[0].tensors) for item in items) == 5
        assert place(reader)[:2] == (first + 1, 0)
        if not struck:
            break
    assert number > 20


@pytest.mark.parametrize("depth", [0, 2])
def test_an_exception_after_any_call_of_ahead(depth):
    for number in itertools.count(1):
        items, ahead = [], avida.ahead(iter(range(5)), depth)

        def read(items=items, ahead=ahead):
            for item in ahead:
                items.append(item)

        struck = struck_after(number, read)
        read()
        assert items == list(range(5))
        if not struck:
            break
    assert number > 20


def test_errors_of_items_and_of_signal_handlers():
    """An item is asked for once when it fails by itself, and again when a signal handler has ended the attempt."""
    asked = []

    class Samples:
        def __len__(self):
            return 4

        def __getitem__(self, index):
            asked.append(index)
            if index == 1:
                raise ValueError("broken")
            if index == 2 and asked.count(2) == 1:
                signal.raise_signal(signal.SIGALRM)
            return index

    class Handler:
        def __call__(self, *_):
            raise TimeOut

    for handler in (lambda *_: Handler()(), Handler(), Handler().__call__, functools.partial(Handler(), 1)):
        before = signal.signal(signal.SIGALRM, handler)
        asked.clear()
        try:
            epoch = avida.ExternalSource(Samples(), prefetch_queue_depth=0).next_epoch()
            assert next(epoch)[0].item() == 0
            with pytest.raises(ValueError, match="broken"):
                next(epoch)
            with pytest.raises(TimeOut):
                next(epoch)
            assert [x.item() for (x,) in epoch] == [2, 3]
        finally:
            signal.signal(signal.SIGALRM, before)
        assert asked == [0, 1, 2, 2, 3]
