"""The samples of a data set as they are written: read by index, and changed by the function of a script."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import json
import os
import pathlib
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import avida
from avida._cli.rewriting.sources import DataSet, Decoding, find
from avida._files.reading import read_file
from avida._shards.columns import KEY, Json
from avida.readers._outputs import NAMES

STATE = ".avida"  # the folder in a target with what is no shard: what is finished, classes, errors
CLASSES = "classes.json"
_SCRIPT = re.compile(r"[^()]+\.py(:\w+)?")
_CALL = re.compile(r"[A-Za-z_][\w.]*\(.*\)", re.DOTALL)
_TEXTS = ("str", "string", "large_string", "text")


@dataclasses.dataclass(frozen=True)
class From:
    """Where samples come from, in words that another process understands, too."""

    source: str  # what `find` takes, or what makes a reader
    columns: str | None = None  # NAME or NAME=NEW, separated by commas
    texts: str | None = None  # names of columns whose bytes are texts
    script: str | None = None  # a script with a function of batches


class Rows(NamedTuple):
    """Samples: their names, and the values of each column."""

    keys: list[str]
    columns: dict[str, list[Any]]

    def bytes(self) -> int:
        return sum(value_bytes(value) for values in self.columns.values() for value in values)


def value_bytes(value: Any) -> int:
    return value.nbytes if isinstance(value, np.ndarray) else len(value) if isinstance(value, bytes | str) else 8


@functools.lru_cache(maxsize=1)
def open_data(place: From) -> Data:
    """Opens the data; once in a process, and in those that are forked from it not again."""
    return Data(place)


class Data:
    """A data set whose samples are read by index."""

    def __init__(self, place: From) -> None:
        self._place = place
        found = None if _makes_reader(place.source) else find(place.source)
        try:
            self.reader = _made_by(place.source) if found is None else found.open()
        except ValueError as error:
            raise RuntimeError(str(error)) from error
        try:
            self.size = len(self.reader)
        except TypeError as error:
            raise RuntimeError(
                f"expected a reader whose samples have numbers, got {self.reader!r}; an ExternalSource has them if its "
                "source has __len__ and __getitem__"
            ) from error
        self.classes = getattr(self.reader, "classes", None) or _classes_beside(place.source)
        self._names = _names_of(self.reader, found)
        self._scalars = found.scalars if found else ["label"] if type(self.reader).__name__ == "File" else []
        self._decodings = _decodings_of(self.reader, found)
        self._decodings |= {name.strip(): bytes.decode for name in (place.texts or "").split(",") if name.strip()}
        self._chosen = _chosen(place.columns)
        self._root = str(getattr(self.reader, "_located", {}).get("file_root") or "").rstrip("/") + "/"

    def __len__(self) -> int:
        return self.size

    @functools.cached_property
    def function(self) -> Callable[[dict[str, Any]], Any] | None:
        """The function of the script, which is loaded where it is called first."""
        return None if self._place.script is None else load_function(self._place.script, "process")

    def read(self, indices: Sequence[int]) -> tuple[list[str], dict[str, Any]]:
        """The names of samples, and a Batch for each column. Raises what is wrong with one of them."""
        item = self.reader[list(indices)]
        if not isinstance(item, dict):
            names = self._names or [f"output_{i}" for i in range(len(item))]
            item = {name: column for name, column in zip(names, item, strict=True) if name}
        item |= {name: avida.reshape(item[name], shape=[]) for name in self._scalars if name in item}
        for name, column in item.items():
            if not isinstance(column, avida.Batch | list):
                raise RuntimeError(
                    f"expected a Batch in {name!r}, got {type(column).__name__}: nested outputs are not written"
                )
            if isinstance(column, avida.Batch):
                column.evaluate()
        sources = next((each.sources for each in item.values() if isinstance(each, avida.Batch)), [None] * len(indices))
        if KEY.name in item:
            keys = [bytes(np.asarray(each)).decode() for each in item.pop(KEY.name)]
        else:
            keys = [self._key(source and source.name, i) for source, i in zip(sources, indices, strict=True)]
        if self._chosen:
            if missing := self._chosen.keys() - item.keys():
                raise RuntimeError(f"there is no column {min(missing)!r} among {', '.join(item)}; see --columns")
            item = {new: item[old] for old, new in self._chosen.items()}
        return keys, item

    def rows(self, keys: list[str], columns: dict[str, Any]) -> Rows:
        """What is written of samples that were read."""
        made = columns
        if self.function is not None:
            keys, made = _apply(self.function, keys, columns)
        old = {new: name for name, new in self._chosen.items()}
        rows = {}
        for name, column in made.items():
            unchanged = column is columns.get(name)
            rows[str(name)] = _values(column, self._decodings.get(old.get(name, name)) if unchanged else None)
        return Rows(keys, rows)

    def _key(self, source: str | None, index: int) -> str:
        """A name for a sample: that of its file within the folder, or of its record."""
        name = re.sub(r" at byte \d+$", "", source or str(index))
        name = name.removeprefix(self._root) if self._root != "/" and name.startswith(self._root) else _within(name)
        name = re.sub(r"\.\w{1,6}$", "", name)
        return re.sub(r"[^\w/-]+", "_", name).strip("/_") or str(index)


def _within(name: str) -> str:
    """A name without the folders before it; in an archive, the whole name of the member."""
    return name.rpartition(".tar/")[2] if ".tar/" in name else name.rpartition("/")[2]


def _classes_beside(source: str) -> Any:
    """The names of labels that an earlier run has written."""
    path = f"{source.rstrip('/')}/{STATE}/{CLASSES}"
    return None if _makes_reader(source) or not avida.storage.exists(path) else json.loads(avida.storage.read(path))


def _names_of(reader: Any, found: DataSet | None) -> Sequence[str | None]:
    if found is not None:
        return found.names
    names = NAMES.get(type(reader).__name__, [])
    return names if names and len(names) == len(reader[[0]]) else []


def _decodings_of(reader: Any, found: DataSet | None) -> dict[str, Decoding]:
    decodings = dict(found.decodings) if found else {}
    for name, encoding in (getattr(reader, "columns", None) or {}).items():
        if encoding == "json":
            decodings[name] = lambda value: Json(value.decode())
        elif encoding in _TEXTS:
            decodings[name] = bytes.decode
    return decodings


def _chosen(columns: str | None) -> dict[str, str]:
    parts = [part.strip().partition("=") for part in (columns or "").split(",") if part.strip()]
    return {old: new or old for old, _, new in parts}


def _values(column: Any, decode: Decoding | None) -> list[Any]:
    """The values of a column: bytes where they are rows of uint8, else arrays."""
    values = [_value(np.asarray(each.cpu())) if isinstance(each, avida.Tensor) else each for each in column]
    return values if decode is None else [decode(value) for value in values]


def _value(array: np.ndarray) -> Any:
    return array.tobytes() if array.dtype == np.uint8 and array.ndim == 1 else array


def _apply(
    function: Callable[[dict[str, Any]], Any], keys: list[str], columns: dict[str, Any]
) -> tuple[list[str], Mapping[str, Any]]:
    """What the function of a script makes of a batch. Samples that it leaves out are known by the others' sources."""
    indices = _known_indices(columns)
    try:
        made = function(dict(columns))
        if not isinstance(made, Mapping) or not made:
            raise TypeError(f"expected a dictionary of columns from process(batch), got {type(made).__name__}")
        for column in made.values():
            if isinstance(column, avida.Batch):
                column.evaluate()
    except Exception as error:
        raise RuntimeError(_place_of(error) + (str(error) or type(error).__name__)) from error
    sizes = {name: len(column) for name, column in made.items()}
    if len(set(sizes.values())) > 1:
        raise RuntimeError(f"expected as many values in each column, got {sizes}")
    size = next(iter(sizes.values()))
    if size != len(keys):
        left = _known_indices(made)
        if not indices or not left:
            raise RuntimeError(
                f"expected {len(keys)} values in each column, got {size}; samples may be left out of Batches, by "
                "avida.drop_failed or batch.tensors[...], whose sources tell which ones remain"
            )
        named = dict(zip(indices, keys, strict=True))
        keys = [named[index] for index in left]
    return keys, made


