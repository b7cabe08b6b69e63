"""Evaluation modes, contexts, threads and streams."""

from __future__ import annotations

import atexit
import enum
import threading
from typing import Any

from avida import _core
from avida._device import Device
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
            _gpu_number(device_id)
        self._device_id = device_id if device_id is not None and device_id >= 0 else None
        threads = _core.num_threads() if num_threads is None else _checked_threads(num_threads)
        self._native: _core.NativeThreadPool | None = _core.NativeThreadPool(threads)

    @classmethod
    def _make_shared(cls) -> ThreadPool:
        """The pool of all contexts that have none of their own; set_num_threads() sizes it."""
        pool = cls.__new__(cls)
        pool._native = None
        pool._device_id = None
        return pool

    @property
    def num_threads(self) -> int:
        """How many threads work, the calling one included."""
        return _core.num_threads() if self._native is None else self._native.threads

    @property
    def device_id(self) -> int | None:
        """The GPU that was named when the pool was made; ``None`` without one."""
        return self._device_id


_shared_pool = ThreadPool._make_shared()


class Stream:
    """A CUDA stream: work that is done in order. Made by :func:`stream`.

    Args:
        stream: That of another library (``torch.cuda.Stream``, CuPy, anything with ``__cuda_stream__``) or a handle; by
            default a new one is made.
        device_id: The GPU of a new stream or of a handle. Without it, see :class:`Device`.
    """

    create_new = object()

    def __init__(self, *, stream: Any = create_new, device_id: int | None = None) -> None:
        if stream is None:
            raise ValueError("expected a stream, got None; leave it out to make a new one")
        if stream is Stream.create_new:
            self._native = _core.NativeStream(_gpu_number(device_id))
            return
        if isinstance(stream, Stream):
            self._native, found = stream._native, stream.device_id
        else:
            handle, found = _foreign_stream(stream)
            keeper = None if isinstance(stream, int) else stream
            self._native = _core.NativeStream.wrap(_gpu_number(device_id if found is None else found), handle, keeper)
        if device_id is not None and found is not None and found != device_id:
            raise ValueError(f"the stream belongs to GPU {found}, not to GPU {device_id}")

    @classmethod
    def _of(cls, native: _core.NativeStream) -> Stream:
        made = cls.__new__(cls)
        made._native = native
        return made

    @property
    def device_id(self) -> int:
        """The GPU the stream belongs to."""
        return self._native.device

    @property
    def handle(self) -> int:
        """The CUDA handle, a number that other libraries take."""
        return self._native.handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def synchronize(self) -> None:
        """Waits for all work of the stream."""
        self._native.synchronize()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device_id, self.handle) == (other.device_id, other.handle)

    def __hash__(self) -> int:
        return hash((self.device_id, self.handle))

    def __repr__(self) -> str:
        return f"Stream(handle={self.handle:#x}, device_id={self.device_id})"


def _gpu_number(device_id: int | None) -> int:
    number = Device("gpu", device_id).device_id
    assert number is not None
    return number


def _foreign_stream(stream: Any) -> tuple[int, int | None]:
    """The handle of a stream of another library, and its GPU where that is known."""
    if isinstance(stream, int):
        return stream, None
    if hasattr(stream, "cuda_stream"):  # PyTorch
        return int(stream.cuda_stream), getattr(stream, "device_index", None)
    if hasattr(stream, "__cuda_stream__"):
        interface: Any = stream.__cuda_stream__
        pair: Any = interface() if callable(interface) else interface
        _, handle = pair
    elif hasattr(stream, "ptr"):  # CuPy
        handle = stream.ptr
    elif hasattr(stream, "handle"):  # Numba
        handle = getattr(stream.handle, "value", stream.handle) or 0
    else:
        raise TypeError(f"expected a stream, an object with __cuda_stream__ or a handle, got {stream!r}")
    number = getattr(stream, "device_id", None)  # CuPy's default streams, which all GPUs have, say -1
    return int(handle), None if number is None or number < 0 else int(number)


class EvalContext:
    """Threads, a queue and a CUDA stream of their own for the operators called inside its ``with`` block.

    Args:
        num_threads: Makes a thread pool for this context alone; by default contexts share one.
        device_id: The GPU that ``"gpu"`` means inside; by default that of the stream, else the one CUDA has chosen.
        cuda_stream: What :func:`stream` takes; by default that of :func:`set_current_stream` or
            :func:`set_default_stream`, else one that contexts share.
        thread_pool: A pool of several contexts.

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
        if num_threads is not None and thread_pool is not None:
            raise ValueError("give num_threads or thread_pool, not both")
        given = None if cuda_stream is None else Stream(stream=cuda_stream, device_id=device_id)
        if given is not None:
            device_id = given.device_id
        elif device_id is not None:
            device_id = _gpu_number(device_id)
            given = _thread_streams().get(device_id)
        elif _thread_streams():
            given = next(iter(_thread_streams().values()))
            device_id = given.device_id
        if num_threads is not None:
            thread_pool = ThreadPool(num_threads)
        pool = thread_pool or _shared_pool
        self._set_up(pool, _core.NativeContext(pool._native, -1 if device_id is None else device_id))
        if given is not None:
            _core.set_context_stream(self._native, given._native)

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
        return _core.context_gpu(self._native) if _core.gpu_count() else None

    @property
    def cuda_stream(self) -> Stream | None:
        """The CUDA stream of this context; ``None`` without a GPU."""
        number = self.device_id
        return None if number is None else Stream._of(_core.context_stream(self._native, number))

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


def stream(*, stream: Any = Stream.create_new, device_id: int | None = None) -> Stream | None:
    """Makes a :class:`Stream`, or wraps that of another library; ``None`` stays ``None``.

    Example:
        >>> avida.stream(stream=None) is None
        True
    """
    return None if stream is None else Stream(stream=stream, device_id=device_id)


def _thread_streams() -> dict[int, Stream]:
    """What this thread has set for each GPU."""
    if not hasattr(_thread, "streams"):
        _thread.streams = {}
    return _thread.streams


def get_default_stream(device_id: int | None = None) -> Stream | None:
    """The stream on a GPU of contexts that have none of their own; ``None`` without a GPU."""
    if not _core.gpu_count():
        return None
    return Stream._of(_core.default_stream(_gpu_number(device_id)))


def get_current_stream() -> Stream | None:
    """The stream of this thread's default context; ``None`` without a GPU."""
    return EvalContext.default().cuda_stream


def set_default_stream(cuda_stream: Any, /, device_id: int | None = None) -> None:
    """Sets the stream of contexts that have none of their own; ``None`` goes back to the library's."""
    if cuda_stream is None and not _core.gpu_count():
        return
    wrapped = stream(stream=cuda_stream, device_id=device_id)
    number = _gpu_number(device_id) if wrapped is None else wrapped.device_id
    _core.set_default_stream(number, None if wrapped is None else wrapped._native)


def set_current_stream(cuda_stream: Any, /) -> None:
    """Sets the stream of this thread's default context, and of contexts that the thread makes later.

    ``None`` goes back to the default. Work in the stream that was used before is not waited for.
    """
    if cuda_stream is None and not _core.gpu_count():
        return
    wrapped = stream(stream=cuda_stream)
    _thread_streams().clear()
    if wrapped is not None:
        _thread_streams()[wrapped.device_id] = wrapped
    _core.set_context_stream(EvalContext.default()._native, None if wrapped is None else wrapped._native)
