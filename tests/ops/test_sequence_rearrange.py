import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case

VIDEO = np.arange(4 * 2 * 3 * 1, dtype=np.uint8).reshape(4, 2, 3, 1)


@op_case(
    "sequence_rearrange",
    shapes=[(4, 3, 2), (5, 1, 2), (4, 2, 3)],
    new_order=[[0, 1, 2, 3], [3, 0, 0], [2], [1, 1, 1, 1, 1, 0]],
)
def rearranged(x, new_order):
    return x[new_order]


def test_layouts():
    out = ndd.sequence_rearrange(ndd.tensor(VIDEO, layout="FHWC"), new_order=[3, 1])
    assert out.layout == "FHWC"
    np.testing.assert_array_equal(np.asarray(out), VIDEO[[3, 1]])
    assert np.asarray(ndd.sequence_rearrange(np.int32([7, 8, 9]), new_order=[2, 0])).tolist() == [9, 7]
    assert ndd.sequence_rearrange(np.zeros((3, 0, 2)), new_order=[2, 0]).shape == (2, 0, 2)


@pytest.mark.parametrize("order", [[], [4], [-1], [0, 9], [2**31 - 1]])
def test_frames_that_are_not_there(order):
    with pytest.raises(RuntimeError, match="new_order"):
        ndd.sequence_rearrange(VIDEO, new_order=order).evaluate()
    with pytest.raises(RuntimeError, match="new_order"):
        ndd.sequence_rearrange(VIDEO[:0], new_order=order).evaluate()


def test_what_is_no_sequence():
    with pytest.raises(RuntimeError, match="starts with F"):
        ndd.sequence_rearrange(ndd.tensor(VIDEO[0], layout="HWC"), new_order=[0])
    with pytest.raises(RuntimeError, match="expected sequences"):
        ndd.sequence_rearrange(np.float32(3), new_order=[0])
