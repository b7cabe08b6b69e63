"""What the events of a profile come to: for each line its calls and their time, and where the loop waited for what."""

from __future__ import annotations

import collections
import dataclasses
import linecache
from typing import NamedTuple

import numpy as np

from avida import _core
from avida._running.profile.events import (
    AHEAD,
    CALL,
    DROPPED,
    FALLBACK,
    GPU,
    ITEM,
    NOT_PREDICTED,
    PART,
    READ,
    TOO_EARLY,
    USED,
    WAIT,
    WORK,
    Events,
    groups,
    seconds,
)


class Line(NamedTuple):
    """The calls of one operator, or the items of one reader, at one line of a program."""

    file: str
    line: int
    operator: str
    calls: int
    seconds: float
    """How long it took to compute the results, or to read the items."""
    threads: float
    """How many CPU threads were at it, on average."""
    gpu_seconds: float
    """How long a GPU worked."""
    ahead: float | None
    """The share of ``seconds`` that was spent before the loop had made the call; ``None`` for readers."""
    waited: float
    """How many seconds the loop waited while this was being done."""
    bytes: int
    """Of the results of a call, on average."""

    @property
    def source(self) -> str:
        """The text of the line."""
        return linecache.getline(self.file, self.line).strip()


class Wait(NamedTuple):
    """A line of the loop that waited for results of one operator, or for items of one reader."""

    file: str
    line: int
    operator: str
    """Whose results were read; other operators may have had to run before it."""
    operator_line: int
    times: int
    seconds: float
    causes: dict[str, float]
    """The operators that ran meanwhile, and for how many seconds; ``""``: none ran."""


class Prediction(NamedTuple):
    """What became of the calls of one line that were, or were not, made ahead of the loop."""

    file: str
    line: int
    operator: str
    used: int
    dropped: int
    not_predicted: int
    too_early: int
    """Calls that the loop had not made often enough before, as those of its first iterations."""
    reasons: dict[str, int]
    """Why calls were dropped or not predicted, and how often."""


class Fallback(NamedTuple):
    """Videos that the CPU decoded although a GPU was asked to."""

    reason: str
    clips: int
    names: list[str]
    """Of the files; bytes have the name of the operator that decoded them."""


class Memory(NamedTuple):
    """The largest numbers of bytes that values held at the end of a call."""

    cpu: int
    gpu: dict[int, int]
    is_pinned: bool
    """Whether results on the CPU lie in pinned memory unless a context says otherwise."""


class Thread(NamedTuple):
    """A thread that makes calls."""

    name: str
    calls: int
    waited: float


@dataclasses.dataclass
class Summary:
    seconds: float
    """From the loop's first call, batch or wait to the end of its last."""
    batches: int
    waited: float
    """How many seconds the loop waited for results and items."""
    worked: float
    """How many seconds the loop's own thread computed results other than those it waited for."""
    idle: float
    """How many of the seconds in which the loop did not wait no operator of it ran."""
    lines: list[Line]
    waits: list[Wait]
    predictions: list[Prediction]
    fallbacks: list[Fallback]
    memory: Memory
    threads: list[Thread]
    complete: bool


_Key = tuple[int, ...]  # file, line and name of a Line
_NOTHING: _Key = (-1, 0, -1)  # what runs while nothing runs


def summarize(events: Events, names: dict[int, str]) -> Summary:
    loop = events.records[(events.records["thread"] == events.loop) & (events.records["nested"] == 0)]
    length = (int(loop["end"].max()) - int(loop["begin"].min())) / 1e9 if len(loop) else 0.0
    blame, waits, overlapped = _waits(events, loop)
    waiting = loop[np.isin(loop["kind"], (WAIT, ITEM))]
    waited = seconds(waiting)
    return Summary(
        seconds=length,
        batches=int((loop["kind"] == ITEM).sum()),
        waited=waited,
        worked=seconds(_outside(loop[loop["kind"] == WORK], waiting)),
        idle=max(0.0, length - waited - (_busy(events, loop) - overlapped)),
        lines=_lines(events, blame),
        waits=waits,
        predictions=_predictions(events),
        fallbacks=_fallbacks(events),
        memory=_memory(events),
        threads=_threads(events, names),
        complete=events.complete,
    )


