"""Decoders of images and sound."""

from avida.decoders._cache import CacheInfo as CacheInfo
from avida.decoders._cache import cache_info as cache_info
from avida.decoders._cache import clear_cache as clear_cache
from avida.decoders._info import ImageInfo as ImageInfo
from avida.decoders._info import image_info as image_info
from avida.decoders._ops import *  # noqa: F403
