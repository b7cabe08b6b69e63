import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, op_case

NUMBERS = [dtype for dtype in ALL if dtype != "bool"]


@op_case(
    "erase",
    layout="HWC",
    dtypes=NUMBERS,
    anchor=[[1.5, 2.0], [-1.0, 0.0]],
    shape=[[2.0, 1.0], [2.5, 3.0]],
    fill_value=[7.0, 3.6],
)
def erased(x, anchor, shape, fill_value):
    out = x.copy()
    (top, left), (height, width) = anchor, shape
    fill = fill_value if x.dtype.kind == "f" else int(fill_value)
    out[max(0, int(top)) : max(0, int(top + height)), max(0, int(left)) : max(0, int(left + width))] = fill
    return out


def tensor(x, layout="HWC"):
    return ndd.as_tensor(x, layout=layout)


def test_erase_channels_and_axes():
    x = np.ones((2, 3, 4), np.uint8)
    colours = [10, 20]
    out = np.asarray(ndd.erase(tensor(x, "CHW"), anchor=[0, 1], shape=[2, 2], fill_value=colours))
    assert out[:, 0, 1].tolist() == colours
    assert out[:, 2].max() == 1
    out = np.asarray(ndd.erase(tensor(x, "FHW"), anchor=[1], shape=[1], axis_names="F", fill_value=9))
    np.testing.assert_array_equal(out[1], 9)
    np.testing.assert_array_equal(out[0], 1)
    out = np.asarray(ndd.erase(x, anchor=[0], shape=[1], axes=[-1]))
    np.testing.assert_array_equal(out[..., 0], 0)
    np.testing.assert_array_equal(out[..., 1:], 1)


def test_erase_fills_with_what_the_type_can_hold():
    x = tensor(np.ones((2, 2, 1), np.uint8))
    assert np.asarray(ndd.erase(x, anchor=[0, 0], shape=[1, 1], fill_value=300))[0, 0, 0] == 255
    assert np.asarray(ndd.erase(x, anchor=[0, 0], shape=[1, 1], fill_value=-5))[0, 0, 0] == 0


@pytest.mark.parametrize("number", [np.inf, 1e30, -np.inf])
def test_erase_takes_any_number(number):
    x = tensor(np.ones((4, 4, 1), np.uint8))
    for anchor, shape in (([number, 0], [1, 1]), ([0, 0], [number, 1])):
        assert np.asarray(ndd.erase(x, anchor=anchor, shape=shape)).shape == (4, 4, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"anchor": [0, 0], "shape": [1]},
        {"anchor": [0], "shape": [1]},
        {"anchor": [0, 0], "shape": [1, 1], "axes": [0, 7]},
        {"anchor": [0, 0], "shape": [1, 1], "axes": [0, 0]},
        {"anchor": [0, 0], "shape": [1, 1], "fill_value": [1, 2]},
        {"anchor": [0, 0], "shape": [1, 1], "fill_value": []},
        {"normalized": True, "normalized_shape": True},
    ],
)
def test_erase_refuses(arguments):
    with pytest.raises(RuntimeError, match=r"expected|twice"):
        ndd.erase(tensor(np.ones((4, 4, 3), np.uint8)), **arguments).evaluate()


@op_case("grid_mask", layout="HWC", angle=[0.0, 0.5], tile=[2, 3], ratio=[0.4, 0.7], shift_x=[0.0, 1.0])
def masked(x, angle, tile, ratio, shift_x):
    v, u = np.mgrid[: x.shape[0], : x.shape[1]]
    along_x = (u * np.cos(angle) - v * np.sin(angle) - shift_x) / tile
    along_y = (u * np.sin(angle) + v * np.cos(angle)) / tile
    inside = (along_x % 1 < np.float32(ratio)) & (along_y % 1 < np.float32(ratio))
    return np.where(inside[..., None], 0, x).astype(x.dtype)


def test_grid_mask_layouts():
    x = np.ones((6, 8, 3), np.uint8)
    expected = np.asarray(ndd.grid_mask(tensor(x), tile=4))
    np.testing.assert_array_equal(
        np.moveaxis(ndd.grid_mask(tensor(np.ones((3, 6, 8), np.uint8), "CHW"), tile=4), 0, 2), expected
    )
    np.testing.assert_array_equal(ndd.grid_mask(tensor(x[..., 0].copy(), "HW"), tile=4), expected[..., 0])
    np.testing.assert_array_equal(np.asarray(ndd.grid_mask(tensor(x[None], "FHWC"), tile=4))[0], expected)


@pytest.mark.parametrize("layout", ["DHWC", "CDHW", "FDHWC", "CFHW", "DHW"])
def test_grid_mask_of_volumes(layout):
    """Each slice is masked as an image."""
    x = np.ones([{"F": 2, "D": 4, "H": 6, "W": 8, "C": 3}[axis] for axis in layout], np.uint8)
    out = ndd.grid_mask(tensor(x, layout), tile=4, angle=0.3)
    assert out.layout == layout
    mask = np.asarray(ndd.grid_mask(tensor(np.ones((6, 8), np.uint8), "HW"), tile=4, angle=0.3))
    shape = [6 if axis == "H" else 8 if axis == "W" else 1 for axis in layout]
    np.testing.assert_array_equal(np.asarray(out), np.broadcast_to(mask.reshape(shape), x.shape))


