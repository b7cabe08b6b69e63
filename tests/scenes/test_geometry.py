"""Annotations go where the pixels go: what is drawn and moved has the place of what is moved by numbers."""

import numpy as np
import pytest

import avida
from avida._scenes.operators import BENDS, CHANGES_PIXELS, DRAWS
from tests.scenes.made import SEEDS, arrays, extents, scene

PERSPECTIVE = [[1, 0.1, 2], [-0.05, 1.1, 1], [0.001, 0.0005, 1]]
MATRIX = [0.9, 0.2, -3, -0.1, 1.1, 2]
# An operator, its arguments, and how far a box may lie from the extents of its mask: two pixels after an interpolation.
EXACT = [
    ("flip", {"horizontal": 1, "vertical": 1}, 1),
    ("crop", {"crop": [30, 32], "crop_pos_x": 0.2, "crop_pos_y": 0.7}, 1),
    ("crop", {"crop": [70, 99], "out_of_bounds_policy": "pad"}, 1),
    ("slice", {"rel_start": [0.1, 0.2], "rel_end": [0.9, 0.7]}, 1),
    ("resize", {"size": [45, 77]}, 1),
    ("resize", {"resize_shorter": 37}, 1),
    ("resize", {"resize_x": -50, "resize_y": 80}, 1),
    ("resize", {"size": [64, 64], "roi_start": [0.1, 0.1], "roi_end": [0.8, 0.9], "roi_relative": True}, 1),
    ("resize_crop_mirror", {"resize_shorter": 50, "crop": [40, 44], "mirror": 1}, 1),
    ("crop_mirror_normalize", {"crop": [33, 35], "mirror": 1}, 1),
    ("letterbox", {"size": [64, 96]}, 1),
    ("pad", {"fill_value": 7}, 1),
    ("paste", {"ratio": 1.7, "fill_value": [1, 2, 3], "paste_x": 0.3, "paste_y": 0.9}, 1),
    ("random_resized_crop", {"size": [48, 40], "random_area": [0.3, 1]}, 1),
    ("rotate", {"angle": 90}, 1),
    ("rotate", {"angle": 25, "fill_value": 0}, 2),
    ("rotate", {"angle": -40, "fill_value": 0, "keep_size": True}, 2),
    ("warp_affine", {"matrix": MATRIX, "fill_value": 0}, 2),
    (
        "warp_affine",
        {"matrix": MATRIX, "fill_value": 0, "inverse_map": False, "size": [90, 90]},
        2,
    ),
    ("experimental.warp_perspective", {"matrix": np.float32(PERSPECTIVE)}, 2),
    ("experimental.warp_perspective", {"matrix": np.float32(PERSPECTIVE), "pixel_origin": "center"}, 2),
    ("augment.affine", {"angle": 20, "scale": 0.8, "shear": [5, -3], "translate": [4, -2]}, 2),
    ("augment.affine", {"angle": -100, "scale": [1.2, 0.7], "size": 64, "rel_translate": [0.1, 0.05]}, 2),
    ("augment.perspective", {"distortion": 0.4}, 2),
    ("augment.perspective", {"corners": [0.1, 0.05, 0.95, 0, 0.8, 0.9, 0, 1]}, 2),
    ("augment.rotate", {"angle": 13, "fill_value": 0}, 2),
    ("augment.shear_x", {"factor": 0.2, "fill_value": 0}, 2),
    ("augment.shear_y", {"factor": -0.1, "fill_value": 0}, 2),
    ("augment.translate", {"x": 4, "y": -7, "fill_value": 0}, 1),
    ("augment.elastic", {"alpha": 40, "sigma": 6}, 2),
    ("augment.grid_distortion", {"limit": 0.4}, 2),
    ("augment.optical_distortion", {"k": 0.4}, 2),
    ("augment.optical_distortion", {"k": -0.3}, 2),
    ("augment.thin_plate_spline", {"scale": 0.04}, 2),
    ("water", {"ampl_x": 3, "ampl_y": 2, "freq_x": 0.1, "freq_y": 0.1}, 2),
    ("sphere", {}, 2),
    ("jitter", {"nDegree": 2}, 2),
]
ROWS = ("boxes", "masks", "keypoints", "labels", "rotated")
IDS = [f"{name}-{i}" for i, (name, _, _) in enumerate(EXACT)]


def operator(name):
    module, _, last = name.rpartition(".")
    return getattr(getattr(avida, module) if module else avida, last)


