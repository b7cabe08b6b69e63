import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


@op_case("element_extract", layout="FHW", shapes=[(3, 4, 2), (2, 1, 5)], element_map=[[1, 0, 1], [0], 1])
def reference(x, element_map):
    return tuple(x[i] for i in np.atleast_1d(element_map))


def test_number_of_outputs():
    x = np.arange(12).reshape(3, 2, 2)
    assert isinstance(ndd.element_extract(x, element_map=[1]), ndd.Tensor)
    out = ndd.element_extract(x, element_map=[2, 0])
    assert isinstance(out, tuple)
    assert [np.asarray(t).tolist() for t in out] == [x[2].tolist(), x[0].tolist()]


@pytest.mark.parametrize("mode", list(ndd.EvalMode))
def test_the_number_is_known_before_the_input_is(mode):
    @ndd.operator
    def late(x):
        return x + 1

    with mode:
        out = ndd.element_extract(late(np.zeros((2, 3), np.int32)), element_map=[0, 1])
        assert [np.asarray(t).tolist() for t in out] == [[1, 1, 1]] * 2


def test_layouts():
    frames = ndd.as_tensor(np.zeros((3, 2, 2), np.uint8), layout="FHW")
    assert [t.layout for t in ndd.element_extract(frames, element_map=[0, 1])] == ["HW", "HW"]
    assert ndd.element_extract(np.zeros((3, 2)), element_map=[0]).layout is None


@pytest.mark.parametrize(
    ("x", "element_map"),
    [
        (np.zeros((3, 2)), [3]),
        (np.zeros((3, 2)), [0, -1]),
        (np.zeros((3, 2)), []),
        (np.zeros(3), [0]),
        (np.zeros(()), [0]),
        (ndd.as_tensor(np.zeros((3, 2)), layout="HW"), [0]),
        (ndd.as_batch([np.zeros((3, 2)), np.zeros((1, 2))]), [1]),
    ],
)
def test_refused(x, element_map):
    with ndd.EvalMode.sync_cpu, pytest.raises(RuntimeError, match="element_extract"):
        ndd.element_extract(x, element_map=element_map)
    with pytest.raises(TypeError):
        ndd.element_extract(x)
