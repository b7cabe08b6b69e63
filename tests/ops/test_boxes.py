import numpy as np
import pytest

import avida as ndd
from tests.op_case import RANDOM_ARGUMENTS, op_case

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
    with pytest.raises(RuntimeError, match=r"expected|must be"):
        ndd.bbox_rotate(BOXES[0][0], angle=30, **arguments).evaluate()


def test_rotate_takes_any_number():
    assert ndd.bbox_rotate(BOXES[0][0], angle=np.inf, input_shape=[9, 9]).shape == (0, 4)
    assert ndd.bbox_rotate(np.full((2, 4), np.nan, np.float32), angle=3, input_shape=[9, 9]).shape == (0, 4)
    assert ndd.bbox_rotate(BOXES[0][0], angle=3, input_shape=[0, -5]).shape[1] == 4


@pytest.mark.parametrize("name", ["bb_flip", "coord_flip", "bbox_paste"])
def test_shapes_are_checked(name):
    ratio = {"ratio": 2} if name == "bbox_paste" else {}
    with pytest.raises(RuntimeError, match="expected"):
        getattr(ndd, name)(np.ones(5, np.float32), **ratio).evaluate()


ANCHORS = [0.1, 0.1, 0.3, 0.3, 0.45, 0.5, 0.9, 0.9, 0.0, 0.0, 0.05, 0.05, 0.12, 0.1, 0.3, 0.3]
ENCODED = [[boxes, np.arange(1, len(boxes) + 1, dtype=np.int32)] for (boxes,) in BOXES]


@op_case("box_encoder", inputs=ENCODED, anchors=[ANCHORS], criteria=[0.2, 0.5], offset=[False, True])
def encoded(boxes, labels, anchors, criteria, offset):
    anchors = np.reshape(np.float32(anchors), (-1, 4))

    def centered(x):
        return np.hstack([(x[:, :2] + x[:, 2:]) / 2, x[:, 2:] - x[:, :2]])

    shared = np.maximum(
        np.minimum(boxes[:, None, 2:], anchors[:, 2:]) - np.maximum(boxes[:, None, :2], anchors[:, :2]), 0
    )
    shared = shared.prod(2)
    overlap = shared / (centered(boxes)[:, None, 2:].prod(2) + centered(anchors)[:, 2:].prod(1) - shared)
    match = np.where(overlap.max(0) > criteria, overlap.argmax(0), -1)
    for box, anchor in enumerate(len(anchors) - 1 - overlap[:, ::-1].argmax(1)):  # the last of equal ones
        match[anchor] = box
    out = centered(anchors)
    out[match >= 0] = centered(boxes)[match[match >= 0]]
    if offset:
        middle, extent = centered(anchors)[:, :2], centered(anchors)[:, 2:]
        out = np.hstack([(out[:, :2] - middle) / extent, np.log(out[:, 2:] / extent)])
    return np.float32(out), np.where(match >= 0, labels[match], 0).astype(np.int32)


@pytest.mark.parametrize(
    "arguments",
    [
        {"anchors": []},
        {"anchors": [0, 0, 1]},
        {"anchors": ANCHORS, "criteria": 1.5},
        {"anchors": ANCHORS, "criteria": np.nan},
        {"anchors": ANCHORS, "means": [0, 0]},
    ],
)
def test_encoder_refuses(arguments):
    with pytest.raises(RuntimeError, match="expected"):
        ndd.box_encoder(*ENCODED[0], **arguments)[0].evaluate()


RANDOM_ARGUMENTS["roi_random_crop"] = {"crop_shape": [2, 2], "roi_start": [0, 0], "roi_end": [900, 900]}


@pytest.mark.parametrize(
    ("crop", "first", "last", "arguments"),
    [
        ([2, 3], [3, 4], [7, 7], {}),
        ([20, 10], [-11, 0], [3, 4], {}),
        ([8, 8], [1, 2], [2, 4], {"in_shape": [10, 12]}),
        ([6, 6], [3, 4], [3, 4], {}),
    ],
)
def test_windows_in_a_region(crop, first, last, arguments):
    """Every start that is possible comes, and no other."""
    region = {"roi_start": [3, 4], "roi_end": [9, 10]} | arguments
    out = ndd.roi_random_crop(crop_shape=crop, **region, batch_size=2000, rng=ndd.random.RNG(4))
    drawn = np.array([np.asarray(start) for start in out])
    assert drawn.dtype == np.int64
    for axis in range(2):
        assert set(drawn[:, axis]) == set(range(first[axis], last[axis] + 1))


def test_windows_stay_inside_of_the_input():
    image = np.zeros((10, 12), np.uint8)
    out = ndd.roi_random_crop(image, crop_shape=[10, 11], roi_start=[3, 4], roi_shape=[2, 2])
    assert np.asarray(out)[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"roi_end": [9, 9], "roi_shape": [6, 6]},
        {"roi_end": [9]},
        {"roi_end": [9, 9], "in_shape": [5, 5]},
        {"roi_end": [4, 4], "in_shape": [5]},
        {"roi_end": [2**62, 9]},
    ],
)
def test_windows_refuse(arguments):
    with pytest.raises(RuntimeError, match="expected"):
        ndd.roi_random_crop(crop_shape=[2, 2], roi_start=[3, 3], **arguments).evaluate()


