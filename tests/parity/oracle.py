"""The real library in a process of its own, which some calls end: a new one is started then."""

import contextlib
import os
import pickle
import select
import struct
import subprocess
import sys
from typing import Any

import numpy as np

from tests.parity.random_calls import Call, made

SECONDS_TO_START, SECONDS_PER_CALL = 300, 60  # on a loaded machine; calls that never end are few


class Oracle:
    """Runs calls; the answer to one is ("results", [...]), ("error", type, message) or ("ended",)."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None

    def start(self, call: Call) -> None:
        """Hands over a call, whose answer is read by `answer`."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.parity.oracle"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
            assert self._next(SECONDS_TO_START) == "ready", "the real library cannot be imported"
        with contextlib.suppress(BrokenPipeError):
            _write(self._process.stdin, call)

    def answer(self) -> tuple:
        found = self._next(SECONDS_PER_CALL)
        if found is None:
            self.close()
            return ("ended",)
        return found

    def _next(self, seconds: float) -> Any:
        assert self._process is not None
        stream = self._process.stdout
        ready, _, _ = select.select([stream], [], [], seconds)
        return _read(stream) if ready else None

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process = None


def described(result: Any) -> tuple:
    """Form, type, layout and arrays of a Tensor or Batch of either library."""
    is_batch = type(result).__name__ == "Batch"
    samples = [result.tensors[i] for i in range(result.batch_size)] if is_batch else [result]
    return (is_batch, str(result.dtype), result.layout or "", [np.array(sample) for sample in samples])


def outcome(library: Any, call: Call) -> tuple:
    """What a call gives: its results, or its error with those that caused it."""
    try:
        return ("results", [described(result) for result in made(library, call)])
    except Exception as error:
        messages = []
        cause: BaseException | None = error
        while cause is not None:
            messages.append(str(cause))
            cause = cause.__cause__
        return ("error", type(error).__name__, " | ".join(messages))


def _write(stream: Any, value: Any) -> None:
    data = pickle.dumps(value)
    stream.write(struct.pack("<q", len(data)) + data)


def _read(stream: Any) -> Any:
    """The next value; None at the end of the stream."""
    data, size = b"", None
    while size is None or len(data) < size:
        piece = stream.read(min(1 << 20, (8 if size is None else size) - len(data)))
        if not piece:
            return None
        data += piece
        if size is None and len(data) == 8:
            size, data = struct.unpack("<q", data)[0], b""
    return pickle.loads(data)


def _serve() -> None:
    import nvidia.dali.experimental.dynamic as dali

    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what the library prints does not mix with the answers
    _write(out, "ready")
    while (call := _read(sys.stdin.buffer)) is not None:
        _write(out, outcome(dali, call))


if __name__ == "__main__":
    _serve()
