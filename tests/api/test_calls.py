"""How Python reaches operators: by the names of their arguments."""

import pathlib

import numpy as np
import pytest

import avida
from avida import _core

IMAGE = avida.as_tensor(np.arange(24, dtype=np.uint8).reshape(2, 4, 3), layout="HWC")


def test_arguments_by_name_in_any_order():
    crop = _core.op("crop")
    first = crop(IMAGE, crop_pos_x=0, crop_pos_y=1, crop=[1, 2])
    second = crop(IMAGE, crop=[1, 2], crop_pos_y=1, crop_pos_x=0)
    np.testing.assert_array_equal(first, np.asarray(IMAGE)[1:2, :2])
    np.testing.assert_array_equal(second, first)


def test_names_that_are_not_interned():
    name = "".join(["dt", "ype"])
    assert _core.op("cast")(IMAGE, **{name: avida.float32}).dtype == avida.float32


def test_inputs_that_are_left_out():
    assert _core.op("reinterpret")(IMAGE, dtype=avida.int8).dtype == avida.int8
    with pytest.raises(TypeError, match='cast: input "input" is missing'):
        _core.op("cast")(dtype=avida.float32)
    with pytest.raises(TypeError, match="cast: expected 1 inputs, got 2"):
        _core.op("cast")(IMAGE, IMAGE, dtype=avida.float32)


@pytest.mark.parametrize("wrong", [{"typ": avida.float32}, {"rng": None}, {"keyed_by": IMAGE}])
def test_arguments_that_an_operator_does_not_have(wrong):
    with pytest.raises(TypeError, match=f'cast: there is no argument "{next(iter(wrong))}"'):
        _core.op("cast")(IMAGE, dtype=avida.float32, **wrong)


def test_an_operator_that_is_not_there():
    with pytest.raises(KeyError, match="no_such_operator"):
        _core.op("no_such_operator")


@pytest.mark.parametrize("args", ["depthwise horizontal", "depthwise vertical horizontal", ""])
def test_generated_functions_of_another_core(args):
    """They would pass values to wrong arguments; importing them fails."""
    with pytest.raises(RuntimeError, match=r"flip has the arguments \(depthwise horizontal vertical\)"):
        _core.op_with_args("flip", args)


def test_only_generated_functions_call_by_position():
    package = pathlib.Path(avida.__file__).parent
    by_position = [path for path in package.rglob("*.py") if "call as _call" in path.read_text()]
    assert by_position
    assert {path.name for path in by_position} == {"_ops.py"}
    assert not [path for path in package.rglob("*.py") if "_core.call(" in path.read_text()]


def test_an_operator_that_this_build_does_not_have():
    number = _core.op_with_args("decoders.tape", "speed")
    with pytest.raises(RuntimeError, match=r"decoders\.tape is not in this build of avida"):
        _core.call(number, (), None, None, (None,))
