"""Profiles: calls and waits belong to lines, and nothing is recorded without a profile."""

import contextlib
import html
import json
import os
import signal
import threading
import time

import numpy as np
import pytest

import avida as ndd
from avida import _core
from avida._running.profile.advice import Machine, advise
from avida._running.profile.summary import Line, Memory, Prediction, Summary, Wait

IMAGES = [np.full((8 + i, 9, 3), i, np.uint8) for i in range(4)]
USED, DROPPED, NOT_PREDICTED, TOO_EARLY = range(4)


@pytest.fixture(autouse=True)
def two_threads():
    """Whatever the machine has: what helps the executor, and which calls form a chain, depends on it."""
    with ndd.EvalContext(num_threads=2):
        yield


@pytest.fixture
def run(tmp_path):
    """Runs a program from a file, so that its lines are known, and returns what it defined."""

    def run(code, **names):
        file = tmp_path / "program.py"
        file.write_text(code)
        scope = {"ndd": ndd, "batch": ndd.batch(IMAGES, layout="HWC"), **names}
        exec(compile(code, str(file), "exec"), scope)
        return scope

    return run


def rows(profile):
    return [(line.line, line.operator, line.calls) for line in profile.lines]


def of_operator(profile, name):
    (line,) = (line for line in profile.lines if line.operator == name)
    return line


@contextlib.contextmanager
def main_thread_watched():
    """A function that returns once the main thread is inside of a wait of the core.

    Signal handlers run there again and again, at the same instruction; a program that goes on is at another one.
    """
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append((frame, frame.f_lasti)))

    def until_waiting():
        while len(seen) < 2 or seen[-1] != seen[-2] or seen[-1][0].f_code.co_name == "until_waiting":
            count = len(seen)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
            while len(seen) == count:
                time.sleep(0.001)

    try:
        yield until_waiting
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_lines_and_counts(run, tmp_path):
    program = """
with ndd.profile() as p:
    for i in range(3):
        x = ndd.flip(batch)
        y = ndd.cast(x + 1, dtype=ndd.float32); z = ndd.flip(y)
    z.evaluate()
    x.evaluate()
"""
    p = run(program)["p"]
    assert rows(p)[0] == (4, "flip", 3)
    assert sorted(rows(p)[1:]) == [(5, "add", 3), (5, "cast", 3), (5, "flip", 3)]
    first = p.lines[0]
    assert first.file == str(tmp_path / "program.py")
    assert first.source == "x = ndd.flip(batch)"
    assert first.seconds > 0
    assert 1 <= first.threads <= 2
    assert first.bytes > 0
    assert first.gpu_seconds == 0
    assert first.ahead == 0
    assert p.complete
    assert p.memory.cpu > 0
    assert p.memory.gpu == {}
    assert p.batches == 0
    for line in p.lines:
        assert f"{line.line}  {line.operator} " in str(p)
    assert p.advice in " ".join(str(p).split())


def test_work_that_nobody_wants_takes_no_time(run):
    p = run("""
with ndd.profile() as p:
    with ndd.EvalMode.deferred:
        ndd.flip(batch)
""")["p"]
    assert rows(p) == [(4, "flip", 1)]
    assert p.lines[0].seconds == 0


def test_waits(run):
    """The line that waits, the result it waits for, and what ran meanwhile."""
    program = """
@ndd.operator
def slow(image):
    until_waiting()
    return image

with ndd.profile() as p:
    x = slow(image)
    y = ndd.flip(x)
    y.evaluate()
"""
    with main_thread_watched() as until_waiting:
        p = run(program, until_waiting=until_waiting, image=ndd.tensor(IMAGES[0], layout="HWC"))["p"]
    (wait,) = p.waits
    assert (wait.line, wait.operator, wait.operator_line, wait.times) == (10, "flip", 9, 1)
    assert wait.causes["slow"] > 0
    assert next(iter(wait.causes)) == "slow"
    assert wait.seconds >= sum(wait.causes.values()) * 0.999
    assert p.waited == wait.seconds
    assert 0 < of_operator(p, "slow").waited <= p.waited
    assert "line 10: " in str(p)
    assert "for flip (line 9), while slow (" in str(p)
    assert p.advice.startswith("The loop waited ")
    assert "for slow (line 8): it is a Python function" in p.advice


def test_no_wait_for_what_is_there(run):
    p = run("""
x = ndd.flip(batch).evaluate()
with ndd.profile() as p:
    x.evaluate(); x.shape
""")["p"]
    assert p.waits == []
    assert p.waited == 0
    assert p.lines == []
    assert "Nothing was recorded" in str(p)


