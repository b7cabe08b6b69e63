"""Fork, exit and Ctrl-C. Each case runs in a process of its own."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest


def run(code, **kwargs):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=600, **kwargs
    )


def test_child_works_after_fork_with_work_in_flight():
    done = run("""
        import os, numpy as np, avida as ndd
        ndd.set_num_threads(2)
        big = ndd.batch([np.full((400, 400, 3), i, np.uint8) for i in range(8)], layout="HWC")
        for round in range(20):
            pending = [ndd.flip(big) + 1 for _ in range(4)]
            pid = os.fork()
            if pid == 0:
                try:
                    for p in pending:
                        for i, t in enumerate(p):
                            assert (np.asarray(t) == i + 1).all()
                    assert (ndd.tensor([1]) + 1).item() == 2
                    fresh = ndd.flip(big)
                    assert all((np.asarray(t) == i).all() for i, t in enumerate(fresh))
                    with ndd.EvalContext(num_threads=2):
                        assert np.asarray((big + 1).tensors[3]).max() == 4
                except BaseException:
                    import traceback
                    traceback.print_exc()
                    os._exit(1)
                os._exit(0)
            _, status = os.waitpid(pid, 0)
            assert status == 0, status
            for p in pending:
                assert np.asarray(p.tensors[5]).max() == 6
        print("fine")
    """)
    assert done.stdout.strip() == "fine", done.stderr


def test_fork_from_many_threads():
    done = run("""
        import os, threading, time, avida as ndd
        stop = time.monotonic() + 3
        def work():
            while time.monotonic() < stop:
                x = ndd.tensor([1.0] * 1000)
                for _ in range(20):
                    x = x + 1
                x.evaluate()
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads: t.start()
        while time.monotonic() < stop:
            pid = os.fork()
            if pid == 0:
                os._exit(0 if (ndd.tensor([1]) + 1).item() == 2 else 1)
            assert os.waitpid(pid, 0)[1] == 0
        for t in threads: t.join()
        print("fine")
    """)
    assert done.stdout.strip() == "fine", done.stderr


def test_loops_import_nothing():
    """A child that is forked while another thread imports a module would wait for that module for ever."""
    done = run("""
        import sys, numpy as np, avida as ndd

        class Refusing:
            @staticmethod
            def find_spec(name, path=None, target=None):
                raise AssertionError(f"{name} is imported")

        sys.meta_path.insert(0, Refusing)
        for i, (x,) in enumerate(ndd.ExternalSource(range(40)).next_epoch(batch_size=4)):
            x = x + ndd.random.uniform(like=x) + np.float32(1)
            assert np.asarray(ndd.as_tensor(x)).shape == (4,)
    """)
    assert done.returncode == 0, done.stderr


def test_pytorch_data_loader_worker():
    done = run("""
        import numpy as np, torch, avida as ndd
        ndd.flip(np.zeros((4, 4, 3), np.uint8)).evaluate()   # the parent has its threads before the fork

        class Images(torch.utils.data.Dataset):
            def __len__(self): return 32
            def __getitem__(self, i):
                x = ndd.flip(np.full((8, 8, 3), i, np.uint8)) + 1
                return x.torch()

        loader = torch.utils.data.DataLoader(Images(), batch_size=4, num_workers=2, multiprocessing_context="fork")
        assert sum(float(b.float().mean()) for b in loader) / 8 == 16.5
        print("fine")
    """)
    assert done.stdout.strip() == "fine", done.stderr


def test_exit_with_work_in_flight_is_clean():
    done = run("""
        import numpy as np, avida as ndd
        big = ndd.batch([np.ones((500, 500, 3), np.float32)] * 8)

        @ndd.operator
        def slow(x):
            import time
            time.sleep(0.01)
            return x

        keep = [slow(ndd.math.sin(big)) for _ in range(50)]
        with ndd.EvalMode.deferred:
            deferred = [big + 1 for _ in range(10)]
        print("leaving", flush=True)
    """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "leaving"
    assert done.stderr == ""


def test_exit_while_other_threads_work():
    done = run("""
        import threading, time, numpy as np, avida as ndd
        def work():
            x = ndd.tensor(np.ones(10000, np.float32))
            while True:
                x = (x + 1).evaluate()
        for _ in range(3): threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
    """)
    assert done.returncode == 0, done.stderr


def test_ctrl_c_ends_a_wait():
    code = textwrap.dedent("""
        import signal, threading, avida as ndd
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by children of a background job
        result = ndd.operator(lambda x: threading.Event().wait())(ndd.tensor([1]))
        try:
            print("waiting", flush=True)
            result.evaluate()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            import os
            os._exit(0)
    """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().strip() == "waiting"
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline().strip() == "interrupted"
        assert process.wait() == 0


def test_exit_while_a_python_operator_calls_avida():
    done = run("""
        import time, numpy as np, avida as ndd

        @ndd.operator
        def slow(x):
            for _ in range(20):
                time.sleep(0.01)
                y = ndd.flip(np.zeros((4, 4, 3), np.uint8)) + 1
                np.asarray(y)
            return x

        keep = [slow(ndd.tensor([1])) for _ in range(5)]
        time.sleep(0.05)
    """)
    assert (done.returncode, done.stderr) == (0, "")


def test_work_in_exit_handlers():
    done = run("""
        import atexit
        def late():
            try:
                (ndd.tensor([1]) + 1).item()
            except RuntimeError as error:
                print("late:", error)
            with ndd.EvalMode.sync_cpu:
                print((ndd.tensor([1]) + 1).item())
        atexit.register(late)
        import avida as ndd
        (ndd.tensor([1]) + 1).item()
    """)
    assert done.returncode == 0, done.stderr
    assert "shutting down" in done.stdout
    assert done.stdout.strip().endswith("2")


def test_exit_while_a_thread_waits():
    for _ in range(3):
        done = run("""
            import threading, time, avida as ndd

            @ndd.operator
            def slow(x):
                time.sleep(0.5)
                return x

            threading.Thread(target=lambda: slow(ndd.tensor([1])).evaluate(), daemon=True).start()
            time.sleep(0.1)
        """)
        assert done.returncode == 0, done.stderr


def test_context_inside_a_python_operator():
    for _ in range(3):
        done = run("""
            import avida as ndd

            @ndd.operator
            def f(x):
                with ndd.EvalContext(num_threads=2):
                    return ndd.tensor(x) + 1

            assert f(ndd.tensor([1])).item() == 2
        """)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="the sanitizer's allocator keeps its locks over a fork")
def test_fork_while_contexts_come_and_go():
    done = run("""
        import os, threading, time, avida as ndd
        stop = time.monotonic() + 3
        def work():
            while time.monotonic() < stop:
                with ndd.EvalContext(num_threads=2):
                    ndd.tensor([1.0]) + 1
        threads = [threading.Thread(target=work) for _ in range(2)]
        for t in threads: t.start()
        while time.monotonic() < stop:
            ndd.set_num_threads(2)
            pid = os.fork()
            if pid == 0:
                with ndd.EvalContext():
                    os._exit((ndd.tensor([1]) + 1).item() - 2)
            assert os.waitpid(pid, 0)[1] == 0
        for t in threads: t.join()
        print("fine")
    """)
    assert done.stdout.strip() == "fine", done.stderr


def test_fork_while_an_operator_reads_queued_work():
    done = run("""
        import os, threading, time, avida as ndd
        inside = threading.Event()

        @ndd.operator
        def outer(x):
            return later[0].evaluate()

        @ndd.operator
        def inner(x):
            inside.set()
            time.sleep(0.5)
            return x

        later = []
        with ndd.EvalMode.deferred:
            later.append(inner(ndd.tensor([3])))
        result = outer(ndd.tensor([1]))
        inside.wait()
        pid = os.fork()
        assert result.item() == 3
        if pid == 0:
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        print("fine")
    """)
    assert done.stdout.strip() == "fine", done.stderr


def test_worker_threads_give_back_what_operators_read():
    done = run("""
        import re, threading, numpy as np, avida as ndd
        def work():
            for _ in range(400):
                (ndd.as_tensor(np.ones(1 << 18, np.float32)) + 1).evaluate()
        t = threading.Thread(target=work)
        t.start()
        t.join()
        print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
    """)
    keeps_freed_memory = "ASAN_OPTIONS" in os.environ
    assert int(done.stdout) < (800_000 if keeps_freed_memory else 250_000), done.stderr


IN_FLIGHT = """
    import os, signal, sys, threading, time, numpy as np, avida as ndd
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by children of a background job
    inside = threading.Event()

    @ndd.operator
    def endless(x):
        inside.set()
        while True:
            time.sleep(0.01)

    keep = endless(ndd.tensor([1]))
    inside.wait()
