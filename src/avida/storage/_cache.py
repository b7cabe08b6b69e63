"""Caches: what readers fetch from other machines, kept on a disk or in memory."""

from __future__ import annotations

import os
import re
from typing import Literal

from avida import _core
from avida._running.warn import warn

_UNITS = {
    unit: factor**power
    for power, letter in enumerate("KMGT", 1)
    for unit, factor in ((f"{letter}B", 1000), (f"{letter}IB", 1024))
} | {"B": 1, "": 1}


class Cache:
    """Keeps what readers fetch from other machines, within a limit.

    The readers of all processes of a node share a folder: each byte is fetched once, and a second run asks for nothing
    that is there. The folder is never larger than the limit. When it is full, what has not been used for long makes
    room, but not what is in use: of a data set that is larger than the limit, a part stays. Files of others in the
    folder are left alone. Processes may be killed at any time, and damaged files are noticed and fetched again. If the
    disk is full, there is a warning, and reading goes on without keeping anything new.

    Objects are taken to never change, unless ``check`` is set. Listings are not kept, nor are local files, which the
    system keeps in memory anyway.

    Args:
        folder: A folder on a disk of this machine, which is made if it is not there. The files are in a folder in it.
        limit: The most bytes to take there: a number, or a text such as ``"200GB"`` or ``"1.5TiB"``. A process that
            comes with another limit changes it for all.
        memory: In place of a folder: the most bytes to take of the memory of each process, in the same form.
        check: Whether to compare the version of an object with that of the store each time when it is opened. That is
            a request for each, and no data.

    Examples:
        >>> import tempfile
        >>> avida.storage.register("toys", {"cat/1.jpg": b"a cat", "dog/1.jpg": b"a dog"})
        >>> folder = tempfile.TemporaryDirectory()
        >>> cache = avida.storage.Cache(folder.name, "200MB")
        >>> files = ["toys://cat/1.jpg", "toys://dog/1.jpg"]
        >>> for _ in range(2):  # the second reader asks the store for nothing
        ...     reader = avida.readers.File(files=files, cache=cache)
        ...     print([bytes(np.asarray(file)) for file, label in reader.next_epoch()])
        [b'a cat', b'a dog']
        [b'a cat', b'a dog']
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        limit: int | str | None = None,
        *,
        memory: int | str | None = None,
        check: bool = False,
    ) -> None:
        folder = None if folder is None else os.path.abspath(folder)  # also in a process that works elsewhere
        self._arguments = (folder, limit, memory, check)
        if (folder is None) == (memory is None):
            raise TypeError('expected a folder and a limit, as Cache("/nvme/cache", "200GB"), or Cache(memory="4GB")')
        if folder is None:
            if limit is not None:
                raise TypeError('expected the limit in memory, as Cache(memory="4GB")')
            self._native = _core.StorageCache.in_memory(_bytes_of("memory", memory), check)
            return
        if limit is None:
            raise TypeError('expected the most bytes to take in the folder, as Cache("/nvme/cache", "200GB")')
        self._native = _core.StorageCache.on_disk(folder, _bytes_of("limit", limit), check)
        self._tell_trouble()

    def __reduce__(self) -> tuple:
        return _make, self._arguments

    def __repr__(self) -> str:
        folder, limit, memory, check = self._arguments
        place = f"memory={memory!r}" if folder is None else f"{folder!r}, {limit!r}"
        return f"Cache({place}{', check=True' if check else ''})"

    @property
    def bytes(self) -> int:
        """How many bytes it takes now: of the folder, or of the memory of this process."""
        return self._native.bytes

    def _tell_trouble(self) -> None:
        if trouble := self._native.take_trouble():
            warn(trouble, RuntimeWarning)


def cache_of(argument: Cache | Literal["memory"] | None) -> Cache | None:
    """The cache that an argument of a reader stands for."""
    if argument == "memory":
        return Cache(memory="4GB")
    if argument is not None and not isinstance(argument, Cache):
        raise TypeError(f'expected an avida.storage.Cache or "memory" as cache, got {argument!r}')
    return argument


def _make(folder: str | None, limit: int | str | None, memory: int | str | None, check: bool) -> Cache:
    return Cache(folder, limit, memory=memory, check=check)


def _bytes_of(name: str, size: int | str | None) -> int:
    number = size
    if isinstance(size, str):
        found = re.fullmatch(r"\s*([\d.]+)\s*([A-Za-z]*)\s*", size)
        factor = _UNITS.get(found[2].upper()) if found else None
        try:
            number = int(float(found[1]) * factor) if found and factor else None
        except ValueError:
            number = None
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError(f'expected a number of bytes, or a text such as "200GB" or "1.5TiB", as {name}, got {size!r}')
    if not _core.LEAST_CACHE_LIMIT <= number <= _core.MOST_CACHE_LIMIT:
        raise ValueError(
            f"{name} must be from {_core.LEAST_CACHE_LIMIT:,} to {_core.MOST_CACHE_LIMIT:,} bytes, got {number:,}"
        )
    return number
