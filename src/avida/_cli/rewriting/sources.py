"""Finds out what a data set is from the names of its files, and makes the reader for it."""

from __future__ import annotations

import collections
import dataclasses
import io
import os
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import avida
from avida import _core
from avida._cli.images import SUFFIXES
from avida._cli.index import find_format
from avida._cli.rewriting.examples import features_of
from avida._shards.columns import Json
from avida.readers._names.paths import expand_paths

# The endings of archives, and the reader of each.
_ARCHIVES = {".tar": "Webdataset", ".parquet": "Parquet", ".tfrecord": "TFRecord", ".tfrecords": "TFRecord"}
_ARCHIVES |= {".rec": "MXNet", ".npy": "Numpy"}
_BY_CONTENT = {"webdataset": "Webdataset", "tfrecord": "TFRecord", "recordio": "MXNet"}
_MEMBER = re.compile(r"(\S+) \d+ \d+ .*?\.\1(?= \S+ \d+ \d+ |$)")  # of a line of an index
_USUAL_NAMES = {"cls": "label", "txt": "text", "bin": "bytes", "mp4": "video", "mkv": "video"}
_USUAL_NAMES |= dict.fromkeys(["wav", "flac", "ogg", "mp3"], "audio")
TITLES = {
    "File": "files",
    "Webdataset": "WebDataset (tar)",
    "Parquet": "Parquet",
    "TFRecord": "TFRecord",
    "MXNet": "RecordIO",
    "Numpy": "arrays (.npy)",
    "MDS": "MDS",
    "COCO": "images with COCO's annotations",
}


def _array(value: bytes) -> np.ndarray:
    return np.lib.format.read_array(io.BytesIO(value), allow_pickle=False)


def _json(value: bytes) -> Json:
    return Json(value.decode())


Decoding = Callable[[Any], Any]
# By the extensions of members of tar archives.
_DECODINGS: dict[str, Decoding] = {"txt": bytes.decode, "json": _json, "npy": _array}


@dataclasses.dataclass
class DataSet:
    """A data set in one format."""

    reader: str  # the name of its class
    arguments: dict[str, Any]
    files: list[str]  # the shards, or the files as far as they were listed
    indexes: list[str] = dataclasses.field(default_factory=list)
    names: Sequence[str | None] = ()  # of outputs, None: not taken; or items have them
    decodings: dict[str, Decoding] = dataclasses.field(default_factory=dict)  # of values, by column
    scalars: list[str] = dataclasses.field(default_factory=list)  # columns of one element that have an axis

    def open(self) -> Any:
        """Its reader. Raises RuntimeError where this build has none."""
        if not hasattr(avida.readers, self.reader):
            raise RuntimeError(f"this build of avida has no readers.{self.reader}")
        return getattr(avida.readers, self.reader)(**{name: value for name, value in self.arguments.items() if value})


def find(source: str) -> DataSet:
    """The data set that a name stands for: a folder, a file, or several by wildcards and braces."""
    files: list[str] = list(expand_paths("SOURCE", [source]))
    reader = _reader_of(files[0])
    if reader is None and len(files) > 1:
        raise RuntimeError(f"{source}: expected files of a known format, {files[0]} is none; give what reads them")
    if reader is None:
        return _find_in_folder(source)
    return _of_files(source, reader, files)


def _reader_of(name: str) -> str | None:
    """The reader of a file, by its ending, or by its content if it is local; None for folders."""
    ending = os.path.splitext(name)[1].lower()
    if ending in _ARCHIVES:
        return _ARCHIVES[ending]
    if os.path.basename(name) == "index.json":
        return "MDS"
    if ending in SUFFIXES:
        return "File"
    if ".tfrecord" in os.path.basename(name):
        return "TFRecord"
    if os.path.isfile(name):
        return _BY_CONTENT[find_format(pathlib.Path(name))]
    return None


def _find_in_folder(folder: str) -> DataSet:
    names = avida.storage.ls(folder)
    if not names:
        raise RuntimeError(f"{folder}: expected a folder of data, or files, found nothing")
    inside = [f"{folder.rstrip('/')}/{name}" for name in names]
    if "index.json" in names or any(
        name.endswith("/") and avida.storage.exists(name + "index.json") for name in inside[:1]
    ):
        return _of_files(folder, "MDS", [folder])
    if found := _find_annotations(folder, names):
        return found
    files = [name for name in inside if not name.endswith("/") and not os.path.basename(name).startswith((".", "_"))]
    for ending in _ARCHIVES:
        some = [name for name in files if name.lower().endswith(ending)]
        if some:
            return _of_files(folder, _ARCHIVES[ending], some)
    folders = [name for name in inside if name.endswith("/") and not os.path.basename(name[:-1]).startswith(".")]
    if folders:
        deep = avida.storage.ls(folders[0], deep=True)  # partitions, or the splits of a data set
        if any(name.endswith(".parquet") for name in deep):
            every = [f"{each}{name}" for each in folders for name in avida.storage.ls(each, deep=True)]
            return _of_files(folder, "Parquet", [name for name in every if name.endswith(".parquet")])
        return DataSet(
            "File", {"file_root": folder, "last_batch": "partial"}, [], [], ["image", "label"], scalars=["label"]
        )
    readers = collections.Counter(reader for name in files if (reader := _reader_of_any(name)))
    if not readers:
        raise RuntimeError(
            f"{folder}: expected a data set of {', '.join(TITLES.values())}; others are named by what reads them, such "
            "as 'readers.NemoAsr(manifest_filepaths=...)'"
        )
    reader = readers.most_common(1)[0][0]
    return _of_files(folder, reader, [name for name in files if _reader_of_any(name) == reader])