def moved(name, arguments, made):
    avida.random.set_seed(5)
    return operator(name)(made, **arguments)


FORMS = [("HWC", np.uint8), ("CHW", np.float32), ("FHWC", np.uint16), ("FCHW", np.uint8)]


IN_FORMS = [
    pytest.param(*case, *form, id=f"{key}-{form[0]}")
    for case, key in zip(EXACT, IDS, strict=True)
    for form in FORMS
    if case[0] != "paste" or form[0] == "HWC"  # which takes no others
]


@pytest.mark.parametrize(("name", "arguments", "near", "layout", "dtype"), IN_FORMS)
def test_a_box_has_the_extents_of_its_mask(name, arguments, near, layout, dtype):
    if name == "crop_mirror_normalize" and "F" in layout:
        arguments = {**arguments, "output_layout": "FCHW"}
    for seed in SEEDS if layout == "HWC" else [0]:
        made = moved(name, arguments, scene(seed, layout, dtype)).evaluate()
        clean = made.clean()
        assert {len(set(map(len, rows))) for rows in zip(*(arrays(made.fields[n]) for n in ROWS), strict=True)} == {1}
        for masks, boxes in zip(arrays(clean.masks), arrays(clean.boxes), strict=True):
            assert len(masks) == len(boxes)
            for mask, box in zip(masks, boxes, strict=True):
                if (found := extents(mask)) is not None:
                    assert np.abs(found - box).max() <= near
                else:
                    assert np.min(box[2:] - box[:2]) <= near


STEADY = [pytest.param(*case, id=key) for case, key in zip(EXACT, IDS, strict=True) if case[0] != "sphere"]


@pytest.mark.parametrize(("name", "arguments", "near"), STEADY)  # a sphere has no blob whose middle stays its middle
def test_points_go_where_their_pixels_go(name, arguments, near):
    """A blob around each point, drawn into an image of its own: smaller ones where lines are bent."""
    radius = 1 if name in BENDS else 3
    if name in ("water", "sphere", "jitter"):
        arguments = {**arguments, "interp_type": 1}
    rng = np.random.default_rng(0)
    places = rng.integers(20, 45, (2 * len(SEEDS), 2))
    images = np.zeros((len(places), 64, 72, 3), np.float32)
    for image, (x, y) in zip(images, places, strict=True):
        image[y - radius : y + radius + 1, x - radius : x + radius + 1] = 1
    points = (places + 0.5).astype(np.float32).reshape(-1, 1, 1, 2)
    images = [np.pad(image, ((20, 20), (20, 20), (0, 0))) for image in images]
    if name == "pad":
        arguments = {"fill_value": 0, "align": 16}
    if name in ("paste", "letterbox"):
        arguments = {**arguments, "fill_value": [0, 0, 0]}
    points += 20
    made = moved(name, arguments, avida.Scene(avida.as_batch(images, layout="HWC"), keypoints=list(points)))
    height_axis = 1 if name == "crop_mirror_normalize" else 0
    for image, point in zip(arrays(made.image), arrays(made.keypoints), strict=True):
        weights = image[0] if height_axis else image[..., 0]
        height, width = weights.shape
        x, y = point.reshape(2)
        if not (16 < x < width - 16 and 16 < y < height - 16) or weights.sum() < radius**2 * 2:
            continue  # the blob is cut off
        rows, columns = np.indices(weights.shape) + 0.5
        centre = (weights * columns).sum() / weights.sum(), (weights * rows).sum() / weights.sum()
        assert np.hypot(centre[0] - x, centre[1] - y) < 0.5


@pytest.mark.parametrize(("name", "arguments", "near"), EXACT, ids=IDS)
@pytest.mark.parametrize("keyed", [False, True])
def test_label_map_and_masks_are_one(name, arguments, near, keyed):
    before = scene(3)
    if keyed and name in DRAWS:
        reader = avida.ExternalSource([np.asarray(image) for image in before.image], layout="HWC", cycle=False)
        (pictures,) = next(iter(reader.next_epoch(batch_size=5)))
        before, arguments = before.replace(image=pictures), {**arguments, "keyed_by": pictures}
    made = moved(name, arguments, before)
    for mask, masks, image in zip(arrays(made.mask), arrays(made.masks), arrays(made.image), strict=True):
        np.testing.assert_array_equal(mask, masks.sum(axis=0))
        assert mask.shape in (image.shape[:2], image.shape[1:])


