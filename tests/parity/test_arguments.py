"""Arguments, defaults and layouts are those that the real library's documentation states, for operators and readers."""

import ast
import inspect
import re

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from avida._values.enums import by_name
from tests.op_case import OPS
from tests.parity.oracle import outcome
from tests.parity.random_calls import CASES, RANDOM_ARGUMENTS, RANDOM_INPUTS, Call, Value
from tests.parity.test_surface import ADDED, THEIRS
from tests.readers.resumable import FORMATS

SHARED = sorted(name for name in OPS if name in THEIRS)


def documented(function):
    """What its documentation says of each argument: whether per sample, whether required, and the default as text."""
    found = {}
    text = inspect.cleandoc(function.__doc__ or "").partition("Keyword args\n")[2]
    for name, kind in re.findall(r"^(\w+) : (.*)$", text, re.M):
        default = re.search(r"default = `(.*)`$", kind)
        found[name] = ("Tensor/Batch of" in kind, "optional" not in kind, default and default[1])
    return found


def documented_layouts(function):
    """The layouts of each input; none where it takes any."""
    text = inspect.cleandoc(function.__doc__ or "").partition("Keyword args\n")[0]
    return [re.findall(r"'(\w+)'", line) for line in re.findall(r"^\w+ : (.*Tensor/Batch.*)$", text, re.M)]


def parsed(text):
    """A default as a number, text or list; enums by their number."""
    return int(getattr(avida.types, text.rpartition(".")[2])) if text.startswith("DALI") else ast.literal_eval(text)


def our_default(arg):
    if not arg["default"]:
        return None
    if arg["type"] == "dtype":
        return int(avida.dtype(arg["default"]).type_id)
    value = ast.literal_eval(arg["default"])
    return int(by_name(getattr(avida.types, arg["enumeration"]), value)) if arg["enumeration"] else value


def is_close(ours, theirs):
    if isinstance(theirs, bool | str) or ours is None:
        return ours == theirs
    return np.shape(ours) == np.shape(theirs) and np.allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("name", SHARED)
def test_arguments(name):
    """All are there, may differ between samples where they may there, and have the same default."""
    theirs = documented(THEIRS[name])
    ours = {arg["name"]: arg for arg in OPS[name]["args"]}
    assert set(ours) - (ADDED - set(theirs)) == set(theirs) - {"batch_size", "device", "rng"}
    for argument, (per_sample, required, default) in theirs.items():
        if argument in ours:
            arg = ours[argument]
            assert arg["per_sample"] == per_sample or argument == "pad_mode", argument  # one name for all samples here
            # Of what is no longer used there, the text does not say that it is optional.
            assert arg["required"] == required or argument in ("output_dtype", "image_type", "output_format"), argument
            if default is not None and arg["default"] and (name, argument) != ("decoders.image", "cache_type"):
                assert is_close(our_default(arg), parsed(default)), argument


# Where a default here only says that nothing was given, giving theirs is compared.
UNSTATED = [
    (name, argument, parsed(default))
    for name in SHARED
    for argument, (_, _, default) in documented(THEIRS[name]).items()
    if default is not None and not {arg["name"]: arg["default"] for arg in OPS[name]["args"]}.get(argument, "?")
    if (name, argument) != ("gaussian_blur", "sigma")  # 0 beside a window is refused here
    if (name, argument) != ("decoders.video", "pad_mode")  # padding that nobody asked for is told here
]
# What a call needs so that the argument says something.
BESIDE = {
    "erase": {"anchor": [1, 2], "shape": [3, 4]},
    "gaussian_blur": {"window_size": 3},
    "slice": {"rel_start": [0.1, 0.2], "rel_shape": [0.5, 0.5]},
    "resize": {"resize_y": 8},
    "resize_crop_mirror": {"resize_y": 8, "crop": [4, 4]},
    "tensor_resize": {"sizes": [4, 9, 3], "axes": [0, 1, 2]},
    "crop": {"crop": [3, 2]},
    "crop_mirror_normalize": {"crop": [3, 2]},
}


@pytest.mark.parametrize(("name", "argument", "default"), UNSTATED)
def test_defaults_that_are_not_stated(name, argument, default):
    case = next((case for case in sorted(CASES, key=lambda case: case.layout != "HWC") if case.op == name), None)
    if case is None:
        batches = RANDOM_INPUTS[name]() if name in RANDOM_INPUTS else []
        inputs = [Value(list(map(np.asarray, batch)), batch.layout, True) for batch in batches]
        arguments = RANDOM_ARGUMENTS.get(name, {})
    else:
        inputs = [
            Value([array], case.layout if case.layout != "CHW" else None)
            for array in case.arrays(0, "uint8" if "uint8" in case.dtypes else case.dtypes[0])
        ]
        needed = [arg["name"] for arg in OPS[name]["args"] if arg["required"]]
        arguments = BESIDE.get(name, {n: values[0] for n, values in case.arguments.items() if n in needed})
    call = Call(0, name, inputs, {**arguments, argument: default})
    ours, theirs = outcome(avida, call), outcome(dali, call)
    assert ours[0] == theirs[0], (ours, theirs)
    if ours[0] == "results":
        assert [result[:3] for result in ours[1]] == [result[:3] for result in theirs[1]]
    if ours[0] == "results" and not OPS[name]["random"]:
        for (*_, mine), (*_, expected) in zip(ours[1], theirs[1], strict=True):
            for a, b in zip(mine, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1 if a.dtype.kind != "f" else 1e-4)


@pytest.mark.parametrize("name", SHARED)
def test_layouts(name):
    """Every layout that an input has there is one here."""
    for layouts, ours in zip(documented_layouts(THEIRS[name]), OPS[name]["inputs"], strict=False):
        assert not ours["layouts"] or set(layouts) <= set(ours["layouts"])


def reader_class(name):
    return getattr(dali.readers, name, None) or getattr(dali.experimental.readers, name)


@pytest.mark.parametrize("name", FORMATS)
def test_defaults_of_readers(name, tmp_path):
    """A reader that is given all defaults reads what one without them does."""
    write, make = FORMATS[name]
    write(tmp_path, [bytes([i, i, i, i]) for i in range(5)])
    stated = {n: parsed(d) for n, (_, _, d) in documented(reader_class(name).__init__).items() if d is not None}
    assert {"random_shuffle", "num_shards", "shard_id", "initial_fill"} <= set(stated)
    # -1 asks for a seed of the reader's choice there; the others say where the data is.
    given = {n: d for n, d in stated.items() if n not in ("seed", "annotations_file")}
    if "dtype" in given:
        given["dtype"] = avida.types.DALIDataType(given["dtype"])

    def items(**options):
        epoch = make(tmp_path, **options).next_epoch(batch_size=2)
        return [[np.asarray(t).tobytes() for t in value] for batch in epoch for value in _values(batch)]

    assert items(**given) == items()


def _values(batch):
    return batch.values() if isinstance(batch, dict) else batch if isinstance(batch, tuple | list) else [batch]


def test_every_reader_has_a_case():
    theirs = {n for module in (dali.readers, dali.experimental.readers) for n in dir(module) if n[0].isupper()}
    assert theirs - {"Video", "VideoResize"} <= set(FORMATS)
