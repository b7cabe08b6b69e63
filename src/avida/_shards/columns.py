"""Columns of samples that are written, and what their values are."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

Kind = Literal["image", "audio", "video", "bytes", "text", "json", "number", "array"]
MEDIA: tuple[Kind, ...] = ("image", "audio", "video")  # encoded


class Sample(NamedTuple):
    """What is written of a sample: its name, and a value for each column.

    Media and bytes are ``bytes``, texts and JSON are ``str``, numbers and arrays are of NumPy.
    """

    key: str
    values: list[Any]


@dataclasses.dataclass(frozen=True)
class Column:
    """A column, whose values are all of one kind."""

    name: str
    kind: Kind
    dtype: str = "uint8"  # of numbers and arrays
    rank: int = 0
    classes: tuple[str, ...] = ()  # the names that numbers stand for

    def __str__(self) -> str:
        if self.kind not in ("number", "array"):
            return f"{self.name}: {self.kind}"
        return f"{self.name}: {self.dtype}" + (f" array, {self.rank} axes" if self.kind == "array" else "")


KEY = Column("__key__", "text")  # the name of a sample, in formats that have none

# The endings of files by how they begin: at which byte, and with what.
_BEGINNINGS = [
    (0, b"\xff\xd8\xff", "jpg"),
    (0, b"\x89PNG\r\n", "png"),
    (0, b"GIF8", "gif"),
    (8, b"WEBP", "webp"),
    (8, b"WAVE", "wav"),
    (4, b"ftypavif", "avif"),
    (4, b"ftypavis", "avif"),
    (4, b"ftyphei", "heic"),
    (4, b"ftypmif1", "heif"),
    (4, b"ftypmsf1", "heif"),
    (4, b"ftyp", "mp4"),
    (4, b"jP  ", "jp2"),
    (0, b"\xff\x4f\xff\x51", "j2k"),
    *[(0, begin, "tif") for begin in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")],
    (0, b"fLaC", "flac"),
    (0, b"OggS", "ogg"),
    (0, b"ID3", "mp3"),
    (0, b"\xff\xfb", "mp3"),
    (0, b"\x1aE\xdf\xa3", "mkv"),
    (0, b"BM", "bmp"),
    *[(0, b"P%d%c" % (n, space), "pnm") for n in range(1, 8) for space in b" \t\r\n"],
]
_AUDIO, _VIDEO = ("wav", "flac", "ogg", "mp3"), ("mp4", "mkv")


def ending_of(data: bytes) -> str | None:
    """How the name of a file with such bytes ends; None if it is no known image, sound or video."""
    for at, begin, ending in _BEGINNINGS:
        if data.startswith(begin, at):
            return ending
    return None


class Json(str):
    """A text of JSON, which stays as it is."""


def column_of(name: str, values: Sequence[Any], classes: Sequence[str] = ()) -> Column:
    """The column that holds such values, which came from a few samples."""
    kind = _kind_of(values)
    if kind not in ("number", "array"):
        return Column(name, kind)
    array = np.asarray(values[0])
    if array.dtype.kind not in "biuf":
        raise RuntimeError(
            f"column {name!r}: expected bytes, text, numbers or arrays of them, got {_described(values[0])}"
        )
    return Column(name, kind, array.dtype.name, array.ndim, tuple(classes) if kind == "number" else ())


def _kind_of(values: Sequence[Any]) -> Kind:
    first = values[0]
    if isinstance(first, bytes):
        endings = [ending for value in values if (ending := ending_of(value))]
        return _medium(endings[0]) if endings else "bytes"
    if isinstance(first, Json | dict | None):
        return "json"
    if isinstance(first, str):
        return "text"
    return "array" if np.ndim(first) else "number"


def _medium(ending: str) -> Kind:
    return "audio" if ending in _AUDIO else "video" if ending in _VIDEO else "image"


def value_of(column: Column, value: Any) -> Any:
    """The value as it is written. Raises ValueError where it is none of the column."""
    if column.kind == "json":
        return value if isinstance(value, Json) else json.dumps(value, sort_keys=True)
    if column.kind in ("number", "array"):
        return _array_of(column, value)
    if not isinstance(value, str if column.kind == "text" else bytes):
        raise _unlike(column, value)
    return value


def _array_of(column: Column, value: Any) -> np.ndarray:
    if isinstance(value, str | bytes | dict | None):
        raise _unlike(column, value)
    array = np.asarray(value)
    if (array.dtype.name, array.ndim) != (column.dtype, column.rank):
        raise _unlike(column, value)
    return array


def _unlike(column: Column, value: Any) -> ValueError:
    return ValueError(f"expected in column {column}, as in the first samples, got {_described(value)}")


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        return f"{value.dtype} of the shape {value.shape}"
    return type(value).__name__
