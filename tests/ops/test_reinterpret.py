import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


@op_case(
    "reinterpret",
    shapes=[(6, 4), (3, 8), (2, 12)],
    dtypes=["uint8", "int8", "bool"],
    shape=[[12, 1], [-1, 3]],
    dtype=["u16"],
)
def reference(x, shape, dtype):
    return x.view(np.uint8).reshape(-1, 2).view(np.uint16).reshape(shape)


@pytest.mark.parametrize(
    ("source", "target"), [("int32", "uint8"), ("uint8", "int32"), ("float32", "int16"), ("bool", "int8")]
)
def test_scales_the_last_extent(source, target):
    x = np.arange(24).reshape(2, 3, 4).astype(source)
    out = ndd.reinterpret(ndd.tensor(x, layout="HWC"), dtype=target)
    assert out.layout == "HWC"
    np.testing.assert_array_equal(np.asarray(out), x.view(target))


def test_forms():
    x = np.arange(8, dtype=np.uint8)
    assert ndd.reinterpret(x, dtype="u16", shape=[-1, 2]).shape == (2, 2)
    assert ndd.reinterpret(x, dtype="u16", rel_shape=[0.5]).shape == (4,)
    assert ndd.reinterpret(np.uint8(3), dtype="i8").shape == ()
    assert ndd.reinterpret(np.zeros((6, 4), np.uint8), dtype="u16", src_dims=[1, 0]).shape == (4, 3)
    assert ndd.reinterpret(x, np.int32([2, 1]), dtype="f32").shape == (2, 1)
    for wrong in ({"dtype": "u16", "shape": [3]}, {"dtype": "f64", "shape": [2]}, {}, {"dtype": "u16", "shape": [8]}):
        with pytest.raises(RuntimeError):
            ndd.reinterpret(x, **wrong).evaluate()
    with pytest.raises(RuntimeError):
        ndd.reinterpret(np.zeros((2, 3), np.uint8), dtype="u16").evaluate()
    with pytest.raises(RuntimeError):
        ndd.reinterpret(np.uint8(3), dtype="u16").evaluate()
