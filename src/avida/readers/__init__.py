"""Readers: data sets on disk, as batches or single samples, epoch by epoch."""

from avida.readers._file import File

__all__ = ["File"]
