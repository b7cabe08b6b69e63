"""What the readers of videos do in Python: the files that keep indexes, and resizing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

from avida import _core, _ops
from avida._files.atomic import write_file
from avida._files.reading import read_file
from avida._running.warn import warn
from avida._values.device import Device
from avida._values.device import device as make_device
from avida._values.dtype import dtype as make_dtype
from avida._values.dtype import uint8
from avida.readers._file import FolderClasses
from avida.readers._names.paths import Path


class VideoHooks(FolderClasses):
    """Reads the index of the videos from its file, and writes it anew."""

    def _prepare(self, given: dict[str, Any]) -> None:
        if isinstance(given["enable_frame_num"], bool):
            given["enable_frame_num"] = "scalar" if given["enable_frame_num"] else "none"

    @classmethod
    def _open(cls, arguments: _core.ReaderArguments, given: dict[str, Any]) -> _core.ReaderSource:
        path = given["index_path"]
        if not path:
            return super()._open(arguments, given)
        indexes = read_indexes(path)
        arguments.set("indexes", indexes)
        source = super()._open(arguments, given)
        try:
            write_indexes(path, indexes)
        except OSError as error:  # the reader works without it
            warn(str(error))
        return source


class VideoResizeHooks(VideoHooks):
    """Resizes frames while they are decoded, or clips behind the reader."""

    _operator_args: ClassVar[Sequence[str]]
    _filter: _core.FrameFilter | None = None

    def _prepare(self, given: dict[str, Any]) -> None:
        super()._prepare(given)
        self._resize = {name: given[name] for name in self._operator_args}
        device = make_device(given["device"]) or Device.CPU
        if device == Device.CPU and (given["dtype"] is None or make_dtype(given["dtype"]) == uint8):
            self._filter = given["filter"] = _core.operator_filter("resize", self._resize)

    def _item(self, outputs: tuple) -> tuple:
        if self._filter:
            return outputs
        clips, *rest = outputs
        return _ops.resize(clips, **self._resize), *rest

    def _item_form(self, outputs: int) -> Any:
        return tuple(range(outputs)) if self._filter else (*range(outputs), self._resize)


def read_indexes(path: Path) -> _core.VideoIndexes:
    """What earlier runs found in videos and wrote to a file, which need not be there yet."""
    if not hasattr(_core, "VideoIndexes"):
        raise RuntimeError("this build of avida cannot read videos: FFmpeg was missing when it was built")
    try:
        content = read_file(path)
    except FileNotFoundError:
        content = b""
    return _core.VideoIndexes(os.fspath(path), content)


def write_indexes(path: Path, indexes: _core.VideoIndexes) -> None:
    """Writes the file anew where something was added."""
    if not indexes.changed:
        return
    try:
        write_file(path, indexes.content())
    except OSError as error:
        raise OSError(error.errno, f"the index of videos cannot be written: {error.strerror}", str(path)) from error
