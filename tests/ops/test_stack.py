import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


@op_case("stack", layout="HW", shapes=[[(2, 3)] * 3, [(4, 1)] * 3], axis=[0, 1, 2])
def stack_reference(a, b, c, axis):
    return np.stack([a, b, c], axis)


def image(shape=(2, 3), layout="HW", dtype="uint8"):
    return ndd.tensor(np.zeros(shape, dtype), layout=layout)


@pytest.mark.parametrize(
    ("axis", "shape"), [(0, (4, 2, 3)), (1, (2, 4, 3)), (2, (2, 3, 4)), (-1, (2, 3, 4)), (-2, (2, 4, 3))]
)
def test_axes(axis, shape):
    x = np.arange(24).reshape(4, 2, 3)
    out = ndd.stack(*x, axis=axis)
    assert out.shape == shape
    np.testing.assert_array_equal(np.asarray(out), np.stack(list(x), axis))


def test_large_samples_on_many_threads():
    x = np.random.default_rng(0).integers(0, 255, (5, 300, 7, 400), np.uint8)
    with ndd.EvalContext(num_threads=4):
        for axis in range(4):
            np.testing.assert_array_equal(np.asarray(ndd.stack(*x, axis=axis)), np.stack(list(x), axis))


def test_layout():
    assert ndd.stack(image(), image()).layout is None
    assert ndd.stack(image(), image(), axis_name="F").layout == "FHW"
    assert ndd.stack(image(), image(), axis_name="C", axis=-1).layout == "HWC"
    assert ndd.stack(1, 2, 3, axis_name="N").layout == "N"
    assert np.asarray(ndd.stack(1, 2, 3)).tolist() == [1, 2, 3]


def test_tensor_and_batch():
    out = ndd.stack(ndd.as_batch([[1, 2], [3, 4]]), np.int32([5, 6]), axis=1)
    assert [np.asarray(t).tolist() for t in out] == [[[1, 5], [2, 6]], [[3, 5], [4, 6]]]
    assert ndd.stack(np.zeros((0, 3)), np.zeros((0, 3))).shape == (2, 0, 3)


@pytest.mark.parametrize(
    ("inputs", "arguments"),
    [
        ([image(), image(dtype="int8")], {}),
        ([image(), image((2, 3, 1), "HWC")], {}),
        ([image(), image((2, 4))], {}),
        ([image(), image()], {"axis": 3}),
        ([image(), image()], {"axis": -3}),
        ([image(), image()], {"axis_name": "AB"}),
        ([image(layout=None), image()], {"axis_name": "H"}),
        ([np.zeros((1,) * 16)] * 2, {}),
    ],
)
def test_refused(inputs, arguments):
    with pytest.raises((RuntimeError, ValueError), match=r"^stack: "):
        ndd.stack(*inputs, **arguments).evaluate()
