"""mosaic: four images in one, with their boxes."""

import numpy as np
import pytest

import avida

COLOURS = np.array([[250, 10, 10], [10, 250, 10], [10, 10, 250], [250, 250, 10], [10, 250, 250]], np.uint8)
SIZES = [(60, 80), (80, 60), (70, 70), (30, 90), (50, 50)]


def images():
    """Each of one colour, by which it is found again."""
    return avida.as_batch(
        [np.broadcast_to(c, (*s, 3)).copy() for c, s in zip(COLOURS, SIZES, strict=True)], layout="HWC"
    )


def rng():
    return avida.random.RNG(seed=4)


def region(image, colour):
    """Left, top, right, bottom of what has a colour."""
    rows, columns = np.nonzero((image == colour).all(axis=-1))
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1] if len(rows) else None


def whole(ltrb=True, ratio=False):
    """A box around each image, its number as the label."""
    boxes = [[0, 0, 1, 1] if ratio else [0, 0, width, height] for height, width in SIZES]
    return avida.as_batch([np.float32([box]) for box in boxes]), avida.as_batch([[i] for i in range(5)])


@pytest.mark.parametrize("size", [64, (48, 96)])
def test_boxes_are_where_the_images_are(size):
    made, boxes, labels = avida.mosaic(images(), *whole(), output_size=size, ltrb=True, rng=rng())
    height, width = (size, size) if isinstance(size, int) else size
    assert made.shape == [(height, width, 3)] * 5
    assert made.layout == "HWC"
    for i, (image, rows, numbers) in enumerate(zip(made, boxes, labels, strict=True)):
        assert sorted(np.asarray(numbers)) == sorted((i + k) % 5 for k in range(4))
        for box, number in zip(np.asarray(rows), np.asarray(numbers), strict=True):
            assert region(np.asarray(image), COLOURS[number]) == box.tolist()


def test_corners_meet_in_the_centre():
    _, boxes, _ = avida.mosaic(images(), *whole(), output_size=100, ltrb=True, rng=rng())
    for rows in boxes:
        first, second, third, fourth = np.asarray(rows)
        x, y = first[2:]
        assert 25 <= x <= 75
        assert 25 <= y <= 75
        assert (second[0], second[3]) == (x, y)
        assert (third[2], third[1]) == (x, y)
        assert (fourth[0], fourth[1]) == (x, y)


def test_what_no_image_covers():
    (image, *_), boxes, _ = avida.mosaic(
        images(), *whole(), output_size=200, image_size=40, ltrb=True, center_range=(0.5, 0.5), fill_value=9
    )
    pixels = np.asarray(image)
    assert (pixels[0] == 9).all()
    assert (pixels[100, 95] == COLOURS[2]).all()
    assert np.asarray(boxes.tensors[0]).tolist() == [
        [60, 70, 100, 100],
        [100, 60, 130, 100],
        [60, 100, 100, 140],
        [100, 100, 140, 113],
    ]


@pytest.mark.parametrize("ltrb", [False, True])
@pytest.mark.parametrize("ratio", [False, True])
def test_forms_of_boxes(ltrb, ratio):
    _, expected, _ = avida.mosaic(images(), *whole(), output_size=(50, 80), ltrb=True, rng=rng())
    boxes, labels = whole(ratio=ratio)  # from 0, 0: the same with and without ltrb
    _, found, _ = avida.mosaic(images(), boxes, labels, output_size=(50, 80), ltrb=ltrb, ratio=ratio, rng=rng())
    for rows, reference in zip(map(np.asarray, found), map(np.asarray, expected), strict=True):
        rows = rows.copy()
        if not ltrb:
            rows[:, 2:] += rows[:, :2]
        np.testing.assert_allclose(rows * ([80, 50, 80, 50] if ratio else 1), reference, atol=1e-4)


def test_boxes_out_of_sight_are_dropped():
    """The image in the upper left shows its lower right corner: a box in its upper left is not seen."""
    far = avida.as_batch([np.float32([[0, 0, 2, 2], [40, 40, 10, 10]])] * 5)
    labels = avida.as_batch([np.int32([1, 2])] * 5)
    square = avida.as_batch([np.zeros((50, 50, 3), np.uint8)] * 5, layout="HWC")
    options = {"output_size": 50, "center_range": (0.5, 0.5)}
    _, boxes, numbers = avida.mosaic(square, far, labels, **options)
    for rows, kept in zip(boxes, numbers, strict=True):
        assert np.asarray(kept).tolist() == [2, 1]  # the second box of the first image, the first one of the last
        assert np.asarray(rows).tolist() == [[15, 15, 10, 10], [25, 25, 2, 2]]


