"""The readers of the databases that Caffe and Caffe2 use."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Unpack

from avida import _core
from avida._values.typing import DeviceArg
from avida.readers._options import ReaderOptions
from avida.readers._paths import Path, list_of_paths
from avida.readers._reader import Reader

_LABEL_TYPES = range(5)
_NO_LABEL = 4


class Caffe(Reader):
    """Reads images and labels from Caffe's LMDBs, in the order of keys.

    An image is the bytes of its file (uint8), or pixels (height, width, channels) where the record says that it is not
    encoded; its label is an int32 with one element, or none where the record has no label. When others write to the
    database, samples are those of the transaction that was the newest when the reader was made, or fail.

    Args:
        image_available: Whether to read images. Default: ``True``.
        label_available: Whether to read labels. Default: ``True``.
        path: The folder of an LMDB or its file, or several: their records follow one another.

    Example:
        >>> import lmdb, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with lmdb.open(folder.name) as database, database.begin(write=True) as records:
        ...     datum = bytes([34, 4]) + b"JPEG" + bytes([40, 7])  # as Caffe writes data and label
        ...     _ = records.put(b"00000000", datum)
        >>> reader = avida.readers.Caffe(path=folder.name)
        >>> for images, labels in reader.next_epoch(batch_size=1):
        ...     print(images.shape, labels.torch().tolist(), images.sources[0].name.endswith(", record 0"))
        [(4,)] [[7]] True
    """

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        image_available: bool | None = None,
        label_available: bool | None = None,
        path: Path | Sequence[Path],
        **options: Unpack[ReaderOptions],
    ) -> None:
        images, labels = image_available is not False, label_available is not False
        if not images and not labels:
            raise IndexError("there is nothing to read: expected image_available or label_available")

        def source() -> _core.ReaderSource:
            return _core.caffe_source(list_of_paths("path", path), images, labels)

        super().__init__(source, max_batch_size, name, device, num_inputs, **options)


class Caffe2(Reader):
    """Reads images, labels and other tensors from LMDBs of Caffe2, by key order.

    A record is a list of tensors: the image, its labels, the additional inputs, and the box. An image is the bytes of
    its file (uint8) or pixels (height, width, channels); the others are rows of float32 or int32. When others write to
    the database, samples are those of the transaction that was the newest when the reader was made, or fail.

    Args:
        additional_inputs: How many more tensors of numbers the records have. Default: ``0``.
        bbox: Whether there is a box, four int32 numbers. Default: ``False``.
        image_available: Whether there are images. Default: ``True``.
        label_type: What the labels are: ``0``, one number; ``1``, the numbers of those classes that apply, read as
            ``num_labels`` zeros and ones; ``2``, a row of numbers; ``3``, as ``1`` with weights for the ones; ``4``,
            there are none. Default: ``0``.
        num_labels: The number of classes, for the label types ``1`` and ``3``. Default: ``1``.
        path: The folder of an LMDB or its file, or several: their records follow one another.

    Example:
        >>> import lmdb, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with lmdb.open(folder.name) as database, database.begin(write=True) as records:
        ...     image = bytes([16, 4, 50, 4]) + b"JPEG"  # as Caffe2 writes a string
        ...     labels = bytes([16, 2, 34, 2, 0, 3])  # and the integers 0 and 3
        ...     tensors = [bytes([10, len(tensor)]) + tensor for tensor in (image, labels)]
        ...     _ = records.put(b"00000000", b"".join(tensors))
        >>> reader = avida.readers.Caffe2(path=folder.name, label_type=1, num_labels=5)
        >>> for images, labels in reader.next_epoch(batch_size=1):
        ...     print(images.shape, labels.torch().tolist())
        [(4,)] [[1, 0, 0, 1, 0]]
    """

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        additional_inputs: int | None = None,
        bbox: bool | None = None,
        image_available: bool | None = None,
        label_type: int | None = None,
        num_labels: int | None = None,
        path: Path | Sequence[Path],
        **options: Unpack[ReaderOptions],
    ) -> None:
        images, boxes = image_available is not False, bool(bbox)
        labels = 0 if label_type is None else operator.index(label_type)
        if labels not in _LABEL_TYPES:
            raise RuntimeError(f"label_type must be from 0 to 4, got {labels}")
        classes = 1 if num_labels is None else operator.index(num_labels)
        additional = operator.index(additional_inputs or 0)
        for argument, number in (("num_labels", classes), ("additional_inputs", additional)):
            if not 0 <= number < 2**31:
                raise RuntimeError(f"{argument} must be from 0 to {2**31 - 1}, got {number}")
        if not images and labels == _NO_LABEL and not boxes and not additional:
            raise IndexError("there is nothing to read: expected images, labels, a box or additional inputs")

        def source() -> _core.ReaderSource:
            return _core.caffe2_source(list_of_paths("path", path), images, labels, classes, additional, boxes)

        super().__init__(source, max_batch_size, name, device, num_inputs, **options)
