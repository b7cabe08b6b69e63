"""The reader of whole files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Unpack

from avida import _core
from avida._values.typing import DeviceArg
from avida.readers._files import check_files, folder_of
from avida.readers._options import ReaderOptions
from avida.readers._paths import Path, list_of_paths
from avida.readers._reader import Reader

_FILE_FILTERS = [f"*{ending}" for ending in [*_core.image_endings(), ".flac", ".ogg", ".wav"]]


class File(Reader):
    """Reads files and their labels.

    The outputs are the bytes of each file (uint8) and its label (int32, one element).

    The files are those in the folders under ``file_root``, sorted, where a folder's number is the label of its files;
    or those that ``file_list`` or ``files`` name.

    All batches are full: the last one of an epoch is filled up with the first samples of the next epoch, which then
    begins behind them; see ``pad_last_batch``. A file that cannot be read makes its batch fail when that is used, with
    a message that names the file; the batches after it are not affected.

    Args:
        case_sensitive_filter: Whether filters tell upper from lower case. Default: ``False``.
        confine: Refuse a name in ``file_list`` that leads outside of ``file_root``, or of the list's folder: by being
            absolute, by ``..`` or by a symbolic link. Checked when the reader is made. Default: ``False``.
        dir_filters: Patterns of which a folder's name must match one. Default: any name.
        file_filters: Patterns of which a file's name in ``file_root`` must match one. Default: usual endings of images
            and sounds.
        file_list: A text file with a file name and a label in each line, separated by blanks. Names are relative to
            ``file_root``, or else to the folder of the list.
        file_root: A folder with one folder of files for each label; the base of relative names in ``file_list`` and
            ``files``.
        files: The files, in this order.
        labels: A label for each of ``files``. Default: their numbers.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> for name in ["cat/1.jpg", "cat/2.jpg", "dog/1.jpg"]:
        ...     path = pathlib.Path(folder.name, name)
        ...     path.parent.mkdir(exist_ok=True)
        ...     _ = path.write_bytes(b"some bytes")
        >>> reader = avida.readers.File(file_root=folder.name)
        >>> for jpegs, labels in reader.next_epoch(batch_size=3):
        ...     print(labels.torch().flatten().tolist(), jpegs.shape)
        [0, 0, 1] [(10,), (10,), (10,)]
    """

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        case_sensitive_filter: bool | None = None,
        confine: bool | None = None,
        dir_filters: str | Sequence[str] | None = None,
        file_filters: str | Sequence[str] | None = None,
        file_list: Path | None = None,
        file_root: Path | None = None,
        files: Path | Sequence[Path] | None = None,
        labels: int | Sequence[int] | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        check_files(file_root, file_list, files, confine)
        if labels is not None and files is None:
            raise RuntimeError("labels needs files: otherwise they come from the folders or the list")
        root = folder_of(file_root)
        ahead = bool(options.get("read_ahead"))
        folder_patterns = _texts("dir_filters", dir_filters) or []
        file_patterns = _texts("file_filters", file_filters) or _FILE_FILTERS

        def found() -> _core.FileList:
            if files is not None:
                names, numbers = list_of_paths("files", files), _numbers(labels)
                if numbers is not None and len(numbers) != len(names):
                    raise RuntimeError(
                        f"expected one label for each file, got {len(names)} files, {len(numbers)} labels"
                    )
                return _core.FileList.from_names(names, numbers, root)
            if file_list is not None:
                return _core.FileList.from_text(os.fspath(file_list), root, True, bool(confine))
            return _core.FileList.from_folders(root, file_patterns, folder_patterns, bool(case_sensitive_filter))

        def source() -> _core.ReaderSource:
            return _core.file_source(found(), ahead)

        super().__init__(source, max_batch_size, name, device, num_inputs, **options)


def _texts(name: str, patterns: str | Sequence[str] | None) -> list[str] | None:
    if patterns is None:
        return None
    texts = [patterns] if isinstance(patterns, str) else [str(pattern) for pattern in patterns]
    if not texts:
        raise RuntimeError(f"{name} must not be an empty list; leave it out to accept the usual names")
    return texts


def _numbers(labels: int | Sequence[int] | None) -> list[int] | None:
    if labels is None:
        return None
    return [int(labels)] if isinstance(labels, int) else [int(label) for label in labels]
