"""Readers whose names are not settled."""

from avida.experimental.readers._fits import Fits

__all__ = ["Fits"]
