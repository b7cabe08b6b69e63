"""A profile as a trace for Chrome and Perfetto."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from avida._running.profile.events import AHEAD, FALLBACK, GPU, ITEM, PART, READ, USED, WAIT, WORK, Events

_CATEGORIES = ("call", "work", "part", "gpu", "wait", "item", "read", "ahead", "fallback")
_OUTCOMES = ("used", "dropped", "not predicted", "too early")
_FIRST_GPU = 2**30  # the number of the row of GPU 0, above the numbers of threads


def chrome_trace(events: Events, names: dict[int, str]) -> dict[str, Any]:
    process = os.getpid()
    rows = _rows(events, names)
    out: list[dict[str, Any]] = [_named(process, None, "process_name", name="avida")]
    for order, (number, name) in enumerate(rows.items()):
        out.append(_named(process, number, "thread_name", name=name))
        out.append(_named(process, number, "thread_sort_index", sort_index=order))
    for record in events.records:
        kind = int(record["kind"])
        row = _FIRST_GPU + int(record["gpu"]) if kind == GPU else events.threads[record["thread"]]
        begin, end = int(record["begin"]) / 1e3, int(record["end"]) / 1e3
        event: dict[str, Any] = {"cat": _CATEGORIES[kind], "pid": process, "tid": row, "ts": begin}
        name = events.text(record["name"])
        if kind == AHEAD:
            outcome = _OUTCOMES[record["outcome"]]
            out.append({**event, "name": f"{outcome}: {name}", "ph": "i", "s": "t", "args": _arguments(events, record)})
            continue
        if kind == FALLBACK:
            arguments = {"reason": events.text(record["reason"])}
            out.append({**event, "name": name, "ph": "i", "s": "t", "args": arguments})
            continue
        shown = f"wait for {name}" if kind in (WAIT, ITEM) else name
        out.append({**event, "name": shown, "ph": "X", "dur": end - begin, "args": _arguments(events, record)})
        if kind in (WORK, GPU) and record["in_use"]:
            memory = f"memory of GPU {record['gpu']}" if kind == GPU else "memory"
            out.append(
                {"name": memory, "ph": "C", "pid": process, "ts": end, "args": {"bytes in use": int(record["in_use"])}}
            )
    return {"traceEvents": out, "displayTimeUnit": "ms"}


def _rows(events: Events, names: dict[int, str]) -> dict[int, str]:
    """The numbers and names of the rows: the loop, other threads with calls, then executors, workers, readers, GPUs."""
    users = sorted(events.users(), key=lambda index: (index != events.loop, index))
    rows = {events.threads[index]: names.get(events.threads[index], "Python thread") for index in users}
    for kind, role in ((WORK, "executor"), (PART, "worker"), (READ, "reader")):
        found = sorted(set(events.of_kind(kind)["thread"].tolist()))
        new = [events.threads[index] for index in found if events.threads[index] not in rows]
        rows |= {number: role if len(new) == 1 else f"{role} {i}" for i, number in enumerate(new)}
    for gpu in np.unique(events.of_kind(GPU)["gpu"]).tolist():
        rows[_FIRST_GPU + gpu] = f"GPU {gpu}"
    return rows


def _arguments(events: Events, record: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name, file, line in (("at", "at_file", "at_line"), ("called at", "file", "line")):
        if record[file] >= 0:
            arguments[name] = f"{events.text(record[file])}:{record[line]}"
    for name in ("samples", "bytes"):
        if record[name]:
            arguments[name] = int(record[name])
    if record["kind"] in (WORK, PART, GPU):
        arguments["ahead"] = bool(record["ahead"])
    if record["kind"] == AHEAD and record["outcome"] != USED:
        arguments["reason"] = events.text(record["reason"])
    return arguments


def _named(process: int, row: int | None, what: str, **arguments: Any) -> dict[str, Any]:
    place = {"pid": process} if row is None else {"pid": process, "tid": row}
    return {"name": what, "ph": "M", **place, "args": arguments}
