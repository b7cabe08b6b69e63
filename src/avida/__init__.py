"""Imperative data loading and preprocessing on ragged batches.

import avida as ndd

batch = ndd.batch([...], layout="HWC")
images = ndd.crop(ndd.flip(batch), crop=[224, 224])
images.torch()
"""

import pathlib as _pathlib

from avida import _core, checkpoint, types
from avida._batch import Batch, as_batch, batch
from avida._device import Device, device
from avida._dtype import (
    DataType,
    DType,
    ImageType,
    InterpType,
    bfloat16,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    type_id,
    uint8,
    uint16,
    uint32,
    uint64,
)
from avida._dtype import bool_ as bool
from avida._eval import (
    EvalContext,
    EvalMode,
    Stream,
    ThreadPool,
    get_current_stream,
    get_default_stream,
    get_num_threads,
    set_current_stream,
    set_default_stream,
    set_num_threads,
    stream,
)
from avida._memory import memory_use, set_memory_budget
from avida._tensor import Tensor, as_tensor, tensor
from avida._value import SampleSource

_core.set_converters(tensor, device, str(_pathlib.Path(__file__).parent) + "/")

from avida import (  # noqa: E402
    _ops,
    augment,
    decoders,
    experimental,
    io,
    math,
    noise,
    progress,
    pytorch,
    random,
    readers,
    reductions,
    segmentation,
    tfrecord,
    transforms,
)
from avida._external_source import ExternalSource  # noqa: E402
from avida._failed import drop_failed  # noqa: E402
from avida._imread import imread  # noqa: E402
from avida._operator import operator  # noqa: E402
from avida._ops import *  # noqa: E402, F403
from avida.augment import (  # noqa: E402
    auto_augment,
    cutmix,
    mixup,
    mosaic,
    rand_augment,
    trivial_augment,
)

__version__ = "0.1.0"

# For type checkers, which take imported names for private ones unless they stand here.
__all__ = [
    "Batch",
    "DType",
    "DataType",
    "Device",
    "EvalContext",
    "EvalMode",
    "ExternalSource",
    "ImageType",
    "InterpType",
    "SampleSource",
    "Stream",
    "Tensor",
    "ThreadPool",
    "as_batch",
    "as_tensor",
    "augment",
    "auto_augment",
    "batch",
    "bfloat16",
    "bool",
    "checkpoint",
    "cutmix",
    "decoders",
    "device",
    "drop_failed",
    "dtype",
    "experimental",
    "float16",
    "float32",
    "float64",
    "get_current_stream",
    "get_default_stream",
    "get_num_threads",
    "imread",
    "int8",
    "int16",
    "int32",
    "int64",
    "io",
    "math",
    "memory_use",
    "mixup",
    "mosaic",
    "noise",
    "operator",
    "progress",
    "pytorch",
    "rand_augment",
    "random",
    "readers",
    "reductions",
    "segmentation",
    "set_current_stream",
    "set_default_stream",
    "set_memory_budget",
    "set_num_threads",
    "stream",
    "tensor",
    "tfrecord",
    "transforms",
    "trivial_augment",
    "type_id",
    "types",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
__all__ += _ops.__all__
