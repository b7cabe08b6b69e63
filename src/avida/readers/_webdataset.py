"""What the reader of samples in tar archives does in Python."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from avida import _core
from avida._values.batch import Batch
from avida._values.dtype import DType, bool_, float32, float64, int64, uint8
from avida._values.dtype import dtype as make_dtype
from avida.readers._declared import DeclaredReader
from avida.readers._names.paths import Path

Decoding = Literal["bytes", "int", "float", "text", "json"]

_DEFAULT_TYPES = {"int": int64, "float": float32}
# What the package webdataset decodes without further libraries.
_DECODINGS: dict[str, Decoding] = {
    **dict.fromkeys(["cls", "cls2", "index", "inx", "id"], "int"),
    **dict.fromkeys(["txt", "text", "transcript"], "text"),
    **dict.fromkeys(["json", "jsn"], "json"),
}


class WebdatasetHooks(DeclaredReader):
    """Decodes texts and JSON."""

    _decodings: list[Decoding]

    def _prepare(self, given: dict[str, Any]) -> None:
        ext = given["ext"]
        extensions = [ext] if isinstance(ext, str) else [str(alternatives) for alternatives in ext]
        self._decodings = given["decode"] = _decodings(given["decode"], extensions)
        given["dtypes"] = _types(given["dtypes"], self._decodings) if extensions else None
        given["index_paths"] = given["index_paths"] or None
        given["missing_component_behavior"] = given["missing_component_behavior"] or None  # "" is the default, too

    def _item(self, outputs: tuple) -> Any:
        return tuple(
            _objects(output, decoding) if decoding in ("text", "json") else output
            for output, decoding in zip(outputs, self._decodings, strict=True)
        )

    def _item_form(self, outputs: int) -> Any:
        return tuple(each if each in ("text", "json") else number for number, each in enumerate(self._decodings))


def index_webdataset(path: Path, progress: Callable[[int, int], None] | None = None) -> str:
    """The text of an index file for one archive.

    ``progress`` is called now and then with the number of bytes that are done and that of all bytes.
    """
    return _core.webdataset_index(os.fspath(path), progress)


def _decodings(decode: bool | Mapping[str, Decoding] | None, extensions: list[str]) -> list[Decoding]:
    """How each output is decoded."""
    alternatives = [[each for each in text.split(";") if each] for text in extensions]
    known = {each for group in alternatives for each in group}
    by_extension: dict[str, Decoding] = {}
    if isinstance(decode, Mapping):
        by_extension = dict(decode)
    elif decode not in (None, False, True):
        raise TypeError(f'decode: expected True, or a dictionary such as {{"cls": "int"}}, got {decode!r}')
    elif decode:
        by_extension = {each: _DECODINGS.get(each.lower().split(".")[-1], "bytes") for each in known}
    for extension, decoding in by_extension.items():
        if extension not in known:
            raise ValueError(f"decode names {extension!r}, expected one of the extensions {sorted(known)}")
        if decoding not in Decoding.__args__:
            raise ValueError(f"expected one of {Decoding.__args__} for {extension!r} in decode, got {decoding!r}")
    return [_common_decoding([by_extension.get(each, "bytes") for each in group]) for group in alternatives]


def _common_decoding(decodings: list[Decoding]) -> Decoding:
    if len(set(decodings)) > 1:
        raise ValueError(f"expected one decoding for all extensions of an output, got {decodings}")
    return decodings[0] if decodings else "bytes"


def _types(dtypes: Any, decodings: list[Decoding]) -> list[DType]:
    """The outputs' element types."""
    given = dtypes if isinstance(dtypes, list | tuple) else [dtypes] * (1 if dtypes is not None else len(decodings))
    if len(given) != len(decodings):
        raise RuntimeError(f"expected a type for each of {len(decodings)} outputs, got {len(given)}")
    return [_type(dtype, decoding) for dtype, decoding in zip(given, decodings, strict=True)]


def _type(dtype: Any, decoding: Decoding) -> DType:
    if dtype is None:
        return _DEFAULT_TYPES.get(decoding, uint8)
    made = make_dtype(dtype)
    if made._id < 0 or made == bool_ or made.kind is DType.Kind.enum:
        raise RuntimeError(f"expected types of numbers, got {made.name}")
    is_float = made.kind is DType.Kind.float
    if decoding in ("text", "json") and made != uint8:
        raise RuntimeError(f"outputs that are decoded as {decoding!r} have no element type, got {made.name}")
    if (decoding == "int" and is_float) or (decoding == "float" and made not in (float32, float64)):
        expected = "an integer type" if decoding == "int" else "float32 or float64"
        raise RuntimeError(f"expected {expected} for an output that is decoded as {decoding!r}, got {made.name}")
    return made


def _objects(output: Any, decoding: Decoding) -> Any:
    """The texts of a batch or of one sample, or what their JSON says."""
    if isinstance(output, Batch):
        return [_objects(sample, decoding) for sample in output]
    content = np.asarray(output.cpu()).tobytes()
    if not content:
        return "" if decoding == "text" else None
    try:
        return content.decode() if decoding == "text" else json.loads(content)
    except ValueError as error:
        name = getattr(output.source, "name", "a sample")
        raise ValueError(f"readers.Webdataset: {name}: expected {decoding} in a member, {error}") from None
