"""What readers of files in folders do in Python."""

from __future__ import annotations

from avida.readers._declared import DeclaredReader
from avida.readers._listing import Listed


class FolderClasses(DeclaredReader):
    """Names the labels that are numbers of folders."""

    @property
    def classes(self) -> list[str] | None:
        """The names of the folders in ``file_root``, in the order of their labels; ``None`` for listed files.

        Two readers, of training and of validation data, have the same labels if this is equal.
        """
        named = self._set_up().classes
        return None if named is None else list(named.values())


class FileHooks(Listed, FolderClasses):
    """Reads whole files in folders."""
