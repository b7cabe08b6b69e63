"""Python's operators and the math module against the real library."""

import operator

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import avida
from tests.parity.compare import DTYPES, assert_same, both

BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
RTOL = 1e-6


def numbers(dtype, seed, low=1, high=7):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random((2, 3)) < 0.5
    if dtype.startswith("float"):
        return rng.uniform(low, high, (2, 3)).astype(dtype)
    return rng.integers(low, high, (2, 3), dtype)


def refusal(symbol, left, right, divisor):
    """The exception for operands of these types, if there is one."""
    if symbol in ("&", "|", "^", "<<", ">>"):
        return "float" in left + right and RuntimeError
    if left == right == "bool":
        return symbol in ("+", "-", "/", "//", "%", "**") and RuntimeError
    return symbol in ("//", "%") and "float" not in left + right and not np.all(divisor) and ValueError


@pytest.mark.parametrize("symbol", BINARY)
@pytest.mark.parametrize("left", DTYPES)
def test_promotion(symbol, left):
    function = BINARY[symbol]
    for right in DTYPES:
        a, b = numbers(left, 1), numbers(right, 2)
        both(
            lambda lib, a=a, b=b: function(lib.as_tensor(a), lib.as_tensor(b)),
            RTOL,
            fails=refusal(symbol, left, right, b),
        )


