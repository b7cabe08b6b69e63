import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, op_case


@op_case("one_hot", num_classes=[5, 0], axis=[-1, 0, 1, 2], high=7)
def reference(x, num_classes, axis):
    hot = x[..., None].astype(np.int64) == np.arange(num_classes)
    return np.moveaxis(hot, -1, axis).astype(np.float32)


@op_case("one_hot", shapes=[(1,), (1,)], num_classes=[4], on_value=[7], off_value=[-1], dtype=[ndd.int16], high=6)
def single_numbers(x, num_classes, on_value, off_value, dtype):
    return np.where(np.arange(num_classes) == int(x[0]), on_value, off_value).astype(np.int16)


@pytest.mark.parametrize("dtype", ALL)
def test_element_types(dtype):
    out = ndd.one_hot([1, 0], num_classes=2, dtype=getattr(ndd, dtype))
    assert np.asarray(out).dtype == dtype
    assert np.asarray(out).tolist() == [[0, 1], [1, 0]]


def test_samples_of_one_element_lose_their_axes_unless_one_is_asked_for():
    assert ndd.one_hot([[1]], num_classes=3).shape == (3,)
    assert ndd.one_hot([[1]], num_classes=3, axis=-1).shape == (1, 1, 3)
    assert ndd.one_hot([1], num_classes=3, axis=0).shape == (3, 1)
    assert ndd.one_hot(ndd.as_batch([[1], [2]]), num_classes=3).shape == [(3,), (3,)]
    assert ndd.one_hot(ndd.as_batch([[1], [1, 2]]), num_classes=3).shape == [(1, 3), (2, 3)]


def test_numbers_that_are_no_class():
    numbers = np.array([-0.5, 0.9, 2.7, 3, -1, np.nan, np.inf], np.float32)
    out = np.asarray(ndd.one_hot(numbers, num_classes=3))
    assert out.argmax(1)[:3].tolist() == [0, 0, 2]
    assert out[3:].sum() == 0
    assert np.asarray(ndd.one_hot(np.array([2**32 + 1, -1, 1]), num_classes=3)).sum(1).tolist() == [0, 0, 1]
    assert np.asarray(ndd.one_hot(np.array([2**64 - 1], np.uint64), num_classes=3)).sum() == 0


def test_values_are_cast_as_in_c():
    out = ndd.one_hot([0], num_classes=2, on_value=300.7, off_value=-5.7, dtype=ndd.uint8)
    assert np.asarray(out).tolist() == [44, 251]
    out = ndd.one_hot([0], num_classes=2, on_value=2.5, off_value=-2.7, dtype=ndd.int32)
    assert np.asarray(out).tolist() == [2, -2]


def test_layouts():
    x = ndd.as_tensor([1, 2], layout="H")
    assert ndd.one_hot(x, num_classes=3).layout is None
    assert ndd.one_hot(x, num_classes=3, axis_name="C").layout == "HC"
    assert ndd.one_hot(x, num_classes=3, axis_name="C", axis=0).layout == "CH"
    assert ndd.one_hot(ndd.as_tensor([1], layout="H"), num_classes=3, axis_name="C").layout == "C"
    assert ndd.one_hot(5, num_classes=3, axis_name="C").layout == "C"
    ragged = ndd.as_batch([[1], [1, 2]], layout="H")
    assert ndd.one_hot(ragged, num_classes=3, axis_name="C").layout == "HC"


def test_empty_samples():
    assert ndd.one_hot(np.zeros((2, 0), np.int32), num_classes=3).shape == (2, 0, 3)


@pytest.mark.parametrize(
    ("x", "arguments"),
    [
        ([1, 2], {"axis": 2}),
        ([1, 2], {"axis": -2}),
        (5, {"axis": 1}),
        ([1, 2], {"axis_name": "C"}),
        ([[1]], {"axis_name": "C", "axis": 0}),
        (ndd.as_tensor([1, 2], layout="H"), {"axis_name": "CD"}),
        (ndd.as_tensor([1, 2], layout="H"), {"axis_name": ""}),
        (5, {"num_classes": -1}),
    ],
)
def test_refused(x, arguments):
    with pytest.raises(RuntimeError, match="one_hot"):
        ndd.one_hot(x, **{"num_classes": 3, **arguments}).evaluate()
