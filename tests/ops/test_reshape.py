import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


@op_case("reshape", shapes=[(6, 4), (3, 8), (2, 12)], shape=[[24, 1], [2, 12], [-1, 3], [4, -1]], layout="HW")
def reshape_reference(x, shape):
    return x.reshape(shape)


IMAGE = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


def image(layout="HWC"):
    return ndd.tensor(IMAGE, layout=layout)


@pytest.mark.parametrize(
    ("arguments", "shape", "layout"),
    [
        ({"shape": [24]}, (24,), None),
        ({"shape": 24}, (24,), None),
        ({"shape": (4, 2, 3)}, (4, 2, 3), "HWC"),
        ({"shape": [4, -1]}, (4, 6), None),
        ({"shape": [4, -7, 1]}, (4, 6, 1), "HWC"),
        ({"shape": [4, 6], "layout": "AB"}, (4, 6), "AB"),
        ({"shape": [4, 2, 3], "layout": ""}, (4, 2, 3), None),
        ({"shape": np.array([4, 6])}, (4, 6), None),
        ({"shape": [1] * 13 + [2, 4, 3]}, (1,) * 13 + (2, 4, 3), None),
        ({"layout": "XYZ"}, (2, 4, 3), "XYZ"),
        ({"rel_shape": [0.5, -1]}, (1, 24), None),
        ({"rel_shape": [2, 0.5, 1]}, (4, 2, 3), "HWC"),
        ({"rel_shape": [1, 1, 1, -1]}, (2, 4, 3, 1), None),
        ({"src_dims": [1, 0, 2]}, (4, 2, 3), "HWC"),
        ({"src_dims": [2, 0, 1], "layout": "ABC"}, (3, 2, 4), "ABC"),
        ({"src_dims": [-1, 0, 1, 2]}, (1, 2, 4, 3), None),
        ({"src_dims": [1, 0, 2], "rel_shape": [0.5, 2, 1]}, (2, 4, 3), "HWC"),
        ({"src_dims": [-1, 2, 1, 0], "rel_shape": [-1, 1, 0.5, 2]}, (1, 3, 2, 4), None),
    ],
)
def test_shapes(arguments, shape, layout):
    for value in (image(), ndd.as_batch([image(), image()])):
        out = ndd.reshape(value, **arguments)
        assert out.layout == layout
        for sample in [out] if isinstance(out, ndd.Tensor) else out:
            assert sample.shape == shape
            np.testing.assert_array_equal(np.asarray(sample), IMAGE.reshape(shape))


def test_src_dims_of_the_documentation():
    x = np.zeros((300, 200, 1), np.uint8)
    assert ndd.reshape(x, src_dims=[-1, 1, 0]).shape == (1, 200, 300)
    assert ndd.reshape(x, src_dims=[-1, 1, 0], rel_shape=[-1, 0.5, 2]).shape == (1, 100, 600)
    out = ndd.reshape(ndd.as_batch([np.zeros((3, 2)), np.zeros((4, 5))]), src_dims=ndd.as_batch([[1, 0], [0, 1]]))
    assert out.shape == [(2, 3), (4, 5)]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"shape": [23]},
        {"shape": [-1, -1]},
        {"shape": [5, -1]},
        {"shape": [0, -1]},
        {"shape": [4, 6], "layout": "ABC"},
        {"layout": "AB"},
        {"shape": [24], "rel_shape": [1]},
        {"rel_shape": [1, 1, 1, 1]},
        {"rel_shape": [1, 1, 1, 1, -1]},
        {"rel_shape": [float("nan"), -1]},
        {"rel_shape": [float("inf"), -1]},
        {"src_dims": [0, 1]},
        {"src_dims": [0, 1, 3]},
        {"src_dims": [-2, 0, 1, 2]},
        {"src_dims": [0, 1], "rel_shape": [1]},
        {"shape": [2**62, 2**62]},
        {"shape": ndd.tensor([[24]])},
    ],
)
def test_impossible_shapes(arguments):
    with pytest.raises(RuntimeError, match=r"^reshape: "):
        ndd.reshape(image(), **arguments).evaluate()


def test_shape_as_input():
    assert ndd.reshape(image(), np.int32([6, 4])).shape == (6, 4)
    out = ndd.reshape(image(), ndd.as_batch([[6, 4], [-1, 1]]))
    assert out.shape == [(6, 4), (24, 1)]
    for wrong in (np.float32([6, 4]), np.int32([[6, 4]]), np.int32(24)):
        with pytest.raises(RuntimeError):
            ndd.reshape(image(), wrong).evaluate()
    with pytest.raises(RuntimeError):
        ndd.reshape(image(), np.int32([24]), shape=[24])


def test_number_of_axes_is_the_same_in_all_samples():
    with pytest.raises(RuntimeError, match="sample 1"):
        ndd.reshape(image(), shape=ndd.as_batch([[6, 4], [24]])).evaluate()


def test_layout_with_shapes_per_sample():
    shapes = ndd.as_batch([[4, 2, 3], [24, 1, 1]])
    assert ndd.reshape(image(), shape=shapes).layout == "HWC"
    assert ndd.reshape(image(), shape=shapes, layout="ABC").layout == "ABC"
    with pytest.raises(RuntimeError):
        ndd.reshape(image(), shape=shapes, layout="AB").evaluate()


def test_nothing_is_copied():
    x = ndd.tensor(np.zeros((2, 3), np.int32))
    view = ndd.reshape(x, shape=[6]).evaluate()
    np.asarray(x)[0, 0] = 5
    assert np.asarray(view)[0] == 5


def test_empty_and_scalar():
    assert ndd.reshape(np.zeros((0, 3)), shape=[3, -1]).shape == (3, 0)
    assert ndd.reshape(np.zeros((0, 3)), shape=[0]).shape == (0,)
    assert ndd.reshape(np.ones((1, 1)), shape=[]).shape == ()
    assert ndd.reshape(5, shape=[1, 1]).shape == (1, 1)


def test_chain_whose_rank_is_known_late():
    with ndd.EvalMode.deferred:
        x = ndd.reshape(image(), shape=ndd.as_batch([[6, 4], [3, 8]]))
        y = ndd.transpose(x, perm=[1, 0])
        assert y.shape == [(4, 6), (8, 3)]
        assert x.ndim == 2
