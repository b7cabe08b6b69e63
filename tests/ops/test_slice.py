import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, op_case
from tests.ops.window_reference import window

POLICIES = ["pad", "edge", "reflect", "reflect_101", "wrap", "trim_to_shape"]


@op_case(
    "slice",
    layout="HWC",
    shapes=[(5, 7, 3), (4, 6, 3), (6, 5, 3)],
    start=[[0, 0], [1, 2], [2, 1]],
    shape=[[2, 2], [3, 1]],
)
def inside(x, start, shape):
    return x[start[1] : start[1] + shape[1], start[0] : start[0] + shape[0]]


@op_case(
    "slice",
    layout="HWC",
    shapes=[(5, 7, 3), (4, 6, 2), (6, 5, 1)],
    axes=[[0, 1], [2, 0]],
    start=[[-2, 1], [3, -30], [1, 4]],
    end=[[4, 9], [6, 7]],
    out_of_bounds_policy=POLICIES,
    fill_values=[0, 7],
)
def reaching_out(x, axes, start, end, out_of_bounds_policy, fill_values):
    begin, size = [0] * 3, list(x.shape)
    for axis, s, e in zip(axes, start, end, strict=True):
        begin[axis], size[axis] = s, e - s
    return window(x, begin, size, out_of_bounds_policy, fill_values)


def whole(x, **arguments):
    return ndd.slice(x, axes=[], **arguments)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("policy", POLICIES)
def test_random_windows(dtype, policy):
    rng = np.random.default_rng(3)
    for _ in range(40):
        shape = rng.integers(1, 6, rng.integers(1, 5))
        x = rng.integers(0, 100, shape).astype(dtype)
        start, size = rng.integers(-7, 8, x.ndim), rng.integers(0, 9, x.ndim)
        out = whole(x, start=start, shape=size, out_of_bounds_policy=policy, fill_values=-3.5)
        np.testing.assert_array_equal(np.asarray(out), window(x, start, size, policy, -3.5))


@pytest.mark.parametrize("layout", ["HWC", "CHW", "HCW", "DHWC"])
def test_fill_values_of_channels(layout):
    rng = np.random.default_rng(5)
    axis = layout.index("C")
    for _ in range(60):
        shape = rng.integers(1, 5, len(layout))
        start, size = rng.integers(-3, 4, len(layout)), rng.integers(1, 6, len(layout))
        if rng.random() < 0.5:  # leave the last axes whole: rows are longer then
            keep = slice(rng.integers(1, len(layout)), None)
            start[keep], size[keep] = 0, shape[keep]
        x = rng.integers(0, 100, shape).astype(np.int16)
        fill = rng.integers(-9, 9, size[axis]).astype(float)
        arguments = {"start": start, "shape": size, "out_of_bounds_policy": "pad", "fill_values": fill.tolist()}
        out = np.asarray(whole(ndd.tensor(x, layout=layout), **arguments))
        np.testing.assert_array_equal(out, window(x, start, size, "pad", fill if len(fill) > 1 else fill[0], axis))


def test_fill_values_that_do_not_fit():
    x = ndd.tensor(np.zeros((2, 2, 3), np.uint8), layout="HWC")
    arguments = {"start": [-1, 0], "shape": [2, 2], "out_of_bounds_policy": "pad"}
    with pytest.raises(RuntimeError, match="fill_values"):
        ndd.slice(x, **arguments, fill_values=[1, 2]).evaluate()
    with pytest.raises(RuntimeError, match="fill_values"):
        ndd.slice(np.zeros((2, 2)), **arguments, fill_values=[1, 2]).evaluate()
    assert np.asarray(ndd.slice(x, **arguments, fill_values=[]))[0, 0].tolist() == [0, 0, 0]
    assert np.asarray(ndd.slice(x, **arguments, fill_values=300))[0, 0, 0] == 44


