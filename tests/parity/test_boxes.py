"""Boxes and points that follow what happens to their image."""

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import both, cases


def boxes(n, seed=0, ends=True):
    rng = np.random.default_rng(seed)
    start, size = rng.uniform(0, 0.8, (n, 2)), rng.uniform(0.02, 0.2, (n, 2))
    return np.float32(np.hstack([start, start + size if ends else size]))


@pytest.mark.parametrize("ltrb", [False, True])
@pytest.mark.parametrize(("horizontal", "vertical"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_bb_flip(ltrb, horizontal, vertical):
    x = boxes(20, ends=ltrb)
    arguments = {"ltrb": ltrb, "horizontal": horizontal, "vertical": vertical}
    both(lambda library: library.bb_flip(library.tensor(x), **arguments), atol=1e-6)
    both(lambda library: library.bb_flip(library.tensor(x[0]), **arguments), atol=1e-6)


def test_bb_flip_per_sample():
    data = [boxes(3), boxes(5, 1), boxes(0)]
    both(
        lambda library: library.bb_flip(
            library.batch(data),
            horizontal=library.batch([np.int32(1), np.int32(0), np.int32(1)]),
            vertical=library.batch([np.int32(0), np.int32(1), np.int32(1)]),
        ),
        atol=1e-6,
    )


@pytest.mark.parametrize("dtype", ["int32", "float64"])
@pytest.mark.parametrize("name", ["bb_flip", "coord_flip", "bbox_paste"])
def test_other_types_are_refused(name, dtype):
    ratio = {"ratio": 2.0} if name == "bbox_paste" else {}
    both(
        lambda library: getattr(library, name)(library.tensor(boxes(3)[:, :2].astype(dtype)), **ratio),
        fails=RuntimeError,
    )


@pytest.mark.parametrize(
    ("arguments", "fails"),
    cases(
        [
            {},
            {"flip_x": 0, "flip_y": 1, "center_y": 0.4},
            {"layout": "yx"},
            {"layout": "yx", "flip_x": 1, "center_x": 3},
            {"flip_x": 2},
        ],
        refused=[
            {"layout": "xq"},
        ],
    ),
)
def test_coord_flip(arguments, fails):
    both(
        lambda library: library.coord_flip(library.tensor(boxes(9)[:, :2].copy()), **arguments), atol=1e-6, fails=fails
    )


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_coord_flip_of_any_rank(columns):
    """With a layout, since the real library remembers the rank of earlier calls without one."""
    x = boxes(9)[:, :columns].copy()
    layout = "xyz"[:columns]
    both(
        lambda library: library.coord_flip(library.tensor(x), layout=layout, flip_z=1, center_z=2),
        atol=1e-6,
        fails=columns == 4 and RuntimeError,
    )
    both(lambda library: library.coord_flip(library.tensor(x[0]), layout=layout), atol=1e-6, fails=RuntimeError)


@pytest.mark.parametrize("ltrb", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 1.37, 4.0, 0.5])
def test_bbox_paste(ltrb, ratio):
    x = boxes(20, ends=ltrb)
    arguments = {"ltrb": ltrb, "ratio": ratio, "paste_x": 0.2, "paste_y": 0.9}
    both(lambda library: library.bbox_paste(library.tensor(x), **arguments), rtol=1e-5, atol=1e-6)
    both(lambda library: library.bbox_paste(library.tensor(x), ratio=ratio), rtol=1e-5, atol=1e-6)


ROTATED = [
    {},
    {"keep_size": True},
    {"size": [50, 90]},
    {"bbox_layout": "xyWH"},
    {"input_shape": [200, 100], "shape_layout": "WH"},
    {"input_shape": [200, 100], "shape_layout": "WH", "size": [50, 90]},
    {"input_shape": [3, 100, 201], "shape_layout": "CHW"},
    {"keep_size": True, "remove_threshold": 0.0},
    {"keep_size": True, "remove_threshold": 0.3},
    {"keep_size": True, "remove_threshold": 0.7},
    {"size": [60, 60], "remove_threshold": 0.5, "bbox_layout": "xyWH"},
]


@pytest.mark.parametrize("arguments", ROTATED)
@pytest.mark.parametrize("mode", ["expand", "halfway", "fixed"])
@pytest.mark.parametrize("angle", [0.0, 17.0, 44.0, 90.0, -100.0, 226.0])
def test_bbox_rotate(mode, arguments, angle):
    x = boxes(40, ends=arguments.get("bbox_layout") != "xyWH")
    labels = np.arange(40, dtype=np.int32)
    given = {"input_shape": [101, 200], "mode": mode, "angle": angle} | arguments
    both(lambda library: library.bbox_rotate(library.tensor(x), library.tensor(labels), **given), atol=2e-5)
    pixels = x * np.float32([200, 101, 200, 101])
    both(lambda library: library.bbox_rotate(library.tensor(pixels), **given, bbox_normalized=False), atol=2e-3)


@pytest.mark.parametrize(
    "arguments",
    [
        {"keep_size": True, "size": [50, 50]},
        {"remove_threshold": 1.0},
        {"mode": "foo"},
        {"bbox_layout": "XYxy"},
    ],
)
def test_bbox_rotate_refuses(arguments):
    both(
        lambda library: library.bbox_rotate(library.tensor(boxes(3)), angle=3.0, input_shape=[9, 9], **arguments),
        fails=RuntimeError,
    )


def test_bbox_rotate_labels():
    def run(labels):
        return lambda library: library.bbox_rotate(
            library.tensor(boxes(3)), library.tensor(labels), angle=3.0, input_shape=[9, 9]
        )

    both(run(np.int32([[1], [2], [3]])), atol=1e-5)
    both(run(np.int32([1, 2])), fails=RuntimeError)
    both(run(np.float32([1, 2, 3])), fails=RuntimeError)


ANCHORS = boxes(60, 3).ravel().tolist()


@pytest.mark.parametrize(
    ("arguments", "fails"),
    cases(
        [
            {},
            {"criteria": 0.1},
            {"criteria": 1.0},
            {"offset": True},
            {"offset": True, "scale": 2.0, "means": [0.1, 0.2, 0.3, 0.4], "stds": [0.1, 0.2, 0.3, 0.4]},
        ],
        refused=[
            {"criteria": 2.0},
            {"anchors": ANCHORS[:5]},
        ],
    ),
)
@pytest.mark.parametrize("count", [0, 1, 12])
def test_box_encoder(arguments, fails, count):
    given = {"anchors": ANCHORS} | arguments
    labels = np.arange(1, count + 1, dtype=np.int32)
    both(
        lambda library: library.box_encoder(library.tensor(boxes(count)), library.tensor(labels), **given),
        rtol=1e-4,
        atol=1e-5,
        fails=fails,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"roi_end": [9, 9]},
        {"roi_shape": [6, 6]},
        {"roi_shape": [6, 6], "crop_shape": [20, 7]},
        {"roi_shape": [6, 6], "crop_shape": [8, 8], "in_shape": [10, 12]},
        {"roi_shape": [6, 6], "crop_shape": [18, 8], "in_shape": [10, 12]},
        {"roi_shape": [6, 6], "in_shape": [5, 5]},
        {"roi_shape": [6, 6], "roi_end": [9, 9]},
        {},
    ],
)
def test_roi_random_crop(arguments):
    """Streams differ: what is possible is compared."""
    given = {"crop_shape": [2, 3], "roi_start": [3, 3]} | arguments
    starts = []
    for library in (avida, dali):
        try:
            out = library.roi_random_crop(**given, batch_size=1000, rng=library.random.RNG(seed=5))
            starts.append({tuple(np.asarray(start).tolist()) for start in out})
        except RuntimeError:
            starts.append("refused")
    assert starts[0] == starts[1]
