"""Readers and processes: fork, exit, Ctrl-C, threads. Each case runs in a process of its own."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

HELPERS = """
import os, sys, threading, time, numpy as np, avida as ndd
folder = sys.argv[1]
def first(batch):
    return [int(np.asarray(t)[0]) for t in batch]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a").mkdir()
    for i in range(100):
        (tmp_path / "a" / f"{i:02}.jpg").write_bytes(bytes([i]) * 5000)
    return str(tmp_path)


def run(folder, code):
    return subprocess.run(
        [sys.executable, "-c", HELPERS + textwrap.dedent(code), folder], capture_output=True, text=True, timeout=600
    )


def test_fork_while_reading_ahead(folder):
    done = run(
        folder,
        """
        reader = ndd.readers.File(file_root=folder, prefetch_queue_depth=4)
        for round in range(20):
            items = reader.next_epoch(batch_size=10)
            taken = [first(next(items)[0]) for _ in range(round % 5)]
            pid = os.fork()
            rest = [first(files) for files, _ in items]
            assert sum(taken + rest, []) == list(range(100)), (taken, rest)
            assert len(list(reader.next_epoch(batch_size=10))) == 10
            if pid == 0:
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        print("fine")
        """,
    )
    assert done.stdout.strip() == "fine", done.stderr


def test_worker_processes_of_pytorch(folder):
    done = run(
        folder,
        """
        import torch
        class Files(torch.utils.data.IterableDataset):
            def __init__(self):
                self.reader = ndd.readers.File(file_root=folder, lazy_init=True)
                next(self.reader.next_epoch(batch_size=5))   # the parent has its threads before the fork
            def __iter__(self):
                for files, labels in self.reader.next_epoch(batch_size=10):
                    yield torch.tensor(first(files))
        loader = torch.utils.data.DataLoader(Files(), batch_size=None, num_workers=2, multiprocessing_context="fork")
        assert sorted(torch.cat(list(loader)).tolist()) == sorted([*range(100), *range(100)])
        print("fine")
        """,
    )
    assert done.stdout.strip() == "fine", done.stderr


