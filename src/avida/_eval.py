"""Evaluation modes, contexts, threads and streams."""

from __future__ import annotations

import atexit
import enum
import threading
from typing import Any

from avida import _core
from avida._device import _GPU_MISSING
from avida.checkpoint import Checkpoint

_thread = threading.local()


def _stack(name: str) -> list:
    if not hasattr(_thread, name):
        setattr(_thread, name, [])
    return getattr(_thread, name)


class EvalMode(enum.Enum):
    """When operators run. Use as a ``with`` block; each thread has its own.

    ``deferred``: when a result is read. ``eager``: at once, in the background. ``sync_cpu``: before the call returns;
    ``sync_full`` waits for the GPU too. Results are the same bit for bit.

    Example:
        >>> with avida.EvalMode.sync_cpu:
        ...     y = avida.flip(image)
    """

    deferred = 1
    eager = 2
    sync_cpu = 3
    sync_full = 4
    default = eager

    def __enter__(self) -> None:
        _stack("modes").append(_core.mode())
        _core.set_mode(self.value - 1)

    def __exit__(self, *exc: object) -> None:
        _core.set_mode(_stack("modes").pop())

    @staticmethod
    def current() -> EvalMode:
        """The mode in force in this thread."""
        return EvalMode(_core.mode() + 1)


class ThreadPool:
    """CPU threads that an :class:`EvalContext` may be given."""

    def __init__(self, num_threads: int | None = None, *, device_id: int | None = -1) -> None:
        if device_id is not None and device_id >= 0:
            raise ValueError(f"GPU {device_id} is out of range: {_GPU_MISSING}")
        threads = _core.num_threads() if num_threads is None else _checked_threads(num_threads)
        self._native: _core.NativeThreadPool | None = _core.NativeThreadPool(threads)

    @classmethod
    def _make_shared(cls) -> ThreadPool:
        """The pool of all contexts that have none of their own; set_num_threads() sizes it."""
        pool = cls.__new__(cls)
        pool._native = None
        return pool

    @property
    def num_threads(self) -> int:
        """How many threads work, the calling one included."""
        return _core.num_threads() if self._native is None else self._native.threads

    @property
    def device_id(self) -> int | None:
        """The GPU whose neighbouring CPUs the threads keep to; ``None`` without one."""
        return None


_shared_pool = ThreadPool._make_shared()


class Stream:
    """A CUDA stream. Needs a GPU."""

    create_new = object()

    def __init__(self, *, stream: Any = create_new, device_id: int | None = None) -> None:
        if stream is None:
            raise ValueError("expected a stream, got None; leave it out to make a new one")
        raise RuntimeError(_GPU_MISSING)

    @property
    def device_id(self) -> int:
        """The GPU the stream belongs to."""
        raise RuntimeError(_GPU_MISSING)

    @property
    def handle(self) -> int:
        """The CUDA handle."""
        raise RuntimeError(_GPU_MISSING)

    def synchronize(self) -> None:
        """Waits for all work of the stream."""
        raise RuntimeError(_GPU_MISSING)


