"""EvalContext, thread pools and thread counts."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import avida as ndd


def test_current_and_default():
    default = ndd.EvalContext.default()
    assert ndd.EvalContext.current() is default
    with ndd.EvalContext(num_threads=3) as context:
        assert ndd.EvalContext.current() is context
        assert context.num_threads == 3
        assert context.thread_pool is not None
        assert context.thread_pool.num_threads == 3
        with ndd.EvalContext() as inner:
            assert ndd.EvalContext.current() is inner
            assert ndd.EvalContext.default() is default
        assert ndd.EvalContext.current() is context
        with context:
            assert ndd.EvalContext.current() is context
    assert ndd.EvalContext.current() is default


def test_default_is_what_earlier_operators_used():
    seen = []

    @ndd.operator
    def note(x):
        seen.append(int(x))
        return x

    def work():
        for i in range(20):
            note(i)
        ndd.EvalContext.default().evaluate_all()
        seen.append("all")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [*range(20), "all"]


def test_every_thread_has_its_own_default():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(ndd.EvalContext.current()))
    thread.start()
    thread.join()
    assert seen[0] is not ndd.EvalContext.default()


def test_one_context_in_two_threads_at_once_is_an_error():
    context = ndd.EvalContext(num_threads=1)
    errors = []

    def enter():
        try:
            with context:
                pass
        except RuntimeError as error:
            errors.append(str(error))

    with context:
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
    assert len(errors) == 1
    assert "another thread" in errors[0]
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert len(errors) == 1


def test_leaving_a_context_that_was_not_entered():
    with pytest.raises(RuntimeError):
        ndd.EvalContext().__exit__(None, None, None)


def test_bad_arguments():
    with pytest.raises(ValueError, match="threads"):
        ndd.EvalContext(num_threads=-1)
    with pytest.raises(TypeError):
        ndd.EvalContext(num_threads="a")
    with pytest.raises(TypeError):
        ndd.EvalContext(2)
    with pytest.raises(ValueError, match="not both"):
        ndd.EvalContext(num_threads=1, thread_pool=ndd.ThreadPool(1))
    with pytest.raises(ValueError, match="GPU"):
        ndd.EvalContext(device_id=ndd._core.gpu_count())


def test_values_outlive_their_context():
    with ndd.EvalContext(num_threads=2), ndd.EvalMode.deferred:
        x = ndd.tensor([1]) + 1
    assert x.item() == 2


def test_values_cross_contexts_and_threads():
    results = {}

    def work(k, x):
        for _ in range(50):
            x = x + k
        results[k] = x

    start = ndd.tensor([0]) + 0
    threads = [threading.Thread(target=work, args=(k, start)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = sum(results.values(), ndd.tensor([0]))
    assert total.item() == 50 * (1 + 2 + 3 + 4)


def test_an_operator_that_reads_its_own_result():
    results = []
    ready = threading.Event()

    @ndd.operator
    def own(x):
        ready.wait()
        return results[-1]

    for made_of in (lambda result: result, lambda result: result + 1, lambda result: ndd.flip(result + 1) * 2):
        ready.clear()
        result = own(ndd.tensor(np.zeros((1, 1, 1), np.uint8), layout="HWC"))
        results.append(made_of(result))
        ready.set()
        with pytest.raises(RuntimeError, match="its own result"):
            np.asarray(result)
        with pytest.raises(RuntimeError, match="its own result"):
            np.asarray(results[-1])


@pytest.mark.parametrize("count", [2, 3])
def test_contexts_that_wait_for_each_other(count):
    contexts = [ndd.EvalContext(num_threads=1) for _ in range(count)]
    results = []
    all_run = threading.Barrier(count)
    ready = threading.Event()

    @ndd.operator
    def read_next(i):
        all_run.wait()
        ready.wait()
        return results[(int(i) + 1) % count]

    for i, context in enumerate(contexts):
        with context:
            results.append(read_next(i))
    ready.set()
    for result in results:
        with pytest.raises(RuntimeError, match="wait for one another"):
            np.asarray(result)
    for context in contexts:
        with context:
            assert (ndd.tensor([1]) + 1).item() == 2


def test_evaluating_all_inside_an_operator_of_the_same_context():
    context = ndd.EvalContext(num_threads=1)

    @ndd.operator
    def evaluate(x):
        context.evaluate_all()
        return x

    with context:
        result = evaluate(1)
    with pytest.raises(RuntimeError, match="wait for one another"):
        np.asarray(result)


def test_operators_may_read_values_of_other_contexts():
    first, second = ndd.EvalContext(num_threads=1), ndd.EvalContext(num_threads=1)
    value = ndd.tensor([0])

    @ndd.operator
    def add(x, y):
        return x + np.asarray(held[int(y)])

    for _ in range(200):
        held = []
        with first:
            held.append(value + 1)
        with second:
            held.append(add(value, 0))
        with first:
            held.append(add(value, 1))
        assert held[2].item() == 1


def test_num_threads():
    before = ndd.get_num_threads()
    try:
        ndd.set_num_threads(5)
        assert ndd.get_num_threads() == 5
        assert ndd.EvalContext.default().num_threads == 5
        big = ndd.batch([np.ones((300, 300, 3), np.float32)] * 6)
        assert all(np.asarray(t).sum() == 2 * 300 * 300 * 3 for t in big + big)
        ndd.set_num_threads(None)
    finally:
        ndd.set_num_threads(before)
    for bad in (0, -1):
        with pytest.raises(ValueError, match="threads"):
            ndd.set_num_threads(bad)
    for bad in (1.5, "2"):
        with pytest.raises(TypeError):
            ndd.set_num_threads(bad)


@pytest.mark.parametrize("name", ["DALI_NUM_THREADS", "AVIDA_NUM_THREADS"])
def test_environment_sets_the_default(name):
    script = "import avida; print(avida.get_num_threads())"
    clean = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    run = subprocess.run([sys.executable, "-c", script], env=clean | {name: "7"}, capture_output=True, text=True)
    assert run.stdout.strip() == "7", run.stderr
    run = subprocess.run([sys.executable, "-c", script], env=clean | {name: "abc"}, capture_output=True, text=True)
    assert "ValueError" in run.stderr
    assert name in run.stderr


def test_default_follows_the_cpus_this_process_may_use():
    one_cpu = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    script = f"{one_cpu}; import avida; print(avida.get_num_threads())"
    clean = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    run = subprocess.run([sys.executable, "-c", script], env=clean, capture_output=True, text=True)
    assert run.stdout.strip() == "1", run.stderr


def test_many_contexts_leave_no_threads_behind():
    import time

    def count():
        return len(os.listdir("/proc/self/task"))

    before = count()
    for _ in range(50):
        with ndd.EvalContext(num_threads=2):
            (ndd.tensor([1]) + 1).evaluate()
    stop = time.monotonic() + 60
    while count() > before + 5 and time.monotonic() < stop:
        time.sleep(0.05)
    assert count() <= before + 5
