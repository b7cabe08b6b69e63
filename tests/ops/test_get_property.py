import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


@op_case("get_property", layout="HWC", key=["layout"])
def layout(x, key):
    return np.frombuffer(b"HWC", np.uint8)


@op_case("get_property", key=["layout", "source_info"])
def nothing(x, key):
    return np.zeros(0, np.uint8)


def test_batches():
    out = ndd.get_property(np.zeros(3), key="layout", batch_size=2)
    assert out.shape == [(0,), (0,)]
    assert out.dtype == ndd.uint8


@pytest.mark.parametrize("key", ["foo", "", "Layout"])
def test_unknown_keys(key):
    with pytest.raises(RuntimeError, match="get_property"):
        ndd.get_property(np.zeros(3), key=key).evaluate()
    with pytest.raises(TypeError):
        ndd.get_property(np.zeros(3))