class EvalContext:
    """Threads and a queue of their own for the operators called inside its ``with`` block.

    Example:
        >>> with avida.EvalContext(num_threads=2):
        ...     y = avida.flip(image)
    """

    def __init__(
        self,
        *,
        num_threads: int | None = None,
        device_id: int | None = None,
        cuda_stream: Any = None,
        thread_pool: ThreadPool | None = None,
    ) -> None:
        if device_id is not None:
            raise ValueError(f"GPU {device_id} is out of range: {_GPU_MISSING}")
        if cuda_stream is not None:
            raise RuntimeError(_GPU_MISSING)
        if num_threads is not None and thread_pool is not None:
            raise ValueError("give num_threads or thread_pool, not both")
        if num_threads is not None:
            thread_pool = ThreadPool(num_threads)
        pool = thread_pool or _shared_pool
        self._set_up(pool, _core.NativeContext(pool._native, 0))

    def _set_up(self, pool: ThreadPool, native: _core.NativeContext) -> None:
        self._pool = pool
        self._native = native
        self._owner: int | None = None
        self._depth = 0
        self._lock = threading.Lock()
        self._results: dict[int, Any] = {}
        self._checkpoint = Checkpoint()

    def __enter__(self) -> EvalContext:
        with self._lock:
            me = threading.get_ident()
            if self._depth and self._owner != me:
                raise RuntimeError(
                    "this EvalContext is in use by another thread; give every thread a context of its own"
                )
            self._owner = me
            self._depth += 1
        _stack("contexts").append((self, EvalContext.current()))
        _core.set_current_context(self._native)
        return self

    def __exit__(self, *exc: object) -> None:
        entered = _stack("contexts")
        if not entered or entered[-1][0] is not self:
            raise RuntimeError("this EvalContext is not the one that was entered last in this thread")
        _, before = entered.pop()
        _core.set_current_context(before._native)
        with self._lock:
            self._depth -= 1

    @staticmethod
    def current() -> EvalContext:
        """The context in force in this thread."""
        entered = _stack("contexts")
        return entered[-1][0] if entered else EvalContext.default()

    @staticmethod
    def default() -> EvalContext:
        """The context that this thread uses outside any ``with`` block."""
        if not hasattr(_thread, "default"):
            # The native context that this thread's operators have used so far; none was entered before.
            _thread.default = EvalContext.__new__(EvalContext)
            _thread.default._set_up(_shared_pool, _core.current_context())
        return _thread.default

    @property
    def num_threads(self) -> int:
        """How many CPU threads operators share."""
        return self._native.num_threads

    @property
    def thread_pool(self) -> ThreadPool:
        """The threads that operators share in this context."""
        return self._pool

    @property
    def device_id(self) -> int | None:
        """The GPU of this context; ``None`` without one."""
        return None

    @property
    def cuda_stream(self) -> Stream | None:
        """The CUDA stream of this context; ``None`` without a GPU."""
        return None

    @property
    def checkpoint(self) -> Checkpoint:
        """A checkpoint that belongs to this context; call its ``clear()`` before using it for something else."""
        return self._checkpoint

    def evaluate_all(self) -> None:
        """Runs what was deferred in this context and waits for all its work."""
        self._native.evaluate_all()

    def cache_results(self, invocation: Any, results: Any) -> None:
        """Remembers results for as long as the context lives, under the identity of ``invocation``."""
        self._results[id(invocation)] = (invocation, results)

    def cached_results(self, invocation: Any) -> Any:
        """What :meth:`cache_results` was given for this object, or ``None``."""
        found = self._results.get(id(invocation))
        return None if found is None else found[1]


def _checked_threads(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"the number of threads must be an integer, got {n!r}")
    if not 1 <= n <= 4096:
        raise ValueError(f"the number of threads must be from 1 to 4096, got {n}")
    return n


def set_num_threads(n: int | None) -> None:
    """Sets how many CPU threads operators share; ``None`` goes back to the default.

    The default is ``AVIDA_NUM_THREADS`` or ``DALI_NUM_THREADS``, or else the CPUs this process may use.
    """
    _core.set_num_threads(0 if n is None else _checked_threads(n))


def get_num_threads() -> int:
    """How many CPU threads operators share."""
    return _core.num_threads()


atexit.register(_core.stop)


def stream(*, stream: Any = Stream.create_new, device_id: int | None = None) -> Stream:
    """Makes a :class:`Stream`, or wraps an existing one."""
    return Stream(stream=stream, device_id=device_id)


def get_default_stream(device_id: int | None = None) -> Stream | None:
    """The stream of contexts that have none of their own; ``None`` without a GPU."""
    return None


def get_current_stream() -> Stream | None:
    """The stream of the context in force; ``None`` without a GPU."""
    return None


def set_default_stream(cuda_stream: Stream | None, /, device_id: int | None = None) -> None:
    """Sets the stream of contexts that have none of their own."""
    if cuda_stream is not None:
        raise RuntimeError(_GPU_MISSING)


def set_current_stream(cuda_stream: Stream | None, /) -> None:
    """Sets the stream of the context in force."""
    if cuda_stream is not None:
        raise RuntimeError(_GPU_MISSING)