def test_boxes_of_which_little_is_seen():
    half = avida.as_batch([np.float32([[20, 20, 10, 10]])] * 4)  # a quarter of it is in the seen part of each image
    square = avida.as_batch([np.zeros((50, 50, 3), np.uint8)] * 4, layout="HWC")
    labels = avida.as_batch([[1]] * 4)
    for least, count in ((0.2, 4), (0.3, 0)):
        options = {"output_size": 50, "center_range": (0.5, 0.5), "min_visible": least}
        _, boxes, kept = avida.mosaic(square, half, labels, **options)
        assert boxes.shape == [(count, 4)] * 4
        assert kept.shape == [(count,)] * 4


def test_images_alone_and_seeds():
    expected = avida.mosaic(images(), output_size=40, rng=rng())
    with_boxes, _, _ = avida.mosaic(images(), *whole(), output_size=40, rng=rng())
    for mode in avida.EvalMode:
        with mode, avida.EvalContext(num_threads=3):
            found = avida.mosaic(images(), output_size=40, rng=rng())
            for a, b, c in zip(expected, found, with_boxes, strict=True):
                assert np.array_equal(np.asarray(a), np.asarray(b))
                assert np.array_equal(np.asarray(a), np.asarray(c))


def test_boxes_without_labels():
    for few in ([], [0, 1, 2, 3, 4]):
        boxes, labels = (each._select(few) for each in whole())
        expected = avida.mosaic(images()._select(few), boxes, labels, output_size=40, rng=rng())[:2]
        found = avida.mosaic(images()._select(few), boxes, output_size=40, rng=rng())
        assert isinstance(found, tuple)
        for one, other in zip(found, expected, strict=True):
            assert one.shape == other.shape
            assert all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_images(count):
    boxes, labels = whole()
    few = list(range(count))
    made, found, _ = avida.mosaic(
        images()._select(few), boxes._select(few), labels._select(few), output_size=32, center_range=(0, 1)
    )
    assert made.shape == [(32, 32, 3)] * count
    assert found.batch_size == count


def test_centres_on_the_border():
    for share in (0.0, 1.0):
        made, boxes, _ = avida.mosaic(images(), *whole(), output_size=32, center_range=(share, share), ltrb=True)
        corner = 3 if share == 0 else 0
        for i, (image, rows) in enumerate(zip(made, boxes, strict=True)):
            assert len(np.asarray(rows)) == 1
            assert (np.asarray(image)[0 if corner else -1, 0 if corner else -1] == COLOURS[(i + corner) % 5]).all()


def test_keyed_by_samples():
    def centres(batch_size):
        source = avida.ExternalSource([np.full((20, 20, 3), i, np.uint8) for i in range(8)], layout="HWC")
        out = []
        for (batch,) in source.next_epoch(batch_size=batch_size):
            made = avida.mosaic(batch, output_size=64, rng=rng(), keyed_by=batch)
            assert made.sources == batch.sources
            own = [source.index for source in batch.sources]
            out += [region(np.asarray(image), [i] * 3)[2:] for i, image in zip(own, made, strict=True)]
        return out

    assert centres(8) == centres(4)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: avida.mosaic(np.zeros((4, 5, 5, 3)), output_size=8),
            TypeError,
            "a Batch of images or a Scene, got ndarray",
        ),
        (
            lambda: avida.mosaic(images(), output_size=(8, 8, 8)),
            ValueError,
            "two numbers as output_size, got 3 numbers",
        ),
        (lambda: avida.mosaic(images(), output_size=0), ValueError, "got 0"),
        (lambda: avida.mosaic(images(), output_size=8, image_size=0), ValueError, "image_size of at least 1, got 0"),
        (lambda: avida.mosaic(images(), output_size=8, center_range=(0.9, 0.1)), ValueError, "expected low <= high"),
        (lambda: avida.mosaic(images(), output_size=8, center_range=(0, 2)), ValueError, "from 0 to 1, got 2"),
        (lambda: avida.mosaic(images(), output_size=8, center_range=0.5), ValueError, "center_range, got 0.5"),
        (lambda: avida.mosaic(images(), output_size=8, min_visible=2), ValueError, "min_visible from 0 to 1, got 2"),
        (lambda: avida.mosaic(images(), output_size=8, fill_value=np.nan), ValueError, "fill_value to be finite"),
        (lambda: avida.mosaic(images(), output_size=8, interp_type=9), ValueError, "as interp_type; got 9"),
        (lambda: avida.mosaic(images(), output_size=8.5), TypeError, "an integer as output_size, got 8.5"),
        (lambda: avida.mosaic(images(), output_size=8, image_size=8.5), TypeError, "as image_size, got 8.5"),
        (lambda: avida.mosaic(images(), output_size=8, keyed_by=images()), ValueError, "that a reader has read"),
        (
            lambda: avida.mosaic(images(), [np.zeros((1, 4))] * 5, output_size=8),
            TypeError,
            "expected a Batch of boxes, got list; see avida.as_batch",
        ),
        (
            lambda: avida.mosaic(images(), whole()[0], [[1]] * 5, output_size=8),
            TypeError,
            "a Batch of labels, got list",
        ),
        (
            lambda: avida.mosaic(images(), avida.as_batch(np.zeros((5, 4, 3))), output_size=8)[0].evaluate(),
            ValueError,
            r"sample 0 has boxes of the shape \(4, 3\)\n",
        ),
        (lambda: avida.mosaic(images(), None, whole()[1], output_size=8), ValueError, "boxes are missing"),
        (
            lambda: avida.mosaic(images(), *(x._select([0]) for x in whole()), output_size=8),
            ValueError,
            "boxes for each of 5 images, got 1",
        ),
        (
            lambda: avida.mosaic(images(), whole()[0], avida.as_batch([[1, 2]] * 5), output_size=8)[0].evaluate(),
            ValueError,
            r"sample 0 has boxes of the shape \(1, 4\) and labels of the shape \(2,\)",
        ),
        (
            lambda: avida.mosaic(avida.as_batch([np.zeros((4, 5))]), output_size=8).evaluate(),
            ValueError,
            r"images \(HWC or CHW\), got 2 axes",
        ),
        (
            lambda: avida.mosaic(avida.as_batch([np.zeros((0, 5, 3))]), output_size=8).evaluate(),
            ValueError,
            "sample 0 has the shape",
        ),
    ],
)
def test_wrong_arguments(call, error, text):
    with pytest.raises(error, match=f"^mosaic: .*{text}"):
        call()


