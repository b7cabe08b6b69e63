import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


@op_case("cat", shapes=[[(2, 3), (5, 3)], [(4, 1), (1, 1)], [(0, 2), (3, 2)]], axis=[0, -2])
def rows(a, b, axis):
    return np.concatenate([a, b], axis)


@op_case("cat", layout="HWC", shapes=[[(2, 3, 2)] * 3, [(4, 1, 3)] * 3], axis=[0, 1, 2, -1])
def equal_shapes(a, b, c, axis):
    return np.concatenate([a, b, c], axis)


def image(shape=(2, 3, 4), layout="HWC", dtype="uint8"):
    return ndd.tensor(np.zeros(shape, dtype), layout=layout)


def test_names():
    assert ndd.cat(image(), image(), axis_name="W").shape == (2, 6, 4)
    assert ndd.cat(image(), image(layout="ABC"), axis_name="C").layout == "HWC"
    assert ndd.cat(image(layout=None), image()).layout is None


def test_tensor_and_batch():
    out = ndd.cat(ndd.as_batch([[1], [2]]), np.int32([5]))
    assert [np.asarray(t).tolist() for t in out] == [[1, 5], [2, 5]]
    out = ndd.cat(np.int32([5]), ndd.as_batch([[1], [2, 3]]))
    assert [np.asarray(t).tolist() for t in out] == [[5, 1], [5, 2, 3]]
    assert np.asarray(ndd.cat(np.int32([1]), None, np.int32([2]))).tolist() == [1, 2]
    assert np.asarray(ndd.cat(np.int32([1]))).tolist() == [1]


@pytest.mark.parametrize(
    ("shapes", "axis", "expected"),
    [
        ([(2, 3), (0, 0)], 0, (2, 3)),
        ([(2, 3), (0, 3)], 1, (2, 3)),
        ([(0, 5), (2, 3)], 1, (2, 3)),
        ([(2, 3), (0, 3)], 0, (2, 3)),
        ([(1, 0), (2, 0)], 0, (3, 0)),
        ([(0, 3), (0, 4)], 1, (0, 7)),
        ([(0, 3), (0, 5)], 0, (0, 3)),
    ],
)
def test_inputs_without_elements(shapes, axis, expected):
    assert ndd.cat(*[np.ones(shape) for shape in shapes], axis=axis).shape == expected


def test_large_samples_on_many_threads():
    rng = np.random.default_rng(0)
    pieces = [rng.integers(0, 255, (300, n, 400), np.uint8) for n in (3, 1, 7)]
    with ndd.EvalContext(num_threads=4):
        np.testing.assert_array_equal(np.asarray(ndd.cat(*pieces, axis=1)), np.concatenate(pieces, 1))


@pytest.mark.parametrize(
    ("inputs", "arguments"),
    [
        ([image(), image(dtype="int8")], {}),
        ([image(), image((2, 3), "HW")], {}),
        ([image(), image((2, 3, 5))], {}),
        ([image(), image()], {"axis": 3}),
        ([image(), image()], {"axis": -4}),
        ([image(), image()], {"axis": 0, "axis_name": "H"}),
        ([image(), image()], {"axis_name": "X"}),
        ([image(), image()], {"axis_name": "HW"}),
        ([image(layout=None), image()], {"axis_name": "H"}),
        ([1, 2], {}),
    ],
)
def test_refused(inputs, arguments):
    with pytest.raises(RuntimeError, match=r"^cat: "):
        ndd.cat(*inputs, **arguments).evaluate()


def test_needs_an_input():
    with pytest.raises(TypeError):
        ndd.cat()  # pyright: ignore[reportCallIssue]
    with pytest.raises(ValueError, match="batch sizes differ"):
        ndd.cat(ndd.as_batch([[1], [2]]), ndd.as_batch([[1], [2], [3]]))
