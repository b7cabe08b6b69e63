import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, op_case
from tests.ops.window_reference import window


def round_half_away(x):
    return int(np.copysign(np.floor(np.abs(x) + 0.5), x))


def anchor(extent, crop, position, rounding="round"):
    start = float(np.float32(position)) * (extent - crop)
    return round_half_away(start) if rounding == "round" else int(start)


@op_case(
    "crop",
    layout="HWC",
    shapes=[(5, 7, 3), (4, 6, 3), (6, 5, 3)],
    crop=[[2, 3], [4, 1], [0, 5], [3.9, 2.1]],
    crop_pos_x=[0.5, 0.0, 0.3],
    crop_pos_y=[0.5, 1.0],
    rounding=["round", "truncate"],
)
def inside(x, crop, crop_pos_x, crop_pos_y, rounding):
    h, w = (int(c) or e for c, e in zip(crop, x.shape, strict=False))
    top, left = anchor(x.shape[0], h, crop_pos_y, rounding), anchor(x.shape[1], w, crop_pos_x, rounding)
    return x[top : top + h, left : left + w]


@op_case(
    "crop",
    layout="CHW",
    shapes=[(3, 5, 7), (3, 4, 6), (3, 1, 1)],
    crop_h=[2, 9],
    crop_w=[3, 10],
    out_of_bounds_policy=["pad", "edge", "trim_to_shape"],
    fill_values=[0, [1, 2, 3]],
)
def reaching_out(x, crop_h, crop_w, out_of_bounds_policy, fill_values):
    start = [0, anchor(x.shape[1], crop_h, 0.5), anchor(x.shape[2], crop_w, 0.5)]
    return window(x, start, [3, crop_h, crop_w], out_of_bounds_policy, fill_values, 0)


@pytest.mark.parametrize(
    ("layout", "depth"), [("DHWC", 0), ("CDHW", 1), ("FHWC", 0), ("FCHW", 0), ("CFHW", 1), ("FDHWC", 1), ("FCDHW", 2)]
)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_layouts(layout, depth, dtype):
    shape = tuple(range(4, 4 + len(layout)))
    x = np.arange(np.prod(shape)).astype(dtype).reshape(shape)

    def expected(d):
        index = [slice(None)] * x.ndim
        for axis, size in ((depth, d), (layout.index("H"), 2), (layout.index("W"), 3)):
            start = anchor(shape[axis], size, 0.5)
            index[axis] = slice(start, start + size)
        return x[tuple(index)]

    image = ndd.tensor(x, layout=layout)
    for crop, d in (([2, 2, 3], 2), ([2, 3], shape[depth])):
        out = ndd.crop(image, crop=crop)
        assert out.layout == layout
        np.testing.assert_array_equal(np.asarray(out), expected(d))
    np.testing.assert_array_equal(np.asarray(ndd.crop(image, crop_d=3, crop_h=2, crop_w=3)), expected(3))


def test_without_a_layout():
    assert ndd.crop(np.zeros((5, 6, 3)), crop=[2, 2]).layout == "HWC"
    out = ndd.crop(np.zeros((4, 5, 6, 3)), crop=[1, 2, 2])
    assert out.layout == "DHWC"
    assert out.shape == (1, 2, 2, 3)
    assert ndd.crop(np.zeros((2, 4, 5, 6, 3)), crop=[1, 2, 2]).shape == (2, 1, 2, 2, 3)


@pytest.mark.parametrize("dtype", [*ALL, "bfloat16"])
def test_types(dtype):
    x = ndd.cast(np.arange(60).reshape(4, 5, 3) % 2 if dtype == "bool" else np.arange(60).reshape(4, 5, 3), dtype=dtype)
    out = ndd.crop(x, crop=[2, 7], out_of_bounds_policy="pad", fill_values=1)
    assert out.dtype == x.dtype
    expected = window(np.asarray(ndd.cast(x, dtype="i32")), [1, -1, 0], [2, 7, 3], "pad", 1)
    np.testing.assert_array_equal(np.asarray(ndd.cast(out, dtype="i32")), expected)
    assert np.asarray(ndd.crop(np.float32([[[2.9]]]), dtype="u8")).item() == 2


def test_arguments_per_sample():
    x = np.arange(90, dtype=np.uint8).reshape(5, 6, 3)
    out = ndd.crop(x, crop=ndd.as_batch([[2, 3], [5, 1]]), crop_pos_x=ndd.as_batch([0.0, 1.0]))
    np.testing.assert_array_equal(np.asarray(out.tensors[0]), x[2:4, 0:3])
    np.testing.assert_array_equal(np.asarray(out.tensors[1]), x[:, 5:])
    out = ndd.crop(x, crop_h=ndd.as_batch([1, 2]), crop_w=4)
    assert out.shape == [(1, 4, 3), (2, 4, 3)]
    with pytest.raises(RuntimeError, match="sample 1"):
        ndd.crop(x, crop=ndd.as_batch([[2, 3], [6, 1]])).evaluate()


def test_nothing_given_shows_everything():
    x = np.arange(90, dtype=np.uint8).reshape(5, 6, 3)
    np.testing.assert_array_equal(np.asarray(ndd.crop(x)), x)


@pytest.mark.parametrize(
    "arguments",
    [
        {"crop": [2]},
        {"crop": 2},
        {"crop": []},
        {"crop": [1, 2, 3, 4]},
        {"crop_h": 2},
        {"crop_w": 2},
        {"crop_d": 2},
        {"crop": [2, 2], "crop_h": 1, "crop_w": 1},
        {"crop": [2, 2], "crop_pos_x": -0.1},
        {"crop": [2, 2], "crop_pos_y": 1.1},
        {"crop": [2, 2], "crop_pos_y": float("nan")},
        {"crop": [2, 2], "rounding": "floor"},
        {"crop": [2, 2], "out_of_bounds_policy": "grow"},
        {"crop": [9, 2]},
        {"crop": [9, 9], "out_of_bounds_policy": "pad", "fill_values": [1, 2]},
    ],
)
def test_refused(arguments):
    with pytest.raises(RuntimeError, match=r"^crop: "):
        ndd.crop(np.zeros((5, 6, 3), np.uint8), **arguments).evaluate()


def test_layouts_that_are_not_images():
    for shape, layout in (((5, 6), "HW"), ((5, 6, 3), "XYZ"), ((5, 6), None), ((5,), None)):
        with pytest.raises(ValueError, match="layout"):
            ndd.crop(ndd.tensor(np.zeros(shape), layout=layout), crop=[2, 2])


def test_huge_extents_are_refused():
    for size in (1e19, 2.0**62, 1e9):
        with pytest.raises((RuntimeError, ValueError, MemoryError)):
            ndd.crop(np.zeros((5, 6, 3)), crop=[size, size], out_of_bounds_policy="pad").evaluate()
