"""The public names and signatures are those of the real library."""

import inspect

import nvidia.dali.experimental.dynamic as dali
import nvidia.dali.types as types
import pytest

import avida

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
ADDED = {
    "adjust_orientation",
    "color_matrix",
    "dtype",
    "end",
    "fps",
    "frames",
    "inside_only",
    "keyed_by",
    "like",
    "num_frames",
    "on_error",
    "page",
    "pin_memory",
    "reduce_to",
    "save_times",
    "size_rounding",
    "start",
    "stream",
    "swap",
    "times",
    "tone_map",
}
# Operators leave __cuda_array_interface__ to tensors on a GPU.
ABSENT = {"Tensor": {"__cuda_array_interface__"}, "pytorch.nodes.Tensor": {"__cuda_array_interface__"}}
# Of Python's own machinery.
IGNORED = {"__dict__", "__weakref__", "__module__", "__firstlineno__", "__slotnames__", "__annotations__"}
IGNORED |= {
    "__abstractmethods__",
    "__parameters__",
    "__orig_bases__",
    "__static_attributes__",
    "__match_args__",
    "__final__",
}


def find(library, name):
    for part in name.split("."):
        library = getattr(library, part)
    return library


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


def classes(module, prefix=""):
    """Names and classes of a module of the real library and of those below."""
    for name, value in inspect.getmembers(module):
        if name.startswith("_"):
            continue
        if inspect.isclass(value) and value.__module__.startswith(dali.__name__):
            yield prefix + name, value
        elif inspect.ismodule(value) and value.__name__.startswith(f"{module.__name__}."):
            yield from classes(value, f"{prefix}{name}.")


CLASSES = dict(classes(dali))
# Arguments that only the library itself gives, and names of operands, which Python gives by position.
INTERNAL = {"_backend", "_process_params", "_caller_frame", "ranges", "args", "kwargs", "self", "other", "value"}
INTERNAL |= {"exc_type", "exc_value", "traceback"}
# Regions of arrays, sizes and padding of videos are given to the reader, not to a call of it.
OF_READERS = {f"{relative}roi_{part}" for relative in ("", "rel_") for part in ("start", "end", "shape")}
OF_READERS |= {f"resize_{side}" for side in ("longer", "shorter", "x", "y", "z")}
OF_READERS |= {"size", "interp_type", "mag_filter", "min_filter", "pad_mode"}
# Index files are optional here, and clips of videos may be given by times.
OPTIONAL = {("readers.MXNet", "index_path"), ("readers.TFRecord", "index_path"), ("ExternalSource", "num_outputs")}
OPTIONAL |= {(name, "sequence_length") for name in CLASSES if "readers.Video" in name}


def signature_of(function):
    """The parameters; none where C code has not stated them."""
    try:
        return inspect.signature(function).parameters
    except ValueError:
        return None


def assert_takes_the_same(ours, theirs, name):
    """All arguments of theirs, in their order, of their kind and with their default."""
    ours, theirs = signature_of(ours), signature_of(theirs)
    if ours is None or theirs is None:
        return
    method = name.rpartition(".")[2]
    wanted = [n for n in theirs if n not in INTERNAL and not (method == "__call__" and n in OF_READERS)]
    assert [n for n in ours if n in wanted] == wanted, name
    for argument in wanted:
        mine, other = ours[argument], theirs[argument]
        assert mine.kind == other.kind or method == "__dlpack__", f"{name}: {argument}"  # by name, as arrays define it
        if (name, argument) not in OPTIONAL and type(other.default) is not object:
            assert mine.default == other.default, f"{name}: {argument}"


def test_names_that_are_missing():
    """Of everything that the real library's modules offer, except what they import from elsewhere."""
    missing = {name for name in [*THEIRS, *CLASSES] if not has(name)}
    missing |= {name for name in vars(dali) if isinstance(getattr(dali, name), dali.DType) and not hasattr(avida, name)}
    assert not missing


@pytest.mark.parametrize("name", CLASSES)
def test_constructors(name):
    assert_takes_the_same(find(avida, name), CLASSES[name], name)


@pytest.mark.parametrize("name", CLASSES)
def test_methods_and_properties(name):
    theirs, ours = CLASSES[name], find(avida, name)
    special = {n for n in dir(theirs) if n.startswith("__") and n.endswith("__") and n in vars(theirs)}
    members = {n for n in dir(theirs) if not n.startswith("_")} | special
    for member in sorted(
        members - {"__init__", "__new__", "__init_subclass__", "__subclasshook__", "__class_getitem__"}
    ):
        if member in ABSENT.get(name, set()) | IGNORED:
            continue
        assert hasattr(ours, member), f"{name}.{member}"
        if inspect.isroutine(getattr(theirs, member)):
            assert callable(getattr(ours, member)), f"{name}.{member}"
            assert_takes_the_same(getattr(ours, member), getattr(theirs, member), f"{name}.{member}")
        elif isinstance(inspect.getattr_static(theirs, member), property):
            assert not inspect.isroutine(getattr(ours, member)), f"{name}.{member}"


def test_constants():
    """The names of nvidia.dali.types that are constants, functions on them, or enums."""
    theirs = {n for n, v in vars(types).items() if not n.startswith("_") and not inspect.ismodule(v)}
    elsewhere = {"Enum", "PipelineAPIType", "unique"}  # of Python, and of pipeline mode
    pipelines = {"BatchInfo", "CUDAStream", "Constant", "ConstantNode", "SampleInfo", "ScalarConstant", "TensorLayout"}
    assert {n for n in theirs if not hasattr(avida.types, n)} - elsewhere - pipelines == {"dali_type_converters"}
    for name in theirs & set(vars(avida.types)):
        mine, other = getattr(avida.types, name), getattr(types, name)
        if not callable(mine) and not inspect.isclass(mine):
            assert (str(mine), int(mine)) == (str(other), int(other)) if isinstance(mine, int) else mine == str(other)


CONSTANTS = ["FLOAT", "UINT8", "RGB", "YCbCr", "INTERP_NN", "INTERP_LANCZOS3"]


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_show_their_names(name):
    """In messages and logs; and all are true, also those whose number is 0."""
    ours, theirs = getattr(avida.types, name), getattr(types, name)
    for look in (str, repr, bool, int, "{}".format, lambda constant: "%s %d" % (constant, constant)):  # noqa: UP031
        assert look(ours) == look(theirs)
    assert (ours.name, ours.value) == (theirs.name, theirs.value)
    assert ours == int(theirs)
