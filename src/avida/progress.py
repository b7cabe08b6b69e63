"""A progress bar for the terminal: count, speed and remaining time."""

from __future__ import annotations

import os
import shutil
import sys
import time
from types import TracebackType
from typing import TextIO

_REDRAW_SECONDS = 0.1


class Progress:
    """A progress bar on standard error.

    It is drawn only where that is a terminal, so that logs and pipes stay clean.

    Args:
        label: What is going on, before the bar.
        total: How many units there are, when that is known.
        unit: What is counted.
        file: Where to draw.

    Example:
        >>> from avida.progress import Progress
        >>> with Progress("decoding", total=128) as bar:
        ...     for _ in range(2):
        ...         bar.advance(64)
    """

    def __init__(self, label: str, total: int | None = None, unit: str = "images", file: TextIO | None = None) -> None:
        self.label = label
        self.total = total
        self.unit = unit
        self.done = 0
        self.note = ""
        self._file = sys.stderr if file is None else file
        self._shown = self._file.isatty() and os.environ.get("TERM") != "dumb"
        self._start = self._drawn = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the bar was made."""
        return time.monotonic() - self._start

    @property
    def rate(self) -> float:
        """Units per second."""
        return self.done / max(self.seconds, 1e-9)

    def advance(self, n: int = 1, note: str | None = None) -> None:
        """Counts ``n`` more units as done; ``note`` is shown from now on."""
        self.done += n
        if note is not None:
            self.note = note
        now = time.monotonic()
        if self._shown and (now - self._drawn >= _REDRAW_SECONDS or self.done == self.total):
            self._drawn = now
            self._file.write("\r" + self.text(shutil.get_terminal_size().columns) + "\x1b[K")
            self._file.flush()

    def text(self, columns: int) -> str:
        """The line as it stands, at most ``columns`` - 1 characters long."""
        figures = f"{self.rate:,.0f} {self.unit}/s"
        if self.total:
            left = max(self.total - self.done, 0) / self.rate if self.done else None
            figures = f"{self.done:,}/{self.total:,}  {figures}  {_duration(self.seconds)}"
            figures += f" < {_duration(left)}" if left else ""
        else:
            figures = f"{self.done:,}  {figures}  {_duration(self.seconds)}"
        if self.note:
            figures += "  " + self.note
        room = columns - 1 - len(self.label) - len(figures) - 4
        bar = f" {_bar(self.done / self.total, min(room, 40))}" if self.total and room >= 8 else ""
        return f"{self.label}{bar}  {figures}"[: columns - 1]

    def __enter__(self) -> Progress:
        self._start = time.monotonic()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._shown:
            self._file.write("\r" + self.text(shutil.get_terminal_size().columns) + "\x1b[K\n")
            self._file.flush()


def _bar(part: float, width: int) -> str:
    eighths = round(min(max(part, 0.0), 1.0) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width, "░")


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
