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


ROWS = [np.arange(8).reshape(2, 4), np.arange(12).reshape(3, 4), np.zeros((0, 4), np.int64)]
MASKS = [np.array([False, True]), np.array([True, False, True]), np.zeros(0, bool)]


@pytest.mark.parametrize("mode", list(ndd.EvalMode))
def test_masks_per_sample(mode):
    with mode:
        rows, masks = ndd.as_batch(ROWS), ndd.as_batch(MASKS)
        for out, rest in (
            (rows.slice[masks], ...),
            (rows.slice[masks, 1:3], np.s_[:, 1:3]),
            (rows.slice[masks, 0], np.s_[:, 0]),
        ):
            for sample, x, mask in zip(out, ROWS, MASKS, strict=True):
                np.testing.assert_array_equal(np.asarray(sample), x[mask][rest])
        computed = rows.slice[rows.slice[:, 0] > 3]
        assert computed.shape == [(1, 4), (2, 4), (0, 4)]
        assert computed.dtype == ndd.int64


@pytest.mark.parametrize("make", [np.asarray, ndd.as_tensor])
def test_one_mask(make):
    mask = np.array([True, False, True, True, False])
    out = image()[make(mask)]
    np.testing.assert_array_equal(np.asarray(out), X[mask])
    assert out.layout == "HWC"
    for sample in ndd.as_batch([X, X + 1]).slice[make(mask)]:
        assert sample.shape == (3, 6, 3)


def test_masks_keep_sources(tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(range(5)))
    files, *_ = next(ndd.readers.File(files=["a.bin"], file_root=str(tmp_path)).next_epoch(batch_size=1))
    assert files.slice[np.array([True] * 4 + [False])].sources == files.sources


def test_masks_that_do_not_fit():
    batch = ndd.as_batch([X, X[:3]])
    with pytest.raises(IndexError, match="sample 1: expected a mask of 3 booleans, one for each row, got 5"):
        batch.slice[np.ones(5, bool)].evaluate()
    with pytest.raises(ValueError, match=r"one boolean for each row, got 2 axes; avida\.as_batch"):
        batch.slice[np.ones((2, 5), bool)]
    with pytest.raises(ValueError, match=r"one boolean for each row, got 3 axes$"):
        batch.slice[batch > 3]
    with pytest.raises(ValueError, match="a Tensor cannot be indexed by a Batch"):
        image()[ndd.as_batch([np.ones(5, bool)])]
    with pytest.raises(ValueError, match="rows, and numbers have none"):
        ndd.tensor(3)[np.ones(1, bool)].evaluate()
    with pytest.raises(ValueError, match=r"got an array of int64 with the shape \(1,\)"):
        batch.slice[np.array([0])]
    with pytest.raises(ValueError, match=r"got an array of bool with the shape \(6,\)"):
        batch.slice[0, np.ones(6, bool)]


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
