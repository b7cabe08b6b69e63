import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


@op_case("expand_dims", layout="HW", axes=[0, [1], [2], [1, 3], [3, 0], []])
def reference(x, axes):
    return np.expand_dims(x, tuple(np.atleast_1d(axes).astype(int)))


@pytest.mark.parametrize(
    ("axes", "names", "shape", "layout"),
    [
        (0, "F", (1, 2, 3), "FHW"),
        (2, "C", (2, 3, 1), "HWC"),
        ([1, 3], None, (2, 1, 3, 1), None),
        ([3, 0], "AB", (1, 2, 3, 1), "BHWA"),
        ([0], "H", (1, 2, 3), "HHW"),
        ([], None, (2, 3), "HW"),
    ],
)
def test_layout(axes, names, shape, layout):
    out = ndd.expand_dims(ndd.tensor(np.zeros((2, 3)), layout="HW"), axes=axes, new_axis_names=names)
    assert out.shape == shape
    assert out.layout == layout


def test_scalars_need_no_layout():
    out = ndd.expand_dims(7, axes=[0, 1], new_axis_names="AB")
    assert out.shape == (1, 1)
    assert out.layout == "AB"


@pytest.mark.parametrize(
    "arguments",
    [
        {"axes": -1},
        {"axes": 3},
        {"axes": [0, 0]},
        {"axes": [0], "new_axis_names": "AB"},
        {"axes": list(range(15))},
    ],
)
def test_refused(arguments):
    with pytest.raises(RuntimeError, match=r"^expand_dims: "):
        ndd.expand_dims(ndd.tensor(np.zeros((2, 3)), layout="HW"), **arguments).evaluate()


def test_needs_axes_and_a_layout_for_names():
    with pytest.raises(TypeError):
        ndd.expand_dims([1, 2])  # pyright: ignore[reportCallIssue]
    with pytest.raises(RuntimeError):
        ndd.expand_dims([1, 2], axes=0, new_axis_names="A")
