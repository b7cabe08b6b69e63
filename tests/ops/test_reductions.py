import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, op_case

AXES = [None, [0], [1], [-1, 0], []]
red = ndd.reductions


def along(axes):
    return None if axes is None else tuple(axes)


def real_type(x):
    return np.float64 if x.dtype == np.float64 else np.float32


def wide(x):
    return x.astype(np.longdouble)


def sum_type(x):
    return real_type(x) if x.dtype.kind == "f" else np.int64 if x.dtype.kind == "i" else np.uint64


@op_case("reductions.sum", axes=AXES, keep_dims=[False, True])
def total(x, axes, keep_dims):
    values = wide(x) if x.dtype.kind == "f" else x
    return values.sum(along(axes), dtype=None if x.dtype.kind == "f" else sum_type(x), keepdims=keep_dims).astype(
        sum_type(x)
    )


@op_case("reductions.mean", axes=AXES, keep_dims=[False, True])
def mean(x, axes, keep_dims):
    return wide(x).mean(along(axes), keepdims=keep_dims).astype(real_type(x))


@op_case("reductions.mean_square", axes=AXES, keep_dims=[False, True])
def mean_square(x, axes, keep_dims):
    return (wide(x) ** 2).mean(along(axes), keepdims=keep_dims).astype(real_type(x))


@op_case("reductions.rms", axes=AXES, keep_dims=[False, True])
def rms(x, axes, keep_dims):
    return np.sqrt((wide(x) ** 2).mean(along(axes), keepdims=keep_dims)).astype(real_type(x))


@op_case("reductions.min", axes=AXES, keep_dims=[False, True])
def least(x, axes, keep_dims):
    return x.min(along(axes), keepdims=keep_dims)


@op_case("reductions.max", layout="HWC", axis_names=["H", "HW", "CW", ""], keep_dims=[False, True])
def greatest(x, axis_names, keep_dims):
    return x.max(tuple("HWC".index(name) for name in axis_names), keepdims=keep_dims)


@op_case("reductions.variance", shapes=[[(5, 4), (5,)], [(3, 2), (3,)]], axes=[1, [-1]], ddof=[0, 1, -2])
def variance(x, mean, axes, ddof):
    distance = wide(x) - wide(mean)[:, None]
    return ((distance**2).sum(1) / (x.shape[1] - ddof)).astype(real_type(x))


@op_case("reductions.std_dev", shapes=[[(5, 4), ()], [(3, 2), ()]], axes=AXES, keep_dims=[False, True])
def std_dev(x, mean, axes, keep_dims):
    return np.sqrt(((wide(x) - wide(mean)) ** 2).mean(along(axes), keepdims=keep_dims)).astype(real_type(x))


def values(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith("float"):
        return rng.normal(1, 5, shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


# Every way in which kept and folded axes can lie, with extents below and above what is taken at a time.
SHAPES = [(), (1,), (7,), (100,), (3, 1, 50), (300, 3), (3, 300), (40, 7, 9), (2, 3, 4, 5, 6), (5, 33, 1, 34), (70000,)]


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_all_sets_of_axes(dtype, shape):
    x = values(dtype, shape)
    tensor = ndd.as_tensor(x)
    for chosen in range(2 ** len(shape)):
        axes = [d for d in range(len(shape)) if chosen >> d & 1]
        for function, reference in ((red.sum, total), (red.mean, mean), (red.rms, rms), (red.min, least)):
            got, expected = np.asarray(function(tensor, axes=axes)), reference(x, axes=axes, keep_dims=False)
            assert got.dtype == expected.dtype
            if expected.dtype.kind == "f" and function is not red.min:
                # A sum that cancels out is as exact as its terms are.
                scale = np.abs(x.astype(np.float64)).max() * (x.size if function is red.sum else 1)
                np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9 * scale)
            else:
                np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("axes", [[0], [1], [0, 1], [2], [0, 2], [1, 2], None], ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "mean_square", "rms", "min", "max", "std_dev"])
