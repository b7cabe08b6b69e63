"""`x[...]` and `batch.slice[...]` against NumPy."""

import sys

import numpy as np
import pytest

import avida as ndd

X = np.arange(5 * 6 * 3, dtype=np.int16).reshape(5, 6, 3)


def image():
    return ndd.tensor(X, layout="HWC")


@pytest.mark.parametrize(
    ("index", "layout"),
    [
        (np.s_[0], "WC"),
        (np.s_[-1], "WC"),
        (np.s_[:, 2], "HC"),
        (np.s_[..., 1], "HW"),
        (np.s_[1, ..., 0], "W"),
        (np.s_[1, 2, 0], None),
        (np.s_[1:3], "HWC"),
        (np.s_[1:3, ..., ::2], "HWC"),
        (np.s_[::-1], "HWC"),
        (np.s_[::-2, 4:1:-1], "HWC"),
        (np.s_[3:1], "HWC"),
        (np.s_[10:20], "HWC"),
        (np.s_[-100:2], "HWC"),
        (np.s_[4:-100:-1], "HWC"),
        (np.s_[:, :, ::-1], "HWC"),
        (np.s_[0:0], "HWC"),
        (np.s_[:: sys.maxsize], "HWC"),
        (np.s_[:: -sys.maxsize], "HWC"),
        (np.s_[sys.maxsize :: -1], "HWC"),
        (np.s_[-sys.maxsize : sys.maxsize], "HWC"),
        (np.s_[: 10**30 : -(10**30)], "HWC"),
        (np.s_[2, ::-1, 1:], "WC"),
    ],
)
def test_tensor(index, layout):
    out = image()[index]
    np.testing.assert_array_equal(np.asarray(out), X[index])
    assert out.shape == X[index].shape
    assert out.layout == layout
    assert ndd.tensor(X)[index].layout is None


@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64", "bool"])
def test_random_ranges(dtype):
    rng = np.random.default_rng(2)

    def bound():
        return None if rng.random() < 0.3 else int(rng.integers(-9, 10))

    def item(extent):
        if extent and rng.random() < 0.3:
            return int(rng.integers(-extent, extent))
        return slice(bound(), bound(), rng.choice([None, 1, -1, 2, -2, 3]))

    for _ in range(200):
        x = rng.integers(0, 100, rng.integers(0 if rng.random() < 0.1 else 1, 8, rng.integers(1, 6))).astype(dtype)
        index = tuple(item(e) for e in x.shape[: rng.integers(1, x.ndim + 1)])
        out = ndd.tensor(x)[index]
        assert out.shape == x[index].shape
        np.testing.assert_array_equal(np.asarray(out), x[index])


def test_batch():
    arrays = [X, X[:3], X[:, :2]]
    batch = ndd.as_batch(arrays, layout="HWC")
    for index in (np.s_[0], np.s_[..., -1], np.s_[1:, ::-1], np.s_[:, 0]):
        out = batch.slice[index]
        assert isinstance(out, ndd.Batch)
        for sample, x in zip(out, arrays, strict=True):
            np.testing.assert_array_equal(np.asarray(sample), x[index])


def test_tensors_as_bounds():
    one, two = ndd.tensor(1), ndd.tensor([2])
    np.testing.assert_array_equal(np.asarray(image()[one]), X[1])
    np.testing.assert_array_equal(np.asarray(image()[one : ndd.tensor(5) : two]), X[1:5:2])
    np.testing.assert_array_equal(np.asarray(image()[:, ndd.tensor(-1), ::two]), X[:, -1, ::2])
    np.testing.assert_array_equal(np.asarray(image()[ndd.tensor(1.9)]), X[2])


def test_bounds_per_sample():
    batch = ndd.as_batch([X, X[:3]], layout="HWC")
    starts, stops = ndd.as_batch([3, 0]), ndd.as_batch([5, 1])
    out = batch.slice[starts:stops, ndd.as_batch([-1, 0])]
    assert out.layout == "HC"
    np.testing.assert_array_equal(np.asarray(out.tensors[0]), X[3:5, -1])
    np.testing.assert_array_equal(np.asarray(out.tensors[1]), X[0:1, 0])
    steps = batch.slice[:: ndd.as_batch([-1, 2])]
    np.testing.assert_array_equal(np.asarray(steps.tensors[0]), X[::-1])
    np.testing.assert_array_equal(np.asarray(steps.tensors[1]), X[:3][::2])


@pytest.mark.parametrize("mode", list(ndd.EvalMode))
def test_index_out_of_range(mode):
    with mode:
        for index in (5, -6, np.s_[0, 6], ndd.tensor(5), 10**30, -(10**30)):
            with pytest.raises(IndexError):
                image()[index].evaluate()
        with pytest.raises(IndexError, match="sample 1"):
            ndd.as_batch([X, X[:3]]).slice[3].evaluate()
        with pytest.raises(IndexError):
            ndd.tensor(np.zeros((0, 2)))[0].evaluate()


def test_refused():
    for index in (np.s_[::0], np.s_[:: ndd.tensor(0)], ndd.tensor([1, 2]), np.s_[0, 0, 0, 0], "a", None):
        with pytest.raises(ValueError, match=r"."):
            image()[index].evaluate()


def test_large_on_many_threads():
    x = np.random.default_rng(0).integers(0, 255, (600, 800, 3), np.uint8)
    with ndd.EvalContext(num_threads=4):
        for index in (np.s_[::-1], np.s_[:, ::-1], np.s_[..., ::-1], np.s_[..., 0], np.s_[::2, ::2], np.s_[5:, 7:-3]):
            np.testing.assert_array_equal(np.asarray(ndd.tensor(x)[index]), x[index])
