import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


@op_case("squeeze", shapes=[(1, 3, 1, 2), (1, 5, 1, 1)], axes=[[0], [2], [-2], [-4]])
def by_number(x, axes):
    return np.squeeze(x, tuple(axes))


@op_case("squeeze", shapes=[(1, 3, 1, 2), (1, 5, 1, 1)], layout="ABCD", axis_names=["A", "CA", ""])
def by_name(x, axis_names):
    return np.squeeze(x, tuple("ABCD".index(name) for name in axis_names))


X = np.arange(6, dtype=np.int16).reshape(1, 3, 1, 2)


@pytest.mark.parametrize(
    ("arguments", "shape", "layout"),
    [
        ({"axes": 0}, (3, 1, 2), "BCD"),
        ({"axes": [0, 2]}, (3, 2), "BD"),
        ({"axes": (-2, 0)}, (3, 2), "BD"),
        ({"axes": []}, (1, 3, 1, 2), "ABCD"),
        ({"axes": np.array([2])}, (1, 3, 2), "ABD"),
        ({"axis_names": "CA"}, (3, 2), "BD"),
    ],
)
def test_shape_and_layout(arguments, shape, layout):
    out = ndd.squeeze(ndd.tensor(X, layout="ABCD"), **arguments)
    assert out.shape == shape
    assert out.layout == layout
    np.testing.assert_array_equal(np.asarray(out), X.reshape(shape))
    assert ndd.squeeze(X, **arguments).layout is None if "axes" in arguments else True


def test_axes_per_sample():
    batch = ndd.as_batch([np.zeros((1, 3, 1)), np.zeros((1, 1, 4))], layout="ABC")
    out = ndd.squeeze(batch, axes=ndd.as_batch([[0], [1]]))
    assert out.shape == [(3, 1), (1, 4)]
    assert out.layout is None  # the samples would have different ones
    assert ndd.squeeze(batch, axes=ndd.as_batch([[0], [-3]])).layout == "BC"
    with pytest.raises(RuntimeError):
        ndd.squeeze(batch, axes=ndd.as_batch([[0], [0, 1]])).evaluate()


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"axes": 1},
        {"axes": 4},
        {"axes": -5},
        {"axes": [0, 0]},
        {"axes": [0, -4]},
        {"axis_names": "B"},
        {"axis_names": "X"},
        {"axis_names": "AA"},
        {"axes": 0, "axis_names": "A"},
    ],
)
def test_refused(arguments):
    with pytest.raises(RuntimeError, match=r"^squeeze: "):
        ndd.squeeze(ndd.tensor(X, layout="ABCD"), **arguments).evaluate()


def test_names_need_a_layout():
    with pytest.raises(RuntimeError):
        ndd.squeeze(X, axis_names="A").evaluate()


def test_empty_samples():
    assert ndd.squeeze(np.zeros((0, 3)), axes=1).shape == (0,)
    with pytest.raises(RuntimeError):
        ndd.squeeze(np.zeros((0, 3)), axes=0).evaluate()