def test_large_samples_do_not_depend_on_threads(name, axes):
    x = values("float32", (300, 401, 3))
    inputs = [ndd.as_tensor(x)] + [ndd.as_tensor(np.float32(1))] * (name == "std_dev")
    results = []
    for threads in (1, 2, 8):
        with ndd.EvalContext(num_threads=threads):
            results.append(np.asarray(getattr(red, name)(*inputs, axes=axes)).tobytes())
    assert results[0] == results[1] == results[2]


def test_sums_of_floats_are_exact_to_the_last_digit():
    x = np.full(1_000_001, 0.1, np.float32)
    assert red.sum(ndd.as_tensor(x)).item() == np.float32(x.astype(np.float64).sum())
    tricky = np.array([1e8, 1, -1e8], np.float32)
    assert red.sum(ndd.as_tensor(tricky)).item() == 1


def test_integers_add_up_exactly():
    x = np.full(200_000, 255, np.uint8)
    assert red.sum(ndd.as_tensor(x)).item() == 51_000_000
    x = np.full(70_000, -128, np.int8)
    assert red.sum(ndd.as_tensor(x)).item() == -8_960_000
    assert red.mean_square(ndd.as_tensor(x), dtype=ndd.int64).item() == 16384
    x = np.full(70_000, 65535, np.uint16)
    assert red.sum(ndd.as_tensor(x)).item() == 70_000 * 65535
    assert red.mean_square(ndd.as_tensor(x), dtype=ndd.uint64).item() == 65535**2


def test_means_of_large_integers_do_not_overflow():
    for dtype in (np.int64, np.uint64):
        top = np.iinfo(dtype).max
        x = np.array([top, top, top], dtype)
        assert red.mean(ndd.as_tensor(x), dtype=ndd.dtype(dtype)).item() == top
        assert red.mean(ndd.as_tensor(x)).item() == np.float32(top)
    low = np.array([-(2**63), -(2**63)])
    assert red.mean(ndd.as_tensor(low), dtype=ndd.int64).item() == -(2**63)
    assert red.mean_square(ndd.as_tensor(low)).item() == 2.0**126
    assert red.rms(ndd.as_tensor(np.array([2**32 - 1] * 3, np.uint32)), dtype=ndd.uint32).item() == 2**32 - 1


def test_dtype_of_the_result():
    x = ndd.as_tensor(np.array([200, 101], np.uint8))
    assert red.sum(x, dtype=ndd.uint8).item() == 301 - 256
    assert red.sum(x, dtype=ndd.float64).dtype == ndd.float64
    assert red.sum(x, dtype=ndd.int16).item() == 301
    assert red.mean(x, dtype=ndd.uint8).item() == 150
    assert red.mean(x, dtype=ndd.int8).item() == 127
    assert red.mean(ndd.as_tensor(np.array([-3, -4], np.int32)), dtype=ndd.int32).item() == -3
    assert red.rms(ndd.as_tensor(np.array([1, 2, 3], np.uint8)), dtype=ndd.uint8).item() == 2
    assert red.mean_square(ndd.as_tensor(np.array([2, 3], np.uint8)), dtype=ndd.uint64).item() == 6
    floats = ndd.as_tensor(np.array([0.7, 2], np.float32))
    assert red.sum(floats, dtype=ndd.int32).item() == 2
    assert red.sum(floats, dtype=ndd.float16).dtype == ndd.float16
    with pytest.raises(TypeError):
        red.max(x, dtype=ndd.uint8)


def test_bfloat16_gives_float32():
    x = ndd.cast(ndd.as_tensor(np.array([1, 2, 4.5], np.float32)), dtype=ndd.bfloat16)
    assert red.sum(x).dtype == red.mean(x).dtype == ndd.float32
    assert red.sum(x).item() == 7.5
    assert red.max(x).dtype == ndd.bfloat16


def test_layouts():
    x = ndd.as_tensor(np.zeros((2, 3, 4), np.uint8), layout="HWC")
    assert red.sum(x, axes=1).layout == "HC"
    assert red.sum(x, axes=1, keep_dims=True).layout == "HWC"
    assert red.sum(x, axis_names="CH").layout == "W"
    assert red.sum(x).layout is None
    assert red.sum(x, axes=[]).layout == "HWC"


