"""The reader of TFRecord files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, Unpack, overload

from avida import _core, tfrecord
from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida._values.typing import DeviceArg
from avida.readers._options import ReaderOptions
from avida.readers._paths import Path, list_of_paths
from avida.readers._reader import Reader


class TFRecord(Reader):
    """Reads ``tf.train.Example`` records from TFRecord files.

    Items are dictionaries with the requested features.

    A feature becomes int64 or float32 numbers, or the bytes of one string (uint8). Checksums are verified: a damaged
    record makes its batch fail when that is used, with a message that names the file, the record and its place.

    Args:
        features: What to read, by name: ``tfrecord.FixedLenFeature`` or ``tfrecord.VarLenFeature``. Where an example
            has too few values for a fixed shape, or none, the feature's default value stands in their place; a
            feature of variable length is empty there.
        index_path: The index of each file, with the offset and size of a record in each line; ``avida index`` makes
            them. Default: the files are searched for their records, which takes a read for each of them.
        path: The files.
        read_ahead: Ignored.
        use_o_direct: Ignored.

    Example:
        >>> import struct, tempfile
        >>> from avida import tfrecord
        >>> def crc32c(data, crc=0xFFFFFFFF):
        ...     for byte in data:
        ...         crc ^= byte
        ...         for _ in range(8):
        ...             crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        ...     crc ^= 0xFFFFFFFF
        ...     return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
        >>> example = b"\\x0a\\x10\\x0a\\x0e\\x0a\\x05label\\x12\\x05\\x1a\\x03\\x0a\\x01\\x07"  # {"label": [7]}
        >>> length = struct.pack("<Q", len(example))
        >>> file = tempfile.NamedTemporaryFile()
        >>> _ = file.write(length + crc32c(length) + example + crc32c(example))
        >>> file.flush()
        >>> features = {"label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1)}
        >>> reader = avida.readers.TFRecord(path=file.name, features=features)
        >>> for sample in reader.next_epoch():
        ...     print(int(sample["label"][0]))
        7
    """

    _reads_archives = True

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        features: Mapping[str, tfrecord.Feature],
        index_path: Path | Sequence[Path] | None = None,
        path: Path | Sequence[Path],
        use_o_direct: bool | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        files = list_of_paths("path", path)
        indices = [] if index_path is None else list_of_paths("index_path", index_path)
        if index_path is not None and len(indices) != len(files):
            raise RuntimeError(f"expected one index for each file, got {len(files)} files, {len(indices)} indices")
        if use_o_direct and not options.get("dont_use_mmap"):
            raise RuntimeError("use_o_direct goes only with dont_use_mmap=True")
        wanted = [_fields(key, feature) for key, feature in features.items()]
        if not wanted:
            raise RuntimeError("expected at least one feature, got none")
        self._names = list(features)
        keep_damaged = options.get("on_error") == "skip"
        super().__init__(
            lambda: _core.source_from_tfrecords(files, indices, wanted, keep_damaged),
            max_batch_size,
            name,
            device,
            num_inputs,
            **options,
        )

    def _item(self, outputs: tuple) -> dict[str, Any]:
        return dict(zip(self._names, outputs, strict=True))

    if TYPE_CHECKING:  # the same as in all readers, with other items

        @overload
        def __getitem__(self, index: SupportsIndex) -> dict[str, Tensor]: ...
        @overload
        def __getitem__(self, index: slice | Sequence[SupportsIndex]) -> dict[str, Batch]: ...
        def __getitem__(self, index: Any) -> dict: ...  # pyright: ignore[reportIncompatibleMethodOverride]
        @overload  # type: ignore[override]
        def next_epoch(self, batch_size: None = None, *args: Any, **kwargs: Any) -> Iterator[dict[str, Tensor]]: ...
        @overload
        def next_epoch(self, batch_size: int, *args: Any, **kwargs: Any) -> Iterator[dict[str, Batch]]: ...
        def next_epoch(self, batch_size: int | None = None, *args: Any, **kwargs: Any) -> Iterator[dict]: ...  # pyright: ignore[reportIncompatibleMethodOverride]


def _fields(name: Any, feature: tfrecord.Feature) -> tuple[bytes, int, bool, list[int], int | float | bytes]:
    """What the native side knows of a feature."""
    if not isinstance(feature, tfrecord.Feature):
        raise TypeError(
            f"expected FixedLenFeature or VarLenFeature of avida.tfrecord for {name!r}, got {type(feature).__name__}"
        )
    default = feature.default_value
    text = default.encode() if isinstance(default, str) else default
    return str(name).encode(), feature.dtype, feature.fixed, list(feature.shape), text
