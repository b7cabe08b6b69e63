"""The public names and signatures are those of the real library."""

import inspect

import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.op_case import OPS

VALUES = ["Tensor", "Batch", "DType", "Device", "EvalContext", "EvalMode", "Stream", "ThreadPool"]
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
ADDED = {"keyed_by", "like", "on_error", "reduce_to"}
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


def functions(module, prefix=""):
    """Names and functions of a module of the real library and of those below."""
    for name, value in inspect.getmembers(module):
        if name.startswith("_"):
            continue
        if inspect.isfunction(value):
            yield prefix + name, value
        elif inspect.ismodule(value) and value.__name__.startswith(f"{module.__name__}."):
            yield from functions(value, f"{prefix}{name}.")


def has(name):
    try:
        return callable(find(avida, name))
    except AttributeError:
        return False


THEIRS = dict(functions(dali))
SHARED = sorted(filter(has, THEIRS))
# The older name has other names for its positional inputs there.
OTHERWISE = {"experimental.decoders.image_slice"}


def parameters(function, without=()):
    """Name, kind and default of each; a bare object() as default only says that nothing was given."""
    return [
        (name, p.kind, object if type(p.default) is object else p.default)
        for name, p in inspect.signature(function).parameters.items()
        if name not in without
    ]


def test_every_operator_is_one_of_theirs():
    assert set(OPS) <= set(SHARED)
    assert len(SHARED) > 150


@pytest.mark.parametrize("name", sorted(set(SHARED) - OTHERWISE))
def test_signatures(name):
    """Every function that both have takes the same arguments, in the same order and with the same defaults."""
    theirs = THEIRS[name]
    added = ADDED - set(inspect.signature(theirs).parameters)
    assert parameters(find(avida, name), added) == parameters(theirs)


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