def test_ragged_batches():
    batch = ndd.as_batch([np.arange(6.0, dtype=np.float32).reshape(2, 3), np.ones((4, 1), np.float32)], layout="HW")
    out = red.mean(batch, axes=0)
    assert out.layout == "W"
    assert [np.asarray(t).tolist() for t in out] == [[1.5, 2.5, 3.5], [1]]
    deviation = red.std_dev(batch, ndd.as_batch([2.5, 1.0]))
    np.testing.assert_allclose([t.item() for t in deviation], [np.std(np.arange(6)), 0], rtol=1e-6)


def test_nothing_to_fold():
    none = ndd.as_tensor(np.zeros((3, 0), np.float32))
    assert np.asarray(red.sum(none, axes=1)).tolist() == [0, 0, 0]
    assert np.isnan(np.asarray(red.mean(none, axes=1))).all()
    assert np.isnan(red.rms(none).item())
    assert red.mean(none, dtype=ndd.int32).item() == 0
    assert np.isnan(red.variance(none, 0.0).item())
    assert red.min(none).item() == np.finfo(np.float32).max
    assert red.max(none).item() == np.finfo(np.float32).min
    assert red.min(ndd.as_tensor(np.zeros(0, np.int8))).item() == 127
    assert red.max(ndd.as_tensor(np.zeros(0, np.uint16))).item() == 0
    assert red.sum(none, axes=0).shape == (0,)


def test_nan_and_infinity():
    x = ndd.as_tensor(np.array([np.nan, 1, np.nan, 3, np.nan], np.float32))
    assert red.min(x).item() == 1
    assert red.max(x).item() == 3
    assert all(np.isnan(f(x).item()) for f in (red.sum, red.mean, red.mean_square, red.rms))
    both = ndd.as_tensor(np.array([np.inf, np.inf]))
    assert red.min(both).item() == red.max(both).item() == np.inf
    assert np.isnan(red.sum(ndd.as_tensor(np.array([np.inf, -np.inf], np.float32))).item())


def test_mean_of_the_variance():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = x.var(axis=1)
    for mean_of_rows in (x.mean(1), x.mean(1, keepdims=True), x.mean(1).astype(np.float64), x.mean(1).astype(int)):
        np.testing.assert_allclose(np.asarray(red.variance(x, mean_of_rows, axes=1)), expected)
    np.testing.assert_allclose(np.asarray(red.variance(x, 2.5, axes=1)), ((x - 2.5) ** 2).mean(1))
    for wrong in (x.mean(0), np.zeros((2, 2), np.float32), np.zeros(0, np.float32)):
        with pytest.raises(RuntimeError, match=r"mean of the shape \(2,\)"):
            red.variance(x, wrong, axes=1).evaluate()
    assert red.variance(x, 2.5, ddof=6).item() == np.inf
    assert red.variance(x, 2.5, ddof=8).item() < 0
    assert np.isnan(red.std_dev(x, 2.5, ddof=8).item())
    with pytest.raises(TypeError):
        red.std_dev(x)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"axes": 2}, IndexError, "axis 2 is out of range"),
        ({"axes": -3}, IndexError, "axis -3 is out of range"),
        ({"axes": [0, -2]}, ValueError, "axis 0 is given twice"),
        ({"axis_names": "C"}, RuntimeError, "no axis 'C'"),
        ({"axis_names": "HWH"}, ValueError, "axis 0 is given twice"),
        ({"axes": 0, "axis_names": "H"}, RuntimeError, "got both"),
        ({"axes": "a"}, TypeError, "expected an integer"),
    ],
)
def test_wrong_axes(arguments, error, message):
    x = ndd.as_tensor(np.zeros((2, 3), np.float32), layout="HW")
    for function in (red.sum, red.max):
        with pytest.raises(error, match=message):
            function(x, **arguments).evaluate()


def test_axes_of_a_scalar():
    assert red.sum(5).item() == 5
    assert red.sum(5, axes=[]).dtype == ndd.int64
    assert red.mean([1, 2, 6]).item() == 3
    with pytest.raises(IndexError):
        red.sum(5, axes=0).evaluate()
