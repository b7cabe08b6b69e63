"""What the readers of videos share: files, labels, parts of files, outputs."""

from __future__ import annotations

import math
import os
import pathlib
from collections.abc import Sequence
from typing import Any

from avida import _core
from avida._files.atomic import write_file
from avida._running.warn import warn
from avida._values.device import device as make_device
from avida._values.enums import number_of
from avida._values.integers import integer_within
from avida._values.typing import DeviceArg
from avida.readers._libraries import built_with
from avida.readers._paths import Path, list_of_paths
from avida.types import DALIImageType

Bounds = tuple[float, float]

FILE_FILTERS = [
    *("*.mp4", "*.m4v", "*.mov", "*.mkv", "*.webm", "*.avi", "*.ts", "*.m2ts", "*.mpg", "*.mpeg", "*.flv"),
    *("*.3gp", "*.ogv", "*.wmv", "*.y4m"),
]
_FRAME_NUMBERS = {None: 0, False: 0, "none": 0, True: 1, "scalar": 1, "sequence": 2}
_LARGEST_LENGTH = 2**31 - 1


class VideoArguments:
    """The arguments that all readers of videos have, checked."""

    def __init__(
        self,
        reader: str,
        file_root: Path | None,
        file_list: Path | None,
        filenames: Path | Sequence[Path] | None,
        labels: int | Sequence[int] | None,
        index_path: Path | None,
        refuse_variable_rate: bool = False,
    ) -> None:
        self._make_source = built_with("FFmpeg", "video_source")
        given = [name for name in (file_root, file_list, filenames) if name is not None and name != ""]
        if len(given) != 1:
            raise RuntimeError(f"expected one of file_root, file_list and filenames, got {len(given)}")
        if labels is not None and filenames is None:
            raise RuntimeError("labels go with filenames; elsewhere they come from the folders or the list")
        self._file_root, self._file_list, self._filenames = file_root, file_list, filenames
        self._index_path = index_path
        self._names = None if filenames is None else list_of_paths("filenames", filenames)
        self._labels = None if labels is None else _integers(labels)
        if self._names is not None and self._labels is not None and len(self._labels) != len(self._names):
            raise RuntimeError(
                f"expected one label for each file, got {len(self._names)} files, {len(self._labels)} labels"
            )
        self.has_labels = filenames is None or labels is not None
        self.options = _core.VideoOptions(reader, refuse_variable_rate)

    def set_outputs(self, enable_frame_num: bool | str | None, enable_timestamps: bool | None) -> None:
        if enable_frame_num not in _FRAME_NUMBERS:
            raise RuntimeError(f'expected "none", "scalar" or "sequence" as enable_frame_num, got {enable_frame_num!r}')
        self.options.set_outputs(self.has_labels, _FRAME_NUMBERS[enable_frame_num], bool(enable_timestamps))

    def set_clips(
        self,
        sequence_length: int,
        step: int | None,
        stride: int | None,
        uniform: bool,
        pad_mode: str,
        fill_value: int | Sequence[int] | None,
        is_classic: bool,
    ) -> None:
        length = integer_within("sequence_length", sequence_length, 1, _LARGEST_LENGTH)
        distance = integer_within("stride", 1 if stride is None else stride, 1, _LARGEST_LENGTH)
        gap = integer_within("step", -1 if step is None else step, -_LARGEST_LENGTH, _LARGEST_LENGTH)
        self.options.set_clips(
            length,
            gap if gap > 0 else length * distance,
            distance,
            uniform,
            pad_mode,
            [0] if fill_value is None else _integers(fill_value),
            is_classic,
        )

    def source(self) -> _core.ReaderSource:
        bounds: list[Bounds] = []
        if self._names is not None:
            labels = self._labels if self._labels is not None else [0] * len(self._names)
            files = _core.FileList.from_names(self._names, labels, "")
        elif self._file_list is not None:
            files, bounds = _listed_files(os.fspath(self._file_list))
        else:
            assert self._file_root is not None
            files = _core.FileList.from_folders(os.fspath(self._file_root), FILE_FILTERS, [], False)
        if not self._index_path:
            return self._make_source(files, bounds, self.options, None)
        indexes = read_indexes(self._index_path)
        source = self._make_source(files, bounds, self.options, indexes)
        try:
            write_indexes(self._index_path, indexes)
        except OSError as error:  # the reader works without it
            warn(str(error))
        return source


def read_indexes(path: Path) -> _core.VideoIndexes:
    """What earlier runs found in videos and wrote to a file, which need not be there yet."""
    try:
        content = pathlib.Path(path).read_bytes()
    except FileNotFoundError:
        content = b""
    built_with("FFmpeg", "VideoIndexes")
    return _core.VideoIndexes(os.fspath(path), content)


def write_indexes(path: Path, indexes: _core.VideoIndexes) -> None:
    """Writes the file anew where something was added."""
    if not indexes.changed:
        return
    try:
        write_file(path, indexes.content())
    except OSError as error:
        raise OSError(error.errno, f"the index of videos cannot be written: {error.strerror}", str(path)) from error


def gpu_number(device: DeviceArg | None) -> int | None:
    """The GPU that decodes; none for the CPU."""
    found = make_device(device)
    return None if found is None else found.device_id


def image_type_number(image_type: Any) -> int:
    number = 0 if image_type is None else image_type
    number = number_of("image_type", number) if isinstance(number, str) else int(number)
    if number not in (DALIImageType.RGB, DALIImageType.YCbCr):
        raise RuntimeError(f"expected RGB or YCbCr as image_type, got {image_type!r}")
    return number


def uses_file_matrix(color_matrix: str | None) -> bool:
    if color_matrix not in (None, "bt601", "file"):
        raise RuntimeError(f'expected "bt601" or "file" as color_matrix, got {color_matrix!r}')
    return color_matrix == "file"


def _integers(value: int | Sequence[int]) -> list[int]:
    return [int(value)] if isinstance(value, int) else [int(number) for number in value]


def _listed_files(path: str) -> tuple[_core.FileList, list[Bounds]]:
    """The files, labels and parts in a list: ``file label [begin [end]]`` in each line."""
    names, labels, bounds = [], [], []
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if not words:
                continue
            try:
                name, label, *rest = words
                begin, end = [float(word) for word in rest] + [math.nan] * (2 - len(rest))
                labels.append(int(label))
            except ValueError:
                raise RuntimeError(
                    f"{path}:{number}: expected a file, a label and optionally begin and end, got {line.strip()!r}"
                ) from None
            if begin == end:
                labels.pop()
                warn(f"{path}:{number}: begin and end are the same, so the line is left out")
                continue
            names.append(name)
            bounds.append((begin, end))
    if not names:
        raise RuntimeError(f"the file list {path} names no part of a video")
    return _core.FileList.from_names(names, labels, os.path.dirname(path)), bounds
