import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


def expected(x, axes=None, mean=None, stddev=None, ddof=0, epsilon=0.0, scale=1.0, shift=0.0):
    """In double precision; 0 where the deviation is."""
    x = np.asarray(x, np.float64)
    axes = tuple(range(x.ndim)) if axes is None else tuple(axes)
    mean = x.mean(axes, keepdims=True) if mean is None else np.asarray(mean, np.float64)
    if stddev is None:
        count = int(np.prod([x.shape[a] for a in axes]))
        total = ((x - mean) ** 2).sum(axes, keepdims=True)
        variance = total / (count - ddof) if count > ddof else total * 0
    else:
        variance = np.square(np.asarray(stddev, np.float64))
    deviation = np.sqrt(variance + epsilon)
    inverse = np.divide(1, deviation, out=np.zeros_like(deviation), where=deviation != 0)
    return (x - mean) * inverse * scale + shift


@op_case(
    "normalize",
    layout="HWC",
    rtol=1e-5,
    axes=[[0, 1], [0, 1, 2], [1], [2], [-1, 0]],
    ddof=[0, 1],
    epsilon=[0.0, 2.0],
    scale=[1.0, 3.0],
    shift=[0.0, 5.0],
)
def reference(x, axes, ddof, epsilon, scale, shift):
    return expected(x, axes, ddof=ddof, epsilon=epsilon, scale=scale, shift=shift).astype(np.float32)


@op_case("normalize", rtol=1e-5, mean=[3.0, 7.5], stddev=[2.0, 0.5], axis_names=["", "HW"], layout="HW")
def reference_with_numbers(x, mean, stddev, axis_names):
    return ((x.astype(np.float64) - mean) / stddev).astype(np.float32)


IMAGE = np.random.default_rng(1).integers(0, 256, (40, 50, 3)).astype(np.uint8)
OTHER = np.random.default_rng(2).integers(0, 200, (31, 17, 3)).astype(np.uint8)


def check(got, want, rtol=1e-5):
    np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=1e-5)


def test_result_has_mean_zero_and_deviation_one():
    out = np.asarray(ndd.normalize(IMAGE, axes=[0, 1])).astype(np.float64)
    assert out.dtype == np.float64
    np.testing.assert_allclose(out.mean((0, 1)), 0, atol=1e-6)
    np.testing.assert_allclose(out.std((0, 1)), 1, atol=1e-6)


def test_layout_and_axis_names():
    image = ndd.as_tensor(IMAGE, layout="HWC")
    out = ndd.normalize(image, axis_names="WH")
    assert out.layout == "HWC"
    check(out, expected(IMAGE, (0, 1)))
    assert not np.asarray(ndd.normalize(image, axis_names="")).any(), "each element is its own mean"


@pytest.mark.parametrize("name", ["mean", "stddev"])
@pytest.mark.parametrize("shape", [(1, 1, 3), (40, 1, 1), (1, 50, 3), (40, 50, 3), (1, 1, 1)], ids=str)
def test_given_statistics_tell_the_axes(name, shape):
    given = np.random.default_rng(3).uniform(1, 9, shape).astype(np.float32)
    axes = [d for d in range(3) if shape[d] == 1]
    check(ndd.normalize(IMAGE, **{name: given}), expected(IMAGE, axes, **{name: given}), 1e-4)
    if axes:
        check(ndd.normalize(IMAGE, axes=axes, **{name: given}), expected(IMAGE, axes, **{name: given}), 1e-4)


def test_given_statistics_in_every_form():
    mean, stddev = [[[100, 110, 120]]], [[[10, 20, 30]]]
    want = expected(IMAGE, (0, 1), mean, stddev)
    check(ndd.normalize(IMAGE, mean=mean, stddev=stddev), want)
    check(ndd.normalize(IMAGE, mean=np.array(mean, np.float64), stddev=ndd.as_tensor(np.array(stddev))), want)
    check(ndd.normalize(IMAGE, mean=100, stddev=stddev), expected(IMAGE, (0, 1), 100, stddev))
    check(ndd.normalize(IMAGE, mean=mean, stddev=[4.0]), expected(IMAGE, (0, 1), mean, 4))
    batch = ndd.as_batch([IMAGE, OTHER])
    out = ndd.normalize(batch, mean=ndd.as_batch([100.0, 50.0]), stddev=ndd.as_batch([2.0, 3.0]))
    check(out.tensors[0], expected(IMAGE, None, 100, 2))
    check(out.tensors[1], expected(OTHER, None, 50, 3))
    check(ndd.normalize([1.0, 2.0, 3.0], mean=[1.0, 1.0, 1.0], stddev=[1.0, 2.0, 4.0]), [0, 0.5, 0.5])


