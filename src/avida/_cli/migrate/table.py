"""What becomes of each construct of pipeline mode: the only place that knows names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import avida

DALI = "nvidia.dali"
PAGE = "docs/migration.md"

# Modules that avida has too: an import of them stays an import.
MODULES = {f"{DALI}.types": "types", f"{DALI}.tfrecord": "tfrecord"}
DYNAMIC = f"{DALI}.experimental.dynamic"  # what avida as a whole is
INFOS = {f"{DALI}.types.{name}": name for name in ("SampleInfo", "BatchInfo")}  # what sources are called with
PIPELINE_DEF = {f"{DALI}.pipeline_def", f"{DALI}.pipeline.pipeline_def", f"{DALI}.pipeline.experimental.pipeline_def"}
PIPELINE_DEF |= {f"{DALI}.experimental.pipeline_def"}
PIPELINE = {f"{DALI}.Pipeline", f"{DALI}.pipeline.Pipeline"}
_PYTORCH = f"{DALI}.plugin.pytorch"
# Iterators, with the order of their parameters and the names of their outputs if those are fixed.
_ITERATOR_PARAMETERS = ["size", "reader_name", "auto_reset", "fill_last_batch", "dynamic_shape", "last_batch_padded"]
_ITERATOR_PARAMETERS += ["last_batch_policy", "prepare_first_batch"]
ITERATORS: dict[str, tuple[list[str], tuple[str, ...] | None]] = {
    f"{_PYTORCH}.DALIClassificationIterator": (["pipelines", *_ITERATOR_PARAMETERS], ("data", "label")),
    f"{_PYTORCH}.DALIGenericIterator": (["pipelines", "output_map", *_ITERATOR_PARAMETERS], None),
}
JAX = f"{DALI}.plugin.jax.DALIGenericIterator"
_JAX_PARAMETERS = ["size", "reader_name", "auto_reset", "last_batch_padded", "last_batch_policy", "prepare_first_batch"]
ITERATORS |= {JAX: (["pipelines", "output_map", *_JAX_PARAMETERS], None)}
# Decorators that make an iterator for JAX of a pipeline function; its calls are loaders.
DATA_ITERATORS = {f"{DALI}.plugin.jax.data_iterator", f"{DALI}.plugin.jax.iterator.data_iterator"}
ITERATORS |= dict.fromkeys(DATA_ITERATORS, (["pipeline_fn", "output_map", *_JAX_PARAMETERS], None))
POLICIES = {"FILL": "wrap", "PARTIAL": "partial", "DROP": "drop"}

# Older names of operators.
ALIASES = {
    "audio_decoder": "decoders.audio",
    "caffe2_reader": "readers.caffe2",
    "caffe_reader": "readers.caffe",
    "coco_reader": "readers.coco",
    "coin_flip": "random.coin_flip",
    "experimental.audio_resample": "audio_resample",
    "experimental.debayer": "debayer",
    "experimental.decoders.image": "decoders.image",
    "experimental.decoders.image_crop": "decoders.image_crop",
    "experimental.decoders.image_random_crop": "decoders.image_random_crop",
    "experimental.decoders.image_slice": "decoders.image_slice",
    "experimental.decoders.video": "decoders.video",
    "experimental.equalize": "equalize",
    "experimental.filter": "filter",
    "experimental.inflate": "decoders.inflate",
    "experimental.peek_image_shape": "peek_image_shape",
    "experimental.tensor_resize": "tensor_resize",
    "file_reader": "readers.file",
    "image_decoder": "decoders.image",
    "image_decoder_crop": "decoders.image_crop",
    "image_decoder_random_crop": "decoders.image_random_crop",
    "image_decoder_slice": "decoders.image_slice",
    "mxnet_reader": "readers.mxnet",
    "nemo_asr_reader": "readers.nemo_asr",
    "normal_distribution": "random.normal",
    "numpy_reader": "readers.numpy",
    "tfrecord_reader": "readers.tfrecord",
    "transform_translation": "transforms.translation",
    "uniform": "random.uniform",
    "video_reader": "readers.video",
    "video_reader_resize": "readers.video_resize",
}
READERS = {
    "readers.caffe": "readers.Caffe",
    "readers.caffe2": "readers.Caffe2",
    "readers.coco": "readers.COCO",
    "readers.file": "readers.File",
    "readers.mxnet": "readers.MXNet",
    "readers.nemo_asr": "readers.NemoAsr",
    "readers.numpy": "readers.Numpy",
    "readers.tfrecord": "readers.TFRecord",
    "readers.video": "readers.Video",
    "readers.video_resize": "readers.VideoResize",
    "readers.webdataset": "readers.Webdataset",
    "experimental.readers.fits": "experimental.readers.Fits",
    "experimental.readers.video": "experimental.readers.Video",
}
# Automatic augmentation: ours, the order of arguments, and the longest translations: in pixels where no shape is given,
# and as a share of it where there is one.
AUTO_AUGMENT = {
    "auto_augment.auto_augment": ("auto_augment", ["data", "policy_name", "shape"], "250", "1.0"),
    "auto_augment.auto_augment_image_net": ("auto_augment", ["data", "shape"], "250", "1.0"),
    "rand_augment.rand_augment": (
        "rand_augment",
        ["data", "n", "m", "num_magnitude_bins", "shape"],
        "100",
        "100 / 224",
    ),
    "trivial_augment.trivial_augment_wide": ("trivial_augment", ["data", "num_magnitude_bins", "shape"], "32", "1.0"),
}
OF_CONSTANTS = {"fdata", "idata", "shape", "dtype"}
POLICY_NAMES = {"image_net": "imagenet", "reduced_cifar10": "cifar10", "svhn": "svhn"}
CASTS = {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
CASTS |= {"float16", "float32", "float64", "bool"}
VIDEO_OUTPUTS = {"file_root", "file_list", "labels"}  # which add labels
SEVERAL_OUTPUTS = {"decoders.audio", "nonsilent_region", "random_bbox_crop", "box_encoder", "random_crop_generator"}
SEVERAL_OUTPUTS |= {"segmentation.random_object_bbox", "segmentation.select_masks"}

# Arguments that have no meaning without a graph, or that only tune the pipeline: left out.
WITHOUT_MEANING = {"name", "preserve", "bytes_per_sample_hint"}
PIPELINE_TUNING = {
    *("exec_pipelined", "exec_async", "exec_dynamic", "experimental_exec_dynamic", "bytes_per_sample", "set_affinity"),
    *("max_streams", "default_cuda_stream_priority", "enable_memory_stats", "enable_conditionals", "debug"),
    *("prefetch_queue_depth", "output_dtype", "output_ndim", "output_layout", "stream_policy", "concurrency"),
    *("py_num_workers", "py_start_method", "py_callback_pickler"),
}
PIPELINE_PARAMETERS = ["batch_size", "num_threads", "device_id", "seed", "exec_pipelined", "prefetch_queue_depth"]
# Arguments of a pipeline that become statements, with the value in place of {}.
PIPELINE_SETTINGS = {"num_threads": "ndd.set_num_threads({})", "seed": "ndd.random.set_seed({})"}
PIPELINE_MARKS = {
    "enable_checkpointing": "checkpoints are made of the reader: ndd.checkpoint.Checkpoint().register(reader)",
    "checkpoint": "restore the state of the reader: ndd.checkpoint.Checkpoint().load(...)",
    "max_batch_size": "it was batch_size that set the size of batches",
}

# Methods of what pipe.run() returns: {0} is the object, {1} the argument.
OUTPUT_METHODS = {
    "as_array": "{0}.numpy()",
    "as_cpu": "{0}.cpu()",
    "as_tensor": "ndd.as_tensor({0})",
    "at": "{0}.tensors[{1}].numpy()",
    "is_dense_tensor": "(len(set({0}.shape)) == 1)",
    "layout": '({0}.layout or "")',
    "shape": "{0}.shape",
}
# Of a sample of it, or of all samples in one tensor.
TENSOR_METHODS = {
    "as_cpu": "{0}.cpu()",
    "layout": '({0}.layout or "")',
    "shape": "list({0}.shape)",
}
# Methods of values inside a pipeline.
DATA_METHODS = {"gpu": "{0}.gpu()", "cpu": "{0}.cpu()", "shape": "ndd.batch({0}.shape, dtype=ndd.int64)"}
REMOVED_METHODS = {("pipeline", "build"), ("pipeline", "start_py_workers"), ("loader", "reset")}
METHOD_MARKS = {
    "checkpoint": "save the state of the reader instead: ndd.checkpoint.Checkpoint",
    "checkpoints": "save the state of the reader instead: ndd.checkpoint.Checkpoint",
    "epoch_size": "this is len(reader); reader.get_metadata() has the rest",
    "feed_input": "pass the data to a function that calls the operators, as ndd.as_batch(data)",
    "next": "each loader() begins an epoch: make batches = loader() once, and take next(batches) of that",
    "reader_meta": "this is reader.get_metadata()",
    "reset": "an epoch begins where the generator is made again",
    "run": "each call begins an epoch: make batches = pipeline() once, and take next(batches) of that",
    "serialize": "there is no graph to serialize: import the function instead",
}
ITERATING = {"enumerate", "iter", "zip", "list", "tuple", "islice", "tqdm", "map", "filter", "chain", "trange", "next"}

BUILTINS = {
    "len",
    "print",
    "isinstance",
    "list",
    "tuple",
    "zip",
    "enumerate",
    "reversed",
    "sum",
    "type",
    "id",
    "hasattr",
}
CHANGING = {"append", "extend", "insert", "update", "pop", "remove", "clear", "sort", "reverse", "setdefault", "add"}

NO_COUNTERPART = {
    f"{DALI}.plugin.base_iterator.LastBatchPolicy": 'this: readers have last_batch="wrap", "partial", "drop" or "pad"',
    f"{DALI}.plugin.pytorch.LastBatchPolicy": 'this: readers have last_batch="wrap", "partial", "drop" or "pad"',
    f"{DALI}.ops": "operator classes: write calls of functions such as ndd.resize(images, ...)",
    f"{DALI}.plugin": "this iterator: loop over reader.next_epoch(batch_size=...) and convert batches, e.g. .torch()",
    f"{DALI}.pipeline": "pipelines: a pipeline is a loop here",
    f"{DALI}.Pipeline": "pipelines: a pipeline is a loop here",
    f"{DALI}.fn": "this operator",
    f"{DALI}.types": "this name",
    f"{DALI}.auto_aug": "this module: see ndd.auto_augment, ndd.rand_augment and ndd.trivial_augment",
}


def module_of(path: str) -> str | None:
    """The module of MODULES that a full name begins with."""
    return next((module for module in MODULES if path == module or path.startswith(module + ".")), None)


def is_dynamic(path: str) -> bool:
    return path == DYNAMIC or path.startswith(DYNAMIC + ".")


def operator_path(path: str) -> str | None:
    """``decoders.image`` for the full name of an operator of pipeline mode, in its newest spelling."""
    if path.removeprefix(f"{DALI}.auto_aug.") in AUTO_AUGMENT:
        return path.removeprefix(f"{DALI}.auto_aug.")
    name = path.removeprefix(f"{DALI}.fn.")
    if name == path:
        return f"math.{path.removeprefix(f'{DALI}.math.')}" if path.startswith(f"{DALI}.math.") else None
    return ALIASES.get(name, name)


def plain_operator(path: str | None) -> str | None:
    """An operator that is the same function here, given its inputs: it may be passed on as a value."""
    operator = operator_path(path) if path else None
    function = find(operator) if operator else None
    if not callable(function) or operator in AUTO_AUGMENT:
        return None
    first = next(iter(inspect.signature(function).parameters.values()), None)
    needs_input = first is not None and first.default is first.empty and first.kind is not first.KEYWORD_ONLY
    return operator if needs_input else None


def find(name: str) -> Callable[..., Any] | None:
    """What avida has under a dotted name."""
    found: Any = avida
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def parameters(name: str) -> set[str]:
    function = find(name)
    return set() if function is None else set(inspect.signature(function).parameters)


def why_missing(path: str) -> str:
    words = next((text for prefix, text in NO_COUNTERPART.items() if path.startswith(prefix)), "this name")
    if path in (DALI, f"{DALI}.fn", f"{DALI}.math") or plain_operator(path):
        return f"{path.removeprefix('nvidia.')} goes where its calls cannot be followed: call it by its name"
    return f"{path.removeprefix(DALI + '.')}: there is no counterpart of {words} ({PAGE})"
