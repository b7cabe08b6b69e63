"""Mosaic, MixUp, CutMix and copy-paste of Scenes: the colour of each object tells which annotations it has to have."""

import functools

import numpy as np
import pytest

import avida
from avida.augment import copy_paste
from tests.scenes.made import extents

MIXES = [
    functools.partial(avida.mosaic, output_size=[90, 100], image_size=60, fill_value=0, interp_type="nn"),
    avida.cutmix,
    functools.partial(copy_paste, p=0.7),
    functools.partial(copy_paste, p=1, scale=(0.5, 1.5)),
]
IDS = ["mosaic", "cutmix", "copy_paste", "copy_paste-scaled"]


def images(seed=0, ragged=False, count=6):
    """Up to three objects beside each other in each image, all of different colours."""
    rng = np.random.default_rng(seed)
    made, colour = [], 0
    for i in range(count):
        height, width = (40 + 7 * i, 66 + 3 * i) if ragged else (60, 90)
        image = np.zeros((height, width), np.uint8)
        for k in range(rng.integers(0, 4) if i else 3):
            left, top = k * (width // 3) + rng.integers(0, 8), rng.integers(0, height - 12)
            colour += 1
            image[top : top + rng.integers(8, height), left : left + rng.integers(6, width // 3 - 8)] = colour
        made.append(image)
    return made


def scene(seed=0, ragged=False, layout="HWC", fields=("boxes", "masks", "keypoints", "rotated", "mask"), count=6):
    shown = images(seed, ragged, count)
    labels = [np.unique(image)[1:].astype(np.int32) for image in shown]
    masks = [(image == ids[:, None, None]).astype(np.uint8) for image, ids in zip(shown, labels, strict=True)]
    boxes = [np.float32([extents(mask) for mask in each]).reshape(-1, 4) for each in masks]
    given = {
        "boxes": boxes,
        "masks": masks,
        "mask": avida.as_batch(shown, layout="HW"),
        "keypoints": [
            np.float32([[[(b[0] + b[2]) / 2, (b[1] + b[3]) / 2, 2]] for b in each]).reshape(-1, 1, 3) for each in boxes
        ],
        "rotated": [
            np.float32([[*(b[:2] + b[2:]) / 2, *(b[2:] - b[:2]), 0] for b in each]).reshape(-1, 5) for each in boxes
        ],
    }
    pixels = [np.repeat(image[..., None], 3, -1) for image in shown]
    pixels = [image.transpose(2, 0, 1) for image in pixels] if layout == "CHW" else pixels
    return avida.Scene(
        avida.as_batch(pixels, layout=layout), labels=labels, copies=labels, **{name: given[name] for name in fields}
    )


def seeded(mix, given):
    avida.random.set_seed(3)
    return mix(given)


def samples(made):
    """The colours of each image, and the fields of its objects."""
    for i, image in enumerate(made.image):
        colours = np.asarray(image)
        yield (
            colours[0] if image.layout == "CHW" else colours[..., 0],
            {name: np.asarray(value.tensors[i]) for name, value in made.fields.items()},
        )


@pytest.mark.parametrize("mix", MIXES, ids=IDS)
@pytest.mark.parametrize("seed", range(3))
def test_annotations_are_those_of_what_is_seen(mix, seed):
    sizes_differ = mix is not avida.cutmix
    made = seeded(mix, scene(seed, sizes_differ)).clean()
    objects = 0
    for colours, fields in samples(made):
        if mix is MIXES[3]:  # colours are interpolated there
            colours = fields["mask"]
        assert len({len(rows) for name, rows in fields.items() if name != "mask"}) == 1
        np.testing.assert_array_equal(fields["labels"], fields["copies"])
        np.testing.assert_array_equal(fields["mask"], colours)
        assert set(np.unique(colours)) <= {0, *fields["labels"].tolist()}
        for k, label in enumerate(fields["labels"]):
            mine = colours == label
            if not mine.any():  # so small that no pixel has its centre
                assert min(fields["boxes"][k][2:] - fields["boxes"][k][:2]) < 1.5
                continue
            objects += 1
            np.testing.assert_array_equal(fields["masks"][k], mine)
            assert np.abs(fields["boxes"][k] - extents(mine)).max() <= 1
            x, y, visible = fields["keypoints"][k, 0]
            if visible and 1 < x < colours.shape[1] - 1 and 1 < y < colours.shape[0] - 1:
                assert mine[int(y) - 1 : int(y) + 2, int(x) - 1 : int(x) + 2].any()
    assert objects >= 8


def test_pieces_of_mosaics():
    """Each image once, its neighbours three others, and no matrix."""
    made = seeded(MIXES[0], scene(ragged=True))
    assert made.image.shape == [(90, 100, 3)] * 6
    assert np.isnan(made.matrix.numpy()).all()
    assert made.clean().batch_size == 6
    again = seeded(MIXES[0], avida.rotate(scene(ragged=True), angle=0))
    for one, other in zip(samples(made), samples(again), strict=True):
        np.testing.assert_array_equal(one[1]["boxes"], other[1]["boxes"])


@pytest.mark.parametrize("fields", [("boxes",), ("rotated",), ("keypoints",), ("masks",)])
def test_what_is_covered_goes(fields):
    """By whatever tells where an object is."""
    whole = seeded(avida.cutmix, scene(5))
    some = seeded(avida.cutmix, scene(5, fields=fields))
    for (_, all_fields), (_, left) in zip(samples(whole), samples(some), strict=True):
        if fields != ("keypoints",):
            assert set(left["labels"]) >= set(all_fields["labels"])
        if fields == ("boxes",):
            np.testing.assert_allclose(left["boxes"], all_fields["boxes"], atol=1)
    few = seeded(functools.partial(avida.cutmix, min_visible=1), scene(5))
    counts = [[len(rows["labels"]) for _, rows in samples(made)] for made in (few, whole)]
    assert sum(counts[0]) < sum(counts[1])


def test_mixup_blends_images_and_keeps_all_objects():
    before = scene(2)
    made = seeded(functools.partial(avida.mixup, alpha=5), before)
    originals = [(colours.astype(int), fields) for colours, fields in samples(before)]
    for (colours, fields), (own, mine) in zip(samples(made), originals, strict=True):
        count = len(mine["labels"])
        np.testing.assert_array_equal(fields["labels"][:count], mine["labels"])
        np.testing.assert_array_equal(fields["boxes"][:count], mine["boxes"])
        found = []
        for other, its in originals:
            if its["labels"].tolist() == fields["labels"][count:].tolist() and len(fields["labels"]) > count > 0:
                share = fields["shares"][0]
                assert fields["shares"][-1] == pytest.approx(1 - share)
                found.append(np.abs(own * share + other * (1 - share) - colours).max() <= 0.51)
                np.testing.assert_array_equal(fields["mask"], own if share >= 0.5 else other)
        assert not found or any(found)
    twice = seeded(avida.mixup, made)
    assert all(np.asarray(each).min(initial=1) >= 0 for each in twice.shares)


def test_layouts_sequences_and_types():
    for mix in MIXES[1:3]:
        first, last = seeded(mix, scene(1)), seeded(mix, scene(1, layout="CHW"))
        for (one, mine), (other, its) in zip(samples(first), samples(last), strict=True):
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(mine["masks"], its["masks"])
        plain = scene(1)
        videos = avida.as_batch([np.stack([np.asarray(image)] * 2) for image in plain.image], layout="FHWC")
        frames = seeded(mix, avida.Scene(videos, masks=plain.masks, labels=plain.labels))
        for image, (wanted, _) in zip(frames.image, samples(first), strict=True):
            np.testing.assert_array_equal(np.asarray(image)[1, ..., 0], wanted)
        for dtype in (avida.uint16, avida.float32):
            other = seeded(mix, plain.replace(image=avida.cast(plain.image, dtype=dtype)))
            assert other.image.dtype == dtype
            for (one, _), (wanted, _) in zip(samples(other), samples(first), strict=True):
                np.testing.assert_array_equal(one, wanted)


def test_copy_paste_of_batches():
    given = scene(4)
    pasted, masks = seeded(lambda x: copy_paste(x.image, x.masks, p=1), given)
    made = seeded(lambda x: copy_paste(x, p=1), given)
    for a, b in zip([*pasted, *masks], [*made.image, *made.masks], strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_polygons_that_are_covered_become_run_lengths():
    square = [[[10.0, 10.0, 40.0, 10.0, 40.0, 40.0, 10.0, 40.0]]]
    given = avida.Scene(avida.as_batch(np.zeros((2, 60, 90, 3), np.uint8)), masks=[square, square], boxes="masks")
    for mix in (avida.cutmix, copy_paste):
        assert mix(given).masks.dtype == avida.uint32
    made = avida.mosaic(given, output_size=64)
    assert made.masks.dtype == avida.float32
    for drawn, boxes in zip(made.masks_as("dense"), made.boxes, strict=True):
        for mask, box in zip(np.asarray(drawn), np.asarray(boxes), strict=True):
            found = extents(mask)
            assert found is None or (found >= box - 1).any()


@pytest.mark.parametrize("mix", [*MIXES, functools.partial(avida.mixup, alpha=1)], ids=[*IDS, "mixup"])
def test_one_image_none_and_no_objects(mix):
    alone = seeded(mix, scene(count=1))
    assert alone.batch_size == 1
    assert sum(len(rows["labels"]) for _, rows in samples(alone)) >= 1
    bare = avida.Scene(
        avida.as_batch(np.zeros((3, 20, 20, 3), np.uint8)), boxes=[[]] * 3, masks=[[]] * 3, labels=[[]] * 3
    )
    assert [len(rows["labels"]) for _, rows in samples(seeded(mix, bare))] == [0, 0, 0]
    with pytest.raises(TypeError, match="expected a Scene of a batch of images, got a Scene of one image"):
        mix(avida.Scene(np.zeros((5, 5, 3), np.uint8), masks=np.zeros((0, 5, 5), np.uint8)))


@pytest.mark.parametrize("mix", [*MIXES, functools.partial(avida.mixup, alpha=1)], ids=[*IDS, "mixup"])
def test_threads(mix):
    results = []
    for threads in (1, 2, 16):
        with avida.EvalContext(num_threads=threads):
            results.append(list(samples(seeded(mix, scene(3)))))
    for other in results[1:]:
        for (image, fields), (wanted, its) in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(image, wanted)
            for name, rows in fields.items():
                np.testing.assert_array_equal(rows, its[name])


def reader():
    return avida.ExternalSource([np.full((20, 30, 3), i, np.uint8) for i in range(8)], layout="HWC")


MADE = np.float32([[2, 3, 20, 15]])


def loop(ahead):
    avida.random.set_seed(1)
    sums = []
    for (pictures,) in reader().next_epoch(batch_size=2, ahead=ahead):
        made = avida.Scene(pictures, boxes=avida.as_batch([MADE, MADE]))
        made = avida.cutmix(avida.mosaic(avida.mixup(made), output_size=24), keyed_by=pictures)
        sums.append([np.asarray(each).sum() for each in [*made.image, *made.boxes]])
    return sums


def test_ahead_or_not():
    assert loop(0) == loop(2)


def test_keyed_draws_do_not_depend_on_the_batch_size():
    """How much of a sample is its own."""
    shares = []
    for batch_size in (2, 4):
        avida.random.set_seed(1)
        shares.append([])
        for (pictures,) in reader().next_epoch(batch_size=batch_size):
            made = avida.mixup(avida.Scene(pictures, boxes=[MADE] * batch_size), alpha=1, keyed_by=pictures)
            shares[-1] += [np.asarray(rows)[0] for rows in made.shares]
    assert len(set(shares[0])) > 4
    assert shares[0] == shares[1]


WRONG = [
    (lambda: avida.mosaic(scene(), avida.as_batch([[1]]), output_size=9), TypeError, "a Scene has its boxes"),
    (lambda: avida.mixup(scene(), [1], num_classes=3), TypeError, "a Scene has labels of its own"),
    (lambda: avida.cutmix(scene(), alpha=0), ValueError, "expected alpha above 0"),
    (lambda: avida.cutmix(scene(ragged=True)).evaluate(), ValueError, "expected images of one size"),
    (lambda: avida.cutmix(scene().image, [0] * 6, num_classes=2, min_visible=0.5), TypeError, "with a Scene only"),
    (lambda: copy_paste(scene(fields=("boxes",))), TypeError, "expected a Scene with masks of its own"),
    (lambda: copy_paste(scene().image), TypeError, "or a Batch of images and masks"),
    (lambda: copy_paste(scene(), scale=(2, 1)), ValueError, "low <= high as scale"),
    (lambda: copy_paste(scene(), p=2), ValueError, "expected p from 0 to 1"),
]


@pytest.mark.parametrize(("call", "error", "text"), WRONG)
def test_wrong_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()
