"""Readers: data sets on disk, as batches or single samples, epoch by epoch."""

from avida.readers._caffe import Caffe, Caffe2
from avida.readers._file import File
from avida.readers._numpy import Numpy

__all__ = ["Caffe", "Caffe2", "File", "Numpy"]