def test_readers(run, tmp_path):
    """The line of the loop takes the items of a reader, and the time of the reader's threads is shown there."""
    (tmp_path / "data").mkdir()
    for i, image in enumerate(IMAGES):
        np.save(tmp_path / "data" / f"{i}.npy", image)
    p = run(
        """
reader = ndd.readers.Numpy(file_root=folder)
with ndd.profile() as p:
    for (images,) in reader.next_epoch(batch_size=2):
        ndd.cast(images, dtype=ndd.float32)
""",
        folder=str(tmp_path / "data"),
    )["p"]
    reader = of_operator(p, "readers.Numpy")
    assert (reader.line, reader.calls) == (4, 2)
    assert reader.seconds > 0
    assert p.batches == 2
    wait = next(wait for wait in p.waits if wait.operator == "readers.Numpy")
    assert (wait.line, wait.times) == (4, 2)
    assert reader.waited == wait.seconds > 0


@pytest.mark.parametrize("depth", [0, 2])
def test_external_source(run, depth):
    p = run(
        """
def numbers():
    yield from range(4)

reader = ndd.ExternalSource(numbers, prefetch_queue_depth=depth)
with ndd.profile() as p:
    for x in reader.next_epoch(batch_size=2):
        pass
""",
        depth=depth,
    )["p"]
    source = of_operator(p, "ExternalSource")
    assert (source.line, source.calls) == (7, 2)
    assert source.waited > 0
    assert (source.seconds > 0) == (depth > 0)  # the loop itself calls a source that is not prefetched


def test_calls_of_a_chain():
    """The time of a chain is that of its calls; what is not kept is no result."""
    files = [np.frombuffer(b"P6 60 40 255 " + bytes(60 * 40 * 3), np.uint8) for _ in range(8)]
    batch = ndd.batch(files)
    ready, before = threading.Event(), _core.testing.chained_calls()
    with ndd.profile() as p:
        ndd.operator(lambda x: ready.wait() and x)(ndd.tensor([0]))  # keeps the executor until all calls are queued
        images = ndd.decoders.image(batch)
        images = ndd.resize(images, size=[16, 20])
        images = ndd.crop_mirror_normalize(images, mean=[1.0, 2.0, 3.0])
        ready.set()
        images.evaluate()
    assert _core.testing.chained_calls() - before == 3
    names = ["decoders.image", "resize", "crop_mirror_normalize"]
    decoder, resize, last = (of_operator(p, name) for name in names)
    assert [decoder.line + 1, decoder.line + 2] == [resize.line, last.line]
    assert min(decoder.seconds, resize.seconds, last.seconds) > 0
    assert (decoder.bytes, resize.bytes, last.bytes) == (0, 0, 8 * 16 * 20 * 3 * 4)


def test_operators_in_python(run):
    """Calls inside of a function belong to its lines, and their waits are not those of the loop."""
    p = run("""
@ndd.operator(per="batch")
def twice(images):
    return [ndd.flip(ndd.tensor(image, layout="HWC")).evaluate() for image in images]

with ndd.profile() as p:
    x = twice(batch)
    x.evaluate()
""")["p"]
    assert (4, "flip", 4) in rows(p)
    assert (7, "twice", 1) in rows(p)
    assert {wait.operator for wait in p.waits} <= {"twice"}
    assert len(p.threads) == 1


def test_evaluate_all(run):
    program = """
@ndd.operator
def slow(image):
    until_waiting()
    return image

with ndd.profile() as p:
    x = slow(image)
    ndd.EvalContext.current().evaluate_all()
"""
    with main_thread_watched() as until_waiting:
        p = run(program, until_waiting=until_waiting, image=ndd.tensor(IMAGES[0], layout="HWC"))["p"]
    assert [(wait.line, wait.operator) for wait in p.waits] == [(9, "evaluate_all")]
    assert "slow" in p.waits[0].causes


def test_synchronous_modes(run):
    p = run("""
with ndd.profile() as p, ndd.EvalMode.sync_cpu:
    for i in range(100):
        x = ndd.gaussian_blur(batch, sigma=1.0)
""")["p"]
    assert rows(p) == [(4, "gaussian_blur", 100)]
    assert p.waits == []
    assert "EvalMode.eager" in p.advice


def test_nested(run):
    scope = run("""
with ndd.profile() as outer:
    ndd.flip(batch).evaluate()
    with ndd.profile() as inner:
        ndd.cast(batch, dtype=ndd.float32).evaluate()
    ndd.flip(batch).evaluate()
""")
    assert rows(scope["inner"]) == [(5, "cast", 1)]
    assert rows(scope["outer"]) == [(3, "flip", 1), (5, "cast", 1), (6, "flip", 1)]


