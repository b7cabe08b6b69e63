"""Arguments that are numbers with names."""

import re

import numpy as np
import pytest

import avida as ndd
from avida import _core, types

IMAGE = ndd.as_tensor(np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3), layout="HWC")
OPERATORS = [op for op in map(_core.describe_op, range(_core.op_count())) if not op["hidden"]]


def function(name):
    target = ndd
    for part in name.split("."):
        target = getattr(target, part)
    return target


@pytest.mark.parametrize("member", types.DALIInterpType, ids=lambda member: member.name)
def test_filters(member):
    expected = ndd.resize(IMAGE, size=(3, 9), interp_type=member)
    short = member.name.removeprefix("INTERP_")
    for name in (short, short.lower(), member.name, member.name.lower()):
        assert np.array_equal(ndd.resize(IMAGE, size=(3, 9), interp_type=name), expected)
    same = ndd.resize(IMAGE, size=(3, 9), mag_filter=short, min_filter=short)
    assert np.array_equal(same, expected)


def test_colours():
    expected = ndd.color_space_conversion(IMAGE, image_type=types.RGB, output_type=types.YCbCr)
    for rgb, ycbcr in (("rgb", "ycbcr"), ("RGB", "YCbCr"), ("RGB", "YCBCR")):
        assert np.array_equal(ndd.color_space_conversion(IMAGE, image_type=rgb, output_type=ycbcr), expected)


def test_element_types():
    for name in ("float32", "FLOAT32", "f32", "F32", "float", "FLOAT"):
        assert ndd.cast(IMAGE, dtype=name).dtype == ndd.float32
    assert ndd.cast(IMAGE, dtype="UINT8").dtype == ndd.uint8
    assert ndd.dtype("interptype") is ndd.InterpType


def test_other_names_are_refused():
    with pytest.raises(ValueError, match=r'resize: argument "interp_type" must be "nn", "linear", .*got "bilinearly"'):
        ndd.resize(IMAGE, size=(3, 9), interp_type="bilinearly")
    with pytest.raises(ValueError, match=r'"output_type" must be "rgb", "bgr", "gray" or "ycbcr", got "cmyk"'):
        ndd.color_space_conversion(IMAGE, image_type="rgb", output_type="cmyk")
    with pytest.raises(TypeError, match="expected an integer, got 'yes'"):
        ndd.flip(IMAGE, horizontal="yes")
    with pytest.raises(ValueError, match="f32"):
        ndd.cast(IMAGE, dtype="quad")


def test_augmentation():
    batch = ndd.as_batch([IMAGE])
    for name, number in (("linear", types.INTERP_LINEAR), ("nn", types.INTERP_NN)):
        named, numbered = (
            ndd.rand_augment(batch, n=2, m=9, interp_type=given, rng=ndd.random.RNG(seed=1)) for given in (name, number)
        )
        assert np.array_equal(named, numbered)
    with pytest.raises(ValueError, match="INTERP_LINEAR"):
        ndd.rand_augment(batch, n=2, m=9, interp_type="cubic")


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op["name"])
def test_documented_defaults_are_names(op):
    text = " ".join(function(op["name"]).__doc__.split())
    for arg in op["args"]:
        if arg["name"] != "dct_type":  # the transforms are numbered, not named
            assert arg["type"] != "int" or not arg["name"].endswith(("_type", "_filter")), "an enum without names?"
        if arg["choices"] and arg["default"] and not arg["deprecated"] and not arg["required"]:
            default = text.split(f" {arg['name']}: {arg['doc']}")[1].split("Default: ``")[1].split("``")[0]
            assert default == arg["default"]
            assert default.strip("'") in arg["choices"]


@pytest.mark.parametrize(
    ("op", "arg"),
    [
        (op, arg)
        for op in OPERATORS
        if not op["gpu_only"]
        for arg in op["args"]
        if arg["choices"] and not arg["deprecated"]
    ],
    ids=lambda described: described["name"],
)
def test_every_choice(op, arg):
    """Errors list the choices, in one form; types of Python are those of the same list."""
    inputs = [np.zeros(3, np.uint8) for given in op["inputs"] if not given["optional"]]
    values = {"int": 1, "float": 1.0, "ints": [1], "floats": [1.0], "enumeration": 0, "dtype": "uint8"}
    others = {other["name"]: values[other["type"]] for other in op["args"] if other["required"] and other != arg}
    wrong = rf'{op["name"]}: argument "{arg["name"]}" must be ("[\w ,"]+ or )?"\w+", got "no such choice"$'
    with pytest.raises((ValueError, RuntimeError), match=wrong) as caught:
        function(op["name"])(*inputs, **others, **{arg["name"]: "no such choice"})
    listed = re.findall(r'"(\w+)"', str(caught.value).split("must be")[1].split(", got")[0])
    assert listed
    assert set(listed) <= set(arg["choices"])
    if arg["type"] == "choice":
        names = ", ".join(f'"{name}"' for name in arg["choices"])
        assert f"Literal[{names}]" in function(op["name"]).__annotations__[arg["name"]].replace("'", '"')
    with pytest.raises(TypeError if arg["type"] == "choice" else (TypeError, RuntimeError)):
        function(op["name"])(*inputs, **others, **{arg["name"]: 1.5j})
