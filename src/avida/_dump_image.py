"""dump_image: images as files to look at."""

from __future__ import annotations

from typing import Any, overload

from avida import _core
from avida._values.batch import Batch
from avida._values.typing import DeviceArg, TensorLike


@overload
def dump_image(
    input: Batch,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceArg | None = None,
    input_layout: str | None = None,
    suffix: str | None = None,
) -> Batch: ...
@overload
def dump_image(
    input: TensorLike,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceArg | None = None,
    input_layout: str | None = None,
    suffix: str | None = None,
) -> Any: ...
def dump_image(
    input: Any,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceArg | None = None,
    input_layout: str | None = None,
    suffix: str | None = None,
) -> Any:
    """Saves images as PPM files in the working folder, for debugging.

    Image i of a batch becomes the file ``i-SUFFIX-0.ppm``; one of that name is replaced. The files are there when the
    result has been read, or the call has run. In deferred mode, a call runs only if its result is read.

    Args:
        input: Images of uint8, HWC, with 1 or 3 channels.
        batch_size: The number of samples if no input is a Batch.
        device: Where the result is.
        input_layout: The layout of the images: "HWC".
        suffix: A part of the names of the files.

    Returns:
        The images.

    Raises:
        RuntimeError: The images have another type, layout or number of channels, or a file cannot be written.

    Example:
        >>> import contextlib, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        ...     avida.dump_image(image, suffix="before").shape == image.shape
        ...     os.listdir()
        True
        ['0-before-0.ppm']
    """
    return _DUMP(input, batch_size=batch_size, device=device, input_layout=input_layout, suffix=suffix)


_DUMP = _core.op("_dump_image")