def test_overlapping():
    """Each records until its own end, whichever ends first."""
    batch = ndd.batch(IMAGES, layout="HWC")
    first, second = ndd.profile(), ndd.profile()
    first.__enter__()
    second.__enter__()
    ndd.flip(batch).evaluate()
    first.__exit__()
    ndd.cast(batch, dtype=ndd.float32).evaluate()
    second.__exit__()
    assert [line.operator for line in first.lines] == ["flip"]
    assert [line.operator for line in second.lines] == ["flip", "cast"]


def test_threads():
    batch = ndd.batch(IMAGES, layout="HWC")

    def work():
        for _ in range(3):
            ndd.flip(batch).evaluate()

    others = [threading.Thread(target=work, name=f"other {i}") for i in range(2)]
    with ndd.profile() as p:
        for other in others:
            other.start()
        ndd.cast(batch, dtype=ndd.float32).evaluate()
        for other in others:
            other.join()
    assert of_operator(p, "flip").calls == 6
    assert [thread.calls for thread in p.threads] == [1, 3, 3]
    assert p.threads[0].name == threading.main_thread().name
    assert {wait.operator for wait in p.waits} <= {"cast"}  # the others wait for themselves
    assert "other threads with calls" in str(p)


def test_loop_of_another_thread():
    """A profile that is opened by a thread without calls is about the one that has them."""
    batch = ndd.batch(IMAGES, layout="HWC")
    other = threading.Thread(target=lambda: ndd.flip(batch).evaluate())
    with ndd.profile() as p:
        other.start()
        other.join()
    assert [thread.calls for thread in p.threads] == [1]
    assert p.seconds > 0


def test_errors_inside():
    batch = ndd.batch(IMAGES, layout="HWC")
    p = ndd.profile()

    def fail():
        with p:
            ndd.flip(batch).evaluate()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert rows(p)[0][1:] == ("flip", 1)
    ndd.flip(batch).evaluate()
    assert rows(p)[0][1:] == ("flip", 1)


def test_failed_calls():
    with ndd.profile() as p:
        bad = ndd.decoders.image(ndd.batch([np.zeros(5, np.uint8)] * 4))
        with pytest.raises(RuntimeError):
            bad.evaluate()
        with pytest.raises((TypeError, ValueError)):
            ndd.flip(bad, horizontal="no")
    assert [line.calls for line in p.lines if line.operator in ("decoders.image", "flip")] == [1, 1]


def test_used_once():
    p = ndd.profile()
    assert p.lines == []
    assert p.seconds == 0
    with p:
        pass
    with pytest.raises(RuntimeError, match="used already"):
        p.__enter__()


def test_nothing_is_recorded_without_a_profile():
    batch = ndd.batch(IMAGES, layout="HWC")
    _core.note_ahead("x.py", 1, "flip", USED, "")
    ndd.flip(batch).evaluate()
    recording = _core.ProfileRecording()
    assert recording.events() == (b"", [], [], True)
    with ndd.profile() as p:
        pass
    ndd.flip(batch).evaluate()
    assert p._recording.events() == (b"", [], [], True)


def test_dropped_while_it_records():
    p = ndd.profile()
    p.__enter__()
    del p
    with ndd.profile() as p:
        ndd.flip(ndd.batch(IMAGES, layout="HWC")).evaluate()
    assert [line.operator for line in p.lines] == ["flip"]


def test_read_inside_of_the_block():
    batch = ndd.batch(IMAGES, layout="HWC")
    with ndd.profile() as p:
        ndd.flip(batch).evaluate()
        assert [line.operator for line in p.lines] == ["flip"]
        ndd.cast(batch, dtype=ndd.float32).evaluate()
    assert [line.operator for line in p.lines] == ["flip", "cast"]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_records_nothing():
    batch = ndd.batch(IMAGES, layout="HWC").evaluate()
    with ndd.profile() as p:
        ndd.flip(batch).evaluate()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                ndd.flip(batch).evaluate()
                p.__exit__()
                with ndd.profile() as own:
                    ndd.cast(batch, dtype=ndd.float32).evaluate()
                if p.lines == [] and [line.operator for line in own.lines] == ["cast"]:
                    code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        ndd.flip(batch).evaluate()
    assert [line.calls for line in p.lines] == [1, 1]


