"""mixup and cutmix against NumPy, and their labels."""

import numpy as np
import pytest

import avida

RANDOM = np.random.default_rng(0)
IMAGES = RANDOM.integers(0, 256, (6, 16, 20, 3), np.uint8)
CLASSES = np.array([3, 0, 1, 4, 2, 2])
BOTH = pytest.mark.parametrize("function", [avida.mixup, avida.cutmix], ids=lambda f: f.__name__)
PER_SAMPLE = pytest.mark.parametrize("per_sample", [False, True])


def images(dtype=np.uint8):
    return avida.as_batch(IMAGES.astype(dtype), layout="HWC")


def rng():
    return avida.random.RNG(seed=3)


def array(batch):
    return np.stack([np.asarray(sample) for sample in batch])


@PER_SAMPLE
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_mixup(per_sample, dtype):
    found, labels = avida.mixup(images(dtype), CLASSES, alpha=1.0, num_classes=5, per_sample=per_sample, rng=rng())
    hot, neighbours = np.eye(5)[CLASSES], np.roll(CLASSES, 1)
    # A sample whose neighbour has another class shows its share in its label.
    shares = array(labels)[np.arange(6), CLASSES]
    shares[neighbours == CLASSES] = np.nan
    if not per_sample:
        shares[:] = np.nanmean(shares)
        np.testing.assert_allclose(array(labels), hot * shares[0] + np.roll(hot, 1, 0) * (1 - shares[0]), atol=1e-6)
    known = ~np.isnan(shares)
    assert (len(set(shares[known].round(5))) > 1) == per_sample
    weight = shares[known, None, None, None]
    expected = IMAGES[known] * weight + np.roll(IMAGES, 1, 0)[known] * (1 - weight)
    assert found.dtype == avida.dtype(dtype)
    np.testing.assert_allclose(array(found)[known], expected, atol=0.51 if dtype == np.uint8 else 1e-3)
    np.testing.assert_allclose(array(labels).sum(axis=1), 1, rtol=1e-6)


@PER_SAMPLE
def test_cutmix(per_sample):
    found, labels = avida.cutmix(images(), CLASSES, num_classes=5, per_sample=per_sample, rng=rng())
    soft, pixels = array(labels), array(found)
    neighbours = np.roll(IMAGES, 1, 0)
    boxes = set()
    for i in range(6):
        foreign = (pixels[i] != IMAGES[i]).any(axis=-1)
        assert np.array_equal(pixels[i][foreign], neighbours[i][foreign])
        rows, columns = np.flatnonzero(foreign.any(axis=1)), np.flatnonzero(foreign.any(axis=0))
        box = (rows[0], rows[-1] + 1, columns[0], columns[-1] + 1) if len(rows) else (0, 0, 0, 0)
        boxes.add(box)
        area = (box[1] - box[0]) * (box[3] - box[2])
        assert foreign.sum() == area  # a full rectangle
        if CLASSES[i] != CLASSES[i - 1]:
            assert soft[i, CLASSES[i]] == pytest.approx(1 - area / 320, abs=1e-6)
    assert (len(boxes) > 1) == per_sample


def test_cutmix_of_videos():
    videos = avida.as_batch(np.stack([IMAGES] * 2, axis=1), layout="FHWC")
    moving, _ = avida.cutmix(videos, CLASSES, num_classes=5, rng=rng())
    still, _ = avida.cutmix(images(), CLASSES, num_classes=5, rng=rng())
    for video, image in zip(array(moving), array(still), strict=True):
        assert np.array_equal(video, np.stack([image] * 2))


@pytest.mark.parametrize("layout", ["CHW", "FCHW", "HW"])
def test_cutmix_finds_height_and_width_by_their_letters(layout):
    def moved(pixels):  # from HWC
        pixels = np.moveaxis(pixels, -1, 1)
        return {"CHW": pixels, "FCHW": np.stack([pixels] * 2, axis=1), "HW": pixels[:, 0]}[layout]

    batch = avida.as_batch(np.ascontiguousarray(moved(IMAGES)), layout=layout)
    found, shares = avida.cutmix(batch, CLASSES, num_classes=5, per_sample=True, rng=rng())
    reference, expected_shares = avida.cutmix(images(), CLASSES, num_classes=5, per_sample=True, rng=rng())
    assert found.layout == layout
    assert np.array_equal(array(found), moved(array(reference)))
    assert np.array_equal(array(shares), array(expected_shares))


