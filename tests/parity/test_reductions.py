"""The reductions against the real library, over what it supports: integers and float32."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.op_case import INTEGERS
from tests.parity.compare import both

NUMBERS = [*INTEGERS, "float32"]
RTOL = 1e-6
SIMPLE = ["sum", "mean", "mean_square", "rms", "min", "max"]
AXES = [None, [], 0, 1, 2, -1, [0, 1], [1, 2], [0, 2], [2, 0, 1]]


def numbers(dtype, shape, seed=0, low=-100, high=100):
    """Values that fold without overflow in the real library; floats of one sign, so that sums do not cancel out."""
    rng = np.random.default_rng(seed)
    if dtype == "float32":
        return rng.uniform(0.5, 100, shape).astype(dtype)
    return rng.integers(max(low, np.iinfo(dtype).min), min(high, np.iinfo(dtype).max), shape, dtype)


def tolerance(name):
    return 0 if name in ("min", "max") else RTOL


@pytest.mark.parametrize("name", SIMPLE)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_axes(name, dtype):
    x = numbers(dtype, (3, 5, 4))
    for axes in AXES:
        for keep_dims in (False, True):
            both(
                lambda lib, a=axes, k=keep_dims: getattr(lib.reductions, name)(lib.as_tensor(x), axes=a, keep_dims=k),
                tolerance(name),
            )


@pytest.mark.parametrize("name", SIMPLE)
@pytest.mark.parametrize("shape", [(70001,), (300, 400), (2, 300, 301), (257, 300, 3), (5, 1, 700, 1, 3)], ids=str)
def test_larger_samples(name, shape):
    for dtype in ("uint8", "int16", "float32"):
        x = numbers(dtype, shape)
        for axes in (None, [0], [-1], list(range(len(shape)))[:2]):
            both(lambda lib, a=axes, x=x: getattr(lib.reductions, name)(lib.as_tensor(x), axes=a), 2 * tolerance(name))


@pytest.mark.parametrize("name", SIMPLE)
def test_layouts_and_names(name):
    x = numbers("int32", (3, 5, 4))
    for arguments, fails in (
        ({"axis_names": "H"}, None),
        ({"axis_names": "CW"}, None),
        ({"axis_names": "HWC"}, None),
        ({"axis_names": ""}, None),
        ({"axes": 1}, None),
        ({"axes": []}, None),
        ({}, None),
        ({"axis_names": "X"}, RuntimeError),
        ({"axis_names": "H", "axes": 0}, RuntimeError),
        ({"axes": 3}, IndexError),
        ({"axes": -4}, IndexError),
        ({"axes": [0, -3]}, ValueError),
    ):
        for keep_dims in (False, True):
            both(
                lambda lib, a=arguments, k=keep_dims: getattr(lib.reductions, name)(
                    lib.as_tensor(x, layout="HWC"), keep_dims=k, **a
                ),
                tolerance(name),
                fails=fails,
            )
    both(lambda lib: getattr(lib.reductions, name)(lib.as_tensor(x), axis_names="H"), fails=RuntimeError)


@pytest.mark.parametrize("name", SIMPLE)
def test_ragged_batches(name):
    samples = [numbers("int16", shape, i) for i, shape in enumerate([(3, 2, 4), (1, 5, 1), (2, 2, 2)])]
    for axes in AXES:
        both(
            lambda lib, a=axes: getattr(lib.reductions, name)(lib.as_batch(samples, layout="HWC"), axes=a),
            tolerance(name),
        )


@pytest.mark.parametrize(("name", "wide"), [("sum", True), ("mean", False), ("mean_square", True), ("rms", False)])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_dtype_of_the_result(name, wide, dtype):
    x = numbers(dtype, (2, 3), low=-3, high=4)
    allowed = ["float32"] if name != "sum" or dtype not in ("int64", "uint64") else []
    allowed += [dtype] if name != "mean_square" else []
    allowed += ["uint64" if dtype[0] == "u" else "int64"] if wide and dtype != "float32" else []
    for out in allowed:
        both(lambda lib, o=out: getattr(lib.reductions, name)(lib.as_tensor(x), axes=1, dtype=getattr(lib, o)), RTOL)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_narrow_sums_wrap_around(dtype):
    x = np.full(30, np.iinfo(dtype).max, dtype)
    both(lambda lib: lib.reductions.sum(lib.as_tensor(x), dtype=getattr(lib, dtype)))
    both(lambda lib: lib.reductions.sum(lib.as_tensor(x)))


@pytest.mark.parametrize("name", SIMPLE)
def test_nothing_to_fold(name):
    for dtype in ("uint8", "int32", "float32"):
        for shape, axes in (((0,), None), ((3, 0), 1), ((3, 0), 0), ((0, 3), None)):
            x = np.zeros(shape, dtype)
            both(
                lambda lib, a=axes, x=x: getattr(lib.reductions, name)(lib.as_tensor(x), axes=a),
                tolerance(name),
            )


@pytest.mark.parametrize("name", SIMPLE)
def test_nan(name):
    x = np.array([[np.nan, 1, 3], [2, np.nan, 0.5], [1, 2, np.nan]], np.float32)
    for axes in (None, 0, 1):
        both(lambda lib, a=axes: getattr(lib.reductions, name)(lib.as_tensor(x), axes=a), tolerance(name))


@pytest.mark.parametrize("name", SIMPLE)
def test_scalars_and_lists(name):
    for x in (5, 2.5, [1, 2, 4], [[1.5, 2], [3, 4]], np.array(7, np.uint8)):
        both(lambda lib, x=x: getattr(lib.reductions, name)(x), tolerance(name))
        both(lambda lib, x=x: getattr(lib.reductions, name)(x, axes=[]), tolerance(name))
    both(lambda lib: getattr(lib.reductions, name)(5, axes=0), fails=IndexError)


@pytest.mark.parametrize("name", ["variance", "std_dev"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_deviations(name, dtype):
    x = numbers(dtype, (4, 5, 3))
    for axes in (None, 0, [0, 1], [1, 2], -1):
        axis = tuple(np.atleast_1d(axes)) if axes is not None else None
        for keep_dims in (False, True):
            mean = np.asarray(x.mean(axis, dtype=np.float64, keepdims=keep_dims)).astype(np.float32)
            for ddof in (0, 1, -1):
                both(
                    lambda lib, a=axes, k=keep_dims, d=ddof, m=mean: getattr(lib.reductions, name)(
                        lib.as_tensor(x, layout="HWC"), m, axes=a, keep_dims=k, ddof=d
                    ),
                    2e-6,
                )
    both(lambda lib: getattr(lib.reductions, name)(lib.as_tensor(x), 2.5), RTOL)
    both(lambda lib: getattr(lib.reductions, name)(lib.as_tensor(x), 2.5, ddof=60), RTOL)


@pytest.mark.parametrize("name", ["variance", "std_dev"])
def test_deviations_of_batches(name):
    samples = [numbers("float32", shape, i) for i, shape in enumerate([(3, 2), (1, 5), (2, 2)])]
    both(lambda lib: getattr(lib.reductions, name)(lib.as_batch(samples), lib.as_batch([1.5, 2.5, 3.5])), RTOL)
    both(lambda lib: getattr(lib.reductions, name)(lib.as_batch(samples), 1.5), RTOL)
    both(lambda lib: getattr(lib.reductions, name)(samples[0], lib.as_batch([1.5, 2.5])), RTOL)
    both(
        lambda lib: getattr(lib.reductions, name)(lib.as_batch(samples), lib.as_batch([1.5, 2.5])),
        RTOL,
        fails=ValueError,
    )


@settings(max_examples=300, deadline=None)
@given(
    name=st.sampled_from(SIMPLE),
    dtype=st.sampled_from(NUMBERS),
    shapes=st.integers(0, 5).flatmap(
        lambda ndim: st.lists(st.lists(st.integers(1, 9), min_size=ndim, max_size=ndim), min_size=1, max_size=3)
    ),
    chosen=st.integers(0, 31),
    keep_dims=st.booleans(),
    negative=st.booleans(),
    batch=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_random_cases(name, dtype, shapes, chosen, keep_dims, negative, batch, seed):
    ndim = len(shapes[0])
    axes = [d - ndim * negative for d in range(ndim) if chosen >> d & 1]
    samples = [numbers(dtype, tuple(shape), seed + i) for i, shape in enumerate(shapes)]

    def run(lib):
        data = lib.as_batch(samples) if batch else lib.as_tensor(samples[0])
        return getattr(lib.reductions, name)(data, axes=axes, keep_dims=keep_dims)

    both(run, tolerance(name))