def test_limit():
    """A profile is bounded, and says so when it is full."""
    with ndd.profile() as p:
        ndd.flip(ndd.batch(IMAGES, layout="HWC")).evaluate()
        for _ in range(1 << 20):
            _core.note_ahead("x.py", 1, "flip", USED, "")
        assert not p.complete
    assert not p.complete
    assert "not complete" in str(p)
    assert any(line.operator == "flip" for line in p.lines)
    with ndd.profile() as p:
        ndd.flip(ndd.batch(IMAGES, layout="HWC")).evaluate()
    assert p.complete


def test_predictions():
    with ndd.profile() as p:
        ndd.flip(ndd.batch(IMAGES, layout="HWC")).evaluate()
        for outcome in [TOO_EARLY] * 2 + [USED] * 5:
            _core.note_ahead("loop.py", 7, "flip", outcome, "")
        for _ in range(3):
            _core.note_ahead("loop.py", 8, "rotate", NOT_PREDICTED, 'argument "angle" differs from the last iteration')
        _core.note_ahead("loop.py", 8, "rotate", DROPPED, "the loop ended")
    flip, rotate = p.predictions
    assert flip == ("loop.py", 7, "flip", 5, 0, 0, 2, {})
    assert rotate[:7] == ("loop.py", 8, "rotate", 0, 1, 3, 0)
    assert rotate.reasons == {'argument "angle" differs from the last iteration': 3, "the loop ended": 1}
    assert "made ahead: 5 calls were used, 1 dropped; 3 were not predicted, 2 came too early" in str(p)
    assert 'loop.py:8: rotate, 3 times: argument "angle" differs' in str(p)


def test_predictions_of_a_loop(run, tmp_path):
    """Each call of a loop is made ahead or not, and why not is told by line and argument."""
    for i, image in enumerate(IMAGES * 3):
        np.save(tmp_path / f"{i}.npy", image)
    p = run(
        """
@ndd.operator
def same(images):
    return images

reader = ndd.readers.Numpy(file_root=folder)
with ndd.profile() as p:
    for i, (images,) in enumerate(reader.next_epoch(batch_size=2)):
        images = ndd.reinterpret(images, layout="HWC")
        images = ndd.rotate(images, angle=10.0 * i)
        images = ndd.flip(images)
        images = ndd.flip(same(images))
        if i > 3:
            ndd.cast(images, dtype=ndd.float32)
        images.evaluate()
""",
        folder=str(tmp_path),
    )["p"]
    predictions = {(each.line, each.operator): each for each in p.predictions}
    calls = {(line.line, line.operator): line.calls for line in p.lines if line.operator != "readers.Numpy"}
    assert calls.keys() == predictions.keys()
    for key, each in predictions.items():
        assert each.used + each.not_predicted + each.too_early == calls[key]
    reasons = {key: list(each.reasons.items()) for key, each in predictions.items()}
    assert reasons[10, "rotate"] == [('argument "angle" changed', 5)]
    assert reasons[11, "flip"] == [('input "input" comes from rotate (line 10), which was not made ahead', 5)]
    assert reasons[12, "same"] == [
        ("functions made by @avida.operator may have side effects, unless they are declared pure", 6)
    ]
    assert reasons[12, "flip"] == [('input "input" is made anew in each iteration, and not from the batch', 5)]
    assert ("the iteration before did not make this call", 1) in reasons[14, "cast"]


def test_values_that_other_code_may_change(run):
    p = run("""
reader = ndd.ExternalSource([[1.0, 2.0]] * 4)
with ndd.profile() as p:
    for (x,) in reader.next_epoch(batch_size=1):
        y = ndd.cast(x, dtype=ndd.float64).evaluate()
        y.torch()
        ndd.math.sqrt(y).evaluate()
""")["p"]
    (line,) = (each for each in p.predictions if each.operator == "math.sqrt")
    assert 'input "input" was given to other code as an array or tensor, which may have changed it' in line.reasons


def test_html():
    with ndd.profile() as p:
        ndd.flip(ndd.batch(IMAGES, layout="HWC")).evaluate()
        _core.note_ahead("<loop>", 8, "a & b", NOT_PREDICTED, "x < y")
    shown = p._repr_html_()
    assert '<td style="text-align: left">flip</td>' in shown
    assert "a &amp; b" in shown
    assert "x &lt; y" in shown
    assert html.escape(p.advice) in shown


