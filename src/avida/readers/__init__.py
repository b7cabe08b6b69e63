"""Readers: data sets on disk, as batches or single samples, epoch by epoch."""

from avida.readers._file import File
from avida.readers._nemo_asr import NemoAsr

__all__ = ["File", "NemoAsr"]
