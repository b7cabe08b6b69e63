import itertools

import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, FLOATS, INTEGERS, op_case


def rounded(x, target):
    """Saturating conversion of an array, rounding half away from zero: the reference in exact arithmetic."""
    target = np.dtype(target)
    if target.kind == "b":
        return ~(np.abs(x) < 0.5) if x.dtype.kind == "f" else x != 0
    if target.kind == "f":
        with np.errstate(over="ignore"):
            return x.astype(target)
    low, high = np.iinfo(target).min, np.iinfo(target).max

    def one(v):
        if v != v:
            return 0
        if v in (np.inf, -np.inf):
            return high if v > 0 else low
        if x.dtype.kind == "f":
            whole, part = divmod(abs(float(v)), 1)
            v = (int(whole) + (part >= 0.5)) * (1 if v > 0 else -1)
        return min(max(int(v), low), high)

    return np.array([one(v) for v in x.ravel()], target).reshape(x.shape)


@op_case("cast", layout="HWC", low=-60000, high=60000, dtype=[ndd.uint8, ndd.int16, ndd.float32, ndd.bool, ndd.int64])
def cast_reference(x, dtype):
    return rounded(x, {"u8": "uint8", "i16": "int16", "f32": "float32", "bool": "bool", "i64": "int64"}[str(dtype)])


INTERESTING = [0, 1, 2, 100, 127, 128, 129, 255, 256, 2**15 - 1, 2**15, 2**16 - 1, 2**16]
INTERESTING += [2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
FRACTIONS = [0.25, 0.49999997, 0.5, 0.75, 1.5, 2.5, 3.4999998, 126.5, 127.5, 255.5, 8388607.5, 4194303.75, 4194303.25]


def samples(dtype):
    if dtype == "bool":
        return np.array([False, True, True])
    if np.dtype(dtype).kind == "f":
        with np.errstate(over="ignore"):
            positive = np.array([*INTERESTING, *FRACTIONS, 1e-30, 1e10, 1e19, 1e30, np.inf]).astype(dtype)
        return np.concatenate([positive, -positive, np.array([np.nan, -0.0], dtype)])
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return np.array([v for n in INTERESTING for v in (n, -n, -n - 1) if low <= v <= high], dtype)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(ALL, [*INTEGERS, "bool"])))
def test_to_integers(source, target):
    x = np.tile(samples(source), 5)  # long enough for vector loops and their ends
    np.testing.assert_array_equal(np.asarray(ndd.cast(x, dtype=target)), rounded(x, target))


@pytest.mark.parametrize(("source", "target"), list(itertools.product(ALL, ["float32", "float64"])))
def test_to_floats(source, target):
    x = np.tile(samples(source), 5)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.asarray(ndd.cast(x, dtype=target)), x.astype(target))


def test_every_half_becomes_the_same_float():
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    np.testing.assert_array_equal(np.asarray(ndd.cast(x, dtype="float32")), x.astype(np.float32))
    back = np.asarray(ndd.cast(x.astype(np.float32), dtype="float16"))
    np.testing.assert_array_equal(np.isnan(back), np.isnan(x))
    np.testing.assert_array_equal(back.view(np.uint16)[~np.isnan(x)], x.view(np.uint16)[~np.isnan(x)])


def test_halves_round_to_nearest_and_ties_away_from_zero():
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    middle = ((halves[:-1] + halves[1:]) / 2).astype(np.float32)
    for x, expected in ((middle, halves[1:]), (np.nextafter(middle, np.float32(0)), halves[:-1])):
        np.testing.assert_array_equal(np.asarray(ndd.cast(x, dtype="float16")), expected.astype(np.float16))
        np.testing.assert_array_equal(np.asarray(ndd.cast(-x, dtype="float16")), -expected.astype(np.float16))
    assert np.isinf(np.asarray(ndd.cast(np.float32([65520, -65520, 1e30]), dtype="float16"))).all()


def test_bfloat16_rounds_to_nearest_even():
    x = np.float32([1, 1.00390625, 1.01171875, -3.14159, 1e38, np.inf, 0])
    bits = x.view(np.uint32)
    expected = (((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) << 16).view(np.float32)
    there = ndd.cast(x, dtype=ndd.bfloat16)
    assert there.dtype == ndd.bfloat16
    np.testing.assert_array_equal(np.asarray(ndd.cast(there, dtype=ndd.float32)), expected)
    assert np.isnan(np.asarray(ndd.cast(ndd.cast(np.float32([np.nan]), dtype="bfloat16"), dtype="float32")))
    np.testing.assert_array_equal(np.asarray(ndd.cast(ndd.cast([300, -7], dtype="bfloat16"), dtype="uint8")), [255, 0])


@pytest.mark.parametrize("dtype", ["f16", "float16", np.float16, np.dtype("float16"), ndd.float16, 8])
def test_ways_to_name_a_type(dtype):
    assert ndd.cast([1, 2], dtype=dtype).dtype == ndd.float16


@pytest.mark.parametrize(
    ("dtype", "error"),
    [("flot16", ValueError), (99, ValueError), (-1, ValueError), (None, TypeError), (object(), TypeError)],
)
def test_no_such_type(dtype, error):
    with pytest.raises(error):
        ndd.cast([1, 2], dtype=dtype)


def test_layout_and_source_stay():
    x = ndd.cast(ndd.tensor(np.zeros((2, 3, 1), np.uint8), layout="HWC"), dtype=ndd.float32)
    assert x.layout == "HWC"
    assert x.shape == (2, 3, 1)


def test_non_canonical_bools():
    x = np.array([0, 1, 2, 255], np.uint8).view(bool)
    np.testing.assert_array_equal(np.asarray(ndd.cast(x, dtype="int32")), [0, 1, 1, 1])


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,) * 16])
def test_odd_shapes(shape):
    out = ndd.cast(np.ones(shape, np.float32), dtype=ndd.int8)
    assert out.shape == shape
    np.testing.assert_array_equal(np.asarray(out), np.ones(shape, np.int8))


def test_large_samples_on_many_threads():
    x = np.random.default_rng(0).uniform(-300, 300, (3, 400, 500, 3)).astype(np.float32)
    with ndd.EvalContext(num_threads=4):
        out = np.asarray(ndd.as_tensor(ndd.cast(ndd.as_batch(x), dtype="int16")))
    np.testing.assert_array_equal(out, np.trunc(x + np.copysign(0.5, x)).astype(np.int16))


@pytest.mark.parametrize(("source", "target"), list(itertools.product(FLOATS, INTEGERS)))
def test_random_floats(source, target):
    rng = np.random.default_rng(7)
    with np.errstate(over="ignore"):
        x = (rng.uniform(-2, 2, 500) * 2.0 ** rng.integers(-3, 66, 500)).astype(source)
    np.testing.assert_array_equal(np.asarray(ndd.cast(x, dtype=target)), rounded(x, target))


@pytest.mark.parametrize("dtype", ["uint8", "float32", "bool"])
def test_nothing_is_cast_to_its_own_type(dtype):
    """Without elements there may be no memory either, which the sanitizers watch."""
    empty = ndd.tensor(np.empty((0, 3), dtype))
    assert np.asarray(ndd.cast(empty, dtype=dtype)).shape == (0, 3)
    assert np.asarray(ndd.cast_like(empty, ndd.tensor(np.zeros(2, dtype)))).shape == (0, 3)
