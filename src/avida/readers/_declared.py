"""Readers that are declared natively: the base of the generated classes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar

from avida import _core
from avida._running.warn import warn
from avida._values.device import device as make_device
from avida._values.typing import DeviceArg
from avida.readers._names.paths import expand_paths
from avida.readers._reader import Reader
from avida.storage._cache import cache_of


class DeclaredReader(Reader):
    """What a reader does beyond its declaration is written in a class of its name and ``Hooks`` over this one."""

    _declared: ClassVar[str]
    _locating: ClassVar[Sequence[str]]  # the arguments that say where the data is
    _several: ClassVar[Sequence[str]] = ()  # those of them that name any number of files
    _old_names: ClassVar[Sequence[tuple[str, str]]] = ()
    _library: ClassVar[str] = ""
    _warns: ClassVar[type[Warning]] = UserWarning  # of the data

    def _declare(
        self,
        max_batch_size: int | None,
        name: str | None,
        device: DeviceArg | None,
        num_inputs: int | None,
        **given: Any,
    ) -> None:
        if not _core.has_reader(self._declared):
            raise RuntimeError(
                f"{self._title()}: this build of avida cannot read the format: {self._library} was missing when it "
                "was built"
            )
        for old, new in self._old_names:
            if given[old] is not None:
                if given[new] is not None:
                    raise TypeError(f"expected {new} alone, got also its old name {old}")
                warn(f"{old} is deprecated: use {new}", DeprecationWarning)
                given[new] = given[old]
        given["device"] = device
        given["cache"] = self._cache = cache_of(given["cache"])
        self._prepare(given)
        place = make_device(device)
        arguments = _core.ReaderArguments(
            self._declared, given, None if place is None else place.device_id, given["on_error"] == "skip"
        )
        self._located = {each: given[each] for each in self._locating if given[each] is not None}
        make = functools.partial(self._open, arguments, given)
        super().__init__(make, max_batch_size, name, given.pop("device"), num_inputs, **given)

    def _prepare(self, given: dict[str, Any]) -> None:
        """Changes arguments to what the declaration takes; called when a reader is made."""

    @classmethod
    def _open(cls, arguments: _core.ReaderArguments, given: dict[str, Any]) -> _core.ReaderSource:
        """Opens the data. Braces in names stand for several; in those of archives, wildcards too."""
        for name in cls._several:
            if (paths := given[name]) is not None:
                root = "" if cls._reads_archives else given.get("file_root")
                arguments.set(name, expand_paths(name, paths, wildcards=cls._reads_archives, root=root))
        return arguments.open(lambda message: warn(message, cls._warns))
