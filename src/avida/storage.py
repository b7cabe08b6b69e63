"""Where data lies: stores that names such as ``memory://train/cat.jpg`` refer to.

Readers and operators that read files take such names in place of paths. Names without a scheme, and those that begin
with ``file://``, are files on this machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from avida import _core

__all__ = ["memory", "register", "unregister"]


def register(scheme: str, store: Mapping[str, Any], *, at_once: int = 128) -> None:
    """Makes a mapping a store, to whose values names with the scheme refer.

    The samples of a batch are fetched together, on threads. So a mapping that takes long for a value, since it asks
    another machine for it, is asked for many at the same time.

    Args:
        scheme: What stands before ``://`` in names. A store that had it is replaced.
        store: A mapping from names, which are what follows ``://``, to ``bytes`` or what has their memory. A missing
            name is a ``KeyError``. Folders are listed by iterating over it. If it has a method ``version(name)``, an
            object whose version changes after a reader has opened it is an error.
        at_once: How many threads may ask for values at the same time.

    Examples:
        >>> avida.storage.register("toys", {"cat/1.jpg": b"a cat", "dog/1.jpg": b"a dog"})
        >>> reader = avida.readers.File(file_root="toys://")
        >>> for files, labels in reader.next_epoch(batch_size=2):
        ...     print([bytes(np.asarray(file)) for file in files], labels.torch().flatten().tolist())
        [b'a cat', b'a dog'] [0, 1]
    """
    if not isinstance(store, Mapping):
        raise TypeError(f"expected a mapping from names to bytes as a store, got {type(store).__name__}")
    _core.register_store(scheme, store, at_once)


def unregister(scheme: str) -> None:
    """Forgets the store of a scheme. Readers that have opened its objects keep it."""
    _core.unregister_store(scheme)


class _Memory(MutableMapping[str, bytes]):
    """Objects in the memory of this process, by name: those whose names begin with ``memory://``.

    Examples:
        >>> avida.storage.memory["toys/cat.jpg"] = b"a cat"
        >>> np.asarray(avida.io.file.read(np.frombuffer(b"memory://toys/cat.jpg", np.uint8))).tobytes()
        b'a cat'
    """

    def __getitem__(self, name: str) -> bytes:
        found = _core.find_in_memory(name)
        if found is None:
            raise KeyError(name)
        return found

    def __setitem__(self, name: str, content: bytes | bytearray | memoryview) -> None:
        _core.put_in_memory(os.fspath(name), content)

    def __delitem__(self, name: str) -> None:
        if not _core.remove_from_memory(name):
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_core.names_in_memory())

    def __len__(self) -> int:
        return len(_core.names_in_memory())


memory = _Memory()
