"""Readers whose names are not settled."""

from avida.experimental.readers._readers import Fits, Video

__all__ = ["Fits", "Video"]