def _reader_of_any(name: str) -> str | None:
    try:
        return _reader_of(name)
    except RuntimeError:  # something that stands beside the data
        return None


def _find_annotations(folder: str, names: Sequence[str]) -> DataSet | None:
    """Images with annotations in COCO's format, which are known by their usual names."""
    found = [name for name in names if re.fullmatch(r"(_?annotations|instances)[\w.-]*\.json", name)]
    if "annotations/" in names:
        inside = avida.storage.ls(f"{folder}/annotations")
        found += [f"annotations/{name}" for name in inside if re.fullmatch(r"instances[\w.-]*\.json", name)]
    if not found:
        return None
    if len(found) > 1:
        raise RuntimeError(
            f"{folder}: expected one file of annotations, found {', '.join(found)}; name one by "
            "'readers.COCO(file_root=..., annotations_file=...)' in place of the folder"
        )
    part = re.sub(r".*instances_?|\.json$", "", found[0])
    root = next((name for name in (f"{part}/", "images/") if name in names), "")
    arguments = {"file_root": f"{folder}/{root}", "annotations_file": f"{folder}/{found[0]}", "image_ids": True}
    outputs = ["image", "boxes", "labels", "image_id"]
    return DataSet("COCO", arguments, [f"{folder}/{found[0]}"], [], outputs, scalars=["image_id"])


def _of_files(source: str, reader: str, files: list[str]) -> DataSet:
    if reader == "File":
        return DataSet("File", {"files": files}, files, [], ["image", None])
    if reader == "Numpy":
        return DataSet("Numpy", {"files": files}, files, [], ["array"])
    if reader == "MDS":
        return DataSet("MDS", {"paths": files}, files, files)
    if reader == "Parquet":
        return DataSet("Parquet", {"paths": files}, files)
    indexes = [name for file in files if avida.storage.exists(name := index_name(reader, file))]
    index = indexes if len(indexes) == len(files) else None
    if reader == "MXNet":
        return DataSet(reader, {"path": files, "index_path": index}, files, indexes, ["image", "label"])
    if reader == "TFRecord":
        features = features_of(files[0])
        return DataSet(reader, {"path": files, "index_path": index, "features": features}, files, indexes)
    columns = _members(_index_text(files[0]))
    arguments = {"paths": files, "ext": [";".join(each) for each in columns.values()], "index_paths": index}
    arguments["missing_component_behavior"] = "error"
    numbers = [extension for some in columns.values() for extension in some if _ending(extension) == "cls"]
    arguments["decode"] = dict.fromkeys(numbers, "int")
    decodings = {name: decode for name, (first, *_) in columns.items() if (decode := _DECODINGS.get(_ending(first)))}
    return DataSet(reader, arguments, files, indexes, list(columns), decodings)


def index_name(reader: str, file: str) -> str:
    """Where `avida index` writes the index of a file."""
    return f"{file}.idx" if reader == "TFRecord" else f"{os.path.splitext(file)[0]}.idx"


def _index_text(archive: str) -> str:
    index = index_name("Webdataset", archive)
    return avida.storage.read(index).decode() if avida.storage.exists(index) else _core.webdataset_index(archive, None)


def _members(index: str) -> dict[str, list[str]]:
    """The columns of the samples in an archive, and their extensions."""
    lines = index.splitlines()[1:]
    samples = dict.fromkeys(tuple(found[1] for found in _MEMBER.finditer(line)) for line in lines)
    extensions = dict.fromkeys(extension for sample in samples for extension in sample)
    columns: dict[str, list[str]] = {}
    for extension in extensions:
        columns.setdefault(_column_name(extension), []).append(extension)
    together = [name for name, some in columns.items() if any(len(set(some) & set(each)) > 1 for each in samples)]
    for name in together:  # these are no alternatives
        columns |= {extension: [extension] for extension in columns.pop(name)}
    return columns


def _ending(extension: str) -> str:
    return extension.rpartition(".")[2].lower()


def _column_name(extension: str) -> str:
    """The name that stands before the last dot, or else what is usually in such members."""
    name, ending = extension.rpartition(".")[0], _ending(extension)
    return name or ("image" if f".{ending}" in SUFFIXES else _USUAL_NAMES.get(ending, ending))