EMPTY, UNKNOWN = np.zeros((0, 4), np.float32), np.full((2, 4), np.nan, np.float32)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bb_flip", {}),
        ("coord_flip", {"layout": "xy"}),
        ("bbox_paste", {"ratio": 2}),
        ("bbox_rotate", {"angle": 30, "input_shape": [9, 9]}),
        ("random_bbox_crop", {"scaling": [0.5, 1]}),
    ],
)
def test_no_boxes(name, arguments):
    columns = 2 if name == "coord_flip" else 4
    out = getattr(ndd, name)(EMPTY[:, :columns].copy(), **arguments)
    assert (out[2] if isinstance(out, tuple) else out).shape == (0, columns)
    batch = ndd.as_batch([EMPTY[:, :columns].copy(), BOXES[0][0][:, :columns].copy()])
    out = getattr(ndd, name)(batch, **arguments)
    assert (out[2] if isinstance(out, tuple) else out).shape[0] == (0, columns)


def test_no_boxes_to_encode():
    out, labels = ndd.box_encoder(EMPTY, np.int32([]), anchors=ANCHORS)
    assert out.shape == (4, 4)
    assert np.asarray(labels).tolist() == [0, 0, 0, 0]


def test_unknown_places_stay_unknown():
    for out in (ndd.bb_flip(UNKNOWN), ndd.bbox_paste(UNKNOWN, ratio=2), ndd.coord_flip(UNKNOWN[:, :2].copy())):
        assert np.isnan(np.asarray(out)).all()
    assert ndd.bbox_rotate(UNKNOWN, angle=30, input_shape=[9, 9]).shape == (0, 4)


@pytest.mark.parametrize("box", [[np.nan] * 4, [0.5, 0.5, 0.4, 0.6], [0.1, 0.1, 0.2, np.inf], [0.1, np.nan, 0.2, 0.3]])
def test_encoder_refuses_boxes_that_would_spoil_a_training(box):
    boxes = np.float32([[0.1, 0.1, 0.2, 0.2], box])
    with pytest.raises(RuntimeError, match="end after they start"):
        ndd.box_encoder(boxes, np.int32([1, 2]), anchors=ANCHORS)[0].evaluate()


def test_boxes_outside_are_moved_like_others():
    box = np.float32([[-1, -1, 3, 2]])
    np.testing.assert_allclose(np.asarray(ndd.bb_flip(box, ltrb=True)), [[-2, -1, 2, 2]])
    assert np.asarray(ndd.box_encoder(box, np.int32([7]), anchors=ANCHORS)[1]).max() == 7


@pytest.mark.parametrize("ratio", [0, -1, np.nan])
def test_paste_needs_a_canvas(ratio):
    with pytest.raises(RuntimeError, match="ratio"):
        ndd.bbox_paste(BOXES[0][0], ratio=ratio).evaluate()


PIXELS = np.float32([[10, 20, 110, 220], [5, 5, 50, 60]])


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda x: ndd.bb_flip(x, ltrb=True), "width and height"),
        (lambda x: ndd.bbox_paste(x, ratio=2), "width and height"),
        (lambda x: ndd.bbox_rotate(x, angle=30, input_shape=[480, 640]), "bbox_normalized=False"),
        (lambda x: ndd.coord_flip(x[:, :2].copy()), "center_x"),
    ],
)
def test_pixels_are_no_fractions(call, remedy):
    with pytest.raises(RuntimeError, match=f"expected fractions.*got [12]0.*looks like pixels.*{remedy}"):
        call(PIXELS[:1]).evaluate()


def test_pixels_where_they_make_sense():
    assert ndd.bbox_rotate(PIXELS, angle=30, input_shape=[480, 640], bbox_normalized=False).shape == (2, 4)
    points = ndd.coord_flip(PIXELS[:, :2].copy(), center_x=320)
    np.testing.assert_array_equal(np.asarray(points), [[630, 20], [635, 5]])
    beyond = np.float32([[-3, 0, 7, 1]])  # of a crop, before boxes are clipped
    np.testing.assert_array_equal(np.asarray(ndd.bb_flip(beyond, ltrb=True)), [[-6, 0, 4, 1]])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_labels_keep_their_type(dtype):
    boxes, labels = np.float32([[0, 0, 0.1, 0.1], [0.4, 0.4, 0.6, 0.6]]), np.array([5, 6], dtype)
    _, kept = ndd.bbox_rotate(boxes, labels, angle=45, input_shape=[100, 100], keep_size=True)
    assert np.asarray(kept).dtype == dtype
    assert np.asarray(kept).tolist() == [6]
    *_, kept = ndd.random_bbox_crop(boxes, labels, scaling=[1, 1])
    assert np.asarray(kept).dtype == dtype
    assert np.asarray(kept).tolist() == [5, 6]
    with pytest.raises(RuntimeError, match="int32 or int64"):
        ndd.random_bbox_crop(boxes, labels.astype(np.float32))[0].evaluate()
