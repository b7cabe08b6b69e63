import numpy as np
import pytest

import avida as ndd
from tests.op_case import FLOATS, INTEGERS, op_case

NUMBERS = [*INTEGERS, *FLOATS]
FUNCTIONS = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "fabs": np.fabs,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log2": np.log2,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}


def float_of(x):
    """What the float functions compute in: float32 for integers, else the type itself."""
    return x if x.dtype.kind == "f" else x.astype(np.float32)


def wide(x):
    return x.astype(np.float64) if x.dtype == np.float64 else x.astype(np.float32)


RANGES = {"acosh": (1, 3), "log": (1, 3), "log2": (1, 3), "log10": (1, 3), "rsqrt": (1, 3)}


def register(name, function):
    low, high = RANGES.get(name, (0, 1))

    @op_case(f"math.{name}", dtypes=NUMBERS, low=low, high=high, rtol=2e-6)
    def reference(x):
        with np.errstate(all="ignore"):
            return function(wide(x)).astype(float_of(x).dtype)


for name, function in FUNCTIONS.items():
    register(name, function)


@op_case("math.abs", dtypes=NUMBERS, low=-100, high=100)
def absolute(x):
    return np.abs(x)


@op_case("math.max", dtypes=NUMBERS, low=-100)
def greater(a, b):
    return np.maximum(a, b)


@op_case("math.min", dtypes=NUMBERS, low=-100)
def smaller(a, b):
    return np.minimum(a, b)


@op_case("math.clamp", dtypes=NUMBERS, shapes=[[(4, 5), (5,), ()], [(3, 2), (2,), ()]])
def clamp(x, low, high):
    return np.minimum(np.maximum(x, low), high)


@op_case("math.pow", dtypes=["int32", "int64", "uint8", "float32", "float64"], high=6)
def power(a, b):
    return np.power(a, b)


@op_case("math.fpow", dtypes=NUMBERS, low=1, high=4)
def float_power(a, b):
    return np.power(wide(a), wide(b)).astype(float_of(a).dtype)


@op_case("math.atan2", dtypes=NUMBERS, low=-50, high=50)
def angle(a, b):
    return np.arctan2(wide(a), wide(b)).astype(float_of(a).dtype)


def test_domain_errors_give_what_ieee_says():
    x = ndd.tensor([-1.0, 0.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.asarray(ndd.math.sqrt(x)), np.sqrt(np.asarray(x)))
        np.testing.assert_array_equal(np.asarray(ndd.math.log(x)), np.log(np.asarray(x)))
    assert np.asarray(ndd.math.rsqrt(ndd.tensor([0.0, np.inf]))).tolist() == [np.inf, 0]


def test_nan_in_min_and_max_follows_the_second_operand():
    nan = np.float32(np.nan)
    for function in (ndd.math.min, ndd.math.max):
        assert function(nan, 1.0).item() == 1
        assert np.isnan(function(1.0, nan).item())


def test_clamp_bounds_by_name_and_crossing():
    assert np.asarray(ndd.math.clamp([1, 5, 9], lo=6, hi=2)).tolist() == [2, 2, 2]
    assert np.isnan(ndd.math.clamp(np.float32(np.nan), 0.0, 1.0).item())


def test_scalars():
    assert ndd.math.max(1, 2).item() == 2
    assert ndd.math.max(1, 2).dtype == ndd.int32
    assert ndd.math.sqrt(4).dtype == ndd.float32
    assert ndd.math.sqrt([4, 9]).shape == (2,)


@pytest.mark.parametrize("name", ["sqrt", "abs", "floor"])
def test_booleans_are_refused(name):
    with pytest.raises(RuntimeError, match="booleans"):
        getattr(ndd.math, name)(ndd.tensor([True])).evaluate()


def test_bfloat16():
    x = ndd.tensor([4.0, 9.0], dtype=ndd.bfloat16)
    y = ndd.math.sqrt(x)
    assert y.dtype == ndd.bfloat16
    assert np.asarray(ndd.cast(y, dtype=ndd.float32)).tolist() == [2, 3]