@pytest.mark.parametrize(("name", "arguments", "near"), EXACT, ids=IDS)
def test_the_image_is_that_of_the_operator(name, arguments, near):
    before = scene(1)
    for ours, plain in zip(moved(name, arguments, before).image, moved(name, arguments, before.image), strict=True):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(plain))


BENT = [
    pytest.param(name, arguments, id=key) for (name, arguments, _), key in zip(EXACT, IDS, strict=True) if name in BENDS
]


def at(image, x, y):
    """The values of an image between the centres of its pixels."""
    x, y = x - 0.5, y - 0.5
    i, j = int(y), int(x)
    return sum(
        image[i + di, j + dj] * (y - i if di else 1 - y + i) * (x - j if dj else 1 - x + j)
        for di in (0, 1)
        for dj in (0, 1)
    )


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
@pytest.mark.parametrize(("name", "arguments"), BENT)
def test_bent_points_lie_where_the_image_shows_them(name, arguments, layout):
    """The image has positions for colours: those that a point finds are its own from before."""
    rows, columns = np.indices((60, 80), np.float32) + 0.5
    image = np.stack([columns, rows], -1)
    if name in ("water", "sphere"):
        arguments = {**arguments, "interp_type": 1}
    points = np.random.default_rng(0).uniform((15, 15), (65, 45), (1, 50, 2)).astype(np.float32)
    batch = avida.as_batch([image if layout == "HWC" else image.transpose(2, 0, 1)], layout=layout)
    made = moved(name, arguments, avida.Scene(batch, keypoints=[points]))
    shown = np.asarray(made.image.tensors[0])
    shown = shown if layout == "HWC" else shown.transpose(1, 2, 0)
    found = [at(shown, x, y) for x, y in np.asarray(made.keypoints.tensors[0])[0]]
    assert np.abs(found - points[0]).max() < 0.02


def test_remap_moves_all():
    rows, columns = np.indices((50, 70), np.float32)
    x, y = 79 - columns * 0.9 + 2 * np.sin(rows / 9), rows * 0.8 + 4
    for form in (scene(2), scene(2, "CHW")):
        plain = avida.resize(form, size=[60, 80])
        made = avida.experimental.remap(plain, x, y, pixel_origin="center").clean()
        assert made.image.shape[0] in ((50, 70, 3), (3, 50, 70))
        for masks, boxes in zip(arrays(made.masks), arrays(made.boxes), strict=True):
            for mask, box in zip(masks, boxes, strict=True):
                assert (found := extents(mask)) is None or np.abs(found - box).max() <= 2
    marked = avida.Scene(np.zeros((8, 8, 3), np.uint8), mask=np.ones((8, 8), np.uint8), ignore=255)
    moved = avida.experimental.remap(marked, *np.float32(np.meshgrid(range(-4, 4), range(8))))
    assert set(np.unique(np.asarray(moved.mask))) == {1, 255}
    assert np.isnan(np.asarray(moved.matrix)).all()
    video = avida.Scene(avida.as_batch(np.zeros((1, 2, 8, 8, 1), np.uint8), layout="FHWC"), boxes=[[[0, 0, 1, 1]]])
    maps = avida.as_batch(np.zeros((1, 2, 8, 8), np.float32), layout="FHW")
    with pytest.raises(RuntimeError, match="expected one map for all frames of a Scene"):
        avida.experimental.remap(video, maps, maps).evaluate()


def test_positions_behind_the_horizon_are_not_mirrored():
    """The right half of the image lies behind the horizon at x = 50."""
    made = avida.Scene(
        np.zeros((40, 90, 3), np.uint8),
        boxes=[[10, 10, 20, 20], [30, 10, 80, 20], [60, 10, 80, 20]],
        keypoints=[[[20, 20, 2]], [[49, 20, 2]], [[80, 20, 2]]],
        rotated=[[15, 15, 10, 10, 0], [15, 15, 10, 10, 0], [70, 15, 10, 10, 0]],
    )
    matrix = np.float32([[1, 0, 0], [0, 1, 0], [-0.02, 0, 1]])
    made = avida.experimental.warp_perspective(made, matrix=matrix, inverse_map=False)
    boxes, points = np.asarray(made.boxes), np.asarray(made.keypoints)
    np.testing.assert_allclose(boxes[0], [12.5, 12.5, 100 / 3, 100 / 3], rtol=1e-5)
    assert boxes[1][0] == pytest.approx(75)
    assert boxes[1][2] > 1000
    np.testing.assert_allclose(points[0, 0], [100 / 3, 100 / 3, 2], rtol=1e-5)
    assert np.abs(points[2, 0, :2]).max() > 1e6
    np.testing.assert_allclose(np.asarray(made.clean().boxes), [boxes[0], [75, 25, 90, 40]], rtol=1e-4)
    assert made.clean(min_visible=0.1).boxes.shape == (1, 4)
    assert np.abs(np.asarray(made.rotated)[2, :2]).max() > 1e6