@pytest.mark.parametrize("arguments", [{"angle": np.inf}, {"ratio": -np.inf}, {"shift_x": np.inf}, {"shift_y": -1e30}])
def test_grid_mask_takes_any_number(arguments):
    assert np.asarray(ndd.grid_mask(np.ones((4, 4, 1), np.uint8), **arguments)).shape == (4, 4, 1)


@op_case("paste", layout="HWC", ratio=[1.0, 2.6], paste_x=[0.3, 1.0], paste_y=[0.0, 0.5], fill_value=[[9], [1, 2, 3]])
def pasted(x, ratio, paste_x, paste_y, fill_value):
    height, width = (int(np.float32(ratio) * extent) for extent in x.shape[:2])
    out = np.broadcast_to(np.array(fill_value).astype(x.dtype), (height, width, 3)).copy()
    top = int(np.float32(paste_y) * (height - x.shape[0]))
    left = int(np.float32(paste_x) * (width - x.shape[1]))
    out[top : top + x.shape[0], left : left + x.shape[1]] = x
    return out


def test_paste_fills_with_what_the_type_can_hold():
    out = np.asarray(ndd.paste(np.ones((1, 1, 3), np.uint8), ratio=2, fill_value=[300, -1, 7]))
    assert out[1, 1].tolist() == [255, 0, 7]


@pytest.mark.parametrize(
    "arguments",
    [
        {"ratio": 0.5, "fill_value": 1},
        {"ratio": np.nan, "fill_value": 1},
        {"ratio": 1e30, "fill_value": 1},
        {"ratio": 2, "fill_value": 1, "min_canvas_size": np.nan},
        {"ratio": 2, "fill_value": 1, "paste_x": 1.1},
        {"ratio": 2, "fill_value": [1, 2]},
        {"ratio": 2, "fill_value": []},
        {"ratio": 2, "fill_value": [1, 2, 3, 4], "n_channels": 4},
    ],
)
def test_paste_refuses(arguments):
    with pytest.raises(RuntimeError, match="expected"):
        ndd.paste(np.ones((4, 4, 3), np.uint8), **arguments).evaluate()


@op_case(
    "multi_paste",
    layout="HWC",
    output_size=[[9, 9], [7, 8]],
    out_anchors=[[[0, 0]], [[1, 1]]],
    shapes_rel=[[[0.5, 0.7]], [[1.0, 1.0]]],
)
def pasted_together(x, output_size, out_anchors, shapes_rel):
    out = np.zeros((*output_size, x.shape[2]), x.dtype)
    ((top, left),), ((height, width),) = out_anchors, shapes_rel
    part = x[: int(np.ceil(np.float32(height) * x.shape[0])), : int(np.ceil(np.float32(width) * x.shape[1]))]
    out[top : top + part.shape[0], left : left + part.shape[1]] = part
    return out


def test_multi_paste_of_videos():
    x = np.random.default_rng(0).integers(1, 255, (2, 3, 4, 3), np.uint8)
    out = np.asarray(
        ndd.multi_paste(tensor(x, "FHWC"), tensor(x, "FHWC"), output_size=[6, 8], out_anchors=[[0, 0], [3, 4]])
    )
    assert out.shape == (2, 6, 8, 3)
    np.testing.assert_array_equal(out[:, :3, :4], x)
    np.testing.assert_array_equal(out[:, 3:, 4:], x)
    assert not out[:, :3, 4:].any()


def test_multi_paste_chooses_samples():
    x = np.random.default_rng(0).integers(1, 255, (3, 2, 2, 1), np.uint8)
    out = ndd.multi_paste(
        ndd.as_batch(list(x), layout="HWC"),
        in_ids=ndd.as_batch([np.int32([2]), np.int32([]), np.int32([0, 1])]),
        output_size=[2, 4],
        out_anchors=ndd.as_batch([np.int32([[0, 2]]), np.zeros((0, 2), np.int32), np.int32([[0, 0], [0, 2]])]),
    )
    np.testing.assert_array_equal(np.asarray(out.tensors[0])[:, 2:], x[2])
    assert not np.asarray(out.tensors[1]).any()
    np.testing.assert_array_equal(out.tensors[2], np.concatenate([x[0], x[1]], 1))


@pytest.mark.parametrize(
    "arguments",
    [
        {"output_size": [9]},
        {"output_size": [9, 9], "out_anchors": [[0, 0], [1, 1]], "out_anchors_rel": [[0.0, 0], [1, 1]]},
        {"output_size": [9, 9], "out_anchors": [1, 1]},
        {"output_size": [9, 9], "in_anchors": [[2**31 - 1, 0], [0, 0]]},
        {"output_size": [9, 9], "in_anchors_rel": [[np.nan, 0], [1e30, 0]]},
        {"output_size": [9, 9], "shapes": [[-1, 0], [0, 0]]},
    ],
)
def test_multi_paste_refuses(arguments):
    x = tensor(np.ones((4, 4, 3), np.uint8))
    with pytest.raises(RuntimeError, match="expected"):
        ndd.multi_paste(x, x, **arguments).evaluate()
