"""Where data lies: stores that names such as ``memory://train/cat.jpg`` refer to.

Readers and operators that read files take such names in place of paths. Names without a scheme, and those that begin
with ``file://``, are files on this machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from numbers import Integral as _Integral
from numbers import Real as _Real
from typing import Any

from avida import _core
from avida.storage._adapters import adapter_of as _adapter_of
from avida.storage._cache import Cache
from avida.storage._credentials import USUAL as _USUAL_CREDENTIALS
from avida.storage._credentials import certificates as _certificates

__all__ = ["Cache", "configure", "exists", "ls", "memory", "read", "register", "unregister"]

Name = str | os.PathLike[str]

_PARTS_OF_CREDENTIALS = ("key", "secret", "token", "expires")


def configure(
    prefix: str,
    *,
    endpoint: str | None = None,
    region: str | None = None,
    path_style: bool | None = None,
    account: str | None = None,
    anonymous: bool | None = None,
    credentials: Callable[[], Mapping[str, Any]] | Mapping[str, Any] | None = None,
    certificates: Name | None = None,
    timeout: float | None = None,
    connect_timeout: float | None = None,
    deadline: float | None = None,
    requests: int | None = None,
) -> None:
    """Says how names that begin with a prefix are reached.

    What several prefixes of a name set is taken from the longest one; what none of them sets, from the environment
    (``AWS_ENDPOINT_URL``, ``AWS_REGION``, ``STORAGE_EMULATOR_HOST``, ``HF_ENDPOINT``, ``AZURE_STORAGE_ACCOUNT_NAME``).
    A second call for a prefix replaces the first one.

    Args:
        prefix: The beginning of names, such as ``"s3://bucket"`` or ``"https://host/"``.
        endpoint: The address of the service, such as ``"http://127.0.0.1:9000"``.
        region: Of S3.
        path_style: Whether the bucket stands in the path of an address rather than in the name of the host. Default: if
            there is an endpoint.
        account: Of Azure.
        anonymous: Whether requests are not signed.
        credentials: A mapping, or a function that returns one and is called again before they expire: with ``"key"``,
            ``"secret"`` and ``"token"`` for S3, ``"secret"`` or ``"token"`` for Azure, ``"token"`` for the others, and
            perhaps ``"expires"``, in seconds since 1970. Default: those of botocore, google-auth, azure-identity and
            huggingface_hub where they are installed, else of the environment. They are not stored anywhere.
        certificates: A file of the certificates that are trusted. Default: ``SSL_CERT_FILE``, else those of the system,
            else those of the package certifi.
        timeout: A request that receives less than 1 KiB a second for so many seconds is made again. Default: 20.
        connect_timeout: The same for a connection. Default: 10.
        deadline: After so many seconds of tries a request has failed. Default: 60.
        requests: How many requests of a batch are under way at a time. Default: 64.

    Examples:
        >>> avida.storage.configure("s3://toys", endpoint="http://127.0.0.1:9000", anonymous=True)
    """
    if isinstance(credentials, Mapping):
        given = dict(credentials)
        if unknown := sorted(map(str, given.keys() - _PARTS_OF_CREDENTIALS)):  # whose values are not shown
            known = ", ".join(_PARTS_OF_CREDENTIALS)
            raise ValueError(f"expected credentials with some of the keys {known}, got {', '.join(unknown)}")
        credentials = lambda: given  # noqa: E731
    elif credentials is not None and not callable(credentials):
        raise TypeError(f"expected a mapping or a function as credentials, got {type(credentials).__name__}")
    for name, number in (("timeout", timeout), ("connect_timeout", connect_timeout), ("deadline", deadline)):
        if number is not None and not isinstance(number, _Real):
            raise TypeError(f"expected a number of seconds as {name}, got {number!r}")
        if number is not None and not number > 0:
            raise ValueError(f"{name} must be more than 0 seconds, got {number}")
    if requests is not None and not isinstance(requests, _Integral):
        raise TypeError(f"expected an integer as requests, got {requests!r}")
    if requests is not None and requests < 1:
        raise ValueError(f"requests must be at least 1, got {requests}")
    _core.configure_store(
        prefix,
        {
            "endpoint": endpoint,
            "region": region,
            "path_style": path_style,
            "account": account,
            "anonymous": anonymous,
            "credentials": credentials,
            "certificates": None if certificates is None else os.fspath(certificates),
            "timeout": timeout,
            "connect_timeout": connect_timeout,
            "deadline": deadline,
            "requests": requests,
        },
    )


for _scheme in ("https", *_USUAL_CREDENTIALS):  # prefixes that are shorter than what users configure
    _core.configure_store(
        f"{_scheme}:", {"credentials": _USUAL_CREDENTIALS.get(_scheme), "certificates": _certificates()}
    )


def ls(folder: Name, *, deep: bool = False) -> list[str]:
    """Returns the names in a folder, sorted; those of folders end with ``/``.

    Args:
        folder: A name such as ``"s3://bucket/train"``, or a path.
        deep: Whether to list the files of all folders under it instead.

    Examples:
        >>> avida.storage.memory["animals/cow.jpg"] = b"a cow"
        >>> avida.storage.ls("memory://animals")
        ['cow.jpg']
    """
    return [f"{name}/" if is_folder else name for name, is_folder in _core.list_names(os.fspath(folder), deep)]


def exists(name: Name) -> bool:
    """Returns whether there is a file or an object of this name.

    Where that cannot be found out, such as without access, it raises an error.

    Examples:
        >>> avida.storage.exists("memory://animals/horse.jpg")
        False
    """
    return _core.object_exists(os.fspath(name))


def read(name: Name) -> bytes:
    """Returns all bytes of a file or an object.

    Examples:
        >>> avida.storage.memory["animals/cow.jpg"] = b"a cow"
        >>> avida.storage.read("memory://animals/cow.jpg")
        b'a cow'
    """
    return _core.read_object(os.fspath(name))


def register(scheme: str, store: Any, *, at_once: int = 128) -> None:
    """Makes a store of a mapping, a file system of fsspec or a store of obstore.

    Names with the scheme refer to its objects. The samples of a batch are fetched together, on threads. So a store that
    takes long for an object, since it asks another machine for it, is asked for many at the same time. All of this is
    Python: ``s3://``, ``gs://``, ``az://``, ``hf://`` and ``https://`` are faster without it. obstore, and most file
    systems of fsspec, do not work in processes that were forked after their use; for obstore that is an error, since it
    would wait for ever.

    Args:
        scheme: What stands before ``://`` in names. A store that had it is replaced.
        store: A mapping from names, which are what follows ``://``, to ``bytes`` or what has their memory. A missing
            name is a ``KeyError``. Folders are listed by iterating over it. If it has a method ``version(name)``, an
            object whose version changes after a reader has opened it is an error. Or an object of fsspec or obstore,
            which is asked for ranges and for its own listings and versions.
        at_once: How many threads may ask for values at the same time.

    Examples:
        >>> avida.storage.register("toys", {"cat/1.jpg": b"a cat", "dog/1.jpg": b"a dog"})
        >>> reader = avida.readers.File(file_root="toys://")
        >>> for files, labels in reader.next_epoch(batch_size=2):
        ...     print([bytes(np.asarray(file)) for file in files], labels.torch().flatten().tolist())
        [b'a cat', b'a dog'] [0, 1]
    """
    if isinstance(store, Mapping):
        return _core.register_store(scheme, store, at_once)
    adapter = _adapter_of(store)
    if adapter is None:
        raise TypeError(
            "expected a mapping from names to bytes, a file system of fsspec or a store of obstore, got "
            f"{type(store).__name__}"
        )
    return _core.register_adapter(scheme, adapter, at_once)


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
