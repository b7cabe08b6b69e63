"""Standard output and error of a command, which may be closed, full, or a pipe that nobody reads."""

from __future__ import annotations

import contextlib
import os
import sys


def open_closed_streams() -> None:
    """Streams that the caller closed lead nowhere, instead of into the next file that is opened."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


def flush_output() -> None:
    """Raises OSError if the output cannot be written, and only once: Python does not try it again when it ends."""
    with contextlib.suppress(AttributeError, ValueError):  # a script has replaced or closed it
        try:
            sys.stdout.flush()
        except OSError:
            with open(os.devnull, "w") as nothing:
                os.dup2(nothing.fileno(), sys.stdout.fileno())
            raise
