"""Decoders of images, films and sound."""

from avida.decoders._cache import CacheInfo as CacheInfo
from avida.decoders._cache import cache_info as cache_info
from avida.decoders._cache import clear_cache as clear_cache
from avida.decoders._info import ImageInfo as ImageInfo
from avida.decoders._info import image_info as image_info
from avida.decoders._media_info import StreamInfo as StreamInfo
from avida.decoders._media_info import VideoInfo as VideoInfo
from avida.decoders._media_info import video_info as video_info
from avida.decoders._open_media import MediaFile as MediaFile
from avida.decoders._open_media import Window as Window
from avida.decoders._open_media import open_media as open_media
from avida.decoders._ops import *  # noqa: F403
from avida.decoders._sampling import internvideo_frames as internvideo_frames
from avida.decoders._sampling import qwen_vl_frames as qwen_vl_frames
from avida.decoders._sampling import vjepa_frames as vjepa_frames
