import itertools

import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, op_case


@op_case("transpose", layout="HWC", perm=[*itertools.permutations(range(3)), None])
def reference(x, perm):
    return np.transpose(x, perm)


@pytest.mark.parametrize("perm", [[0, 2, 1], [2, 0, 1], [1, 2, 0], [2, 1, 0], [1, 0, 2]])
@pytest.mark.parametrize("shape", [(61, 67, 3), (3, 61, 67), (40, 2, 50), (100, 70, 4), (5, 100, 100), (90, 130, 1)])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "bool"])
def test_larger_than_a_tile(perm, shape, dtype):
    x = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 120, shape).astype(dtype)
    np.testing.assert_array_equal(np.asarray(ndd.transpose(x, perm=perm)), x.transpose(perm))


def test_random_shapes_and_orders():
    rng = np.random.default_rng(1)
    for _ in range(300):
        shape = rng.integers(0 if rng.random() < 0.1 else 1, 7, rng.integers(0, 8))
        x = rng.integers(0, 100, shape).astype(rng.choice(ALL))
        perm = rng.permutation(len(shape)).tolist()
        np.testing.assert_array_equal(np.asarray(ndd.transpose(x, perm=perm or None)), x.transpose(perm))


def test_many_threads():
    x = np.random.default_rng(0).integers(0, 255, (700, 900, 3), np.uint8)
    with ndd.EvalContext(num_threads=4):
        for perm in itertools.permutations(range(3)):
            np.testing.assert_array_equal(np.asarray(ndd.transpose(x, perm=perm)), x.transpose(perm))


@pytest.mark.parametrize(
    ("arguments", "layout"),
    [
        ({}, "CWH"),
        ({"perm": [2, 0, 1]}, "CHW"),
        ({"perm": [2, 0, 1], "transpose_layout": False}, "HWC"),
        ({"output_layout": "XYZ"}, "XYZ"),
        ({"output_layout": "XYZ", "transpose_layout": False}, "XYZ"),
        ({"output_layout": ""}, None),
    ],
)
def test_layout(arguments, layout):
    assert ndd.transpose(ndd.tensor(np.zeros((2, 3, 4)), layout="HWC"), **arguments).layout == layout


def test_no_layout():
    assert ndd.transpose(np.zeros((2, 3))).layout is None
    assert ndd.transpose(np.zeros((2, 3)), transpose_layout=False).layout is None


@pytest.mark.parametrize(
    "arguments",
    [
        {"perm": [0, 1]},
        {"perm": [0, 1, 1]},
        {"perm": [0, 1, 3]},
        {"perm": [0, 1, -1]},
        {"output_layout": "AB"},
        {"perm": []},
    ],
)
def test_refused(arguments):
    with pytest.raises(RuntimeError, match=r"^transpose: "):
        ndd.transpose(np.zeros((2, 3, 4)), **arguments).evaluate()
