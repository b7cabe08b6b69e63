"""Readers: data sets on disk, as batches or single samples, epoch by epoch."""

from avida.readers._caffe import Caffe, Caffe2
from avida.readers._coco import COCO
from avida.readers._epoch import Epoch, ReadError
from avida.readers._mxnet import MXNet
from avida.readers._nemo_asr import NemoAsr
from avida.readers._numpy import Numpy
from avida.readers._reader import Reader
from avida.readers._readers import File
from avida.readers._sampler import WeightedSampler
from avida.readers._state import ReaderState
from avida.readers._tfrecord import TFRecord
from avida.readers._video import Video, VideoResize
from avida.readers._webdataset import Webdataset

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
