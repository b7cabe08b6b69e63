import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, op_case

SHAPES = [[2, 3], [4, 1], [0, 2]]


@op_case("zeros", shapes=[(), (), ()], dtypes=["int32"], shape=SHAPES)
def zeros(shape):
    return np.zeros(shape, np.int32)


@op_case("ones", shapes=[(), (), ()], dtypes=["int32"], shape=SHAPES)
def ones(shape):
    return np.ones(shape, np.int32)


@op_case("full", shapes=[(3,), (3,), (1,)], shape=[[2, 3], [4, 3], [0, 3]])
def full(fill_value, shape):
    return np.broadcast_to(fill_value, shape)


@op_case("zeros_like")
def zeros_like(x):
    return np.zeros_like(x)


@op_case("ones_like")
def ones_like(x):
    return np.ones_like(x)


@op_case("full_like", shapes=[[(4, 3), (1, 3)], [(2, 5), (2, 1)], [(3, 2), (1, 1)]])
def full_like(x, fill_value):
    return np.broadcast_to(fill_value, x.shape)


@pytest.mark.parametrize("dtype", ALL)
def test_element_types(dtype):
    for function, number in ((ndd.zeros, 0), (ndd.ones, 1)):
        out = function(shape=[2, 1], dtype=getattr(ndd, dtype))
        assert np.asarray(out).dtype == dtype
        assert (np.asarray(out) == number).all()
    assert ndd.ones_like(ndd.as_tensor(np.zeros(3, np.uint8)), dtype=getattr(ndd, dtype)).dtype == getattr(ndd, dtype)


def test_forms_of_a_shape():
    assert ndd.zeros().shape == ()
    assert ndd.zeros(shape=[]).shape == ()
    assert ndd.zeros(shape=3).shape == (3,)
    assert ndd.zeros(shape=(2.7, 1)).shape == (2, 1)
    assert ndd.zeros(shape=np.array([2, 1])).shape == (2, 1)
    assert ndd.zeros(shape=ndd.as_tensor([2.7])).shape == (3,)
    assert ndd.zeros(shape=ndd.as_batch([[1, 2], [2, 1]])).shape == [(1, 2), (2, 1)]
    assert ndd.zeros(shape=ndd.as_batch([1, 2])).shape == [(1,), (2,)]


def test_batches():
    assert isinstance(ndd.zeros(shape=2, batch_size=1), ndd.Batch)
    assert ndd.ones(shape=2, batch_size=3).shape == [(2,)] * 3
    assert ndd.ones(shape=2, batch_size=0).batch_size == 0
    assert ndd.zeros_like([1, 2], batch_size=2).shape == [(2,), (2,)]
    out = ndd.full(ndd.as_batch([[1, 2], [3]]), shape=[2])
    assert [np.asarray(t).tolist() for t in out] == [[1, 2], [3, 3]]
    out = ndd.full_like(np.zeros(2, np.uint8), ndd.as_batch([1, 2]))
    assert [np.asarray(t).tolist() for t in out] == [[1, 1], [2, 2]]


def test_layouts():
    assert ndd.zeros(shape=[2, 3], layout="HW").layout == "HW"
    assert ndd.zeros(shape=[2, 3], layout="").layout is None
    assert ndd.zeros(shape=ndd.as_batch([[1, 2]]), layout="HW").layout == "HW"
    x = ndd.as_tensor(np.zeros((2, 3), np.uint8), layout="HW")
    assert ndd.full(x, shape=[2, 3]).layout is None
    assert ndd.full(x, shape=[2, 3], layout="XY").layout == "XY"
    assert ndd.full_like(x, 1).layout == ndd.ones_like(x).layout == "HW"


