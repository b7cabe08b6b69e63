"""Decoders of images and sound."""

from avida.decoders._cache import CacheInfo, cache_info, clear_cache
from avida.decoders._ops import *  # noqa: F403
from avida.decoders._ops import __all__ as _operators

__all__ = ["CacheInfo", "cache_info", "clear_cache", *_operators]
