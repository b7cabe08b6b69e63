"""Warps, random crops and masks of Scenes in loops: the same for any threads, batch sizes and steps prepared ahead."""

import functools

import numpy as np
import pytest

import avida
from avida import augment
from avida.augment import between, one_of
from tests.ahead.loops import run
from tests.scenes.made import arrays, scene

WARPS = [
    functools.partial(augment.elastic, alpha=between(10, 40), sigma=6),
    augment.grid_distortion,
    functools.partial(augment.perspective, distortion=0.3),
    functools.partial(avida.jitter, nDegree=3),
    functools.partial(augment.affine, angle=between(-20, 20), scale=between(0.8, 1.2)),
    augment.thin_plate_spline,
]


def same(one, other):
    for name in ("image", *one.fields, "matrix"):
        for a, b in zip(getattr(one, name), getattr(other, name), strict=True):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def pipeline(made, **key):
    avida.random.set_seed(11)
    for warp in WARPS:
        made = warp(made, **({} if warp is WARPS[4] else key))
    made = one_of(made, WARPS, p=0.9, **key)
    return augment.random_crop(made, [30, 32], **key)


def test_threads():
    before = pipeline(scene())
    for threads in (1, 2, 16):
        with avida.EvalContext(num_threads=threads):
            same(pipeline(scene()), before)


@pytest.mark.parametrize("mode", ["deferred", "sync_cpu"])
def test_modes(mode):
    before = pipeline(scene())
    with getattr(avida.EvalMode, mode):
        same(pipeline(scene()), before)


def test_a_warp_draws_once():
    """Label map, masks, points and image show the same warp; what is drawn next is the same as with a Batch."""
    for warp in WARPS[:4]:
        avida.random.set_seed(2)
        warp(scene())
        after_scene = avida.random.get_default_rng().state
        avida.random.set_seed(2)
        warp(scene().image)
        assert avida.random.get_default_rng().state == after_scene


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(12):
        np.save(tmp_path / f"{i}.npy", rng.integers(0, 255, (30, 40, 3)).astype(np.uint8))
    return str(tmp_path)


def loop(folder, ahead, batch_size, keyed):
    avida.random.set_seed(3)
    reader = avida.readers.Numpy(file_root=folder, files=[f"{i}.npy" for i in range(12)])
    found: list[list[bytes]] = [[], [], []]
    for (files,) in reader.next_epoch(batch_size=batch_size, ahead=ahead):
        images = avida.reinterpret(files, layout="HWC")
        made = avida.Scene(images, boxes=[[[1, 2, 9, 8]]] * files.batch_size, mask=avida.reductions.max(images, axes=2))
        for warp in WARPS[:4]:
            made = warp(made, keyed_by=files) if keyed else warp(made)
        made = augment.random_crop(made, 25, keyed_by=files if keyed else None)
        for values, field in zip(found, ("image", "boxes", "mask"), strict=True):
            values += [value.tobytes() for value in arrays(getattr(made, field))]
    return found


@pytest.mark.parametrize("keyed", [False, True])
def test_ahead_or_not(folder, keyed):
    assert loop(folder, 2, 3, keyed) == loop(folder, 0, 3, keyed)


def test_keyed_draws_do_not_depend_on_the_batch_size(folder):
    assert loop(folder, 1, 4, True) == loop(folder, 1, 3, True)


def test_loops_with_warps_run_ahead(folder):
    reader = avida.readers.Numpy(file_root=folder, files=[f"{i}.npy" for i in range(12)])

    def body(i, files):
        made = avida.Scene(avida.reinterpret(files, layout="HWC"), boxes=[[[1, 2, 9, 8]]] * 2)
        return augment.elastic(augment.perspective(made)).clean().evaluate()

    _, count = run(reader.next_epoch(batch_size=2, ahead=1), body, 8)
    assert count >= 16