def test_channels_first():
    kept = avida.random.RNG(seed=4)
    expected = avida.mosaic(images(), output_size=64, rng=kept.clone())
    planes = avida.transpose(images(), perm=[2, 0, 1], output_layout="CHW")
    made = avida.mosaic(planes, output_size=64, rng=kept.clone())
    assert made.layout == "CHW"
    videos = avida.as_batch([np.zeros((2, 20, 30, 3), np.uint8)] * 4, layout="FHWC")
    of_scene = avida.mosaic(avida.Scene(planes), output_size=64, rng=kept.clone())
    scene = avida.mosaic(avida.Scene(images()), output_size=64, rng=kept.clone())
    for one, other in ((made, expected), (of_scene.image, scene.image)):
        for plane, image in zip(one, other, strict=True):
            np.testing.assert_array_equal(np.asarray(plane), np.asarray(image).transpose(2, 0, 1))
    for video in (videos, avida.Scene(videos)):
        with pytest.raises(ValueError, match=r"expected images \(HWC or CHW\), got FHWC"):
            avida.mosaic(video, output_size=64).evaluate()


def drawn_sizes(rows):
    """The longer sides of the images of a mosaic, of which all is seen."""
    return [max(box[2] - box[0], box[3] - box[1]) for box in np.asarray(rows)]


def test_sizes_that_each_mosaic_draws():
    options = {"output_size": 100, "center_range": (0.5, 0.5), "ltrb": True}
    _, boxes, _ = avida.mosaic(images(), *whole(), image_size=avida.augment.between(20, 50), rng=rng(), **options)
    sizes = [drawn_sizes(rows) for rows in boxes]
    assert len({each[0] for each in sizes}) > 1
    assert all(len(set(each)) == 1 and 20 <= each[0] <= 50 for each in sizes)
    given = avida.as_batch(np.float32([each[0] for each in sizes]))
    expected, _, _ = avida.mosaic(images(), *whole(), image_size=given, rng=rng(), **options)
    for i, size in enumerate(sizes):
        one, _, _ = avida.mosaic(images(), *whole(), image_size=int(size[0]), rng=rng(), **options)
        assert np.array_equal(np.asarray(expected.tensors[i]), np.asarray(one.tensors[i]))


def test_sizes_that_scenes_draw():
    boxes, labels = whole()
    scene = avida.Scene(images(), boxes=boxes, labels=labels)
    options = {"output_size": 100, "center_range": (0.5, 0.5)}

    def made(**more):
        size = avida.augment.between(20, 50)
        return [drawn_sizes(rows) for rows in avida.mosaic(scene, image_size=size, **options, **more).boxes]

    assert made(rng=rng()) == made(rng=rng())
    assert len({each[0] for each in made(rng=rng())}) > 1
    assert all(len(set(each)) == 1 for each in made(rng=rng()))


@pytest.mark.parametrize("size", [0.0, np.nan, np.inf])
def test_sizes_that_no_image_has(size):
    given = avida.as_batch(np.float32([30, size, 30, 30, 30]))
    with pytest.raises(ValueError, match=r"image_size of at least 1, got .* for sample 1"):
        avida.mosaic(images(), output_size=64, image_size=given).evaluate()
    with pytest.raises(ValueError, match="expected 5 numbers as image_size, got 2"):
        avida.mosaic(images(), output_size=64, image_size=avida.as_batch(np.float32([3, 4])))
