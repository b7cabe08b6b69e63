import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


@op_case("cast_like", shapes=[[(3, 4), (2,)], [(5, 2), (7,)]])
def cast_like_reference(x, like):
    return x


def test_takes_the_type_only():
    x = ndd.tensor(np.float32([[1.5, 300]]), layout="XY")
    out = ndd.cast_like(x, ndd.as_batch([np.uint8([1]), np.uint8([2, 3])]))
    assert isinstance(out, ndd.Batch)
    assert out.layout == "XY"
    assert [np.asarray(t).tolist() for t in out] == [[[2, 255]]] * 2
    assert ndd.cast_like(x, 1.0).dtype == ndd.float32
    with pytest.raises(TypeError):
        ndd.cast_like(x)  # pyright: ignore[reportCallIssue]
