"""Evaluation modes, contexts, threads and streams."""

from __future__ import annotations

import atexit
import enum
import threading
from typing import TYPE_CHECKING, Any, Self

from avida import _core
from avida._values.device import Device, gpu_to_pin_for
from avida._values.integers import integer_within
from avida.checkpoint import Checkpoint

_thread = threading.local()


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

    if TYPE_CHECKING:

        def __enter__(self) -> None: ...
        def __exit__(self, *exc: object) -> None: ...
    else:  # methods of the core, which no signal handler interrupts: the mode never outlives its block
        __enter__ = _core.as_method(_core.enter_mode)
        __exit__ = _core.as_method(_core.exit_mode)

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
        """The number of threads, the calling one included."""
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
        """Whether it is the same stream; ``other`` may also be a handle, or a stream of another library."""
        if not isinstance(other, int) and not hasattr(other, "cuda_stream") and not hasattr(other, "__cuda_stream__"):
            return NotImplemented
        handle, number = (other, None) if isinstance(other, int) else _foreign_stream(other)
        return self.handle == handle and number in (None, self.device_id)

    def __hash__(self) -> int:
        return hash(self.handle)  # equal to that of the handle, as the two are equal

    def __repr__(self) -> str:
        return f"Stream(handle={self.handle:#x}, device_id={self.device_id})"


def _gpu_number(device_id: int | None) -> int:
    number = Device("gpu", device_id).device_id
    assert number is not None
    return number


def _foreign_stream(stream: Any) -> tuple[int, int | None]:
    """The handle of a stream of another library, and its GPU where that is known."""
    if isinstance(stream, int):
        return integer_within("the handle of a stream", stream, 0, 2**64 - 1), None
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
    """A queue, threads and a CUDA stream for the operators in its ``with`` block.

    Args:
        num_threads: Makes a thread pool for this context alone; by default contexts share one.
        device_id: The GPU that ``"gpu"`` means inside; by default that of the stream, else the one CUDA has chosen.
        cuda_stream: What :func:`stream` takes; by default that of :func:`set_current_stream` or
            :func:`set_default_stream`, else one that contexts share.
        thread_pool: A pool of several contexts.
        pin_memory: Whether results of operators on the CPU lie in pinned memory: see :attr:`pin_memory`. Default: as
            soon as PyTorch gets results in a process that uses CUDA.

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
        pin_memory: bool | None = None,
    ) -> None:
        if num_threads is not None and thread_pool is not None:
            raise ValueError("give num_threads or thread_pool, not both")
        given = stream(stream=cuda_stream, device_id=device_id)
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
            self._set_stream(given)
        if pin_memory is not None:
            self.pin_memory = pin_memory

    def _set_up(self, pool: ThreadPool, native: _core.NativeContext) -> None:
        self._pool = pool
        self._native = native
        self._results: dict[int, Any] = {}
        self._checkpoint = Checkpoint()
        self._own_stream: Stream | None = None

    def _set_stream(self, stream: Stream | None) -> None:
        _core.set_context_stream(self._native, None if stream is None else stream._native)
        self._own_stream = stream

    if TYPE_CHECKING:

        def __enter__(self) -> Self: ...
        def __exit__(self, *exc: object) -> None: ...
    else:
        __enter__ = _core.as_method(_core.enter_context)
        __exit__ = _core.as_method(_core.exit_context)

    @staticmethod
    def current() -> EvalContext:
        """The context in force in this thread."""
        return _core.entered_context() or EvalContext.default()

    @staticmethod
    def default() -> EvalContext:
        """The context that this thread uses outside any ``with`` block."""
        if not hasattr(_thread, "default"):
            made = EvalContext.__new__(EvalContext)
            made._set_up(_shared_pool, _core.default_context())
            _thread.default = made
        return _thread.default

    @property
    def num_threads(self) -> int:
        """The number of CPU threads that operators share."""
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
        if self._own_stream is not None:
            return self._own_stream
        number = self.device_id
        return None if number is None else _known(_core.context_stream(self._native, number))

    @property
    def pin_memory(self) -> bool:
        """Whether results of operators on the CPU lie in pinned memory.

        A GPU copies from pinned memory faster, and while the CPU goes on: ``.torch()`` then returns a pinned tensor
        without a copy, and ``.cuda(non_blocking=True)`` does not wait. Unless it is set, this begins by itself with the
        first result that PyTorch or another library gets in a process that uses CUDA, and ordinary memory is used
        beyond the budget of :func:`set_memory_budget`. Setting it to ``True`` raises a ``RuntimeError`` without a GPU;
        ``None`` unsets it.
        """
        return _core.context_pinned(self._native)

    @pin_memory.setter
    def pin_memory(self, pin_memory: bool | None) -> None:
        unpinned = None if pin_memory is None else -1
        _core.set_context_pinned(self._native, gpu_to_pin_for(self._native) if pin_memory else unpinned)

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint of this context.

        Call its ``clear()`` before using it for something else.
        """
        return self._checkpoint

    def evaluate_all(self) -> None:
        """Runs what was deferred in this context and waits for all its work."""
        self._native.evaluate_all()

    def cache_results(self, invocation: Any, results: Any) -> None:
        """Keeps results under the identity of ``invocation`` while the context lives."""
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
    """Sets the number of CPU threads that operators share; ``None``: the default.

    The default is ``AVIDA_NUM_THREADS`` or ``DALI_NUM_THREADS``, or else the CPUs this process may use.
    """
    _core.set_num_threads(0 if n is None else _checked_threads(n))