@pytest.mark.parametrize(
    ("shape", "layout"), [([2], "HW"), (None, "H"), (ndd.as_batch([[2, 1]]), "H")], ids=["list", "none", "batch"]
)
def test_layouts_that_do_not_fit(shape, layout):
    for run in (lambda: ndd.ones(shape=shape, layout=layout), lambda: ndd.full(1, shape=shape, layout=layout)):
        with pytest.raises(RuntimeError, match="the layout"):
            run().evaluate()


def test_full_takes_the_type_of_its_value():
    for value, dtype in ((3, ndd.int32), (3.5, ndd.float32), (True, ndd.bool), (np.float16(2), ndd.float16)):
        assert ndd.full(value, shape=2).dtype == dtype
    assert np.asarray(ndd.full([7, 8])).tolist() == [7, 8]
    assert np.asarray(ndd.full([7, 8], batch_size=3)).tolist() == [[7, 8]] * 3
    assert np.asarray(ndd.full([[1], [2]], shape=[2, 3])).tolist() == [[1, 1, 1], [2, 2, 2]]


def test_full_like_rounds_and_saturates():
    x = np.zeros(2, np.uint8)
    for value, expected in ((7.5, 8), (300, 255), (-3, 0), (float("nan"), 0)):
        assert np.asarray(ndd.full_like(x, value)).tolist() == [expected] * 2
    assert np.asarray(ndd.full_like(x, [1.5, 260])).tolist() == [2, 255]
    assert np.asarray(ndd.full_like(x > 0, 0.3)).tolist() == [False] * 2


def test_large_values_are_repeated_right():
    row = np.arange(5000, dtype=np.float64)
    assert (np.asarray(ndd.full(row, shape=[37, 5000])) == row).all()
    column = np.arange(300, dtype=np.int16)[:, None]
    assert (np.asarray(ndd.full_like(np.zeros((4, 300, 70), np.int16), column)) == column).all()


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: ndd.zeros(shape=[-1]), "negative"),
        (lambda: ndd.zeros(shape=ndd.as_batch([[2], [-1]])), "sample 1: .*negative"),
        (lambda: ndd.zeros(shape=np.array([[2]])), "shape"),
        (lambda: ndd.zeros(shape=ndd.as_batch([[1, 2], [2]])), "number of axes"),
        (lambda: ndd.full([1, 2], shape=[3]), "cannot be repeated"),
        (lambda: ndd.full(np.zeros(0), shape=[]), "cannot be repeated"),
        (lambda: ndd.full(np.zeros(0), shape=[1]), "cannot be repeated"),
        (lambda: ndd.full_like(np.zeros((2, 2)), [1, 2, 3]), "cannot be repeated"),
        (lambda: ndd.full_like(np.zeros((0, 2)), [1, 2, 3]), "cannot be repeated"),
    ],
)
def test_refused(run, message):
    with pytest.raises(RuntimeError, match=message):
        run().evaluate()


def test_huge_shapes_are_refused():
    with pytest.raises((ValueError, MemoryError)):
        ndd.zeros(shape=[2**40, 2**40]).evaluate()
    with pytest.raises(TypeError):
        ndd.zeros([2])
    with pytest.raises(TypeError):
        ndd.full(1, dtype=ndd.int8)


def test_without_a_shape_the_value_has_one():
    assert np.asarray(ndd.full([1, 2, 3])).tolist() == [1, 2, 3]
    assert np.asarray(ndd.full([1, 2, 3], batch_size=2, layout="X")).tolist() == [[1, 2, 3]] * 2
    assert [x.tolist() for x in map(np.asarray, ndd.full(ndd.batch([[1, 2], [3]])))] == [[1, 2], [3]]
    assert np.asarray(ndd.full(7)).tolist() == 7


@pytest.mark.parametrize("shape", [[], [2], [1, 2]])
def test_values_are_not_cut(shape):
    with pytest.raises(RuntimeError, match="cannot be repeated"):
        ndd.full([[1, 2, 3], [4, 5, 6]], shape=shape).evaluate()
    assert ndd.full([[[5]]], shape=[2]).shape == (2,)