def _known_indices(columns: Mapping[str, Any]) -> list[int]:
    batches = [each for each in columns.values() if isinstance(each, avida.Batch)]
    return next((found for each in batches if (found := _indices(each))), [])


def _indices(batch: avida.Batch) -> list[int]:
    """The numbers of samples in their data set; none where they are not known."""
    numbers = [source.index for source in batch.sources if source]
    return [number for number in numbers if number is not None] if len(numbers) == batch.batch_size else []


def _place_of(error: BaseException) -> str:
    """The line of the script that raised an error, for messages."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    kind = "" if isinstance(error, RuntimeError) else f"{type(error).__name__}: "
    return f"{frames[-1].filename}, line {frames[-1].lineno}: {kind}" if frames else kind


def _is_ours(file: str) -> bool:
    return pathlib.Path(file).is_relative_to(pathlib.Path(avida.__file__).parent)


def _makes_reader(source: str) -> bool:
    """Whether it is an expression such as ``readers.MDS("data")``, or a script, and no name of data."""
    return bool(_SCRIPT.fullmatch(source) or (_CALL.fullmatch(source) and not os.path.exists(source)))


def _made_by(text: str) -> Any:
    if _SCRIPT.fullmatch(text):
        return load_function(text, "make_reader")()
    names = {"avida": avida, "ndd": avida, "np": np, "readers": avida.readers, "tfrecord": avida.tfrecord}
    names |= {"ExternalSource": avida.ExternalSource}
    try:
        return eval(text, names)
    except (SyntaxError, NameError, AttributeError, TypeError, ValueError) as error:
        raise RuntimeError(f"{text}: {type(error).__name__}: {error}") from error


def load_source(place: str | None) -> str | None:
    """The text of a script; None for what is none."""
    if place is None or not _SCRIPT.fullmatch(place):
        return None
    return read_file(_script_of(place)[0]).decode()


def _script_of(place: str) -> tuple[str, str]:
    """The path of ``script.py`` or ``script.py:name``, and the name."""
    path, _, name = place.rpartition(":") if re.search(r"\.py:\w+$", place) else (place, "", "")
    return os.path.abspath(path), name


def load_function(place: str, usual: str) -> Callable[..., Any]:
    """The function of a script: ``script.py``, where it has the usual name, or ``script.py:name``."""
    path, name = _script_of(place)
    name = name or usual
    if not os.path.isfile(path):
        raise FileNotFoundError(2, "expected a Python file", path)
    folder = os.path.dirname(path)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise RuntimeError(f"{error.filename}, line {error.lineno}: SyntaxError: {error.msg}") from error
    except Exception as error:
        raise RuntimeError(_place_of(error) + str(error)) from error
    function = getattr(module, name, None)
    if not callable(function):
        raise RuntimeError(f"{path}: expected a function {name}, found none")
    return function
