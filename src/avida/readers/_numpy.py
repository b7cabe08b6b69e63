"""The reader of NumPy's files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar, Unpack

import numpy as np

from avida import _core
from avida._values.batch import Batch
from avida._values.integers import LARGEST, integer_within
from avida._values.typing import DeviceArg
from avida.readers._files import check_files, unlabelled_files
from avida.readers._options import ReaderOptions
from avida.readers._paths import Path
from avida.readers._reader import Reader

Number = TypeVar("Number", int, float)


class Numpy(Reader):
    """Reads arrays from ``.npy`` files, or a region of each array.

    Shapes may differ; element type and rank are those of the first file.

    The files are those in ``file_root`` and in its folders, sorted, or those that ``file_list`` or ``files`` name.
    Booleans, integers and floats of 16 to 64 bits in either byte order are read; arrays in Fortran's order are brought
    into C's. Of a region, only the rows that are needed are read. Its arguments hold for all samples.

    Args:
        cache_header_information: Ignored.
        confine: Refuse a name in ``file_list`` that leads outside of ``file_root``, or of the list's folder: by being
            absolute, by ``..`` or by a symbolic link. Checked when the reader is made. Default: ``False``.
        file_filter: A pattern that a file's name in ``file_root`` must match. Default: ``"*.npy"``.
        file_list: A text file with a file name in each line. Names are relative to ``file_root``, or else to the folder
            of the list.
        file_root: The folder to search; the base of relative names in ``file_list`` and ``files``.
        files: The files, in this order.
        fill_value: What the policy "pad" fills with. Default: ``0``.
        out_of_bounds_policy: What to do where the region reaches beyond the array: "error"; "pad" fills it up with
            ``fill_value``; "trim_to_shape" leaves out what is not there. Default: "error".
        register_buffers: Ignored.
        rel_roi_end: Where the region ends, in parts of the extents.
        rel_roi_shape: The extents of the region, in parts of the array's.
        rel_roi_start: Where the region starts, in parts of the extents.
        roi_axes: The axes that the other arguments are about. Default: all.
        roi_end: Where the region ends.
        roi_shape: The extents of the region.
        roi_start: Where the region starts. Default: at 0.
        use_o_direct: Ignored.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> for i in range(3):
        ...     np.save(pathlib.Path(folder.name, f"{i}.npy"), np.full((2, 4 + i), i))
        >>> reader = avida.readers.Numpy(file_root=folder.name, roi_start=[2], roi_axes=[1])
        >>> for (arrays,) in reader.next_epoch(batch_size=3):
        ...     print(arrays.shape)
        [(2, 2), (2, 3), (2, 4)]
    """

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: DeviceArg | None = "cpu",
        num_inputs: int | None = None,
        *,
        cache_header_information: bool | None = None,
        confine: bool | None = None,
        file_filter: str | None = None,
        file_list: Path | None = None,
        file_root: Path | None = None,
        files: Path | Sequence[Path] | None = None,
        fill_value: float | None = None,
        out_of_bounds_policy: Literal["error", "pad", "trim_to_shape"] | None = None,
        register_buffers: bool | None = None,
        rel_roi_end: float | Iterable[float] | None = None,
        rel_roi_shape: float | Iterable[float] | None = None,
        rel_roi_start: float | Iterable[float] | None = None,
        roi_axes: int | Iterable[int] | None = None,
        roi_end: int | Iterable[int] | None = None,
        roi_shape: int | Iterable[int] | None = None,
        roi_start: int | Iterable[int] | None = None,
        use_o_direct: bool | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        check_files(file_root, file_list, files, confine)
        if roi_start is not None and rel_roi_start is not None:
            raise RuntimeError("expected roi_start or rel_roi_start, got both")
        ends = {"roi_end": roi_end, "rel_roi_end": rel_roi_end, "roi_shape": roi_shape, "rel_roi_shape": rel_roi_shape}
        given = [end for end, value in ends.items() if value is not None]
        if len(given) > 1:
            raise RuntimeError(f"expected one of {', '.join(ends)}, got {' and '.join(given)}")
        policy = "error" if out_of_bounds_policy is None else out_of_bounds_policy
        if policy not in ("error", "pad", "trim_to_shape"):
            raise RuntimeError(
                f'expected "error", "pad" or "trim_to_shape" as out_of_bounds_policy, got {out_of_bounds_policy!r}'
            )
        region = None
        if given or roi_start is not None or rel_roi_start is not None:
            region = _core.numpy_region(
                _numbers("roi_axes", roi_axes, int) or [],
                _numbers("roi_start", roi_start, int),
                _numbers("roi_end", roi_end, int),
                _numbers("roi_shape", roi_shape, int),
                _numbers("rel_roi_start", rel_roi_start, float),
                _numbers("rel_roi_end", rel_roi_end, float),
                _numbers("rel_roi_shape", rel_roi_shape, float),
                policy,
                float(fill_value or 0),
            )
        pattern = "*.npy" if file_filter is None else file_filter
        ahead = bool(options.get("read_ahead"))

        def source() -> _core.ReaderSource:
            found = unlabelled_files(file_root, file_list, files, pattern, confine)
            return _core.numpy_source(found, region, ahead)

        super().__init__(source, max_batch_size, name, device, num_inputs, **options)


def _numbers(name: str, value: Any, kind: type[Number]) -> list[Number] | None:
    if value is None:
        return None
    if isinstance(value, Batch):
        raise ValueError(f"{name} holds for all samples of a reader: expected numbers, got a Batch")
    numbers = [kind(number) for number in np.atleast_1d(np.asarray(value)).tolist()]
    for number in numbers:
        if isinstance(number, int):
            integer_within(name, number, -LARGEST)
    return numbers
