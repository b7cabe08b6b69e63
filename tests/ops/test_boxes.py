import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case

RNG = np.random.default_rng(5)
BOXES = [
    [np.float32(np.hstack([a, a + RNG.uniform(0.1, 0.4, a.shape)]))]
    for a in (RNG.uniform(0, 0.6, (n, 2)) for n in (3, 1, 6))
]
POINTS = [[boxes[:, :2].copy()] for (boxes,) in BOXES]


@op_case("bb_flip", inputs=BOXES, ltrb=[True, False], horizontal=[0, 1], vertical=[0, 1])
def flipped(x, ltrb, horizontal, vertical):
    out = x.copy()
    for axis in [axis for axis, on in ((0, horizontal), (1, vertical)) if on]:
        out[:, axis] = 1 - (x[:, axis + 2] if ltrb else x[:, axis] + x[:, axis + 2])
        if ltrb:
            out[:, axis + 2] = 1 - x[:, axis]
    return out


@op_case("coord_flip", inputs=POINTS, flip_x=[0, 1], flip_y=[0, 1], center_x=[0.5, 2.0])
def mirrored(x, flip_x, flip_y, center_x):
    out = x.copy()
    if flip_x:
        out[:, 0] = 2 * center_x - x[:, 0]
    if flip_y:
        out[:, 1] = 1 - x[:, 1]
    return out


def test_order_of_coordinates():
    points = np.float32([[0.1, 0.2, 0.3]])
    out = ndd.coord_flip(points, layout="zyx", flip_x=1, flip_y=0, flip_z=1, center_z=1)
    np.testing.assert_allclose(np.asarray(out), [[1.9, 0.2, 0.7]], rtol=1e-6)
    with pytest.raises(RuntimeError, match="expected"):
        ndd.coord_flip(points, layout="xyy").evaluate()


@op_case("bbox_paste", inputs=BOXES, ratio=[1.0, 2.0, 3.7], paste_x=[0.0, 0.3], paste_y=[1.0, 0.5], ltrb=[True, False])
def moved(x, ratio, paste_x, paste_y, ltrb):
    offset = np.array([paste_x, paste_y]) * (1 - 1 / ratio)
    return np.float32(x / ratio + np.hstack([offset, offset if ltrb else [0, 0]]))


@op_case("bbox_rotate", inputs=BOXES, rtol=1e-4, angle=[0.0, 90.0, 180.0, -90.0], input_shape=[[60, 40]])
def turned(x, angle, input_shape):
    """Turning by right angles, of which the boxes of shares do not notice the extents."""
    for _ in range(int(angle) % 360 // 90):
        x = np.stack([x[:, 1], 1 - x[:, 2], x[:, 3], 1 - x[:, 0]], 1)
    return x


def test_boxes_around_turned_boxes():
    """The corners of the box, turned one by one."""
    box, angle = np.array([10.0, 20, 40, 25]), np.radians(33)
    out = ndd.bbox_rotate(np.float32([box]), angle=33, input_shape=[100, 200], bbox_normalized=False, keep_size=True)
    x, y = np.meshgrid(box[[0, 2]] - 100, box[[1, 3]] - 50)
    turned_x = np.cos(angle) * x + np.sin(angle) * y + 100
    turned_y = np.cos(angle) * y - np.sin(angle) * x + 50
    expected = [turned_x.min(), turned_y.min(), turned_x.max(), turned_y.max()]
    np.testing.assert_allclose(np.asarray(out)[0], expected, rtol=1e-5)


def test_labels_go_with_their_boxes():
    boxes = np.float32([[0, 0, 0.1, 0.1], [0.4, 0.4, 0.6, 0.6]])
    arguments = {"angle": 45, "input_shape": [100, 100], "keep_size": True}
    out, labels = ndd.bbox_rotate(boxes, np.int32([5, 6]), **arguments)
    assert np.asarray(labels).tolist() == [6]
    assert out.shape == (1, 4)
    out, labels = ndd.bbox_rotate(
        ndd.as_batch([boxes, boxes[:0]]), ndd.as_batch([np.int32([5, 6]), np.int32([])]), **arguments
    )
    assert labels.shape == [(1,), (0,)]
    assert isinstance(ndd.bbox_rotate(boxes, **arguments), ndd.Tensor)


@pytest.mark.parametrize(
    "arguments",
    [
        {"input_shape": [9]},
        {"input_shape": [9, 9], "size": [9]},
        {"input_shape": [9, 9], "shape_layout": "HC"},
        {"input_shape": [9, 9], "mode": "other"},
        {"input_shape": [9, 9], "remove_threshold": np.nan},
    ],
)
def test_rotate_refuses(arguments):
    with pytest.raises(RuntimeError, match="expected"):
        ndd.bbox_rotate(BOXES[0][0], angle=30, **arguments).evaluate()


def test_rotate_takes_any_number():
    assert ndd.bbox_rotate(BOXES[0][0], angle=np.nan, input_shape=[9, 9]).shape == (0, 4)
    assert ndd.bbox_rotate(np.full((2, 4), np.nan, np.float32), angle=3, input_shape=[9, 9]).shape == (0, 4)
    assert ndd.bbox_rotate(BOXES[0][0], angle=3, input_shape=[0, -5]).shape[1] == 4


@pytest.mark.parametrize("name", ["bb_flip", "coord_flip", "bbox_paste"])
def test_shapes_are_checked(name):
    ratio = {"ratio": 2} if name == "bbox_paste" else {}
    with pytest.raises(RuntimeError, match="expected"):
        getattr(ndd, name)(np.ones(5, np.float32), **ratio).evaluate()
