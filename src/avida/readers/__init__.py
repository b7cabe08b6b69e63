"""Readers: data sets on disk, as batches or single samples, epoch by epoch."""

from avida.readers._epoch import Epoch, ReadError
from avida.readers._reader import Reader
from avida.readers._readers import (
    COCO,
    Caffe,
    Caffe2,
    File,
    MXNet,
    NemoAsr,
    Numpy,
    TFRecord,
    Video,
    VideoResize,
    Webdataset,
)
from avida.readers._sampler import WeightedSampler
from avida.readers._state import ReaderState

__all__ = [
    "COCO",
    "Caffe",
    "Caffe2",
    "Epoch",
    "File",
    "MXNet",
    "NemoAsr",
    "Numpy",
    "ReadError",
    "Reader",
    "ReaderState",
    "TFRecord",
    "Video",
    "VideoResize",
    "Webdataset",
    "WeightedSampler",
]