def test_exit_while_reading_ahead(folder):
    for _ in range(3):
        done = run(
            folder,
            """
            readers = [ndd.readers.File(file_root=folder, prefetch_queue_depth=8) for _ in range(4)]
            items = [reader.next_epoch(batch_size=50) for reader in readers]
            for item in items: next(item)
            """,
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_exit_with_an_exception(folder):
    done = run(
        folder,
        """
        for files, labels in ndd.readers.File(file_root=folder).next_epoch(batch_size=10):
            raise KeyError("mine")
        """,
    )
    assert done.returncode == 1
    assert done.stderr.strip().endswith("KeyError: 'mine'")


def test_iterators_that_are_dropped_leave_no_threads(folder):
    done = run(
        folder,
        """
        def threads():
            return len(os.listdir("/proc/self/task"))
        reader = ndd.readers.File(file_root=folder, prefetch_queue_depth=8)
        before = threads()
        for _ in range(50):
            for files, labels in reader.next_epoch(batch_size=10):
                break
        end = time.monotonic() + 60
        while threads() > before + 8 and time.monotonic() < end:
            time.sleep(0.01)
        print(threads() - before)
        """,
    )
    assert int(done.stdout) <= 8, done.stderr


def test_several_threads_share_an_epoch(folder):
    done = run(
        folder,
        """
        items = ndd.readers.File(file_root=folder).next_epoch()
        seen = []
        def work():
            for file, label in items:
                seen.append(label.source)
        workers = [threading.Thread(target=work) for _ in range(4)]
        next(items)
        for w in workers: w.start()
        for w in workers: w.join()
        assert len(seen) == len(set(seen)) == 99, len(seen)
        print("fine")
        """,
    )
    assert done.stdout.strip() == "fine", done.stderr


def test_several_threads_share_short_epochs(folder):
    """The thread that finds the end lets go of the prefetcher, in which others may wait."""
    done = run(
        folder,
        """
        import warnings
        warnings.simplefilter("ignore")  # for threads that come too late
        sys.setswitchinterval(1e-5)
        reader = ndd.readers.File(file_root=folder)
        class Each:
            def __iter__(self):
                return iter(range(16))
        source = ndd.ExternalSource(Each())
        for round in range(500):
            for epoch in (reader.next_epoch(4, indices=range(16)), source.next_epoch(4)):
                items = []
                workers = [threading.Thread(target=items.extend, args=(epoch,)) for _ in range(4)]
                del epoch
                for w in workers: w.start()
                for w in workers: w.join()
                assert len(items) == 4, len(items)
            assert source.get_state().epoch == round + 1
        print("fine")
        """,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "fine"), done.stderr


def test_exit_leaves_a_source_alone_that_comes_back_too_late(folder):
    """Python ends its thread when that wants the GIL; nothing of that may reach C++ code."""
    done = run(
        folder,
        """
        class Last:
            def __del__(self):
                time.sleep(0.3)  # the interpreter is being finalised, and lets other threads run

        sys.modules["last"] = Last()
        inside = threading.Event()
        def source():
            while True:
                inside.set()
                time.sleep(0.01)
            yield

        reader = ndd.ExternalSource(source, prefetch_queue_depth=2)
        epoch = reader.next_epoch(2)
        def ask():
            try:
                next(epoch)
            except RuntimeError:
                pass
        threading.Thread(target=ask, daemon=True).start()
        inside.wait()
        """,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_while_waiting_loses_nothing(folder):
    # Slow storage, played by a lease: opening the file waits until its holder gives it up.
    code = textwrap.dedent("""
        import fcntl, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by children of a background job
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        held = os.open(folder + "/a/00.jpg", os.O_RDWR)
        try:
            fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError:
            sys.exit(print("no leases here"))
        items = ndd.readers.File(file_root=folder).next_epoch(batch_size=10)
        try:
            print("waiting", flush=True)
            next(items)
            print("not held")
        except KeyboardInterrupt:
            fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            print(first(next(items)[0]), flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", HELPERS + code, folder], stdout=subprocess.PIPE, text=True) as process:
        if (said := process.stdout.readline().strip()) == "no leases here":
            pytest.skip("the file system of the temporary folder knows no leases")
        assert said == "waiting"
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline().strip() == str(list(range(10)))
        assert process.wait() == 0


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="sanitizers keep freed memory")
def test_a_thousand_batches_leave_the_resident_size_flat(tmp_path):
    (tmp_path / "a").mkdir()
    for i in range(64):
        (tmp_path / "a" / f"{i:02}.jpg").write_bytes(bytes(1000 + 3000 * i))  # batches of 0.1 to 2.2 MB
    done = run(
        str(tmp_path),
        """
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096 / 1e6
        reader = ndd.readers.File(file_root=folder, random_shuffle=True)
        sizes = []
        for epoch in range(63):
            for files, labels in reader.next_epoch(batch_size=4 if epoch % 2 else 16):
                files.evaluate()
            sizes.append(resident())
        print(sizes[6], sizes[-1], ndd.memory_use().kept / 1e6)
        """,
    )
    assert done.returncode == 0, done.stderr
    early, late, kept = map(float, done.stdout.split())
    assert late < early + 8  # MB
    assert kept < 16


def test_a_child_holds_few_of_its_parents_files(folder):
    done = run(
        folder,
        """
        def open_files():
            links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
            return sum(os.readlink(link).startswith(folder) for link in links if os.path.exists(link))
        readers = [ndd.readers.File(file_root=folder, prefetch_queue_depth=8) for _ in range(4)]
        epochs = [reader.next_epoch(batch_size=50) for reader in readers]
        most = 0
        for _ in range(30):
            for epoch in epochs:
                next(epoch, None)
            child = os.fork()
            if child == 0:
                os._exit(min(open_files(), 100))
            most = max(most, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(most)
        """,
    )
    assert int(done.stdout) <= 4 * 8, done.stderr  # one that each thread was just opening
