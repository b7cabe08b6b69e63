"""Limits on what one file may cost."""

from __future__ import annotations

import operator
from typing import NamedTuple, SupportsIndex

from avida import _core


class DecodeLimits(NamedTuple):
    """Limits on decoding one file.

    A file that exceeds a limit is rejected before it is decoded.
    """

    pixels: int
    """The pixels of an image according to its header, also when only a part of it is decoded."""
    scans: int
    """The scans of a JPEG file. Each takes a pass over the image; ordinary progressive files have about 10."""
    work: int
    """The steps that decoding takes, by an estimate from the header; a step takes about half a nanosecond.

    JPEG takes a step for each pixel in each scan, JPEG 2000 takes 16 for a pixel, and MP4 4,096 for a box of the file.
    For the other formats ``pixels`` is limit enough."""
    memory: int
    """Bytes of the decoded image or sound and of the working memory of its decoder."""


def decode_limits() -> DecodeLimits:
    """The limits on pixels, scans, work and memory of one encoded file.

    Returns:
        The current limits, which apply to all threads of this process.

    Example:
        >>> avida.decode_limits()
        DecodeLimits(pixels=268435456, scans=100, work=2147483648, memory=4294967296)
    """
    return DecodeLimits(*_core.decode_limits())


def set_decode_limits(
    *,
    pixels: SupportsIndex | None = None,
    scans: SupportsIndex | None = None,
    work: SupportsIndex | None = None,
    memory: SupportsIndex | None = None,
) -> None:
    """Sets the limits on pixels, scans, work and memory of one encoded file.

    A file of a few kilobytes can expand to an image of gigabytes (a decompression bomb). Files that exceed a limit are
    rejected from their headers, before memory and time are spent; the error names the file and the limit. Of its size,
    a file is only refused if its format cannot hold so many pixels in so few bytes: then it is cut short. The limits
    apply to all decoders and all threads of the process, and to processes that it forks or starts by
    ``multiprocessing`` later, such as the workers of a PyTorch loader. Arguments that are left out keep their limits.

    Args:
        pixels: The maximum number of pixels of an image, according to its header.
        scans: The maximum number of scans of a JPEG file.
        work: The maximum number of steps: pixels times scans of JPEG, and what takes as long in other formats.
        memory: The maximum number of bytes for decoding a file, result included.

    Raises:
        ValueError: A limit is below 1.

    Example:
        >>> before = avida.decode_limits()
        >>> avida.set_decode_limits(pixels=2**32, work=2**36, memory=16 << 30)  # images of a known source
        >>> avida.decode_limits()
        DecodeLimits(pixels=4294967296, scans=100, work=68719476736, memory=17179869184)
        >>> avida.set_decode_limits(**before._asdict())
    """
    import multiprocessing.process

    changes = {"pixels": pixels, "scans": scans, "work": work, "memory": memory}
    given = {name: operator.index(value) for name, value in changes.items() if value is not None}
    _core.set_decode_limits(*decode_limits()._replace(**given))
    # Processes that multiprocessing spawns get a pickled copy of this dictionary.
    multiprocessing.process.current_process()._config["avida.limits"] = _Inherited()  # pyright: ignore


class _Inherited:
    """Pickled for a process that is being started, it becomes a call that sets that process's limits."""

    def __reduce__(self) -> tuple:
        return _inherit, (decode_limits()._asdict(),)


def _inherit(limits: dict[str, int]) -> _Inherited:
    set_decode_limits(**limits)
    return _Inherited()
