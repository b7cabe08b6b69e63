"""Readers whose names are not settled."""

from avida.experimental.readers._fits import Fits
from avida.experimental.readers._video import Video

__all__ = ["Fits", "Video"]
