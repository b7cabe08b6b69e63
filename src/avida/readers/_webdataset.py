"""The reader of samples in tar archives."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Unpack

import numpy as np

from avida import _core
from avida._values.batch import Batch
from avida._values.dtype import DType, bool_, float32, float64, int64, uint8
from avida._values.dtype import dtype as make_dtype
from avida._values.typing import DeviceArg, DTypeArg
from avida.readers._options import ReaderOptions
from avida.readers._paths import Path, expand_paths
from avida.readers._reader import Reader

Decoding = Literal["bytes", "int", "float", "text", "json"]

_DEFAULT_TYPES = {"int": int64, "float": float32}
# What the package webdataset decodes without further libraries.
_DECODINGS: dict[str, Decoding] = {
    **dict.fromkeys(["cls", "cls2", "index", "inx", "id"], "int"),
    **dict.fromkeys(["txt", "text", "transcript"], "text"),
    **dict.fromkeys(["json", "jsn"], "json"),
}


class Webdataset(Reader):
    """Reads samples from tar archives: one output for each of ``ext``.

    Consecutive members of an archive with the same path up to the first dot of the file name are one sample; what
    follows that dot is the extension. If a sample has several members for an output, the first is read. Hidden files,
    folders, links and sparse files are ignored.

    An output is the bytes of a member, unless ``decode`` says otherwise: the class 7 in a ``.cls`` file is the byte 55.

    Archives are scanned at the start to find the samples, unless there are index files, which ``avida index`` writes.
    A damaged archive raises an error at once; with ``on_error="skip"`` the samples before the damage are read. An index
    file that does not match its archive raises an error when a sample is read.

    Args:
        case_sensitive_extensions: Whether the case of extensions matters. Default: ``True``.
        decode: How to decode members. ``True`` decides by the extension, as the package ``webdataset`` does: ``cls``
            and ``index`` are ``"int"``, ``txt`` is ``"text"``, ``json`` is ``"json"``, all others are ``"bytes"``. A
            dictionary sets it for each extension: ``{"cls": "int", "score.txt": "float"}``. ``"int"`` and ``"float"``
            give scalars (int64 and float32, or as in ``dtypes``), so that a batch of them has the shape (N,).
            ``"text"`` and ``"json"`` give Python objects, a list of them for a batch; a missing member is ``""`` or
            ``None``. Default: bytes.
        dtypes: The element type of each output; bytes are reinterpreted, not converted. ``None`` in the list is the
            default. Default: uint8.
        ext: The extension for each output, or alternatives separated by semicolons: ``"jpg;jpeg;png"``.
        index_paths: An index file for each archive.
        missing_component_behavior: What to do with a sample without a member for one of the outputs: ``"empty"`` gives
            an empty output, ``"skip"`` leaves the sample out, ``"error"`` raises an error. Default: ``"empty"``, but an
            extension that no sample has is an error.
        paths: The archives, in this order. Braces and wildcards are expanded if no file has that name:
            ``"train-{000..123}.tar"``, ``"train-*.tar"`` (sorted). The same applies to ``index_paths``.

    Raises:
        RuntimeError: If an archive is damaged, or no member has one of the extensions.

    Example:
        >>> import io, tarfile, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with tarfile.open(f"{folder.name}/train.tar", "w") as archive:
        ...     for name, content in [("1.jpg", b"image"), ("1.cls", b"7"), ("2.png", b"another"), ("2.cls", b"9")]:
        ...         member = tarfile.TarInfo(name)
        ...         member.size = len(content)
        ...         archive.addfile(member, io.BytesIO(content))
        >>> reader = avida.readers.Webdataset(paths=f"{folder.name}/*.tar", ext=["jpg;png", "cls"], decode=True)
        >>> for images, classes in reader.next_epoch(batch_size=2):
        ...     print(images.shape, classes.torch())
        [(5,), (7,)] tensor([7, 9])
    """

    _reads_archives = True

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        case_sensitive_extensions: bool | None = None,
        decode: bool | Mapping[str, Decoding] | None = None,
        dtypes: DTypeArg | Sequence[DTypeArg] | None = None,
        ext: str | Sequence[str],
        index_paths: Path | Sequence[Path] | None = None,
        missing_component_behavior: str | None = None,
        paths: Path | Sequence[Path],
        **options: Unpack[ReaderOptions],
    ) -> None:
        extensions = [ext] if isinstance(ext, str) else [str(alternatives) for alternatives in ext]
        if not extensions:
            raise RuntimeError("expected an extension for each output, got an empty list")
        self._decodings = _decodings(decode, extensions)
        types = _types(dtypes, self._decodings)
        text_numbers = [decoding in ("int", "float") for decoding in self._decodings]
        missing = (missing_component_behavior or "").lower()
        sensitive = case_sensitive_extensions is None or bool(case_sensitive_extensions)
        ahead, keep_damaged = bool(options.get("read_ahead")), options.get("on_error") == "skip"

        def source() -> _core.ReaderSource:
            archives = expand_paths("paths", paths)
            indices = expand_paths("index_paths", index_paths) if index_paths else []
            if indices and len(indices) != len(archives):
                raise RuntimeError(
                    f"expected one index file for each archive, got {len(archives)} archives, "
                    f"{len(indices)} index files"
                )
            return _core.webdataset_source(
                archives, indices, extensions, types, text_numbers, missing, sensitive, ahead, keep_damaged
            )

        super().__init__(source, max_batch_size, name, device, num_inputs, **options)

    def _item(self, outputs: tuple) -> Any:
        return tuple(
            _objects(output, decoding) if decoding in ("text", "json") else output
            for output, decoding in zip(outputs, self._decodings, strict=True)
        )


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


def _types(dtypes: Any, decodings: list[Decoding]) -> list[int]:
    """The numbers of the outputs' element types."""
    given = dtypes if isinstance(dtypes, list | tuple) else [dtypes] * (1 if dtypes is not None else len(decodings))
    if len(given) != len(decodings):
        raise RuntimeError(f"expected a type for each of {len(decodings)} outputs, got {len(given)}")
    return [_type(dtype, decoding)._id for dtype, decoding in zip(given, decodings, strict=True)]


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
