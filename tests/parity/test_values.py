"""Tensors and batches made by both libraries from the same things."""

import numpy as np
import pytest

from tests.parity.compare import ALL_DTYPES, both

THINGS = [
    1,
    1.5,
    True,
    [1, 2],
    [1, 2.5],
    [[True], [False]],
    [],
    [[], []],
    range(3),
    (1, 2),
    2**31,
    [2**32 - 1],
    [np.float64(1.5)],
    np.float64(1.5),
    np.uint8(5),
    bytearray(b"abc"),
    np.zeros((0, 3), np.int16),
    np.array(3.5),
    "abc",
    ["a"],
    None,
    {1, 2},
    2**40,
    -(2**31) - 1,
    [[1, 2], [3]],
    np.array([1j]),
    np.array([None]),
]


@pytest.mark.parametrize("thing", THINGS, ids=repr)
def test_tensor_from(thing):
    both(lambda lib: lib.tensor(thing))
    both(lambda lib: lib.as_tensor(thing))


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_tensor_from_numpy(dtype):
    a = (np.arange(6).reshape(2, 3) % 2).astype(dtype)
    both(lambda lib: lib.as_tensor(a, layout="HW"))
    both(lambda lib: lib.as_tensor(a, dtype=lib.float32))
    both(lambda lib: lib.tensor(a, dtype=lib.uint8, layout="XY"))
    both(lambda lib: lib.as_batch(a))
    both(lambda lib: lib.as_batch(list(a), layout="X"))
    both(lambda lib: lib.as_batch(list(a), dtype=lib.int32))


ARGUMENTS = [
    dict(layout="H"),
    dict(layout="HWC"),
    dict(device="foo"),
    dict(device="cpu"),
    dict(device="cpu:0"),
    dict(device=3),
    dict(device="mixed"),
    dict(dtype="f16"),
    dict(dtype="foo"),
    dict(dtype=int),
    dict(dtype=float),
    dict(dtype=np.float16),
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=repr)
def test_arguments(arguments):
    both(lambda lib: lib.tensor(np.float32([[1.5, 2]]), **arguments))
    both(lambda lib: lib.tensor([[1.5, 2]], **arguments))
    both(lambda lib: lib.batch([[1.5, 2], [2, 3]], **arguments))


def test_conversion_of_lists():
    both(lambda lib: lib.tensor([300], dtype=lib.uint8))
    both(lambda lib: lib.tensor([1.5, 2.5], dtype=lib.uint8))
    both(lambda lib: lib.tensor([-1.5], dtype=lib.uint8))
    both(lambda lib: lib.tensor([1, 0], dtype=lib.bool))
    both(lambda lib: lib.tensor(np.float32([1.5, 2.5, -1.5, 300.7, -3, np.inf]), dtype=lib.uint8))


BATCHES = [
    [[1, 2, 3], [4, 5]],
    [1, 2],
    [np.uint8([1]), np.float32([2.6])],
    [True, 2],
    [1, 2.7],
    [2, -2.5],
    [[1], [2.7]],
    [1, 2**31],
    [np.zeros((2, 3)), np.ones((1, 3))],
    [],
    5,
    [None],
    np.float32(1),
]


@pytest.mark.parametrize("samples", BATCHES, ids=repr)
def test_batch_from(samples):
    both(lambda lib: lib.batch(samples))
    both(lambda lib: lib.as_batch(samples))


def test_batch_to_tensor():
    both(lambda lib: lib.as_tensor(lib.as_batch([[1, 2], [3, 4]], layout="X")))
    both(lambda lib: lib.as_tensor(lib.as_batch([[1, 2], [3]])))
    both(lambda lib: lib.as_tensor(lib.as_batch([[1, 2], [3]]), pad=True))
    both(lambda lib: lib.as_tensor(lib.as_batch([[1, 2], [3, 4]]), layout="AB"))


def test_broadcast():
    both(lambda lib: lib.Batch.broadcast([1, 2], 3))
    both(lambda lib: lib.Batch.broadcast(1.5, 2, dtype=lib.int32))
    both(lambda lib: lib.Batch.broadcast(1, -1))
    both(lambda lib: lib.Batch.broadcast(lib.batch([1]), 2))


INDICES = [
    0,
    -1,
    (0, 1),
    slice(1, 4),
    (slice(None), slice(None, None, 2)),
    (slice(None), slice(None, None, -1)),
    (..., 1),
    (slice(None), slice(10, 20)),
    True,
    (0, 0, 0, 0),
]


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_slicing(index):
    a = np.arange(30, dtype=np.int32).reshape(2, 5, 3)
    both(lambda lib: lib.as_tensor(a, layout="HWC")[index].evaluate())


@pytest.mark.parametrize("index", INDICES[:8], ids=repr)
def test_slicing_every_sample(index):
    samples = [np.arange(30, dtype=np.int32).reshape(2, 5, 3), np.ones((3, 2, 2), np.int32)]
    both(lambda lib: lib.as_batch(samples, layout="HWC").slice[index])


def test_slicing_with_batches():
    samples = [np.arange(12).reshape(3, 4), np.arange(10).reshape(2, 5)]
    both(lambda lib: lib.as_batch(samples).slice[lib.as_batch([2, 1])])
    both(lambda lib: lib.as_batch(samples).slice[:, lib.as_batch([1, 2]) :])
    both(lambda lib: lib.as_batch(samples).slice[lib.as_batch([0, 1, 1])])
    both(lambda lib: lib.as_tensor(samples[0])[lib.as_tensor(1)])


def test_out_of_range():
    for index in (5, -6):
        both(lambda lib, i=index: lib.as_tensor([1, 2, 3])[i].shape and lib.as_tensor([1]))


def test_general_call_rules():
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    both(lambda lib: lib.flip(image))
    both(lambda lib: lib.flip(image, batch_size=2))
    both(lambda lib: lib.flip(image, batch_size=-1))
    both(lambda lib: lib.flip(lib.as_batch([image] * 2), batch_size=3))
    both(lambda lib: lib.flip(image, horizontal=lib.as_batch([0, 1])))
    both(lambda lib: lib.flip(lib.as_batch([image] * 2, layout="HWC"), horizontal=lib.as_batch([0, 1])))
    both(lambda lib: lib.flip(lib.as_batch([image] * 2, layout="HWC"), horizontal=lib.as_batch([0, 1, 1])))
    both(lambda lib: lib.flip(image, horizontal=0.7))
    both(lambda lib: lib.flip(image, nothing=1))
    both(lambda lib: lib.flip())
    both(lambda lib: lib.flip(None))
    both(lambda lib: lib.flip("abc"))
    both(lambda lib: lib.flip(image, device="foo"))
    both(lambda lib: lib.flip(image, device="gpu"))
    both(lambda lib: lib.flip(image[0]))
    both(lambda lib: lib.flip(lib.as_tensor(image, layout="XYZ")))
    both(lambda lib: lib.flip(np.stack([image] * 2)))
    both(lambda lib: lib.flip([image, image], vertical=1))
