"""The images that ``decoders.image(cache_size=...)`` keeps."""

from __future__ import annotations

from typing import NamedTuple

from avida import _core


class CacheInfo(NamedTuple):
    """What is kept, and how many images were found there."""

    images: int
    bytes: int
    hits: int
    misses: int


def cache_info() -> CacheInfo:
    """Returns what ``decoders.image(cache_size=...)`` keeps in this process.

    Example:
        >>> avida.decoders.clear_cache()
        >>> file = np.frombuffer(b"P5 2 1 255 ab", np.uint8)
        >>> for _ in range(3):
        ...     image = avida.decoders.image(file, cache_size=100).evaluate()
        >>> avida.decoders.cache_info()
        CacheInfo(images=1, bytes=19, hits=2, misses=1)
    """
    return CacheInfo(*_core.decoded_images())


def clear_cache() -> None:
    """Drops all of them, and their counts.

    Example:
        >>> avida.decoders.clear_cache()
        >>> avida.decoders.cache_info().images
        0
    """
    _core.clear_decoded_images()
