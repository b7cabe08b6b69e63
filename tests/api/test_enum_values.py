"""Tensors and batches of enum values: made, moved, cast, shown, given as arguments; not computed with."""

import copy
import pickle

import numpy as np
import pytest

import avida as ndd
from avida import types

VALUES = [(types.INTERP_CUBIC, ndd.InterpType), (types.GRAY, ndd.ImageType), (types.FLOAT, ndd.DataType)]


@pytest.mark.parametrize(("value", "dtype"), VALUES)
def test_values(value, dtype):
    one, many = ndd.tensor(value), ndd.tensor([[value, value]])
    assert (one.dtype, many.dtype, many.shape) == (dtype, dtype, (1, 2))
    assert one.item() is value
    assert np.asarray(many).tolist() == [[int(value)] * 2]
    assert np.asarray(many).dtype == np.int32
    assert value.name in repr(one)
    assert f"dtype={dtype.name}" in repr(many)
    assert ndd.tensor(int(value), dtype=dtype).item() is value
    assert dtype([int(value)])[0].item() is value
    assert ndd.tensor(value, dtype=ndd.float32).item() == float(value)
    batch = ndd.batch([value, value])
    assert (batch.dtype, batch.batch_size, batch.tensors[1].item()) == (dtype, 2, value)


@pytest.mark.parametrize(("value", "dtype"), VALUES)
def test_moves_keep_the_type(value, dtype):
    x = ndd.tensor([value, value])
    moved = [ndd.copy(x), ndd.reshape(x, shape=[2, 1]), x[0], x[::-1], ndd.stack(x, x), ndd.cat(x, x), copy.copy(x)]
    moved += [ndd.transpose(x, perm=[0]), ndd.expand_dims(x, axes=0), ndd.squeeze(x, axes=[]), ndd.random.choice(x)]
    moved += [pickle.loads(pickle.dumps(x)), ndd.batch([x]).tensors[0], ndd.as_tensor(x)]
    for result in moved:
        assert result.dtype == dtype
        assert set(np.asarray(result).ravel().tolist()) == {int(value)}
    assert ndd.cast(x, dtype=ndd.int64).dtype == ndd.int64
    assert ndd.cast(ndd.tensor([int(value)]), dtype=dtype)[0].item() is value
    assert np.asarray(ndd.reinterpret(x, dtype=ndd.uint32)).tolist() == [int(value)] * 2


def test_numbers_without_a_name():
    unknown = ndd.tensor(77, dtype=ndd.InterpType)
    assert unknown.item() == 77
    assert "77" in repr(unknown)


def test_no_arithmetic():
    x = ndd.tensor(types.INTERP_LINEAR)
    for compute in (lambda: x + 1, lambda: x == types.INTERP_LINEAR, lambda: -x, lambda: 2.0 * x):
        with pytest.raises(RuntimeError, match="values of the enum InterpType; cast"):
            compute()
    for call in (lambda: ndd.reductions.sum(x), lambda: ndd.zeros_like(x), lambda: ndd.slice(x, start=0, end=1)):
        with pytest.raises(RuntimeError, match="enum"):
            call()
    with pytest.raises(RuntimeError, match="enum"):
        ndd.zeros(shape=[2], dtype=ndd.DataType)


def test_values_of_different_enums():
    with pytest.raises(TypeError, match="DALIImageType and DALIInterpType"):
        ndd.tensor([types.INTERP_LINEAR, types.RGB])
    with pytest.raises(TypeError, match="one enum"):
        ndd.tensor([[types.RGB], [types.FLOAT]])


def test_as_arguments():
    images = ndd.batch([np.arange(48, dtype=np.uint8).reshape(4, 4, 3)] * 2, layout="HWC")
    filters = [types.INTERP_NN, types.INTERP_LINEAR]
    made = ndd.resize(images, size=[7, 7], interp_type=ndd.batch(filters))
    for sample, image, filter in zip(made, images, filters, strict=True):
        np.testing.assert_array_equal(sample, ndd.resize(image, size=[7, 7], interp_type=filter))
    drawn = ndd.random.choice(filters, batch_size=2, rng=ndd.random.RNG(5))
    assert drawn.dtype == ndd.InterpType
    ndd.resize(images, size=[7, 7], interp_type=drawn).evaluate()


def test_type_ids_as_arguments():
    x = ndd.tensor([1.5])
    assert ndd.cast(x, dtype=types.INTERP_TYPE).dtype == ndd.InterpType
    assert ndd.cast(x, dtype=types.FLOAT16).dtype == ndd.float16
    with pytest.raises((TypeError, ValueError, KeyError)):
        ndd.cast(x, dtype=types.STRING)
