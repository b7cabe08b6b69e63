"""What the reader of MosaicML Streaming's format does in Python."""

from __future__ import annotations

from typing import Any

from avida import _core
from avida.readers._by_column import ByColumn
from avida.readers._names.paths import expand_paths


class MDSHooks(ByColumn):
    """Expands names of folders, and gives items the names of columns."""

    @classmethod
    def _open(cls, arguments: _core.ReaderArguments, given: dict[str, Any]) -> _core.ReaderSource:
        arguments.set("paths", expand_paths("paths", given["paths"]))
        return super()._open(arguments, given)

    @property
    def columns(self) -> dict[str, str]:
        """The names of the columns that are read, and how the data set encodes them: ``{"image": "jpeg"}``."""
        return dict(self._set_up().columns)

    def _item(self, outputs: tuple) -> dict[str, Any]:
        return dict(zip(self.columns, outputs, strict=True))
