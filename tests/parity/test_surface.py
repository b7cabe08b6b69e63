"""The public names and signatures are those of the real library."""

import inspect

import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.op_case import OPS

VALUES = ["Tensor", "Batch", "DType", "Device", "EvalContext", "EvalMode", "Stream", "ThreadPool"]
FUNCTIONS = [
    "tensor",
    "as_tensor",
    "batch",
    "as_batch",
    "dtype",
    "type_id",
    "device",
    "set_num_threads",
    "get_num_threads",
    "stream",
    "get_current_stream",
    "get_default_stream",
    "set_current_stream",
    "set_default_stream",
]
DTYPES = [
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "bool",
    "DataType",
    "ImageType",
    "InterpType",
]
# Arguments of avida's own.
ADDED = {"keyed_by", "on_error", "reduce_to"}
# Operators leave __cuda_array_interface__ to tensors on a GPU.
ABSENT = {"Tensor": {"__cuda_array_interface__"}}


def find(library, name):
    for part in name.split("."):
        library = getattr(library, part)
    return library


@pytest.mark.parametrize("name", VALUES)
def test_members(name):
    public = {n for n in vars(getattr(dali, name)) if not n.startswith("_")}
    operators = {n for n in vars(getattr(dali, name)) if n.startswith("__") and n in dir(dali.Tensor)}
    missing = {n for n in public | operators if not hasattr(getattr(avida, name), n)}
    allowed = ABSENT.get(name, set()) | {"__dict__", "__weakref__", "__module__", "__firstlineno__", "__slotnames__"}
    assert missing - allowed == set()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_signatures(name):
    theirs = list(inspect.signature(getattr(dali, name)).parameters)
    assert list(inspect.signature(getattr(avida, name)).parameters) == theirs


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name):
    ours, theirs = getattr(avida, name), getattr(dali, name)
    for attribute in ("name", "bits", "bytes", "exponent_bits", "significand_bits"):
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    assert ours.kind.name == theirs.kind.name
    assert ours.kind.value == theirs.kind.value
    assert str(ours) == str(theirs)
    if theirs.type_id is not None:
        assert int(ours.type_id) == int(theirs.type_id)


@pytest.mark.parametrize("name", sorted(OPS))
def test_operator_signatures(name):
    theirs = inspect.signature(find(dali, name)).parameters
    ours = inspect.signature(find(avida, name)).parameters
    kinds = inspect.Parameter
    positional = (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD, kinds.VAR_POSITIONAL)
    assert [(n, p.kind) for n, p in ours.items() if p.kind in positional] == [
        (n, p.kind) for n, p in theirs.items() if p.kind in positional
    ]
    keywords = {n for n, p in theirs.items() if p.kind is kinds.KEYWORD_ONLY}
    added = ADDED | ({"like"} if OPS[name]["random"] else set())
    assert {n for n, p in ours.items() if p.kind is kinds.KEYWORD_ONLY} - added == keywords
    for n in keywords:
        assert (ours[n].default is kinds.empty) == (theirs[n].default is kinds.empty), n


IMAGE_OPERATORS = """
brightness contrast brightness_contrast hue saturation hsv color_twist color_space_conversion equalize clahe
lookup_table debayer rotate warp_affine experimental.warp_perspective experimental.remap transforms.combine
transforms.crop transforms.rotation transforms.scale transforms.shear transforms.translation coord_transform
coord_flip bb_flip bbox_paste bbox_rotate paste multi_paste sphere water jitter grid_mask erase gaussian_blur filter
laplacian experimental.median_blur experimental.dilate experimental.erode noise.gaussian noise.salt_and_pepper
noise.shot jpeg_compression_distortion random_bbox_crop box_encoder roi_random_crop segmentation.random_mask_pixel
segmentation.random_object_bbox segmentation.select_masks sequence_rearrange
"""


@pytest.mark.parametrize("name", IMAGE_OPERATORS.split())
def test_image_operators(name):
    """All of them are there, with the same arguments in the same order."""
    theirs = inspect.signature(find(dali, name)).parameters
    ours = inspect.signature(find(avida, name)).parameters
    assert [(n, p.kind, p.default) for n, p in ours.items() if n not in ADDED] == [
        (n, p.kind, p.default) for n, p in theirs.items()
    ]


def test_older_names_are_the_same_functions():
    shared = [n for n in dir(dali.experimental) if callable(getattr(dali, n, None))]
    assert shared == ["peek_image_shape", "resize"]
    assert all(getattr(avida.experimental, n) is getattr(avida, n) for n in shared)
    for name in ("image", "image_crop", "image_random_crop", "image_slice"):
        assert getattr(avida.experimental.decoders, name) is getattr(avida.decoders, name)


@pytest.mark.parametrize("name", ["Tensor", "Batch", "EvalContext", "ThreadPool", "Stream", "Device"])
def test_constructor_signatures(name):
    theirs = inspect.signature(getattr(dali, name)).parameters
    ours = inspect.signature(getattr(avida, name)).parameters
    assert [(n, p.kind) for n, p in ours.items()] == [(n, p.kind) for n, p in theirs.items()]


METHODS = [
    ("Tensor", "cpu gpu to_device evaluate item torch __array__"),
    ("Batch", "cpu gpu to_device evaluate select torch broadcast"),
    ("Device", "current default_device_id from_dlpack type_from_dlpack"),
    ("EvalContext", "current default evaluate_all cache_results cached_results"),
    ("DType", "parse from_fw_type from_type_id"),
]


@pytest.mark.parametrize(("name", "methods"), METHODS)
def test_method_signatures(name, methods):
    for method in methods.split():
        theirs = inspect.signature(getattr(getattr(dali, name), method)).parameters
        ours = inspect.signature(getattr(getattr(avida, name), method)).parameters
        assert list(ours) == list(theirs), method
