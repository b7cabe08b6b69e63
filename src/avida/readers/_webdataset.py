"""The reader of samples in tar archives."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Unpack

from avida import _core
from avida._dtype import bool_, uint8
from avida._dtype import dtype as make_dtype
from avida.readers._options import ReaderOptions
from avida.readers._reader import Reader

Path = str | os.PathLike[str]


class Webdataset(Reader):
    """Reads samples from tar archives: one output for each of ``ext``, the bytes of a member of the sample.

    Members that follow one another in an archive and have the same name up to the first dot (folders count) are one
    sample; what follows that dot is the extension. Where a sample has several members for an output, the first is read.
    Hidden files, folders, links and sparse files are passed over.

    Archives are gone through at the start to find the samples, unless there are index files, which ``avida index``
    makes. A damaged archive raises an error at once; with ``on_error="skip"`` the samples before the damage are read.

    Args:
        case_sensitive_extensions: Whether extensions tell upper from lower case. Default: ``True``.
        dtypes: The element type of each output. The bytes of members are taken as they are. Default: uint8.
        ext: The extension for each output, or several that will do, separated by semicolons: ``"jpg;jpeg;png"``.
        index_paths: An index file for each archive.
        missing_component_behavior: What becomes of a sample without a member for one of the outputs: ``"empty"`` gives
            an output without elements, ``"skip"`` leaves the sample out, ``"error"`` refuses it. Default: ``"empty"``.
        paths: The archives, in this order.

    Example:
        >>> import io, tarfile, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with tarfile.open(f"{folder.name}/train.tar", "w") as archive:
        ...     for name, content in [("1.jpg", b"image"), ("1.cls", b"7"), ("2.png", b"another"), ("2.cls", b"9")]:
        ...         member = tarfile.TarInfo(name)
        ...         member.size = len(content)
        ...         archive.addfile(member, io.BytesIO(content))
        >>> reader = avida.readers.Webdataset(paths=f"{folder.name}/train.tar", ext=["jpg;png", "cls"])
        >>> for images, classes in reader.next_epoch(batch_size=2):
        ...     print(images.shape, classes.torch().flatten().tolist())
        [(5,), (7,)] [55, 57]
    """

    _reads_archives = True

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: Any = "cpu",
        num_inputs: int | None = None,
        *,
        case_sensitive_extensions: bool | None = None,
        dtypes: Any = None,
        ext: str | Sequence[str],
        index_paths: Path | Sequence[Path] | None = None,
        missing_component_behavior: str | None = None,
        paths: Path | Sequence[Path],
        **options: Unpack[ReaderOptions],
    ) -> None:
        archives, indices = _paths(paths), [] if index_paths is None else _paths(index_paths)
        extensions = [ext] if isinstance(ext, str) else [str(alternatives) for alternatives in ext]
        if not archives:
            raise RuntimeError("expected the paths of archives, got an empty list")
        if not extensions:
            raise RuntimeError("expected an extension for each output, got an empty list")
        if indices and len(indices) != len(archives):
            raise RuntimeError(
                f"expected one index file for each archive, got {len(archives)} archives, {len(indices)} index files"
            )
        types = _types(dtypes, len(extensions))
        missing = (missing_component_behavior or "").lower()
        sensitive = case_sensitive_extensions is None or bool(case_sensitive_extensions)
        ahead, keep_damaged = bool(options.get("read_ahead")), options.get("on_error") == "skip"

        def source() -> _core.ReaderSource:
            return _core.webdataset_source(
                archives, indices, extensions, types, missing, sensitive, ahead, keep_damaged
            )

        super().__init__(source, max_batch_size, name, device, num_inputs, **options)


def index_webdataset(path: Path, progress: Callable[[int, int], None] | None = None) -> str:
    """The text of an index file for one archive.

    ``progress`` is called now and then with the number of bytes that are done and that of all bytes.
    """
    return _core.webdataset_index(os.fspath(path), progress)


def _paths(paths: Path | Sequence[Path]) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def _types(dtypes: Any, outputs: int) -> list[int]:
    """The numbers of the outputs' element types."""
    if dtypes is None:
        return [uint8._id] * outputs
    types = [make_dtype(each) for each in (dtypes if isinstance(dtypes, list | tuple) else [dtypes])]
    if len(types) != outputs:
        raise RuntimeError(f"expected a type for each of {outputs} outputs, got {len(types)}")
    for each in types:
        if each._id < 0 or each == bool_:
            raise RuntimeError(f"expected types of numbers, got {each.name}")
    return [each._id for each in types]