def test_random_crops_show_more_than_one_class():
    mask = np.zeros((60, 120), np.uint8)
    mask[:, 80:], mask[:10] = 3, 255
    many = avida.Scene(
        avida.as_batch(np.zeros((100, 60, 120, 3), np.uint8)), mask=avida.as_batch([mask] * 100), ignore=255
    )
    for most, least in ((0.8, 0.95), (1.0, 0.0)):
        avida.random.set_seed(0)
        shares = []
        for each in arrays(augment.random_crop(many, [40, 40], most_of_one_class=most).mask):
            counts = np.bincount(each[each != 255])
            shares.append(counts.max() / counts.sum() <= 0.8)
        assert np.mean(shares) >= least
    assert np.mean(shares) < 0.7  # without the condition
    larger = augment.random_crop(many, [70, 40], fill_value=7)
    assert larger.image.shape[0] == (70, 40, 3)
    assert (arrays(larger.image)[0][60:] == 7).all()
    assert (arrays(larger.mask)[0][60:] == 255).all()
    assert augment.random_crop(np_tensor(), 5).shape == (5, 5, 3)
    with pytest.raises(TypeError, match="expected a Scene with a label map"):
        augment.random_crop(many.image, 5, most_of_one_class=0.5)
    with pytest.raises(ValueError, match="expected height and width as size, got 3 numbers"):
        augment.random_crop(many, [1, 2, 3])
    masks = [np.zeros((60, 120, channels), np.int32) for channels in (1, 0)]
    empty = avida.Scene(avida.as_batch(np.zeros((2, 60, 120, 3), np.uint8)), mask=avida.as_batch(masks))
    with pytest.raises(RuntimeError, match="expected a label map of the image's size"):
        augment.random_crop(empty, [9, 9], most_of_one_class=0.5).image.evaluate()


def np_tensor():
    return avida.as_tensor(np.zeros((9, 9, 3), np.uint8), layout="HWC")


def test_random_crops_for_boxes():
    before = scene(1)
    avida.random.set_seed(1)
    made = avida.random_bbox_crop(before, scaling=[0.3, 1], aspect_ratio=[0.5, 2], thresholds=[0, 0.3])
    assert made.image.shape != before.image.shape
    for image, box, mask in zip(made.image, arrays(made.clean().boxes), arrays(made.clean().masks), strict=True):
        assert mask.shape[1:] == image.shape[:2]
        assert len(mask) == len(box)
    with pytest.raises(ValueError, match="expected a Scene with boxes"):
        avida.random_bbox_crop(avida.Scene(before.image))
    with pytest.raises(ValueError, match="clean"):
        avida.random_bbox_crop(before, bbox_prune_threshold=0.5)


def test_missing_numbers_stay_missing():
    """NaN in an annotation is no place in a map, and leaves those beside it as they are."""
    images = avida.as_batch([np.zeros((40, 50, 3), np.uint8)])
    outline = np.float32([[5, 5], [30, 5], [30, 20], [5, 20]])
    missing = np.float32([[5, 5], [np.nan, 9], [30, 5], [30, 20], [9, np.nan], [5, 20]])
    rotated = np.float32([[10, 10, 8, 6, np.nan], [20, 20, 8, 6, 0]])
    given = {"rotated": [rotated], "boxes": [np.float32([[5, 5, 30, 20]] * 2)]}
    for warp in WARPS[:4]:
        made = warp(avida.Scene(images, masks=[np.float32([missing, missing])], **given))
        np.testing.assert_array_equal(np.isnan(arrays(made.rotated)[0]).any(axis=1), [True, False])
        assert np.isfinite(arrays(made.boxes)[0]).all()
        polygons = avida.Scene(images, masks=[outline[None]], boxes=[given["boxes"][0][:1]])
        assert np.isfinite(arrays(warp(polygons).boxes)[0]).all()


def test_outlines_that_run_to_and_fro_are_refused():
    corners = np.full((2**13, 40, 2), np.nan, np.float32)
    corners[0] = np.float32([[0, 0], [5000, 5000]] * 20)
    images = avida.as_batch([np.zeros((8, 9, 3), np.uint8)])
    with pytest.raises(RuntimeError, match="at most 67108864 corners when long edges are split, got 8192 objects"):
        augment.elastic(avida.Scene(images, masks=[corners])).masks.evaluate()
