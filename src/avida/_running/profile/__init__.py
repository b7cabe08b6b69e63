"""Profiles: where a loop spends its time, and what it waits for."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Self

from avida import _core
from avida._files.atomic import write_file
from avida._running.profile import table
from avida._running.profile.advice import Machine, advise
from avida._running.profile.events import Events, names_of_threads
from avida._running.profile.summary import Fallback, Line, Memory, Prediction, Summary, Thread, Wait, summarize
from avida._running.profile.trace import chrome_trace


def profile() -> Profile:
    """Profiles the loop in its ``with`` block: the time of each line, and its waits.

    It tells which calls were made ahead, and why others were not. The result can be printed, shown by a notebook, and
    saved for a browser to show. What all threads of this process do is recorded; forked processes are left out.
    Profiles may be nested. Without one, nothing is recorded.

    Example:
        >>> with avida.profile() as p:
        ...     y = avida.flip(batch).evaluate()
        >>> [(line.operator, line.calls) for line in p.lines]
        [('flip', 1)]
        >>> print(p)  # doctest: +SKIP
    """
    return Profile()


class Profile:
    """What :func:`profile` has recorded. Inside of its block, what it has recorded so far."""

    def __init__(self) -> None:
        self._recording = _core.ProfileRecording()
        self._names: dict[int, str] = {}
        self._recorded: tuple[Events, Summary] | None = None  # once the block has ended

    if TYPE_CHECKING:

        def __enter__(self) -> Self: ...
        def __exit__(self, *exc: object) -> None: ...
    else:  # functions of the core, which no signal handler interrupts: nothing is recorded after the block
        __enter__ = _core.as_method(_core.enter_profile)
        __exit__ = _core.as_method(_core.exit_profile)

    @property
    def seconds(self) -> float:
        """The time of the loop: from its first call, batch or wait to the end of its last."""
        return self._summary.seconds

    @property
    def batches(self) -> int:
        """The number of items that the loop took from readers."""
        return self._summary.batches

    @property
    def waited(self) -> float:
        """How many seconds the loop waited for results of operators and for items of readers."""
        return self._summary.waited

    @property
    def lines(self) -> list[Line]:
        """The calls of each line, and the items of readers, with their time."""
        return self._summary.lines

    @property
    def waits(self) -> list[Wait]:
        """The lines where the loop waited, the longest wait first."""
        return self._summary.waits

    @property
    def predictions(self) -> list[Prediction]:
        """Which calls were made ahead of the loop, which were not, and why not."""
        return self._summary.predictions

    @property
    def fallbacks(self) -> list[Fallback]:
        """Which videos the CPU decoded although a GPU was asked to, and why, the most frequent reason first."""
        return self._summary.fallbacks

    @property
    def memory(self) -> Memory:
        """How much memory values held at most."""
        return self._summary.memory

    @property
    def threads(self) -> list[Thread]:
        """The threads that made calls; the one whose loop this is about comes first."""
        return self._summary.threads

    @property
    def complete(self) -> bool:
        """Whether there was room for all events: a million of them."""
        return self._summary.complete

    @property
    def advice(self) -> str:
        """What would make the loop faster, in one sentence."""
        return advise(self._summary, Machine.here())

    def __str__(self) -> str:
        return table.text(self._summary, self.advice)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table.as_html(self._summary, self.advice)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a trace that ``chrome://tracing`` and https://ui.perfetto.dev show: a row for each thread and GPU."""
        write_file(path, json.dumps(self.chrome_trace()))

    def chrome_trace(self) -> dict[str, Any]:
        """What :meth:`save` writes, in the Trace Event Format."""
        return chrome_trace(self._now[0], self._names or names_of_threads())

    def _note_threads(self) -> None:
        """At the end of the block, since threads that end later take their names with them."""
        self._names = names_of_threads()

    @property
    def _now(self) -> tuple[Events, Summary]:
        if self._recorded is not None:
            return self._recorded
        events = Events.of(self._recording)
        now = events, summarize(events, self._names or names_of_threads())
        if self._names:
            self._recorded = now
        return now

    @property
    def _summary(self) -> Summary:
        return self._now[1]
