"""Readers: data sets on disk, as batches or single samples, epoch by epoch."""

from avida.readers._file import File
from avida.readers._numpy import Numpy

__all__ = ["File", "Numpy"]
