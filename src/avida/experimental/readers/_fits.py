"""What the reader of FITS images does in Python."""

from __future__ import annotations

from avida.readers._listing import Listed


class FitsHooks(Listed):
    """Reads images of files in folders."""
