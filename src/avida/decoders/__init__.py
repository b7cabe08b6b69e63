"""Decoders of images, films and sound."""

from avida.decoders._cache import CacheInfo as CacheInfo
from avida.decoders._cache import cache_info as cache_info
from avida.decoders._cache import clear_cache as clear_cache
from avida.decoders._info import ImageInfo as ImageInfo
from avida.decoders._info import image_info as image_info
from avida.decoders._media_info import StreamInfo as StreamInfo
from avida.decoders._media_info import VideoInfo as VideoInfo
from avida.decoders._media_info import video_info as video_info
from avida.decoders._ops import *  # noqa: F403