"""


def test_exit_does_not_wait_for_ever_for_an_operator():
    done = run(IN_FLIGHT)
    assert (done.returncode, done.stderr) == (0, "")


def test_exit_leaves_operators_alone_that_come_back_too_late():
    """Python ends their threads when they want the GIL; nothing of that may reach C++ code."""
    code = """
    class Last:
        def __del__(self):
            time.sleep(0.3)  # the interpreter is being finalised, and lets other threads run

    last = Last()
    sys.modules["last"] = last
    """
    done = run(textwrap.dedent(IN_FLIGHT) + textwrap.dedent(code))
    assert (done.returncode, done.stderr) == (0, "")


def test_fork_while_a_context_ends_with_work_ahead(tmp_path):
    """Its executor drops that work, and with it the context's pool, which registers no longer for forks."""
    files = [tmp_path / str(i) for i in range(24)]
    for file in files:
        file.write_bytes(bytes(200))
    done = run(f"""
        import os, avida as ndd
        for _ in range(300):
            with ndd.EvalContext(num_threads=2):
                for i, (file, label) in enumerate(ndd.readers.File(files={[*map(str, files)]}).next_epoch(1, ahead=16)):
                    x = ndd.cast(file, dtype="float32")
                    for _ in range(12):
                        x = x + 1.0
                    if i == 8:
                        break
            del x, file, label
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)
        print("fine")
    """)
    assert done.stdout.strip() == "fine", done.stderr


