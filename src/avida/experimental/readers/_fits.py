"""The reader of FITS files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from avida import _core
from avida._values.dtype import DType
from avida._values.dtype import dtype as make_dtype
from avida._values.integers import integer_within
from avida._values.typing import DeviceArg, DTypeArg
from avida.readers._files import check_files, unlabelled_files
from avida.readers._libraries import built_with
from avida.readers._options import ReaderOptions
from avida.readers._paths import Path
from avida.readers._reader import Reader

_FIRST_EXTENSION = 2


class Fits(Reader):
    """Reads images from FITS files, also compressed ones.

    There is one output for each of ``hdu_indices``.

    Shapes may differ; ranks are those of the first file that can be read.

    The files are those in ``file_root`` and in its folders, sorted, or those that ``file_list`` or ``files`` name. Axes
    are in the order of NumPy and astropy: the one that changes fastest is the last. Elements are scaled as the header
    says (``BSCALE``, ``BZERO``). Files may be packed by gzip, and images by ``RICE_1``, ``GZIP_1`` or ``GZIP_2``,
    but not by ``HCOMPRESS_1`` or ``PLIO_1``.

    Args:
        confine: Refuse a name in ``file_list`` that leads outside of ``file_root``, or of the list's folder: by being
            absolute, by ``..`` or by a symbolic link. Checked when the reader is made. Default: ``False``.
        dtypes: The element type of each output; numbers that do not fit are an error. Default: those of the first file.
        file_filter: A pattern that a file's name in ``file_root`` must match. Default: ``"*.fits"``.
        file_list: A text file with a file name in each line. Names are relative to ``file_root``, or else to the folder
            of the list.
        file_root: The folder to search; the base of relative names in ``file_list`` and ``files``.
        files: The files, in this order.
        hdu_indices: The parts of the file to read, counted from ``1``, the primary one. Default: ``[2]``, the first
            extension.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> cards = ["SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 2", "END"]
        >>> header = "".join(card.ljust(80) for card in cards).ljust(2880).encode()
        >>> _ = pathlib.Path(folder.name, "sky.fits").write_bytes(header + bytes(range(6)).ljust(2880, b"\\0"))
        >>> reader = avida.experimental.readers.Fits(file_root=folder.name, hdu_indices=[1])
        >>> for (images,) in reader.next_epoch(batch_size=1):
        ...     print(np.asarray(images.tensors[0]).tolist())
        [[0, 1, 2], [3, 4, 5]]
    """

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        confine: bool | None = None,
        dtypes: DTypeArg | Sequence[DTypeArg] | None = None,
        file_filter: str | None = None,
        file_list: Path | None = None,
        file_root: Path | None = None,
        files: Path | Sequence[Path] | None = None,
        hdu_indices: int | Sequence[int] | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        check_files(file_root, file_list, files, confine)
        hdus = [_FIRST_EXTENSION] if hdu_indices is None else _listed(hdu_indices)
        hdus = [integer_within("hdu_indices", hdu, -(2**31), 2**31 - 1) for hdu in hdus]
        if not hdus:
            raise IndexError("there is nothing to read: expected numbers in hdu_indices")
        types: list[DType] = [] if dtypes is None else [make_dtype(dtype) for dtype in _listed(dtypes)]
        if types and len(types) != len(hdus):
            raise RuntimeError(f"expected a type for each of {len(hdus)} outputs in dtypes, got {len(types)}")
        pattern = "*.fits" if file_filter is None else file_filter
        make_source = built_with("zlib", "fits_source")

        def source() -> _core.ReaderSource:
            found = unlabelled_files(file_root, file_list, files, pattern, confine)
            return make_source(found, hdus, [dtype._id for dtype in types])

        super().__init__(source, max_batch_size, name, device, num_inputs, **options)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
