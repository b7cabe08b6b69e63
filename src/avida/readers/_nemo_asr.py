"""What the reader of speech with transcripts does in Python."""

from __future__ import annotations

from typing import Any

from avida._running.warn import warn
from avida.readers._declared import DeclaredReader


class NemoAsrHooks(DeclaredReader):
    """Warns of an argument that has no effect."""

    _warns = RuntimeWarning

    def _prepare(self, given: dict[str, Any]) -> None:
        if given["normalize_text"] is not None:
            warn("normalize_text has no effect and will be removed", DeprecationWarning)