@pytest.mark.parametrize("dtype", [*ALL, "bfloat16"])
def test_conversion_drops_fractions_and_saturates(dtype):
    x = np.float32([1.5, 2.5, -1.9, 300, -300, 1e30, -1e30, np.inf, np.nan, 0.5])
    out = np.asarray(ndd.cast(whole(x, start=[0], dtype=dtype), dtype="f64" if dtype != "int64" else "i64"))
    kind = np.dtype("float32" if dtype == "bfloat16" else dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        expected = [
            min(max(int(v), info.min), info.max) if abs(v) < 1e31 else info.max
            for v in np.nan_to_num(x, nan=0)  # pyright: ignore[reportGeneralTypeIssues]
        ]
        np.testing.assert_array_equal(out, np.array(expected).astype(out.dtype))
    elif kind.kind == "f" and dtype != "bfloat16":
        most = float(np.finfo(kind).max)
        expected = np.clip(x, -most, most) if kind == np.float16 else x
        np.testing.assert_array_equal(out, expected.astype(kind))
    elif kind.kind == "b":
        np.testing.assert_array_equal(out, [1, 1, 1, 1, 1, 1, 1, 1, 1, 0])


@pytest.mark.parametrize("policy", ["pad", "edge"])
def test_conversion_beside_the_border(policy):
    x = np.arange(60, dtype=np.int16).reshape(4, 5, 3)
    out = ndd.slice(
        x, axes=[0, 1], start=[-1, 2], shape=[4, 6], out_of_bounds_policy=policy, fill_values=9, dtype="f32"
    )
    expected = window(x, [-1, 2, 0], [4, 6, 3], policy, 9).astype(np.float32)
    np.testing.assert_array_equal(np.asarray(out), expected)


X = np.arange(24, dtype=np.int32).reshape(4, 6)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"start": [1, 2]}, X[2:, 1:]),
        ({"end": [3, 2]}, X[:2, :3]),
        ({"start": 1, "shape": 2}, X[1:3, 1:3]),
        ({"start": [1, 2], "end": [4, 2]}, X[2:2, 1:4]),
        ({"start": [1, 2], "rel_shape": [0.5, 0.25]}, X[2:3, 1:4]),
        ({"rel_start": [0.5, 0.25], "rel_end": [1, 0.75]}, X[1:3, 3:]),
        ({"rel_start": [0.1, 0.3], "shape": [2, 2]}, X[1:3, 1:3]),
        ({"rel_start": 0.25, "rel_shape": 0.3}, X[1:2, 2:3]),
        ({"start": [], "end": [1, 1]}, X[:1, :1]),
        ({"axes": [0], "start": [1]}, X[1:]),
        ({"axes": [-1], "start": [1], "end": 3}, X[:, 1:3]),
        ({"axes": [], "start": [1, 2]}, X[1:, 2:]),
        ({"axis_names": "H", "start": 1}, X[1:]),
        ({"axis_names": "HW", "start": [1, 2]}, X[1:, 2:]),
        ({"axis_names": "", "start": [1, 2]}, X[1:, 2:]),
        ({"start": [2.6, 1.2], "shape": [1.9, 1.1]}, X[1:2, 2:3]),
        ({"start": [6, 4]}, X[4:, 6:]),
    ],
)
def test_named_arguments(arguments, expected):
    for layout in ("HW", None):
        out = ndd.slice(ndd.tensor(X, layout=layout), **arguments)
        assert out.layout == layout
        assert out.shape == expected.shape
        np.testing.assert_array_equal(np.asarray(out), expected)


@pytest.mark.parametrize(
    ("anchor", "shape", "arguments", "expected"),
    [
        ([0.5, 0.25], [0.5, 0.5], {}, X[1:3, 3:]),
        ([1, 0], [2, 3], {}, X[0:3, 1:3]),
        ([1.4, 2.5], [2.3, 0.5], {"normalized_anchor": False, "normalized_shape": False}, X[3:3, 1:4]),
        ([1.0, 2.0], [0.5, 0.5], {"normalized_anchor": False}, X[2:4, 1:4]),
        ([0.5, 0.5], [2.0, 1.0], {"normalized_shape": False}, X[2:3, 3:5]),
        ([0.5], [0.5], {"axes": [0]}, X[2:]),
    ],
)
def test_inputs(anchor, shape, arguments, expected):
    kind = np.int32 if isinstance(anchor[0], int) else np.float32
    for dtype in (kind, np.int64 if kind is np.int32 else np.float64):
        out = ndd.slice(X, np.array(anchor, dtype), np.array(shape, dtype), **arguments)
        np.testing.assert_array_equal(np.asarray(out), expected)