def test_stddev_of_zero_and_epsilon():
    numbers = np.array([[1.0, 2.0], [3.0, 5.0]], np.float32)
    assert np.asarray(ndd.normalize(numbers, mean=0, stddev=[[0, 2]], shift=4)).tolist() == [[4, 5], [4, 6.5]]
    check(ndd.normalize(numbers, mean=0, stddev=[[0, 2]], epsilon=4), numbers / np.sqrt([[4, 8]]))
    assert np.asarray(ndd.normalize(np.full((3, 4), 7, np.uint8), shift=2)).tolist() == [[2] * 4] * 3
    assert not np.asarray(ndd.normalize(numbers, ddof=4)).any()
    assert np.isnan(ndd.normalize(numbers, epsilon=-100)).all()
    assert np.isnan(ndd.normalize(np.array([1, np.nan, 2], np.float32))).all()


@pytest.mark.parametrize("axes", [None, [0, 1]])
@pytest.mark.parametrize("ddof", [0, 1])
def test_batch(axes, ddof):
    together = np.concatenate([IMAGE.reshape(-1, 3), OTHER.reshape(-1, 3)]).astype(np.float64)
    along = 0 if axes else None
    mean, stddev = together.mean(along), together.std(along, ddof=ddof)
    out = ndd.normalize(ndd.as_batch([IMAGE, OTHER]), batch=True, axes=axes, ddof=ddof)
    check(out.tensors[0], (IMAGE - mean) / stddev)
    check(out.tensors[1], (OTHER - mean) / stddev)
    out = ndd.normalize(ndd.as_batch([IMAGE, OTHER]), batch=True, axes=axes, mean=3, stddev=2)
    check(out.tensors[1], (OTHER - 3.0) / 2)
    check(ndd.normalize(IMAGE, batch=True, axes=axes, ddof=ddof), expected(IMAGE, axes, ddof=ddof))


def test_empty_samples():
    out = ndd.normalize(ndd.as_batch([IMAGE, IMAGE[:0]]), batch=True)
    assert out.shape == [(40, 50, 3), (0, 50, 3)]
    check(out.tensors[0], expected(IMAGE))
    assert ndd.normalize(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert ndd.normalize(3.5).item() == 0
    assert ndd.normalize(ndd.as_batch([], dtype="uint8"), batch=True).evaluate().batch_size == 0


def test_large_numbers_keep_their_differences():
    check(ndd.normalize(np.array([1e8, 1e8 + 8, 1e8 + 16], np.float32)), np.array([-1, 0, 1]) * np.sqrt(1.5))
    check(ndd.normalize(np.array([2**40, 2**40 + 1], np.int64)), [-1, 1])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "float16", "float64"])
def test_output_types(dtype):
    out = np.asarray(ndd.normalize(IMAGE, dtype=dtype, scale=100, shift=20))
    want = expected(IMAGE, scale=100, shift=20)
    assert out.dtype == dtype
    if out.dtype.kind == "f":
        check(out, want, 1e-3)
    else:
        info = np.iinfo(dtype)
        assert np.abs(out - np.clip(want, info.min, info.max)).max() < 0.5 + 1e-4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axes": []}, "at least one axis"),
        ({"axes": [3]}, "expected an axis"),
        ({"axes": [1, 1]}, "given twice"),
        ({"axis_names": "X"}, "no axis 'X'"),
        ({"axes": [0], "axis_names": "W"}, "got both"),
        ({"mean": [[[1, 2]]]}, r'"mean" as one number or of the shape \(1, 1, 3\), got \(1, 1, 2\)'),
        ({"mean": [1.0, 2.0, 3.0]}, "as one number or of the shape"),
        ({"stddev": [[[1, 2, 3]]], "axes": [2]}, '"stddev" as one number or of the shape'),
        ({"mean": [[[1, 2, 3]]], "stddev": [[[1]] * 50]}, "as one number or of the shape"),
        ({"mean": [[[1, 2, 3]]], "batch": True}, 'expected one number for "mean"'),
    ],
    ids=str,
)
def test_refused(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        ndd.normalize(ndd.as_tensor(IMAGE, layout="HWC"), **arguments).evaluate()


def test_batch_needs_equal_extents():
    with pytest.raises(RuntimeError, match=r"sample 1.*differ along the normalized axes only"):
        ndd.normalize(ndd.as_batch([IMAGE, OTHER]), batch=True, axes=[0]).evaluate()
