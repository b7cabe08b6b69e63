import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, op_case


@op_case("pad", layout="HWC", shape=[[6, 8, 4], [1, 9, 3]], fill_value=[0, 7])
def to_a_shape(x, shape, fill_value):
    return np.pad(x, [(0, max(n - e, 0)) for n, e in zip(shape, x.shape, strict=True)], constant_values=fill_value)


@op_case("pad", layout="HWC", axes=[[0, 1], [1, 2], [-1, 0]], shape=[[1, 1]], align=[[4, 5], [3, 2]], fill_value=[1])
def to_a_multiple(x, axes, shape, align, fill_value):
    widths = [(0, 0)] * x.ndim
    for axis, n in zip(axes, align, strict=True):
        widths[axis] = (0, -x.shape[axis] % n)
    return np.pad(x, widths, constant_values=fill_value)


SHAPES = [(5, 2), (3, 4), (1, 3)]


def batch(dtype="int16", layout="HW", shapes=SHAPES):
    return ndd.as_batch([np.full(s, 1).astype(dtype) for s in shapes], layout=layout)


@pytest.mark.parametrize(
    ("arguments", "shapes"),
    [
        ({}, [(5, 4)] * 3),
        ({"axes": [0]}, [(5, 2), (5, 4), (5, 3)]),
        ({"axes": -1}, [(5, 4), (3, 4), (1, 4)]),
        ({"axes": []}, [(5, 4)] * 3),
        ({"axis_names": "W"}, [(5, 4), (3, 4), (1, 4)]),
        ({"axis_names": "WH"}, [(5, 4)] * 3),
        ({"axis_names": "H", "shape": [7]}, [(7, 2), (7, 4), (7, 3)]),
        ({"shape": [-1, 6]}, [(5, 6)] * 3),
        ({"shape": 2}, [(5, 2), (3, 4), (2, 3)]),
        ({"shape": []}, [(5, 4)] * 3),
        ({"align": 4}, [(8, 4)] * 3),
        ({"align": [3, 2], "shape": [1, 1]}, [(6, 2), (3, 4), (3, 4)]),
        ({"align": [4], "axes": [1]}, [(5, 4), (3, 4), (1, 4)]),
        ({"shape": ndd.as_batch([[6, 2], [3, 9], [1, 3]])}, [(6, 2), (3, 9), (1, 3)]),
        ({"axes": ndd.as_batch([[0], [1], [0]]), "shape": 6}, [(6, 2), (3, 6), (6, 3)]),
        ({"align": ndd.as_batch([[2, 2], [1, 1], [4, 1]]), "shape": 1}, [(6, 2), (3, 4), (4, 3)]),
    ],
)
@pytest.mark.parametrize("dtype", ["int16", "float64", "bool"])
def test_shapes(arguments, shapes, dtype):
    out = ndd.pad(batch(dtype), **arguments)
    assert out.layout == "HW"
    assert out.shape == shapes
    for sample, shape, original in zip(out, shapes, SHAPES, strict=True):
        expected = np.zeros(shape, dtype)
        expected[: original[0], : original[1]] = 1
        np.testing.assert_array_equal(np.asarray(sample), expected)


@pytest.mark.parametrize(
    ("dtype", "fill", "stored"),
    [
        ("uint8", 300, 44),
        ("uint8", -1, 255),
        ("int8", 2.7, 2),
        ("int16", -2.7, -2),
        ("uint64", -1, 2**64 - 1),
        ("float16", 10000000000.0, np.inf),
        ("float32", -1.5, -1.5),
        ("bool", 1, True),
        ("int64", 10000000000.0, 10**10),
    ],
)
def test_fill_values_wrap(dtype, fill, stored):
    assert np.asarray(ndd.pad(np.ones(1, dtype), shape=[3], fill_value=fill)).tolist() == [1, stored, stored]


def test_fill_values_per_sample():
    out = ndd.pad(batch(), fill_value=ndd.as_batch([1.0, 2.0, 3.0]))
    assert [np.asarray(t)[-1, -1] for t in out] == [1, 2, 3]


@pytest.mark.parametrize("dtype", ALL)
def test_odd_shapes(dtype):
    assert ndd.pad(np.ones((), dtype)).shape == ()
    assert ndd.pad(np.ones((0, 3), dtype), shape=[2, 3], fill_value=1).shape == (2, 3)
    assert np.asarray(ndd.pad(np.ones((0, 3), dtype), shape=[2, 3], fill_value=1)).all()
    assert ndd.pad(np.ones((2, 0, 2), dtype)).shape == (2, 0, 2)


def test_large_samples_on_many_threads():
    x = np.random.default_rng(0).integers(0, 255, (500, 700, 3), np.uint8)
    with ndd.EvalContext(num_threads=4):
        out = ndd.pad(ndd.as_batch([x, x[:3], x[:, :5]]), fill_value=9)
    for sample, original in zip(out, (x, x[:3], x[:, :5]), strict=True):
        expected = np.full(x.shape, 9, np.uint8)
        expected[: original.shape[0], : original.shape[1]] = original
        np.testing.assert_array_equal(np.asarray(sample), expected)


@pytest.mark.parametrize(
    "arguments",
    [
        {"axes": [2]},
        {"axes": [-3]},
        {"axes": [0, 0]},
        {"axis_names": "X"},
        {"axis_names": "HH"},
        {"axes": [0], "axis_names": "H"},
        {"shape": [1, 2, 3]},
        {"align": [1, 2, 3]},
        {"align": 0},
        {"align": [-1, 2]},
        {"fill_value": [1, 2]},
    ],
)
def test_refused(arguments):
    with pytest.raises(RuntimeError, match=r"^pad: "):
        ndd.pad(batch(), **arguments).evaluate()


def test_too_large():
    for arguments in ({"shape": [2**40, 2**40]}, {"align": 2**62}):
        with pytest.raises((RuntimeError, ValueError, MemoryError)):
            ndd.pad(batch(), **arguments).evaluate()
