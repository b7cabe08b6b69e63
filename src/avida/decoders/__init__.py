"""Decoders of images and sound."""

from avida.decoders._info import ImageInfo as ImageInfo
from avida.decoders._info import image_info as image_info
from avida.decoders._ops import *  # noqa: F403