def _outside(records: np.ndarray, waits: np.ndarray) -> np.ndarray:
    """The events that are not within some waits, none of which overlap: a thread that waits may compute the result."""
    before = np.searchsorted(waits["begin"], records["begin"], "right") - 1
    ends = np.concatenate([waits["end"], [0]])  # the last is for those before all waits
    return records[records["begin"] >= ends[before]]


def _lines(events: Events, blame: dict[_Key, float]) -> list[Line]:
    calls, size = collections.Counter[_Key](), collections.Counter[_Key]()
    time, thread_time, gpu_time, ahead_time = (collections.defaultdict[_Key, float](float) for _ in range(4))
    row_of_reader = _rows_of_readers(events)
    made = events.of_kind(CALL, ITEM)
    made = made[(made["kind"] == CALL) | ((made["nested"] == 0) & (made["file"] >= 0))]
    for key, records in groups(made, "file", "line", "name"):
        calls[key] += len(records)
    for (file, line, name, kind), records in groups(events.of_kind(WORK, PART, GPU), "file", "line", "name", "kind"):
        spent = seconds(records)
        if kind == GPU:
            gpu_time[file, line, name] += spent
            continue
        thread_time[file, line, name] += spent
        if kind == WORK:
            time[file, line, name] += spent
            ahead_time[file, line, name] += seconds(records[records["ahead"] == 1])
            size[file, line, name] += int(records["bytes"].sum())
    read = set(row_of_reader.values())
    for (queue, name), records in groups(events.of_kind(READ), "queue", "name"):
        key = row_of_reader.get(queue, (-1, 0, name))
        read.add(key)
        time[key] += seconds(records)
        thread_time[key] += seconds(records)
    lines = []
    for key in {*calls, *time, *gpu_time}:
        file, line, name = key
        lines.append(
            Line(
                file=events.text(file),
                line=line,
                operator=events.text(name),
                calls=calls[key],
                seconds=time[key],
                threads=thread_time[key] / time[key] if time[key] else 0.0,
                gpu_seconds=gpu_time[key],
                ahead=None if key in read else ahead_time[key] / time[key] if time[key] else 0.0,
                waited=blame.get(key, 0.0),
                bytes=size[key] // max(1, calls[key]),
            )
        )
    return sorted(lines, key=lambda line: (line.file, line.line, -line.seconds, line.operator))


def _rows_of_readers(events: Events) -> dict[int, _Key]:
    """The line that takes the items of each reader."""
    rows: dict[int, _Key] = {}
    for (queue, file, line, name), _ in groups(events.of_kind(ITEM), "queue", "file", "line", "name"):
        if file >= 0:
            rows.setdefault(queue, (file, line, name))
    return rows


def _waits(events: Events, loop: np.ndarray) -> tuple[dict[_Key, float], list[Wait], float]:
    """How long the loop waited while each line's work was done; where; and how long executors worked meanwhile."""
    blame = collections.defaultdict[_Key, float](float)
    waits = []
    work, overlapped = _Work(events), 0.0
    for key, records in groups(loop[loop["kind"] == ITEM], "file", "line", "name"):
        spent = seconds(records)
        blame[key] += spent
        file, line, name = key
        reader = events.text(name)
        waits.append(Wait(events.text(file), line, reader, line, len(records), spent, {reader: spent}))
    fields = ("at_file", "at_line", "name", "line", "queue")
    found: dict[tuple[int, ...], tuple[int, float, collections.defaultdict[_Key, float]]] = {}
    for (*where, queue), records in groups(loop[loop["kind"] == WAIT], *fields):
        times, spent, causes = found.get(tuple(where), (0, 0.0, collections.defaultdict(float)))
        for key, part in work.during(queue, records).items():
            causes[key] += part
        found[tuple(where)] = times + len(records), spent + seconds(records), causes
    for (file, line, name, operator_line), (times, spent, causes) in found.items():
        overlapped += sum(causes.values())
        causes[_NOTHING] = max(0.0, spent - sum(causes.values()))
        shown = collections.defaultdict[str, float](float)
        for key, part in sorted(causes.items(), key=lambda cause: -cause[1]):
            blame[key] += part
            if part > 0:
                shown[events.text(key[2])] += part
        waits.append(Wait(events.text(file), line, events.text(name), operator_line, times, spent, dict(shown)))
    return blame, sorted(waits, key=lambda wait: -wait.seconds), overlapped


