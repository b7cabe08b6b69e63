"""The events of a profile, as the core has recorded them."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator

import numpy as np

from avida import _core

CALL, WORK, PART, GPU, WAIT, ITEM, READ, AHEAD, FALLBACK = range(9)
USED, DROPPED, NOT_PREDICTED, TOO_EARLY = range(4)

# native/python/profile.cpp writes these records; texts are numbers, -1: none.
_RECORD = np.dtype(
    [(name, "i8") for name in ("begin", "end", "queue", "bytes", "in_use")]
    + [(name, "i4") for name in ("name", "file", "line", "at_file", "at_line", "reason", "samples", "thread")]
    + [("gpu", "i2")]
    + [(name, "u1") for name in ("kind", "outcome", "ahead", "nested")]
    + [("_", "V2")]
)


@dataclasses.dataclass
class Events:
    """What was recorded, in the order of time. Times are nanoseconds since the beginning."""

    records: np.ndarray
    texts: list[str]
    threads: list[int]
    """The system's numbers of the threads that records refer to."""
    loop: int
    """The index of the thread whose loop this is about; -1: there is none."""
    complete: bool

    @classmethod
    def of(cls, recording: _core.ProfileRecording) -> Events:
        raw, texts, threads, complete = recording.events()
        records = np.frombuffer(raw, _RECORD).copy()
        for side in ("begin", "end"):
            records[side] -= recording.begin
        records = records[np.argsort(records["begin"], kind="stable")]
        loop = threads.index(recording.thread) if recording.thread in threads else -1
        own = _by_users(records)
        if len(own) and not (own["thread"] == loop).any():  # the profile was opened by a thread without a loop
            loop = int(np.bincount(own["thread"]).argmax())
        return cls(records, texts, threads, loop, complete)

    def of_kind(self, *kinds: int) -> np.ndarray:
        return self.records[np.isin(self.records["kind"], kinds)]

    def text(self, number: int) -> str:
        return "" if number < 0 else self.texts[number]

    def users(self) -> list[int]:
        """The threads that make calls or wait for results."""
        return sorted(set(_by_users(self.records)["thread"].tolist()))


def groups(records: np.ndarray, *fields: str) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """The records that agree in some fields, and the values of those."""
    if not len(records):
        return
    keys, which = np.unique(records[list(fields)], return_inverse=True)
    order = np.argsort(which, kind="stable")
    parts = np.split(records[order], np.cumsum(np.bincount(which))[:-1])
    for key, part in zip(keys, parts, strict=True):
        yield tuple(int(value) for value in key), part


def seconds(records: np.ndarray) -> float:
    """The sum of the times of some events."""
    return float((records["end"] - records["begin"]).sum()) / 1e9


def names_of_threads() -> dict[int, str]:
    """What Python calls its threads, by the system's numbers."""
    return {thread.native_id: thread.name for thread in threading.enumerate() if thread.native_id is not None}


def _by_users(records: np.ndarray) -> np.ndarray:
    return records[np.isin(records["kind"], (CALL, WAIT, ITEM)) & (records["nested"] == 0)]