@BOTH
def test_soft_labels(function):
    soft = RANDOM.dirichlet(np.ones(4), 6).astype(np.float32)
    _, labels = function(images(), soft, rng=rng())
    np.testing.assert_allclose(array(labels).sum(axis=1), 1, rtol=1e-5)
    _, again = function(images(), avida.as_batch(soft), num_classes=4, rng=rng())
    assert np.array_equal(array(labels), array(again))


@BOTH
def test_same_seed_same_result(function):
    expected = [array(x) for x in function(images(), CLASSES, num_classes=5, per_sample=True, rng=rng())]
    for mode in avida.EvalMode:
        for threads in (1, 3):
            with mode, avida.EvalContext(num_threads=threads):
                found = function(images(), CLASSES, num_classes=5, per_sample=True, rng=rng())
                assert all(np.array_equal(a, array(b)) for a, b in zip(expected, found, strict=True))


@BOTH
def test_keyed_by_samples(function):
    """The share of a sample is the same in any batch, also where its neighbour is not."""

    def shares(batch_size):
        out = []
        for batch, labels in avida.ExternalSource(zip(IMAGES, np.eye(6), strict=True), 2).next_epoch(batch_size):
            batch = avida.reshape(batch, layout="HWC")
            mixed, soft = function(batch, labels, per_sample=True, rng=rng(), keyed_by=batch)
            assert mixed.sources == batch.sources
            out += [np.asarray(row).max() for row in soft]
        return out

    assert shares(6) == shares(3)


@BOTH
def test_classes_as_readers_give_them(function):
    """An array of one number for each sample."""
    _, one = function(images(), avida.as_batch(CLASSES[:, None].astype(np.int32)), num_classes=5, rng=rng())
    _, other = function(images(), CLASSES.tolist(), num_classes=5, rng=rng())
    assert np.array_equal(array(one), array(other))


@BOTH
def test_no_samples_and_one(function):
    found, labels = function(images()._select([]), avida.as_batch(CLASSES)._select([]), num_classes=5)
    assert found.batch_size == labels.batch_size == 0
    found, labels = function(images()._select([2]), [1], num_classes=5)
    assert np.array_equal(array(found)[0], IMAGES[2])
    assert array(labels).tolist() == [[0, 1, 0, 0, 0]]


def test_cutmix_needs_height_and_width():
    for wrong, text in ((avida.as_batch(IMAGES, layout="WHC"), "WHC"), (avida.as_batch(IMAGES[..., 0]), "2 axes")):
        with pytest.raises(ValueError, match=rf"cutmix: expected images \(HWC or CHW\) .*, got {text}"):
            avida.cutmix(wrong, CLASSES, num_classes=5)[0].evaluate()


@BOTH
def test_wrong_arguments(function):
    name = function.__name__
    ragged = avida.as_batch([IMAGES[0], IMAGES[1][1:]], layout="HWC")
    for call, error, text in (
        (lambda: function(IMAGES, CLASSES), TypeError, "expected a Batch of images, got ndarray"),
        (lambda: function(images(), [1, 2]), ValueError, "a label for each of 6 images, got 2"),
        (lambda: function(images(), CLASSES, alpha=0), ValueError, "expected alpha above 0, got 0"),
        (lambda: function(images(), CLASSES, alpha="x"), TypeError, "expected a number as alpha, got 'x'"),
        (lambda: function(images(), CLASSES, keyed_by=images()), ValueError, "expected per_sample=True"),
        (
            lambda: function(images(), CLASSES, keyed_by=images(), per_sample=True),
            ValueError,
            "keyed_by.* samples that a reader has read",
        ),
        (lambda: function(images(), None), TypeError, "expected labels, got None"),
        (lambda: function(images(), [None] * 6), TypeError, "numbers for each image as labels, got 1 axes of object"),
        (lambda: function(images(), 3), TypeError, "numbers for each image as labels, got 0 axes of int64"),
        (lambda: function(images(), CLASSES, num_classes=5.5), TypeError, "an integer as num_classes, got 5.5"),
        (lambda: function(images(), CLASSES), ValueError, "expected num_classes"),
        (lambda: function(images(), CLASSES, num_classes=4), ValueError, "classes from 0 to 3, got 0 to 4"),
        (
            lambda: function(images(), np.ones((6, 2), int), num_classes=4),
            ValueError,
            "expected one integer, or a list",
        ),
        (lambda: function(images(), np.ones((6, 2)), num_classes=4), ValueError, "each of 4 classes"),
        (lambda: function(ragged, [0, 1], num_classes=2), ValueError, r"of one size, got \(16, 20, 3\) for sample 0"),
    ):
        with pytest.raises(error, match=f"^{name}: .*{text}"):
            call()[0].evaluate()