def test_ctrl_c_ends_the_wait_at_exit():
    code = """
    try:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        ndd._core.stop(3600)
    except KeyboardInterrupt:
        print("interrupted")
    """
    done = run(textwrap.dedent(IN_FLIGHT) + textwrap.dedent(code))
    assert (done.returncode, done.stdout.strip()) == (0, "interrupted"), done.stderr


def test_exit_while_an_operator_waits_for_queued_work():
    done = run("""
        import threading, time, avida as ndd
        inside = threading.Event()

        @ndd.operator
        def reads(x):
            inside.set()
            time.sleep(0.2)
            return later[0].evaluate()

        later = []
        first = reads(ndd.tensor([1]))
        with ndd.EvalContext(num_threads=1):
            block = ndd.operator(lambda x: time.sleep(0.3) or x)(ndd.tensor([1]))
            later.append(block + 1)
        inside.wait()
    """)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_ends_the_conversion_of_a_pending_tensor():
    """NumPy drops what the buffer protocol raises, and asks again in another way."""
    done = run("""
        import os, signal, threading, numpy as np, avida as ndd
        signal.signal(signal.SIGINT, signal.default_int_handler)
        reads = [np.asarray, np.array, np.sum, np.stack, bytes, memoryview, lambda x: x.item(), lambda x: np.array([x])]
        for read in reads:
            done = threading.Event()
            value = ndd.operator(lambda x: done.wait() and x)(ndd.tensor([7]))
            try:
                threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
                read(value)
                print("swallowed by", read)
            except KeyboardInterrupt:
                pass
            done.set()
            assert np.asarray(value).tolist() == [7]
            assert value.__array__().tolist() == [7]
        print("fine")
    """)
    assert done.stdout.strip() == "fine", done.stdout + done.stderr


def test_ctrl_c_ends_the_conversion_while_other_threads_convert():
    done = run("""
        import os, signal, sys, threading, time, numpy as np, avida as ndd
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.setswitchinterval(1e-5)
        ended = False
        def convert():
            other = ndd.tensor([1])
            while not ended:
                memoryview(other)
                time.sleep(0)  # or the main thread would hardly get the GIL on a busy machine
        for _ in range(3):
            threading.Thread(target=convert, daemon=True).start()
        for _ in range(5):
            done = threading.Event()
            value = ndd.operator(lambda x: done.wait() and x)(ndd.tensor([7]))
            end = threading.Timer(500, done.set)
            end.start()
            try:
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
                np.asarray(value)
                print("swallowed")
            except KeyboardInterrupt:
                pass
            end.cancel()
            done.set()
        ended = True
        print("fine")
    """)
    assert done.stdout.strip() == "fine", done.stdout + done.stderr


def test_a_subinterpreter_is_refused():
    module, call = ("_interpreters", "exec") if sys.version_info >= (3, 13) else ("_xxsubinterpreters", "run_string")
    done = run(f"""
        import {module} as interpreters, avida as ndd
        code = '''if True:
            try:
                import avida
            except ImportError as error:
                print(type(error).__name__, error, flush=True)
        '''
        for isolated in (False, True):
            try:
                other = interpreters.create(isolated=isolated)
            except TypeError:
                other = interpreters.create("isolated" if isolated else "legacy")
            print(interpreters.{call}(other, code))
            assert (ndd.tensor([1]) + 1).item() == 2
        print("fine")
    """)
    assert done.stdout.strip().endswith("fine"), done.stdout + done.stderr
    assert done.stdout.count("ImportError") == 2