@pytest.mark.parametrize("symbol", BINARY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_scalars_on_either_side(symbol, dtype):
    function = BINARY[symbol]
    a = numbers(dtype, 3)
    for scalar, kind in ((2, "int32"), (3.5, "float32"), (True, "bool")):
        both(lambda lib, s=scalar: function(lib.as_tensor(a), s), RTOL, fails=refusal(symbol, dtype, kind, scalar))
        both(lambda lib, s=scalar: function(s, lib.as_tensor(a)), RTOL, fails=refusal(symbol, kind, dtype, a))


@pytest.mark.parametrize("symbol", ["+", "-", "*", "//", "%", "<", "==", ">>"])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint64"])
def test_extreme_integers(symbol, dtype):
    function = BINARY[symbol]
    info = np.iinfo(dtype)
    a = np.array([info.min, info.min + 1, info.max, info.max - 1, 5, 100], dtype)
    b = np.array([3, 1, 2, 7, 1, 6], dtype)
    both(lambda lib: function(lib.as_tensor(a), lib.as_tensor(b)))


@pytest.mark.parametrize("left", DTYPES[:8])
@pytest.mark.parametrize("right", DTYPES[:8])
def test_comparison_of_mixed_signs(left, right):
    a = np.array([np.iinfo(left).min, np.iinfo(left).max, 1, 0], left)
    b = np.array([np.iinfo(right).min, np.iinfo(right).max, 1, 0], right)
    for symbol in ("==", "<", ">=", "!="):
        both(lambda lib, f=BINARY[symbol]: f(lib.as_tensor(a[:, None]), lib.as_tensor(b)))


@pytest.mark.parametrize("function", [operator.neg, operator.pos, operator.invert, abs])
@pytest.mark.parametrize("dtype", DTYPES)
def test_unary(function, dtype):
    a = numbers(dtype, 5, 0, 7)
    refused = {"bool": [operator.neg, abs], "float32": [operator.invert], "float64": [operator.invert]}.get(dtype, [])
    both(lambda lib: function(lib.as_tensor(a, layout="HW")), fails=function in refused and RuntimeError)


UNARY_MATH = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "fabs",
    "floor",
    "log",
    "log10",
    "log2",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


@pytest.mark.parametrize("name", UNARY_MATH)
@pytest.mark.parametrize("dtype", DTYPES)
def test_math_of_one(name, dtype):
    low, high = (1, 5) if name in ("acosh", "log", "log2", "log10", "rsqrt") else (0, 1)
    a = numbers(dtype, 6, low, max(high, low + 1))
    both(lambda lib: getattr(lib.math, name)(lib.as_tensor(a)), RTOL, 1e-7, fails=dtype == "bool" and RuntimeError)


@pytest.mark.parametrize("name", ["min", "max", "pow", "fpow", "atan2"])
@pytest.mark.parametrize("left", DTYPES)
def test_math_of_two(name, left):
    for right in DTYPES:
        a, b = numbers(left, 1), numbers(right, 2)
        both(
            lambda lib, a=a, b=b: getattr(lib.math, name)(lib.as_tensor(a), lib.as_tensor(b)),
            RTOL,
            fails=left == right == "bool" and RuntimeError,
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_clamp(dtype):
    a = numbers(dtype, 1)
    both(lambda lib: lib.math.clamp(lib.as_tensor(a), 2, 4), RTOL)
    both(lambda lib: lib.math.clamp(lib.as_tensor(a), lo=1.5, hi=lib.as_tensor(a)), RTOL)


SHAPES = [((4, 1, 3), (5, 1)), ((2, 3), (1, 1, 1)), ((0, 3), (1, 3)), ((1,), (0,)), ((), (2, 3)), ((3,), (4,))]


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_broadcasting(left, right):
    a, b = np.arange(np.prod(left), dtype=np.int32).reshape(left), np.ones(right, np.float32)
    both(lambda lib: lib.as_tensor(a) + lib.as_tensor(b), fails=(left, right) == ((3,), (4,)) and RuntimeError)


LAYOUTS = [("HW", "HW"), ("HW", None), (None, "HW"), ("HW", "XY"), ("HW", "W"), ("HW", "C"), (None, "W"), ("W", None)]


@pytest.mark.parametrize(("left", "right"), LAYOUTS)
def test_layouts(left, right):
    shapes = {"HW": (2, 3), "XY": (2, 3), "W": (3,), "C": (3,), None: (2, 3)}
    a, b = np.ones(shapes[left], np.float32), np.ones(shapes[right], np.float32)
    both(
        lambda lib: lib.as_tensor(a, layout=left) * lib.as_tensor(b, layout=right),
        fails=(left, right) in [("HW", "XY"), ("HW", "C")] and RuntimeError,
    )


def test_batch_forms():
    samples = [np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((4, 3), np.float32)]
    both(lambda lib: lib.as_batch(samples) + lib.as_batch(samples))
    both(lambda lib: lib.as_batch(samples) * lib.as_batch([2.0, 3.0]))
    both(lambda lib: lib.as_batch(samples) - lib.as_tensor([1.0, 2.0, 3.0]))
    both(lambda lib: lib.as_batch(samples) - [1, 2, 3])
    both(lambda lib: 1 / (lib.as_batch(samples) + 1))
    both(lambda lib: lib.as_batch(samples) + np.float64(2))
    both(lambda lib: lib.as_batch(samples) + lib.as_batch([1.0, 2.0, 3.0]), fails=ValueError)
    both(lambda lib: lib.as_tensor([1, 2]) + lib.as_batch([[1, 2], [3, 4]]))


def test_scalars_out_of_range():
    both(lambda lib: lib.as_tensor([1]) + 2**31, fails=OverflowError)
    both(lambda lib: lib.as_tensor([1]) + -(2**40), fails=OverflowError)


@st.composite
def operands(draw):
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4, min_side=1))
    arrays = []
    for shape in shapes.input_shapes:
        dtype = draw(st.sampled_from(DTYPES))
        if dtype == "bool":
            elements = st.booleans()
        elif dtype.startswith("float"):
            elements = st.floats(-100, 100, width=32 if dtype == "float32" else 64)
        else:
            info = np.iinfo(dtype)
            elements = st.integers(max(info.min, -(2**31)), min(info.max, 2**31))
        arrays.append(np.ascontiguousarray(draw(hnp.arrays(dtype, shape, elements=elements))))
    return arrays


@settings(max_examples=150, deadline=None)
@given(operands(), st.sampled_from(sorted(set(BINARY) - {"**", "<<", ">>", "//", "%"})))
def test_random_operands(arrays, symbol):
    a, b = arrays
    both(
        lambda lib: BINARY[symbol](lib.as_tensor(a), lib.as_tensor(b)),
        RTOL,
        fails=refusal(symbol, a.dtype.name, b.dtype.name, b),
    )


def test_same_dtype_names():
    for name in (*DTYPES, "float16", "bfloat16"):
        assert str(getattr(avida, name)) == str(getattr(dali, name))


def test_half_precision_is_an_addition():
    a = np.array([1.5, 2.5], np.float16)
    with pytest.raises(RuntimeError):
        (dali.as_tensor(a) + dali.as_tensor(a)).evaluate()
    assert np.asarray(avida.as_tensor(a) + avida.as_tensor(a)).tolist() == [3, 5]
    assert_same(+avida.as_tensor(a), +dali.as_tensor(a))