def get_num_threads() -> int:
    """The number of CPU threads that operators share."""
    return _core.num_threads()


atexit.register(_core.stop)


def stream(*, stream: Any = Stream.create_new, device_id: int | None = None) -> Stream | None:
    """Makes a :class:`Stream`, or wraps a stream of another library.

    ``None`` stays ``None``.

    Example:
        >>> avida.stream(stream=None) is None
        True
    """
    if isinstance(stream, Stream) and device_id in (None, stream.device_id):
        return stream
    return None if stream is None else Stream(stream=stream, device_id=device_id)


_default_streams: dict[int, Stream] = {}  # those that were set


def _known(native: _core.NativeStream) -> Stream:
    """The object that was set as the default stream, if it is the same stream; else a new object."""
    found, made = _default_streams.get(native.device), Stream._of(native)
    return found if found is not None and found == made else made


def _thread_streams() -> dict[int, Stream]:
    """What this thread has set for each GPU."""
    if not hasattr(_thread, "streams"):
        _thread.streams = {}
    return _thread.streams


def get_default_stream(device_id: int | None = None) -> Stream | None:
    """Returns the default stream of a GPU; ``None`` without a GPU.

    Contexts without a stream of their own use it.
    """
    if not _core.gpu_count():
        return None
    return _known(_core.default_stream(_gpu_number(device_id)))


def get_current_stream() -> Stream | None:
    """The stream of this thread's default context; ``None`` without a GPU."""
    return EvalContext.default().cuda_stream


def set_default_stream(cuda_stream: Any, /, device_id: int | None = None) -> None:
    """Sets the default stream of a GPU; ``None`` restores the library's own.

    Contexts without a stream of their own use it.
    """
    if cuda_stream is None and not _core.gpu_count():
        return
    wrapped = stream(stream=cuda_stream, device_id=device_id)
    number = _gpu_number(device_id) if wrapped is None else wrapped.device_id
    _core.set_default_stream(number, None if wrapped is None else wrapped._native)
    if wrapped is None:
        _default_streams.pop(number, None)
    else:
        _default_streams[number] = wrapped


def set_current_stream(cuda_stream: Any, /) -> None:
    """Sets the stream of this thread's contexts.

    That is the default context, and contexts that the thread makes later.

    ``None`` goes back to the default. Work in the stream that was used before is not waited for.
    """
    if cuda_stream is None and not _core.gpu_count():
        return
    wrapped = stream(stream=cuda_stream)
    _thread_streams().clear()
    if wrapped is not None:
        _thread_streams()[wrapped.device_id] = wrapped
    EvalContext.default()._set_stream(wrapped)