class _Work:
    """What each executor did when."""

    def __init__(self, events: Events) -> None:
        work = events.of_kind(WORK)
        self._queues = dict(groups(work[work["nested"] == 0], "queue"))

    def during(self, queue: int, waits: np.ndarray) -> dict[_Key, float]:
        """The seconds of some waits in which an executor worked, for each line that it worked for."""
        work = self._queues.get((queue,))
        spent = collections.defaultdict[_Key, float](float)
        if work is None:
            return spent
        first = np.searchsorted(work["end"], waits["begin"], "right")  # an executor does one thing after another
        last = np.searchsorted(work["begin"], waits["end"], "left")
        for wait, i, k in zip(waits, first, last, strict=True):
            for piece in work[i:k]:
                overlap = min(wait["end"], piece["end"]) - max(wait["begin"], piece["begin"])
                spent[int(piece["file"]), int(piece["line"]), int(piece["name"])] += max(0, int(overlap)) / 1e9
        return spent


def _busy(events: Events, loop: np.ndarray) -> float:
    """How many seconds the executors worked that the loop waits for, or its own thread."""
    work = events.of_kind(WORK)
    queues = np.unique(loop[loop["kind"] == WAIT]["queue"])
    mine = np.isin(work["queue"], queues) | (work["thread"] == events.loop)
    return seconds(work[mine & (work["nested"] == 0)])


def _predictions(events: Events) -> list[Prediction]:
    found = []
    for (file, line, name), records in groups(events.of_kind(AHEAD), "file", "line", "name"):
        counts = np.bincount(records["outcome"], minlength=4)
        reasons = collections.Counter(events.text(number) for number in records["reason"] if number >= 0)
        found.append(
            Prediction(
                file=events.text(file),
                line=line,
                operator=events.text(name),
                used=int(counts[USED]),
                dropped=int(counts[DROPPED]),
                not_predicted=int(counts[NOT_PREDICTED]),
                too_early=int(counts[TOO_EARLY]),
                reasons=dict(reasons.most_common()),
            )
        )
    return sorted(found, key=lambda each: (each.file, each.line, each.operator))


def _fallbacks(events: Events) -> list[Fallback]:
    found = []
    for (reason,), records in groups(events.of_kind(FALLBACK), "reason"):
        names = dict.fromkeys(events.text(number) for number in records["name"])
        found.append(Fallback(events.text(reason), len(records), list(names)))
    return sorted(found, key=lambda each: -each.clips)


def _memory(events: Events) -> Memory:
    on_gpus = {number: int(records["in_use"].max()) for (number,), records in groups(events.of_kind(GPU), "gpu")}
    return Memory(int(events.of_kind(WORK)["in_use"].max(initial=0)), on_gpus, _core.pins_for_copies())


def _threads(events: Events, names: dict[int, str]) -> list[Thread]:
    """The loop's thread comes first."""
    threads = []
    for index in sorted(events.users(), key=lambda index: (index != events.loop, index)):
        own = events.records[(events.records["thread"] == index) & (events.records["nested"] == 0)]
        number = events.threads[index]
        waited = seconds(own[np.isin(own["kind"], (WAIT, ITEM))])
        threads.append(Thread(names.get(number, f"thread {number}"), int((own["kind"] == CALL).sum()), waited))
    return threads
