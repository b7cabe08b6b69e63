"""A profile as text for the terminal, and as HTML for notebooks."""

from __future__ import annotations

import html
import itertools
import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from avida._running.profile.advice import percent
from avida._running.profile.summary import Line, Prediction, Summary, Wait

_WIDTH = 120
_LEAST_SHARE = 0.01  # of the time that the loop waited: what is less is not listed
_MUCH = 0.1


class _Column(NamedTuple):
    title: str
    cell: Callable[[Line], str]
    to_the_left: bool = False


def text(summary: Summary, advice: str) -> str:
    parts = [_heading(summary)]
    columns = _columns(summary)
    for file, lines in itertools.groupby(summary.lines, lambda line: line.file):
        rows = [[column.cell(line) for column in columns] for line in lines]
        parts.append(f"{_shown(file)}\n" + "\n".join(_aligned(columns, rows)))
    for title, *items in filter(None, (_waits(summary), _predictions(summary), _fallbacks(summary))):
        parts.append("\n".join([title, *(_wrapped(f"  {item}") for item in items)]))
    return "\n\n".join([*parts, _wrapped(advice, "")])


def as_html(summary: Summary, advice: str) -> str:
    columns = _columns(summary)
    parts = [_paragraph(_heading(summary))]
    for file, lines in itertools.groupby(summary.lines, lambda line: line.file):
        head = "".join(f"<th>{html.escape(column.title)}</th>" for column in columns)
        body = "".join(
            "<tr>" + "".join(_cell(column, column.cell(line)) for column in columns) + "</tr>" for line in lines
        )
        parts.append(f"<table><caption>{html.escape(_shown(file))}</caption><tr>{head}</tr>{body}</table>")
    for title, *items in filter(None, (_waits(summary), _predictions(summary), _fallbacks(summary))):
        parts.append(_paragraph(title) + "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in items) + "</ul>")
    return "\n".join([*parts, f"<p><b>{html.escape(advice)}</b></p>"])


def _heading(summary: Summary) -> str:
    share = summary.waited / summary.seconds if summary.seconds else 0.0
    batches = f"{summary.batches:,} batches in " if summary.batches else ""
    lines = [f"{batches}{_time(summary.seconds)}; the loop waited {_time(summary.waited)} for data ({percent(share)})"]
    memory = [f"{_size(summary.memory.cpu)} on the CPU"] if summary.memory.cpu else []
    memory += [f"{_size(size)} on GPU {number}" for number, size in summary.memory.gpu.items()]
    if memory:
        lines.append(f"memory in use: at most {', '.join(memory)}")
    if summary.memory.is_pinned:
        lines.append("results on the CPU lie in pinned memory, since this process copies them to a GPU")
    if len(summary.threads) > 1:
        loop, *others = (
            f"{thread.name} ({thread.calls:,} calls, waited {_time(thread.waited)})" for thread in summary.threads
        )
        lines.append(f"the loop is that of {loop}; other threads with calls: {', '.join(others)}")
    if not summary.complete:
        lines.append("not complete: there were more events than a profile has room for, and the last ones are missing")
    return "\n".join(lines)


def _columns(summary: Summary) -> list[_Column]:
    """Those that have something to say."""
    lines = summary.lines
    columns = [
        _Column("line", lambda line: str(line.line) if line.line else ""),
        _Column("operator", lambda line: line.operator, True),
        _Column("calls", lambda line: f"{line.calls:,}"),
        _Column("time", lambda line: _time(line.seconds) if line.seconds else ""),
        _Column("threads", lambda line: f"{line.threads:.1f}" if line.seconds else ""),
    ]
    if any(line.gpu_seconds for line in lines):
        columns.append(_Column("on GPU", lambda line: _time(line.gpu_seconds) if line.gpu_seconds else ""))
    if summary.predictions or any(line.ahead for line in lines):
        columns.append(_Column("ahead", lambda line: "" if line.ahead is None else percent(line.ahead)))
    columns.append(_Column("waited", lambda line: _time(line.waited) if line.waited else ""))
    if any(line.bytes for line in lines):
        columns.append(_Column("result", lambda line: _size(line.bytes) if line.bytes else ""))
    if any(line.source for line in lines):
        columns.append(_Column("source", lambda line: line.source, True))
    return columns


def _aligned(columns: Sequence[_Column], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    table = [[column.title for column in columns], *rows]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    for row in table:
        cells = (
            cell.ljust(width) if column.to_the_left else cell.rjust(width)
            for column, cell, width in zip(columns, row, widths, strict=True)
        )
        yield _cut("  ".join(cells).rstrip(), _WIDTH)


def _waits(summary: Summary) -> list[str]:
    """A title, and a line for each place; empty if there is none."""
    waits = [wait for wait in summary.waits if wait.seconds > _LEAST_SHARE * summary.waited]
    return ["the loop waited at", *(_waited_at(wait, summary) for wait in waits)] if waits else []


def _waited_at(wait: Wait, summary: Summary) -> str:
    line = f" (line {wait.operator_line})" if wait.operator_line not in (0, wait.line) else ""
    waits = f"{_time(wait.seconds)} in {wait.times:,} {'waits' if wait.times > 1 else 'wait'}"
    return f"{_place(wait, summary)}: {waits} for {wait.operator}{line}{_meanwhile(wait)}"


def _meanwhile(wait: Wait) -> str:
    """What ran while the loop waited, where that is not what it waited for alone."""
    shares = {name: part / wait.seconds for name, part in wait.causes.items()}
    if shares.get(wait.operator, 0.0) > 1 - _LEAST_SHARE:
        return ""
    shown = [f"{name} ({percent(share)})" for name, share in shares.items() if name and share >= _LEAST_SHARE][:3]
    if shares.get("", 0.0) >= _MUCH:
        shown.append(f"nothing ({percent(shares[''])})")
    *most, last = shown or ["nothing"]
    return f", while {', '.join(most) + ' and ' if most else ''}{last} ran"


def _predictions(summary: Summary) -> list[str]:
    """A title, and a line for each reason; empty if nothing is known."""
    predictions = summary.predictions
    if not predictions:
        return []
    count = {name: sum(getattr(each, name) for each in predictions) for name in Prediction._fields[3:7]}
    notes = [
        f"made ahead: {count['used']:,} calls were used, {count['dropped']:,} dropped; "
        f"{count['not_predicted']:,} were not predicted, {count['too_early']:,} came too early"
    ]
    for each in predictions:
        for reason, times in each.reasons.items():
            notes.append(f"{_place(each, summary)}: {each.operator}, {_times(times)}: {reason}")
    return notes


def _fallbacks(summary: Summary) -> list[str]:
    """A title, and a line for each reason; empty if there is none."""
    items = []
    for reason, clips, (first, *others) in summary.fallbacks:
        more = f" and {len(others):,} more" if others else ""
        items.append(f"{_shown(first)}{more}, {_times(clips)}: {reason}")
    return ["decoded by the CPU, although a GPU was asked to", *items] if items else []


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _place(at: Wait | Prediction, summary: Summary) -> str:
    """The line, with its file unless there is only one."""
    if not at.file:
        return "a place unknown"
    return f"line {at.line}" if {at.file} == {line.file for line in summary.lines} else f"{_shown(at.file)}:{at.line}"


def _shown(file: str) -> str:
    """The shorter of the path as it is and the path from here."""
    if not file:
        return "elsewhere"
    try:
        return min(file, os.path.relpath(file), key=len)
    except (OSError, ValueError):
        return file


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1e3:.1f} ms"


def _size(count: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def _wrapped(line: str, indent: str = "    ") -> str:
    held = line.replace(" %", "\0%")  # no break before a percent sign
    return "\n".join(textwrap.wrap(held, _WIDTH, subsequent_indent=indent)).replace("\0", " ")


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 3] + "..."


def _cell(column: _Column, content: str) -> str:
    side = "left" if column.to_the_left else "right"
    return f'<td style="text-align: {side}">{html.escape(content)}</td>'


def _paragraph(content: str) -> str:
    return f"<p>{html.escape(content)}</p>".replace("\n", "<br>")