def test_inputs_per_sample():
    out = ndd.slice(X, ndd.as_batch([[1, 0], [2, 2]]), np.int32([2, 1]))
    np.testing.assert_array_equal(np.asarray(out.tensors[0]), X[0:1, 1:3])
    np.testing.assert_array_equal(np.asarray(out.tensors[1]), X[2:3, 2:4])


@pytest.mark.parametrize(
    ("inputs", "arguments"),
    [
        ([], {}),
        ([], {"start": [0, 0], "rel_start": [0, 0]}),
        ([], {"end": [1, 1], "shape": [1, 1]}),
        ([], {"start": [3, 3], "end": [1, 1]}),
        ([], {"shape": [-1, 1]}),
        ([], {"rel_shape": [-0.1, 1]}),
        ([], {"start": [-1, 0]}),
        ([], {"start": [7, 0], "shape": [0, 0]}),
        ([], {"end": [7, 7]}),
        ([], {"start": [1, 1, 1]}),
        ([], {"start": [1, 1], "axes": [0, 0]}),
        ([], {"start": [1, 1], "axes": [0, -2]}),
        ([], {"start": [1], "axes": [2]}),
        ([], {"start": [1], "axis_names": "X"}),
        ([], {"start": [1], "axes": [0], "axis_names": "H"}),
        ([], {"start": [1, 1], "out_of_bounds_policy": "mirror"}),
        ([], {"rel_start": [float("nan"), 0]}),
        ([], {"rel_end": [float("inf"), 1]}),
        ([], {"start": [2**62, 0], "shape": [2**62, 1]}),
        ([], {"start": [-(2**62), 0], "end": [2**62, 1], "out_of_bounds_policy": "pad"}),
        ([np.int32([1, 1])], {}),
        ([np.int32([1, 1]), np.float32([1, 1])], {}),
        ([np.int32([1, 1]), np.int32([1, 1])], {"start": [1, 1]}),
        ([np.int32([1]), np.int32([1])], {}),
        ([np.int32([1, 1]), np.int32([-1, 1])], {}),
        ([np.array([True, True]), np.array([True, True])], {}),
    ],
)
def test_refused(inputs, arguments):
    with pytest.raises(RuntimeError, match=r"^slice: "):
        ndd.slice(ndd.tensor(X, layout="HW"), *inputs, **arguments).evaluate()


def test_one_axis_needs_axes():
    with pytest.raises(RuntimeError):
        ndd.slice([1, 2, 3], start=[1]).evaluate()


def test_nothing_to_repeat():
    for policy in ("edge", "reflect", "reflect_101", "wrap"):
        with pytest.raises(RuntimeError, match="no elements to repeat"):
            whole(np.zeros(0), start=[-1], shape=[2], out_of_bounds_policy=policy).evaluate()
    assert np.asarray(
        whole(np.zeros(0), start=[-1], shape=[2], out_of_bounds_policy="pad", fill_values=4)
    ).tolist() == [4, 4]


def test_windows_without_elements():
    x = ndd.tensor(np.zeros((3, 2, 0), np.uint8), layout="CHW")
    out = ndd.slice(x, axes=[0], start=[-1], shape=[4], out_of_bounds_policy="pad", fill_values=[1, 2, 3, 4])
    assert out.shape == (4, 2, 0)


def test_output_dtype_is_the_old_name():
    assert ndd.slice(X, start=[1, 1], output_dtype=ndd.float32).dtype == ndd.float32
    with pytest.raises(TypeError):
        ndd.slice(X, start=[1, 1], output_dtype=ndd.float32, dtype=ndd.float32)


def test_large_windows_on_many_threads():
    x = np.random.default_rng(0).integers(0, 255, (500, 700, 3), np.uint8)
    with ndd.EvalContext(num_threads=4):
        for policy in POLICIES:
            out = ndd.slice(
                x, axes=[0, 1], start=[-20, 30], shape=[530, 690], out_of_bounds_policy=policy, fill_values=5
            )
            np.testing.assert_array_equal(np.asarray(out), window(x, [-20, 30, 0], [530, 690, 3], policy, 5))
        line = whole(x.reshape(-1), start=[-5], shape=[x.size + 70000], out_of_bounds_policy="pad", dtype="i32")
        np.testing.assert_array_equal(np.asarray(line)[5 : 5 + x.size], x.reshape(-1))
        assert not np.asarray(line)[5 + x.size :].any()