MATRICES = [pytest.param(*case, id=key) for case, key in zip(EXACT, IDS, strict=True) if case[0] not in BENDS]


@pytest.mark.parametrize(("name", "arguments", "near"), MATRICES)
def test_the_matrix_leads_back(name, arguments, near):
    before = scene(2)
    made = moved(name, arguments, before)
    for matrix, ours, theirs in zip(arrays(made.matrix), arrays(made.keypoints), arrays(before.keypoints), strict=True):
        points = np.concatenate([ours[..., :2], np.ones_like(ours[..., :1])], -1) @ np.linalg.inv(matrix).T
        assert np.abs(points[..., :2] / points[..., 2:] - theirs[..., :2]).max(initial=0) < 1e-3


def corners_of(box):
    """In the order of a walk around the box."""
    x, y, width, height, angle = box
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    shifts = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) * (width, height)
    return shifts @ [[c, -s], [s, c]] + (x, y)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("flip", {"horizontal": 1}),
        ("flip", {"horizontal": 0, "vertical": 1}),
        ("rotate", {"angle": 33}),
        ("rotate", {"angle": -120, "keep_size": True}),
        ("crop", {"crop": [30, 30]}),
        ("letterbox", {"size": 100}),
        ("resize", {"resize_longer": 200}),
        ("augment.affine", {"angle": 77, "scale": 1.3, "translate": [3, 4]}),
    ],
)
def test_rotated_boxes(name, arguments):
    before = scene(4)
    made = moved(name, arguments, before)
    rows = zip(arrays(before.rotated), arrays(made.rotated), arrays(made.matrix), strict=True)
    for old, new, matrix in rows:
        for one, other in zip(old, new, strict=True):
            wanted = (np.c_[corners_of(one), np.ones(4)] @ matrix.T)[:, :2]
            apart = np.linalg.norm(wanted[:, None] - corners_of(other), axis=-1)
            assert apart.min(axis=1).max() < 0.05  # the same corners, perhaps in another order


def test_rotated_boxes_around_a_sheared_one():
    """Two sides of the parallelogram lie on sides of the box, and none of its corners outside."""
    made = avida.Scene(np.zeros((50, 50, 3), np.uint8), rotated=[[25, 25, 20, 10, 0]])
    made = avida.warp_affine(made, matrix=[1, 0.5, 0, 0, 1, 0], inverse_map=False)
    x, y, width, height, angle = np.asarray(made.rotated)[0]
    np.testing.assert_allclose([x, y, width, height, angle], [37.5, 25, 25, 10, 0], atol=1e-4)