def test_trace(run, tmp_path):
    """The fields that docs/profile.md promises."""
    p = run("""
with ndd.profile() as p:
    for i in range(3):
        ndd.flip(batch).evaluate()
""")["p"]
    with ndd.profile() as predicted:
        _core.note_ahead("x.py", 1, "flip", NOT_PREDICTED, "because")
    p.save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert trace == p.chrome_trace()
    assert set(trace) == {"traceEvents", "displayTimeUnit"}
    events = trace["traceEvents"]
    named = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert {event["tid"] for event in events if event["ph"] == "X"} == set(named)
    assert named[threading.main_thread().native_id] == threading.main_thread().name
    spans = [event for event in events if event["ph"] == "X"]
    for event in spans:
        assert set(event) == {"name", "cat", "ph", "pid", "tid", "ts", "dur", "args"}
        assert event["ts"] >= 0
        assert event["dur"] >= 0
        assert event["pid"] == os.getpid()
    calls = [event for event in spans if event["cat"] == "call"]
    assert len(calls) == 3
    assert calls[0]["args"]["called at"] == f"{tmp_path / 'program.py'}:4"
    assert calls[0]["tid"] == threading.main_thread().native_id
    work = [event for event in spans if event["cat"] == "work"]
    assert len(work) == 3
    assert work[0]["name"] == "flip"
    assert work[0]["args"]["samples"] == len(IMAGES)
    assert work[0]["args"]["bytes"] == sum(image.nbytes for image in IMAGES)
    assert work[0]["args"]["ahead"] is False
    memory = [event for event in events if event["ph"] == "C"]
    assert memory
    assert all(event["args"]["bytes in use"] > 0 for event in memory)
    (note,) = (event for event in predicted.chrome_trace()["traceEvents"] if event["ph"] == "i")
    assert note["name"] == "not predicted: flip"
    assert note["args"] == {"called at": "x.py:1", "reason": "because"}


# --- advice ---


def line(operator, waited, *, number=5, threads=2.0, gpu=0.0):
    return Line("loop.py", number, operator, 10, waited, threads, gpu, 0.0, waited, 0)


def summary(*lines, seconds=1.0, worked=0.0, idle=0.0, predictions=()):
    waited = sum(each.waited for each in lines)
    waits = [Wait(each.file, 9, each.operator, each.line, 10, each.waited, {}) for each in lines]
    return Summary(
        seconds,
        10,
        waited,
        worked,
        idle,
        list(lines),
        waits,
        list(predictions),
        [],
        Memory(0, {}, False),
        [],
        complete=True,
    )


HERE = Machine(threads=8, cpus=8, gpus=0)


@pytest.mark.parametrize(
    ("found", "machine", "advice"),
    [
        (
            summary(line("decoders.image", 0.62)),
            Machine(threads=2, cpus=8, gpus=1),
            "The loop waited 62 % of its time, for decoders.image (line 5): use more threads (2 of 8 CPUs are used), "
            "`reduce_to`, or the GPU.",
        ),
        (summary(line("decoders.image", 0.62, threads=7.9)), HERE, "use `reduce_to` or a GPU."),
        (summary(line("resize", 0.3, threads=7.9)), HERE, "all 8 CPUs are used; use smaller images, or a GPU."),
        (summary(line("resize", 0.3, threads=1.2)), HERE, "use larger batches (only 1.2 of 8 threads had work)"),
        (summary(line("resize", 0.3, gpu=0.3)), HERE, "the GPU is what takes the time"),
        (summary(line("readers.File", 0.3)), HERE, "prefetch_queue_depth"),
        (summary(line("ExternalSource", 0.3)), HERE, "make the source faster"),
        (summary(line("copy to the CPU", 0.3), line("resize", 0.0, gpu=0.2)), HERE, "longest for resize (line 5)"),
        (summary(line("my_function", 0.3)), HERE, "it is a Python function"),
        (summary(line("resize", 0.04)), HERE, "4 % of its time for data: loading is not what limits it."),
        (summary(line("resize", 0.1), worked=0.5), HERE, "use EvalMode.eager"),
        (
            summary(
                line("resize", 0.1),
                line("rotate", 0.2, number=8),
                idle=0.5,
                predictions=[Prediction("loop.py", 8, "rotate", 0, 0, 9, 0, {'argument "angle" differs': 9})],
            ),
            HERE,
            'rotate (line 8) could not be called ahead (argument "angle" differs), while the threads were idle',
        ),
    ],
)
def test_advice(found, machine, advice):
    said = advise(found, machine)
    assert advice in said
    assert said.endswith(".")


def test_advice_when_nothing_ran():
    found = summary(line("resize", 0.05))
    found.waited = 0.5
    assert "no operator ran" in advise(found, HERE)
