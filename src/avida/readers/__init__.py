"""Readers: data sets on disk, as batches or single samples, epoch by epoch."""

from avida.readers import _readers
from avida.readers._blocks import Blocks
from avida.readers._epoch import Epoch, ReadError
from avida.readers._mix import Mix
from avida.readers._reader import Reader
from avida.readers._readers import *  # noqa: F403
from avida.readers._sampler import WeightedSampler
from avida.readers._state import ReaderState
from avida.readers._tables.hugging_face import HuggingFace
from avida.readers._tables.parquet import Parquet

__all__ = ["Blocks", "Epoch", "HuggingFace", "Mix", "Parquet", "ReadError", "Reader", "ReaderState", "WeightedSampler"]
__all__ += _readers.__all__
