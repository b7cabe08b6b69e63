"""The reader of RecordIO files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from avida import _core
from avida._values.typing import DeviceArg
from avida.readers._options import ReaderOptions
from avida.readers._paths import Path, list_of_paths
from avida.readers._reader import Reader


class MXNet(Reader):
    """Reads images and labels from RecordIO files of MXNet.

    The outputs are the bytes of each image (uint8), and its label or labels (float32).

    Records are read in the order in which they are in the files. A damaged record makes its batch fail when that is
    used, with a message that names the file, the record and its place.

    Args:
        index_path: The index, with a number and an offset for each record; ``avida index`` makes one. With several
            files, offsets count on from file to file. Default: the files are searched for their records, which takes
            a read for each of them.
        path: The files.

    Example:
        >>> import struct, tempfile
        >>> file = tempfile.NamedTemporaryFile()
        >>> for label in [3.0, 5.0]:
        ...     record = struct.pack("<IfQQ", 0, label, 0, 0) + b"some image  "
        ...     _ = file.write(struct.pack("<II", 0xCED7230A, len(record)) + record)
        >>> file.flush()
        >>> reader = avida.readers.MXNet(path=file.name)
        >>> for images, labels in reader.next_epoch(batch_size=2):
        ...     print(images.shape, labels.torch().flatten().tolist())
        [(12,), (12,)] [3.0, 5.0]
    """

    _reads_archives = True

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        index_path: Path | Sequence[Path] | None = None,
        path: Path | Sequence[Path],
        **options: Unpack[ReaderOptions],
    ) -> None:
        files = list_of_paths("path", path)
        indices = [""] if index_path is None else list_of_paths("index_path", index_path)
        if len(indices) != 1:
            raise RuntimeError(f"expected one index for all files, got {len(indices)}")
        ahead, keep_damaged = bool(options.get("read_ahead")), options.get("on_error") == "skip"
        super().__init__(
            lambda: _core.source_from_recordio(files, indices[0], ahead, keep_damaged),
            max_batch_size,
            name,
            device,
            num_inputs,
            **options,
        )