def area_along(places, angle):
    """Of the least rectangle of this direction around places."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    return np.prod(np.ptp(places @ [[c, s], [-s, c]], axis=0))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("augment.elastic", {"alpha": 3000, "sigma": 40}),
        ("augment.grid_distortion", {"limit": 0.2}),
        ("augment.optical_distortion", {"k": 0.2}),
        ("augment.thin_plate_spline", {"scale": 0.02}),
        ("water", {"ampl_x": 6, "ampl_y": 5, "freq_x": 0.02, "freq_y": 0.02}),
    ],
)
@pytest.mark.parametrize("angle", [0, 35, -80])
def test_rotated_boxes_around_bent_ones(name, arguments, angle):
    """The box is drawn as a mask and bent: around its pixels lies the same rectangle, and none is much smaller."""
    box = np.array([400, 360, 380, 230, angle], np.float32)
    rows, columns = np.indices((700, 800)) + 0.5
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    right, below = (columns - box[0]) * c - (rows - box[1]) * s, (columns - box[0]) * s + (rows - box[1]) * c
    mask = ((np.abs(right) < box[2] / 2) & (np.abs(below) < box[3] / 2)).astype(np.uint8)
    made = moved(name, arguments, avida.Scene(np.zeros((700, 800, 1), np.uint8), rotated=box[None], mask=mask))
    found, bent = np.asarray(made.rotated)[0], np.asarray(made.mask)
    edge = bent.astype(bool)
    edge[1:-1, 1:-1] &= ~(bent[:-2, 1:-1] & bent[2:, 1:-1] & bent[1:-1, :-2] & bent[1:-1, 2:]).astype(bool)
    y, x = np.nonzero(edge)
    corners = np.concatenate([np.c_[x + dx, y + dy] for dx in (0.25, 0.75) for dy in (0.25, 0.75)])  # of pixels turned
    c, s = np.cos(np.radians(found[4])), np.sin(np.radians(found[4]))
    along = corners @ [[c, s], [-s, c]]
    middle = np.array([found[0], found[1]]) @ [[c, s], [-s, c]]
    ours = np.concatenate([middle - found[2:4] / 2, middle + found[2:4] / 2])
    theirs = np.concatenate([along.min(axis=0), along.max(axis=0)])
    both = np.prod(np.minimum(ours[2:], theirs[2:]) - np.maximum(ours[:2], theirs[:2]))
    union = found[2] * found[3] + np.prod(theirs[2:] - theirs[:2]) - both
    assert both / union >= 0.99
    assert area_along(corners, found[4]) <= 1.05 * min(area_along(corners, each) for each in range(0, 180, 2))


def same(one, other):
    assert list(one.fields) == list(other.fields)
    for name in ("image", *one.fields):
        for a, b in zip(getattr(one, name), getattr(other, name), strict=True):
            if name == "rotated":
                np.testing.assert_allclose(np.asarray(a)[:, :4], np.asarray(b)[:, :4], atol=1e-4)
                turned = (np.asarray(a)[:, 4] - np.asarray(b)[:, 4]) % 180  # a rectangle that is turned by half
                assert np.minimum(turned, 180 - turned).max(initial=0) < 1e-3
            else:
                np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_two_flips_are_none():
    for arguments in ({"horizontal": 1}, {"horizontal": 0, "vertical": 1}):
        same(avida.flip(avida.flip(scene(), **arguments), **arguments), scene())


def test_four_quarter_turns_are_none():
    made = scene()
    for _ in range(4):
        made = avida.rotate(made, angle=90)
    same(made, scene())


def test_boxes_do_not_grow_with_each_turn():
    made = avida.Scene(np.zeros((60, 60, 3), np.uint8), boxes=[[20, 20, 40, 40]])
    for angle in (30, 30, -60):
        made = avida.rotate(made, angle=angle, keep_size=True)
    np.testing.assert_allclose(np.asarray(made.boxes), [[20, 20, 40, 40]], atol=1e-4)


def test_keypoints_change_sides_where_the_image_is_mirrored():
    points = np.float32([[[1, 2], [3, 4], [5, 6]]])
    images = avida.as_batch(np.zeros((2, 10, 20, 3), np.uint8), layout="HWC")
    made = avida.Scene(images, keypoints=[points, points])
    made = avida.flip(made, horizontal=avida.as_batch(np.int32([1, 0])), swap=[[0, 2]])
    np.testing.assert_array_equal(np.asarray(made.keypoints.tensors[0]), [[[15, 6], [17, 4], [19, 2]]])
    np.testing.assert_array_equal(np.asarray(made.keypoints.tensors[1]), points)
    with pytest.raises(RuntimeError, match='numbers of keypoints below 3 in "swap", got 7'):
        avida.flip(made, swap=[[0, 7]]).evaluate()
    with pytest.raises(ValueError, match="expected pairs of keypoints"):
        avida.flip(made, swap=[1, 2, 3])
    with pytest.raises(TypeError, match='flip: expected a Scene with keypoints for "swap", got Batch'):
        avida.flip(images, swap=[[0, 2]])  # type: ignore


def test_tight_boxes_come_from_masks():
    """A disc does not grow when it is turned, as its box does."""
    rows, columns = np.indices((80, 80))
    disc = ((rows - 39.5) ** 2 + (columns - 39.5) ** 2 < 30**2).astype(np.uint8)
    box = extents(disc).astype(np.float32)
    made = avida.Scene(np.zeros((80, 80, 3), np.uint8), boxes=[box], masks=disc[None])
    turned = avida.rotate(made, angle=45, fill_value=0, keep_size=True)
    assert np.abs(np.asarray(turned.boxes)[0] - box).max() < 1.5
    corners = avida.rotate(made.replace(masks=np.zeros((1, 80, 80), np.uint8)), angle=45, keep_size=True)
    assert np.abs(np.asarray(corners.boxes)[0] - box).max() > 10


def test_one_pixel_and_no_objects():
    image = np.zeros((1, 1, 3), np.uint8)
    made = avida.Scene(image, mask=np.ones((1, 1), np.uint8), boxes=[[0, 0, 1, 1]], labels=[3])
    for step in (avida.flip, lambda x: avida.resize(x, size=[3, 5]), lambda x: avida.rotate(x, angle=90)):
        made = step(made)
    assert np.asarray(made.clean().boxes).tolist() == [[0, 0, 3, 5]]
    empty = avida.Scene(image, boxes=np.zeros((0, 4)), labels=np.zeros(0, np.int64), masks=np.zeros((0, 1, 1), bool))
    empty = avida.rotate(avida.resize(empty, size=[4, 4]), angle=30).clean(min_visible=0.5)
    assert [np.asarray(value).shape[0] for value in empty.fields.values()] == [0, 0, 0]


@pytest.mark.parametrize(("name", "arguments", "near"), EXACT, ids=IDS)
def test_images_of_one_pixel(name, arguments, near):
    """With an object that fills it, and with none."""
    if name in ("crop", "crop_mirror_normalize"):
        arguments = {**arguments, "out_of_bounds_policy": "pad"}
    images = avida.as_batch(np.full((2, 1, 1, 3), 9, np.uint8), layout="HWC")
    made = moved(
        name,
        arguments,
        avida.Scene(
            images,
            boxes=[[[0, 0, 1, 1]], []],
            rotated=[[[0.5, 0.5, 1, 1, 0]], []],
            masks=[np.ones((1, 1, 1), np.uint8), []],
            keypoints=[[[[0.5, 0.5, 2]]], []],
            mask=np.ones((2, 1, 1), np.uint8),
            labels=[[4], []],
        ),
    )
    for field in ROWS:
        assert [len(rows) for rows in arrays(made.fields[field])] == [1, 0]
        assert np.isfinite(arrays(made.fields[field])[0]).all()
    for field in ROWS:
        assert len(arrays(made.clean(min_visible=0.01).fields[field])[1]) == 0


def test_sequences_and_other_types():
    frames = np.zeros((2, 3, 20, 30, 1), np.uint16)
    made = avida.Scene(avida.as_batch(frames, layout="FHWC"), boxes=[[[1, 2, 3, 4]]] * 2)
    made = avida.resize(avida.flip(made), size=[40, 60], dtype=avida.float32)
    assert made.image.shape == [(3, 40, 60, 1)] * 2
    np.testing.assert_array_equal(np.asarray(made.boxes), [[[54, 4, 58, 8]]] * 2)


def test_what_changes_colours_changes_the_image_alone():
    before = scene()
    made = avida.brightness(before, brightness=2.0)
    assert made.boxes is before.boxes
    assert made.mask is before.mask
    assert not np.array_equal(arrays(made.image)[0], arrays(before.image)[0])


COLOURS = [name for name in CHANGES_PIXELS if name.startswith("augment.")]


@pytest.mark.parametrize("name", COLOURS)
def test_augmentations_of_colours_take_scenes(name):
    before = scene()
    arguments = {"shift": [5, 5, 5]} if name == "augment.rgb_shift" else {}
    made = operator(name)(before, **arguments).evaluate()
    assert made.boxes is before.boxes
    assert made.image.shape == before.image.shape


def test_what_cannot_know_refuses():
    for refused in (avida.transpose, avida.reductions.sum, avida.one_hot):
        with pytest.raises(TypeError, match=r"does not know what becomes of masks, boxes and points; use scene\.image"):
            refused(scene())
    with pytest.raises(TypeError, match="expected one Scene, as the first input"):
        avida.flip(scene(), horizontal=scene())
    with pytest.raises(ValueError, match="a Scene has no second result"):
        avida.letterbox(scene(), size=64, save_matrix=True)
    with pytest.raises(ValueError, match="expected axis_names for a Scene"):
        avida.pad(scene(), axes=[0])
    with pytest.raises(ValueError, match="slice: expected axis_names for a Scene"):
        avida.slice(scene(), start=[0, 0], shape=[9, 9], axes=[0, 1])
    with pytest.raises(ValueError, match="slice: expected axes among \"HW\" for a Scene, got 'HC'"):
        avida.slice(scene(), start=[0, 0], shape=[9, 2], axis_names="HC")


def test_an_error_names_the_operator_and_the_sample():
    with pytest.raises(RuntimeError, match="crop: sample 1: "):
        avida.crop(scene(), crop=[50, 50]).evaluate()
