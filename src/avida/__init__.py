"""Imperative data loading and preprocessing on ragged batches.

import avida as ndd

batch = ndd.batch([...], layout="HWC")
images = ndd.crop(ndd.flip(batch), crop=[224, 224])
images.torch()
"""

import pathlib as _pathlib
import sys as _sys

from avida import _core, _missing, capture, checkpoint, types
from avida._running.eval import (
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
from avida._running.generators import ahead
from avida._running.limits import DecodeLimits, decode_limits, set_decode_limits
from avida._running.memory import memory_use, set_memory_budget
from avida._values.arrow import from_arrow, to_arrow
from avida._values.batch import Batch, as_batch, batch
from avida._values.device import Device, device
from avida._values.dtype import (
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
from avida._values.dtype import bool_ as bool
from avida._values.inputs import operator_input as _operator_input
from avida._values.tensor import Tensor, as_tensor, tensor
from avida._values.value import SampleSource

_core.set_converters(tensor, _operator_input, device)
_core.set_package(str(_pathlib.Path(__file__).parent) + "/")

from avida import (  # noqa: E402
    _ops,
    augment,
    decoders,
    distributed,
    experimental,
    io,
    math,
    noise,
    progress,
    pytorch,
    random,
    ray,
    readers,
    reductions,
    segmentation,
    storage,
    tfrecord,
    transforms,
)
from avida._dump_image import dump_image  # noqa: E402
from avida._imread import imread  # noqa: E402
from avida._ops import *  # noqa: E402, F403
from avida._running.operator import operator  # noqa: E402
from avida._running.profile import profile  # noqa: E402
from avida._scenes import calls as _calls  # noqa: E402
from avida._scenes.scene import Scene  # noqa: E402
from avida._values.failed import drop_failed  # noqa: E402
from avida.augment import (  # noqa: E402
    auto_augment,
    cutmix,
    mixup,
    mosaic,
    rand_augment,
    trivial_augment,
)
from avida.readers._python.external_source import ExternalSource  # noqa: E402

_missing.suggest_in(
    _sys.modules[__name__], augment, augment.presets, capture, checkpoint, decoders, distributed, experimental
)
_missing.suggest_in(experimental.decoders, experimental.readers, io, io.file, math, noise, random, readers, reductions)
_missing.suggest_in(segmentation, storage, tfrecord, transforms, types)

__version__ = "0.1.0"

# For type checkers, which take imported names for private ones unless they stand here.
__all__ = [
    "Batch",
    "DType",
    "DataType",
    "DecodeLimits",
    "Device",
    "EvalContext",
    "EvalMode",
    "ExternalSource",
    "ImageType",
    "InterpType",
    "SampleSource",
    "Scene",
    "Stream",
    "Tensor",
    "ThreadPool",
    "ahead",
    "as_batch",
    "as_tensor",
    "augment",
    "auto_augment",
    "batch",
    "bfloat16",
    "bool",
    "capture",
    "checkpoint",
    "cutmix",
    "decode_limits",
    "decoders",
    "device",
    "distributed",
    "drop_failed",
    "dtype",
    "dump_image",
    "experimental",
    "float16",
    "float32",
    "float64",
    "from_arrow",
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
    "profile",
    "progress",
    "pytorch",
    "rand_augment",
    "random",
    "ray",
    "readers",
    "reductions",
    "segmentation",
    "set_current_stream",
    "set_decode_limits",
    "set_default_stream",
    "set_memory_budget",
    "set_num_threads",
    "storage",
    "stream",
    "tensor",
    "tfrecord",
    "to_arrow",
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
