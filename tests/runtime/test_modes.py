"""The four modes: same results, thread-local, nested."""

import threading
import time

import numpy as np
import pytest

import avida as ndd

MODES = list(ndd.EvalMode)


def chain(batch):
    x = ndd.flip(batch, horizontal=ndd.as_batch([1, 0, 1]), vertical=1)
    y = (x + 1) * 2 - x / 3
    return ndd.math.sqrt(ndd.math.abs(y))


@pytest.fixture
def batch():
    rng = np.random.default_rng(7)
    return ndd.batch([rng.integers(0, 256, (h, 40, 3), np.uint8) for h in (30, 1, 400)], layout="HWC")


def arrays(batch):
    return [np.asarray(sample).copy() for sample in batch]


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("mode", MODES)
def test_results_are_the_same_bit_for_bit(batch, mode, threads):
    with ndd.EvalMode.sync_cpu, ndd.EvalContext(num_threads=1):
        expected = arrays(chain(batch))
    with mode, ndd.EvalContext(num_threads=threads):
        got = arrays(chain(batch))
    for a, b in zip(expected, got, strict=True):
        assert a.tobytes() == b.tobytes()


def test_names_values_and_nesting():
    assert [(m.name, m.value) for m in ndd.EvalMode] == [
        ("deferred", 1),
        ("eager", 2),
        ("sync_cpu", 3),
        ("sync_full", 4),
    ]
    assert ndd.EvalMode.default is ndd.EvalMode.eager
    assert ndd.EvalMode["deferred"] is ndd.EvalMode.deferred
    assert ndd.EvalMode.current() is ndd.EvalMode.eager
    with ndd.EvalMode.deferred as bound:
        assert bound is None
        with ndd.EvalMode.sync_cpu, ndd.EvalMode.deferred:
            assert ndd.EvalMode.current() is ndd.EvalMode.deferred
        assert ndd.EvalMode.current() is ndd.EvalMode.deferred
    assert ndd.EvalMode.current() is ndd.EvalMode.eager


def test_mode_is_restored_after_an_exception():
    with pytest.raises(KeyError), ndd.EvalMode.sync_cpu:
        raise KeyError
    assert ndd.EvalMode.current() is ndd.EvalMode.eager


def test_mode_belongs_to_the_thread():
    seen = []
    with ndd.EvalMode.deferred:
        thread = threading.Thread(target=lambda: seen.append(ndd.EvalMode.current()))
        thread.start()
        thread.join()
    assert seen == [ndd.EvalMode.eager]


def test_deferred_runs_only_what_is_read():
    calls = []

    @ndd.operator
    def note(x, name):
        calls.append(name)
        return x

    x = ndd.tensor([1, 2])
    with ndd.EvalMode.deferred:
        a = note(x, name="a")
        b = note(a, name="b")
        note(x, name="never")
        other = note(x, name="other")
    time.sleep(0.05)
    assert calls == []
    assert b.evaluate() is b
    assert calls == ["a", "b"]
    np.asarray(other)
    assert calls == ["a", "b", "other"]


def test_deferred_value_read_from_eager_mode():
    with ndd.EvalMode.deferred:
        x = ndd.tensor([1, 2]) + 1
    y = x * 10
    assert np.asarray(y).tolist() == [20, 30]


def test_long_deferred_chain():
    with ndd.EvalMode.deferred:
        x = ndd.tensor([0])
        for _ in range(20_000):
            x = x + 1
        kept = x
        dropped = ndd.tensor([0])
        for _ in range(20_000):
            dropped = dropped + 1
        del dropped, x
    assert kept.item() == 20_000


def test_evaluate_all_runs_what_was_deferred():
    context = ndd.EvalContext(num_threads=1)
    with context, ndd.EvalMode.deferred:
        x = ndd.tensor([1]) + 1
        assert x._pending()
        context.evaluate_all()
        assert not x._pending()


def test_sync_modes_are_done_when_the_call_returns(batch):
    for mode in (ndd.EvalMode.sync_cpu, ndd.EvalMode.sync_full):
        with mode:
            assert not ndd.flip(batch)._pending()


def test_native_operators_run_while_python_keeps_the_gil():
    """A queue of operators finishes although the main thread never lets go of the GIL."""
    import sys

    image = ndd.batch([np.zeros((200, 200, 3), np.uint8)] * 4, layout="HWC")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        results = [ndd.flip(image) for _ in range(20)]
        stop = time.monotonic() + 60
        while results[-1]._pending() and time.monotonic() < stop:
            pass
        assert not results[-1]._pending()
    finally:
        sys.setswitchinterval(interval)


def test_many_threads_read_the_same_deferred_values():
    for _ in range(200):
        with ndd.EvalMode.deferred:
            first = ndd.tensor([1]) + 1
            values = [first + k for k in range(4)]
        got = [None] * 4

        def read(k, values=values, got=got):
            got[k] = values[k].item()

        threads = [threading.Thread(target=read, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert got == [2, 3, 4, 5]


def test_python_operator_that_reads_values_by_itself():
    @ndd.operator
    def scaled(x, scale):
        return x * np.asarray(scale)

    with ndd.EvalMode.deferred:
        scale = ndd.tensor([2]) + 1
        result = scaled(ndd.tensor([10]), scale=scale)
    assert result.item() == 30

    box = []

    @ndd.operator
    def late(x):
        while not box:
            time.sleep(0.001)
        return x + np.asarray(box[0])

    result = late(ndd.tensor([1]))
    box.append(ndd.tensor([5]) + 1)  # queued behind the operator that reads it
    assert result.item() == 7


def test_operators_inside_a_python_operator():
    @ndd.operator
    def inner(x):
        return x + 1

    @ndd.operator
    def outer(x):
        y = ndd.flip(x)
        with ndd.EvalMode.eager:
            return inner(y) + 1

    x = np.arange(12, dtype=np.int32).reshape(2, 2, 3)
    np.testing.assert_array_equal(np.asarray(outer(x)), x[:, ::-1] + 2)
