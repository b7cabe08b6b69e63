"""File systems of fsspec and stores of obstore, as stores: one request at a time, in Python, on threads of the core."""

from __future__ import annotations

import os
import sys
from typing import Any, Protocol

VERSIONS = ("ETag", "etag", "e_tag", "generation", "version", "mtime", "LastModified", "last_modified", "created")


class Adapter(Protocol):
    """What the core asks for. What is not there is a ``FileNotFoundError``."""

    def get(self, name: str, begin: int, end: int | None, watched: bool) -> tuple[Any, int, str]:
        """The bytes from ``begin`` to ``end``, the size of the object, and its version, which may be left out where
        nobody watches it and all bytes are asked for."""
        ...

    def ls(self, folder: str, deep: bool) -> list[tuple[str, bool]]:
        """The names in a folder, and whether each is a folder; or those of all objects under it."""
        ...


def adapter_of(store: Any) -> Adapter | None:
    """An adapter for an object of fsspec or obstore. Whoever has one has imported the package."""
    fsspec, obstore = sys.modules.get("fsspec.spec"), sys.modules.get("obstore.store")
    if fsspec and isinstance(store, fsspec.AbstractFileSystem):
        return _FileSystem(store)
    if obstore and isinstance(store, obstore.ObjectStore):
        return _ObjectStore(store)
    return None


class _FileSystem:
    def __init__(self, files: Any) -> None:
        self._files = files

    def get(self, name: str, begin: int, end: int | None, watched: bool) -> tuple[Any, int, str]:
        if begin == 0 and end is None and not watched:
            content = self._files.cat_file(name)
            return content, len(content), ""
        facts = self._files.info(name)
        size = facts.get("size")
        if size is None:
            raise OSError("the file system does not say how many bytes the object has")
        stop = size if end is None else min(end, size)
        content = self._files.cat_file(name, start=begin, end=stop) if begin < stop else b""
        return content, size, _version(facts)

    def ls(self, folder: str, deep: bool) -> list[tuple[str, bool]]:
        root = str(self._files._strip_protocol(folder)).rstrip("/")
        if deep:
            found = [(name, False) for name in self._files.find(root)]
        else:
            found = [(each["name"], each["type"] == "directory") for each in self._files.ls(root, detail=True)]
        names = ((name.removeprefix(root).strip("/"), is_folder) for name, is_folder in found)
        return [(name, is_folder) for name, is_folder in names if name]


class _ObjectStore:
    def __init__(self, store: Any) -> None:
        self._store = store
        self._process: int | None = None  # that of the first request

    def get(self, name: str, begin: int, end: int | None, watched: bool) -> tuple[Any, int, str]:
        self._check_process()
        try:
            facts, content = self._read(name, begin, end)
        except FileNotFoundError:
            raise
        except Exception as error:  # of many lines
            raise OSError(str(error).partition("\n")[0]) from None
        return content, facts["size"], _version(facts)

    def _read(self, name: str, begin: int, end: int | None) -> tuple[Any, Any]:
        if begin == end:
            return self._store.head(name), b""
        options = {"range": {"offset": begin} if end is None else (begin, end)} if begin or end else None
        try:
            found = self._store.get(name, options=options)
            return found.meta, found.bytes()
        except FileNotFoundError:
            raise
        except Exception:
            facts = self._store.head(name)
            if begin < facts["size"]:
                raise
            return facts, b""  # some stores refuse ranges behind the end

    def ls(self, folder: str, deep: bool) -> list[tuple[str, bool]]:
        self._check_process()
        root = folder.strip("/")
        if deep:
            found = [(each["path"], False) for page in self._store.list(root or None) for each in page]
        else:
            entries = self._store.list_with_delimiter(root or None)
            found = [(name, True) for name in entries["common_prefixes"]]
            found += [(each["path"], False) for each in entries["objects"]]
        return [(name.removeprefix(root).strip("/"), is_folder) for name, is_folder in found]

    def _check_process(self) -> None:
        self._process = self._process or os.getpid()
        if os.getpid() != self._process:
            raise RuntimeError(
                "obstore waits for ever in a process that was forked after it had been used: start processes by spawn "
                "or forkserver, or name the store by s3://, gs:// or az://"
            )


def _version(facts: Any) -> str:
    return next((str(facts[name]) for name in VERSIONS if facts.get(name)), "")
