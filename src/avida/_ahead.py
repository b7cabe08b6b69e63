"""Any Python iterator, run ahead in a thread of its own."""

from __future__ import annotations

import atexit
import collections
import contextvars
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from avida import _core

T = TypeVar("T")

_PATIENCE = 1.0  # seconds that the end of the process waits for a source to return

# One for all queues: held for moments only, and fork can take it. It is reentrant, since dropping one Ahead may be the
# garbage collector's work while another is in use.
_lock = threading.RLock()
_queues: weakref.WeakSet[_Queue] = weakref.WeakSet()


class Ahead(Iterator[T], Generic[T]):
    """Calls ``next(items)`` up to ``depth`` times ahead.

    What ``items`` raises is raised here in its turn, as the same object with its own traceback; after an error the next
    call goes on. The thread ends when this object is dropped, once ``items`` returns.
    """

    def __init__(self, items: Iterator[T], depth: int) -> None:
        self._queue = _Queue(items, depth)
        weakref.finalize(self, self._queue.stop).atexit = False

    def __next__(self) -> T:
        return self._queue.take()


class _Queue:
    """What an Ahead shares with its thread, which must not keep the Ahead itself alive."""

    def __init__(self, items: Iterator, depth: int) -> None:
        self._items = items
        self._depth = depth
        self._done: collections.deque[tuple[Any, BaseException | None]] = collections.deque()
        self._changed = threading.Condition(_lock)
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        self._inside = False  # `items` is running
        self._stopped = False
        _queues.add(self)

    def take(self) -> Any:
        with _lock:
            if self._process != os.getpid():
                self._adopt()
            while not self._done:
                if self._stopped:
                    raise RuntimeError("the interpreter is shutting down: nothing is read ahead any more")
                if self._thread is None:
                    self._start()
                self._changed.wait()
            item, error = self._done.popleft()
            self._changed.notify_all()
        if error is None:
            return item
        try:
            raise error
        finally:
            del error  # its traceback has this frame: no cycle

    def stop(self) -> None:
        with _lock:
            self._stopped = True
            self._done.clear()
            self._changed.notify_all()

    def join(self, seconds: float) -> None:
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)

    def _adopt(self) -> None:
        """In a child process, which has the queue but not the thread."""
        if self._inside:
            raise RuntimeError(
                "the process was forked while its source was running in the background, and the source cannot go on "
                "from there; begin another epoch in the child process"
            )
        self._process, self._thread = os.getpid(), None

    def _start(self) -> None:
        """The thread works as the caller would: in its mode and evaluation context, with its context variables."""
        mode, context = _core.mode(), _core.current_context()
        variables = contextvars.copy_context()

        def run() -> None:
            _core.set_mode(mode)
            _core.set_current_context(context)
            variables.run(self._loop)

        self._thread = threading.Thread(target=run, name="avida-ahead", daemon=True)
        self._thread.start()

    def _loop(self) -> None:
        while True:
            with _lock:
                while len(self._done) >= self._depth and not self._stopped:
                    self._changed.wait()
                if self._stopped:
                    return
                self._inside = True
            outcome = _outcome(self._items.__next__)
            with _lock:
                self._inside = False
                if not self._stopped:
                    self._done.append(outcome)
                failed = outcome[1] is not None
                if failed:  # whoever takes the error decides whether to go on
                    self._thread = None
                self._changed.notify_all()
            del outcome
            if failed:
                return


def _outcome(function: Callable[[], T]) -> tuple[T | None, BaseException | None]:
    try:
        return function(), None
    except BaseException as error:
        return None, error


@atexit.register
def _stop_all() -> None:
    """Threads that are inside a source which does not return are left behind."""
    queues = list(_queues)
    for queue in queues:
        queue.stop()
    for queue in queues:
        queue.join(_PATIENCE)


os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
