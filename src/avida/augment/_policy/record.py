"""Records of what policies and choices drew and did: a line of JSON for each sample."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from avida._values.batch import Batch, as_batch
from avida._values.tensor import Tensor

_thread = threading.local()


class record(Sequence[list[str]]):  # noqa: N801
    """Keeps what policies and choices draw and do in a ``with`` block of this thread.

    For each call of a policy, and of ``maybe``, ``one_of``, ``some_of`` and ``shuffled``, it has a list with a line of
    JSON for each sample: the steps that the sample went through, with numbers in place of random arguments and of
    choices, and the seeds of operators that draw themselves. A line is a policy: ``Policy.from_json(line)`` makes the
    same of the same sample. What is computed does not depend on records.

    Not recorded are choices among functions that a policy cannot name, such as your own, and calls of single operators:
    a policy of one step is.

    Example:
        >>> from avida.augment import Policy, record
        >>> policy = Policy([("one_of", {}, [("rotate", {"angle": 90}), ("flip", {"vertical": 1})])])
        >>> with record() as lines:
        ...     images = policy(batch)
        >>> again = Policy.from_json(lines[0][1])(batch.tensors[1])
        >>> np.array_equal(again, images.tensors[1])
        True
    """

    def __init__(self) -> None:
        self._calls: list[Batch | Tensor] = []

    def __enter__(self) -> record:
        self._before = recording()
        _thread.record = self
        return self

    def __exit__(self, *_: object) -> None:
        _thread.record = self._before

    def add(self, lines: Any) -> None:
        """Takes the lines of a call, as bytes for each sample."""
        self._calls.append(lines.cpu())

    def __len__(self) -> int:
        return len(self._calls)

    @overload
    def __getitem__(self, call: int) -> list[str]: ...
    @overload
    def __getitem__(self, call: slice) -> list[list[str]]: ...
    def __getitem__(self, call: int | slice) -> list[str] | list[list[str]]:
        if isinstance(call, slice):
            return [self._lines(each) for each in self._calls[call]]
        return self._lines(self._calls[call])

    @staticmethod
    def _lines(lines: Batch | Tensor) -> list[str]:
        return [np.asarray(line).tobytes().decode() for line in (lines if isinstance(lines, Batch) else [lines])]


def lines_of(notes: list[list[Any]]) -> Batch:
    """A line of JSON for the steps of each sample, as bytes."""
    lines = [np.frombuffer(json.dumps(note).encode(), np.uint8) for note in notes]
    return as_batch(lines) if lines else as_batch(np.zeros((0, 1), np.uint8))


def recording() -> record | None:
    """The record that this thread keeps."""
    return getattr(_thread, "record", None)
