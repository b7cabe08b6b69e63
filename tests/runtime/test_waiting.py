"""A thread that waits for a value may run the calls before it: order, errors, interrupts and forks stay the same."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest

import avida as ndd
from tests.runtime.test_process import run

THREADS = 8


def together(count, work):
    """Runs work(0) ... work(count - 1) on threads, at the same time."""
    start, errors = threading.Barrier(count), []

    def each(k):
        try:
            start.wait()
            work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=each, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_a_reader_needs_no_other_thread():
    done = run("""
        import os, avida as ndd
        ndd.set_num_threads(1)
        before = len(os.listdir("/proc/self/task"))  # NumPy may have started some
        with ndd.EvalMode.deferred:
            x = ndd.tensor([1])
            for _ in range(100):
                x = x + 1
        assert x.item() == 101
        print(len(os.listdir("/proc/self/task")) - before)
    """)
    assert done.stdout.strip() == "0", done.stderr


def test_python_operators_run_on_the_thread_of_their_context():
    threads = set()

    @ndd.operator
    def note(x):
        threads.add(threading.get_ident())
        return x

    with ndd.EvalContext(num_threads=1):
        for mode in (ndd.EvalMode.eager, ndd.EvalMode.deferred):
            with mode:
                for i in range(50):
                    assert (note(ndd.tensor([i]) + 1) * 2).item() == 2 * i + 2
    assert len(threads) == 1
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("mode", [ndd.EvalMode.eager, ndd.EvalMode.deferred])
def test_the_order_of_calls_is_kept_whoever_runs_them(mode):
    """Some threads read the values of a context while another one makes calls there, native ones and Python's."""
    draw = random.Random(1)
    for _ in range(20):
        seen, values, made = [], [ndd.tensor([0])], threading.Event()

        @ndd.operator
        def note(x, seen=seen):
            seen.append(int(x[0]))
            return x

        def read(k, values=values, made=made):
            own = random.Random(k)
            while not made.is_set() or own.random() < 0.9:
                at = own.randrange(len(values))
                assert values[at].item() == at

        def call(values=values, made=made, note=note, seen=seen):
            with ndd.EvalContext(num_threads=1), mode:
                noted = []
                for i in range(1, 60):
                    values.append(values[i - 1] + 1)
                    if draw.random() < 0.2:
                        noted.append(i)
                        values[i] = note(values[i])
                assert values[-1].item() == 59
                ndd.EvalContext.current().evaluate_all()
            made.set()
            assert seen == noted

        together(4, lambda k, read=read, call=call: read(k) if k else call())


def test_every_reader_gets_the_error():
    for _ in range(100):
        image = ndd.tensor(np.zeros((4, 4, 3), np.uint8), layout="HWC")
        broken = ndd.crop(image + 1, crop=[9, 9])
        after = ndd.flip(broken)

        def read(k, broken=broken, after=after):
            with pytest.raises(RuntimeError, match=r"^crop: .*reaches beyond"):
                np.asarray(after if k % 2 else broken)

        together(4, read)
        assert np.asarray(image + 2).max() == 2


def test_contexts_of_many_threads():
    def work(k):
        x = ndd.tensor([k])
        for i in range(300):
            y = x + i
            assert (y * 2).item() == 2 * (k + i)
            if i % 50 == 0:
                time.sleep(0.001)  # the reader is expected, and does not come at once
                assert y.item() == k + i

    together(THREADS, work)


def test_one_context_read_by_many_threads():
    for _ in range(50):
        values = [ndd.tensor([k]) + 1 for k in range(THREADS)]
        together(THREADS, lambda k, values=values: values[k].item() == k + 1 or pytest.fail("another value"))


def test_a_context_that_ends_while_its_values_are_computed():
    def count():
        return len(os.listdir("/proc/self/task"))

    before = count()
    for _ in range(40):
        with ndd.EvalContext(num_threads=1):
            ndd.operator(lambda x: x)(ndd.tensor([1])).evaluate()  # starts the thread of the context
            with ndd.EvalMode.deferred:
                value = ndd.tensor(np.ones(100_000, np.float32))
                for _ in range(10):
                    value = ndd.math.sin(value)
            reader = threading.Thread(target=value.evaluate)
            reader.start()
            del value
            time.sleep(0.002)
        reader.join()
    stop = time.monotonic() + 60
    while count() > before + 5 and time.monotonic() < stop:
        time.sleep(0.05)
    assert count() <= before + 5


def test_ctrl_c_while_native_calls_are_run_one_after_another():
    done = run("""
        import signal, numpy as np, avida as ndd
        with ndd.EvalMode.deferred:
            value = ndd.batch([np.ones((500, 500, 3), np.float32)] * 4)
            for _ in range(4000):
                value = ndd.math.sin(value)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.3)  # the kernel's: a thread may be late on a busy machine
        try:
            value.evaluate()
        except KeyboardInterrupt:
            print("pending" if value._pending() else "all were run")
    """)
    assert done.stdout.strip() == "pending", done.stdout + done.stderr


def test_fork_while_another_thread_computes_what_it_reads():
    done = run("""
        import os, signal, threading, time, numpy as np, avida as ndd
        big = ndd.batch([np.full((200, 200, 3), i, np.float32) for i in range(4)])
        stop, shared = threading.Event(), []

        def work():
            while not stop.is_set():
                with ndd.EvalMode.deferred:
                    value = ndd.flip(big + 1) * 2
                shared[:] = [value]
                value.evaluate()

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        while not shared: time.sleep(0.001)
        for _ in range(60):
            pid = os.fork()
            if pid == 0:
                signal.alarm(600)  # ends a child that hangs
                good = all((np.asarray(x) == 2 * i + 2).all() for i, x in enumerate(shared[0]))
                good &= (ndd.tensor([1]) + 1).item() == 2
                os._exit(0 if good else 1)
            status = os.waitpid(pid, 0)[1]
            if status != 0:
                print("child:", status)
                break
        stop.set()
        for thread in threads: thread.join()
        print("fine")
    """)
    assert done.stdout.strip() == "fine", done.stdout + done.stderr


def test_exit_while_threads_compute_what_they_read():
    done = run("""
        import threading, time, numpy as np, avida as ndd
        big = ndd.batch([np.ones((300, 300, 3), np.float32)] * 4)
        def work():
            while True:
                ndd.math.sin(ndd.math.sin(big)).evaluate()
        for _ in range(4): threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
    """)
    assert done.returncode == 0, done.stderr


def test_a_signal_handler_reads_values_of_the_same_context():
    """It runs on the thread whose wait it interrupts."""
    read = []

    @ndd.operator
    def slow(x):
        time.sleep(0.1)
        return x + 1

    def handler(*_):
        read.append((first * 3).item())

    first = ndd.tensor([1]) + 1
    before = signal.signal(signal.SIGALRM, handler)
    try:
        value = slow(first)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        assert (value * 2).item() == 6
        while not read:
            time.sleep(0.001)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert read == [6]
