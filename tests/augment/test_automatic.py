"""auto_augment, rand_augment and trivial_augment: which augmentations are drawn, and how strong."""

import dataclasses
import inspect

import numpy as np
import pytest

import avida
from avida import augment
from avida.augment import Augmentation, Step, SubPolicies

FUNCTIONS = [avida.auto_augment, avida.rand_augment, avida.trivial_augment]
EACH = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
RANDOM = np.random.default_rng(0)
IMAGES = [RANDOM.integers(0, 256, (20 + i, 30 - i, 3), np.uint8) for i in range(12)]


def images():
    return avida.as_batch(IMAGES, layout="HWC")


def rng():
    return avida.random.RNG(seed=5)


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(map(np.asarray, one), map(np.asarray, other), strict=True))


@EACH
def test_same_seed_same_result(function):
    expected = function(images(), rng=rng())
    for mode in avida.EvalMode:
        for threads in (1, 3):
            with mode, avida.EvalContext(num_threads=threads):
                assert same(function(images(), rng=rng()), expected), (mode, threads)
    assert not same(function(images(), rng=avida.random.RNG(seed=6)), expected)


@EACH
def test_default_generator(function):
    avida.random.set_seed(11)
    first, second = function(images()), function(images())
    avida.random.set_seed(11)
    assert same(function(images()), first)
    assert same(function(images()), second)
    assert not same(first, second)


@EACH
def test_samples_do_not_depend_on_their_batch(function):
    def results(batch_size):
        source = avida.ExternalSource(IMAGES, layout="HWC")
        out = []
        for (batch,) in source.next_epoch(batch_size=batch_size):
            changed = function(batch, rng=rng(), keyed_by=batch)
            assert changed.sources == batch.sources
            out += list(changed)
        return out

    assert same(results(12), results(5))


@EACH
def test_a_tensor_is_a_batch_of_one(function):
    alone = function(avida.as_tensor(IMAGES[0], layout="HWC"), rng=rng())
    assert isinstance(alone, avida.Tensor)
    assert alone.shape == IMAGES[0].shape
    assert alone.layout == "HWC"


@EACH
def test_frames_of_a_video_stay_together(function):
    videos = avida.as_batch([np.stack([image] * 3) for image in IMAGES], layout="FHWC")
    for video, image in zip(function(videos, rng=rng()), function(images(), rng=rng()), strict=True):
        for frame in np.asarray(video):
            assert np.array_equal(frame, np.asarray(image))


@EACH
def test_without_layout(function):
    assert same(function(avida.as_batch(IMAGES), rng=rng()), function(images(), rng=rng()))


@EACH
def test_empty_batches_and_images(function):
    none = images()._select([])
    assert function(none, rng=rng()).batch_size == 0
    empty = avida.as_batch([np.zeros((0, 5, 3), np.uint8)] * 20 + IMAGES, layout="HWC")
    assert function(empty, rng=rng()).shape[:21] == [(0, 5, 3)] * 20 + [IMAGES[0].shape]


@EACH
def test_what_is_no_image(function):
    with pytest.raises(TypeError, match=r"expected a Batch, a Tensor or a Scene, got ndarray"):
        function(IMAGES[0])
    for wrong, text in (
        (avida.as_batch([np.zeros((4, 5, 3), np.int32)], layout="HWC"), r"of uint8, uint16 or floats, got i32, HWC"),
        (avida.as_batch([np.zeros((4, 5), np.uint8)]), r"got u8, 2 axes"),
        (avida.as_batch([IMAGES[0], IMAGES[1][..., :1]], layout="HWC"), r"as many channels, got \[1, 3\]"),
    ):
        with pytest.raises(ValueError, match=text):
            function(wrong).evaluate()


def as_floats():
    return avida.as_batch([image.astype(np.float32) / 255 for image in IMAGES], layout="HWC")


def as_uint16():
    return avida.as_batch([image.astype(np.uint16) * 257 for image in IMAGES], layout="HWC")


def channels_first(frames=0):
    first = [image.transpose(2, 0, 1).copy() for image in IMAGES]
    return avida.as_batch([np.stack([image] * frames) if frames else image for image in first],
                          layout="FCHW" if frames else "CHW")  # fmt: skip


ALL = [function for function in (*FUNCTIONS, augment.aug_mix)]


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_layouts_give_the_same_pixels(function):
    expected = [np.asarray(image) for image in function(images(), rng=rng())]
    for found, image in zip(function(channels_first(), rng=rng()), expected, strict=True):
        assert np.array_equal(np.asarray(found).transpose(1, 2, 0), image)
    for found, image in zip(function(channels_first(frames=2), rng=rng()), expected, strict=True):
        assert np.array_equal(np.asarray(found)[1].transpose(1, 2, 0), image)


OPERATIONS = [
    ("shear_x", 0.2), ("shear_y", -0.3), ("translate_x", 5), ("translate_y", -4), ("rotate", 20), ("brightness", 1.3),
    ("color", 1.4), ("contrast", 1.4), ("sharpness", 1.8), ("posterize", 4), ("solarize_levels", 128),
    ("solarize_add", 50), ("autocontrast",), ("equalize",), ("invert",),
]  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each[0])
def test_element_types_give_the_same_colors(operation):
    """But for the rounding of bytes."""
    function = getattr(augment, operation[0])
    expected = [np.asarray(image).astype(float) for image in function(images(), *operation[1:])]
    for given, white in ((as_floats(), 1), (as_uint16(), 65535)):
        made = function(given, *operation[1:])
        assert made.dtype == given.dtype
        for found, image in zip(made, expected, strict=True):
            assert np.abs(np.asarray(found).astype(float) * 255 / white - image).max() < 1


@pytest.mark.parametrize("channels", [1, 2, 4])
@EACH
def test_any_number_of_channels(function, channels):
    given = [np.repeat(image[..., :1], channels, axis=2) for image in IMAGES] * 3
    for layout, batch in (("HWC", given), ("CHW", [image.transpose(2, 0, 1).copy() for image in given])):
        made = function(avida.as_batch(batch, layout=layout), rng=rng())
        assert made.shape == [image.shape for image in batch]


@EACH
def test_boxes_move_with_the_pixels(function):
    """A white rectangle is where its box says, within a pixel."""
    image = np.zeros((40, 60, 3), np.uint8)
    image[12:28, 20:40] = 255
    pixels, masks = avida.as_batch([image] * 60, layout="HWC"), [image[..., 0]] * 60
    scene = avida.Scene(pixels, boxes=[[[20, 12, 40, 28]]] * 60, mask=masks)
    excluded = {} if function is avida.auto_augment else {"excluded": ["solarize", "posterize", "brightness", "rotate"]}
    made = function(scene, fill_value=0, rng=rng(), **excluded)
    assert same(made.image, function(scene.image, fill_value=0, rng=rng(), **excluded))
    moved = 0
    for mask, boxes in zip(made.mask, made.boxes, strict=True):
        rows, columns = np.nonzero(np.asarray(mask))
        box = np.clip(np.asarray(boxes)[0], 0, [60, 40, 60, 40])
        inside = len(rows) and 0 < rows.min() <= rows.max() < 39 and 0 < columns.min() <= columns.max() < 59
        if function is not avida.auto_augment and inside:  # a turned box is larger than the turned rectangle
            found = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            np.testing.assert_allclose(box, found, atol=1.01)
        moved += not np.array_equal(box, [20, 12, 40, 28])
    assert moved > 3


def test_shares_of_aug_mix():
    """Dirichlet shares of chains within a beta share: means of 1/6 and 1/2 for three chains."""
    from avida.augment._automatic.aug_mix import _weights

    drawn = [np.random.default_rng(k).beta(1, max(k, 1), 4000) for k in range(3)]
    weights = _weights(drawn)
    np.testing.assert_allclose(weights.sum(axis=0), 1, atol=1e-6)
    np.testing.assert_allclose(weights.mean(axis=1), [1 / 6, 1 / 6, 1 / 6, 1 / 2], atol=0.02)
    np.testing.assert_allclose(weights.std(axis=1), [0.167, 0.167, 0.167, 0.289], atol=0.01)
    plain = avida.as_batch([np.full((9, 9, 3), 90, np.uint8)] * 4, layout="HWC")
    identity = [Augmentation("identity", None)]
    assert same(augment.aug_mix(plain, augmentations=identity), plain)


def test_three_augment():
    made = augment.three_augment(as_floats(), jitter=0, rng=rng())
    gray = [np.ptp(np.asarray(image), axis=2).max() < 1e-3 for image in made]
    assert 0 < sum(gray) < len(IMAGES)
    inverted = [np.asarray(image).max() <= 0.51 for image in made]
    assert 0 < sum(inverted) < len(IMAGES)


def test_magnitudes_of_the_papers():
    def steps(space, name, bins=31):
        (found,) = (item for item in space if item.name == name)
        return np.array([found.step(k, bins) for k in range(bins)])

    rand, wide = augment.RAND_AUGMENT, augment.TRIVIAL_AUGMENT_WIDE
    assert len(rand) == len(wide) == 14
    k = np.arange(31)
    np.testing.assert_allclose(steps(rand, "shear_x"), k / 100)
    np.testing.assert_allclose(steps(rand, "rotate"), k)
    np.testing.assert_allclose(steps(rand, "translate_y"), k / 30 * 150 / 331)
    np.testing.assert_allclose(steps(rand, "color"), k * 0.03)
    np.testing.assert_array_equal(steps(rand, "posterize").round(), 8 - (k / 7.5).round())
    np.testing.assert_allclose(steps(rand, "solarize"), 255 - 8.5 * k)
    np.testing.assert_allclose(steps(wide, "shear_x"), k * 0.033)
    np.testing.assert_allclose(steps(wide, "rotate"), k * 4.5)
    np.testing.assert_allclose(steps(wide, "translate_x"), k * 32 / 30)
    np.testing.assert_array_equal(steps(wide, "posterize").round(), 8 - (k / 5).round())
    np.testing.assert_allclose(steps(augment.AUTO_AUGMENT, "rotate", 10), np.arange(10) * 30 / 9)


@pytest.mark.parametrize("name", ["imagenet", "cifar10", "svhn"])
def test_policies_of_the_paper(name):
    policy = augment.POLICIES[name]
    assert len(policy.sub_policies) == 25
    assert all(len(steps) == 2 for steps in policy.sub_policies)
    assert len(str(policy).splitlines()) == 25


def recorded(**options):
    """An augmentation that remembers what it was called with, and changes nothing."""
    calls = []

    def function(samples, *magnitudes):
        calls.append((samples.batch_size, [float(np.asarray(m)) for batch in magnitudes for m in batch]))
        return samples

    return Augmentation("recorded", function, **options), calls


def test_each_operator_runs_once_for_its_samples():
    augmentation, calls = recorded(magnitudes=(0, 30))
    identity = Augmentation("identity", None)
    found = avida.rand_augment(images(), n=1, m=9, augmentations=[augmentation, identity], rng=rng()).evaluate()
    assert same(found, IMAGES)
    ((samples, magnitudes),) = calls
    assert 0 < samples < len(IMAGES)
    assert magnitudes == [9] * samples


def test_signs_and_magnitudes_are_drawn():
    augmentation, calls = recorded(magnitudes=(0, 30), signed=True, offset=100)
    many = avida.as_batch([IMAGES[0]] * 2000, layout="HWC")
    avida.trivial_augment(many, augmentations=[augmentation], rng=rng()).evaluate()
    drawn = np.array(calls[0][1]) - 100
    assert set(np.abs(drawn)) == set(range(31))
    assert abs(np.abs(drawn).mean() - 15) < 1
    assert abs((drawn < 0).mean() - 0.5) < 0.05


def test_probabilities_of_steps():
    augmentation, calls = recorded()
    policy = SubPolicies([[Step("recorded", 0.25)], [Step("recorded", 0.75)]], [augmentation])
    avida.auto_augment(avida.as_batch([IMAGES[0]] * 2000, layout="HWC"), policy, rng=rng()).evaluate()
    assert abs(calls[0][0] / 2000 - 0.5) < 0.05


def test_steps_follow_one_another():
    policy = SubPolicies([[Step("invert", 1.0), Step("solarize", 1.0, 5)]])
    inverted = [255 - image for image in IMAGES]
    threshold = 255 - 255 * 5 / 9
    expected = [np.where(image >= threshold, 255 - image, image) for image in inverted]
    assert same(avida.auto_augment(images(), policy), expected)


def test_options_reach_those_that_know_them():
    seen = {}

    @augment.augmentation(magnitudes=(0, 1), name="mine")
    def function(samples, strength, *, fill_value=0, interp_type=None):
        seen.update(fill_value=fill_value, interp_type=interp_type)
        return samples

    options = {"fill_value": 9, "interp_type": avida.types.INTERP_LINEAR}
    avida.trivial_augment(images(), augmentations=[function], **options).evaluate()
    assert seen == options


@pytest.mark.parametrize(("limit", "expected"), [({"max_translate_abs": 5}, 5), ({"max_translate_rel": 0.1}, 3)])
def test_limits_of_translation(limit, expected):
    only = [item for item in augment.RAND_AUGMENT if item.name == "translate_x"]
    image = np.full((8, 30, 3), 200, np.uint8)
    found = avida.rand_augment(
        avida.as_batch([image], layout="HWC"), n=1, m=30, augmentations=only, fill_value=0, **limit
    )
    assert (np.asarray(found.tensors[0]) == 0).all(axis=(0, 2)).sum() == expected


def test_policies_can_be_changed():
    policy = dataclasses.replace(augment.CIFAR10, sub_policies=augment.CIFAR10.sub_policies[:1])
    assert str(policy) == "invert (0.1), contrast 6 (0.2)"
    assert avida.auto_augment(images(), policy).batch_size == len(IMAGES)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: avida.auto_augment(images(), "mnist"),
            ValueError,
            "imagenet, cifar10, svhn, .* or SubPolicies; got 'mnist'",
        ),
        (lambda: avida.auto_augment(images(), 3), TypeError, "auto_augment: expected a name or SubPolicies, got 3"),
        (lambda: avida.rand_augment(images(), m=31), ValueError, "rand_augment: expected m from 0 to 30, got 31"),
        (lambda: avida.rand_augment(images(), n=-1), ValueError, "rand_augment: expected n from 0 to 1000, got -1"),
        (lambda: avida.trivial_augment(images(), num_magnitude_bins=0), ValueError, "at least 1, got 0"),
        (
            lambda: avida.rand_augment(images(), excluded=["blur"]),
            ValueError,
            "rand_augment: .* equalize as excluded; got blur",
        ),
        (lambda: avida.rand_augment(images(), excluded="blur"), TypeError, "a list of str as excluded, got 'blur'"),
        (lambda: avida.rand_augment(images(), excluded=[3]), TypeError, "a list of str as excluded, got 3 in it"),
        (lambda: avida.rand_augment(images(), excluded=None), TypeError, "a list of str as excluded, got None"),
        (lambda: avida.rand_augment(images(), augmentations=[]), ValueError, "at least one augmentation"),
        (
            lambda: avida.rand_augment(images(), augmentations=["rotate"]),
            TypeError,
            "Augmentation as augmentations, got 'rotate'",
        ),
        (lambda: avida.rand_augment(images(), augmentations=5), TypeError, "Augmentation as augmentations, got 5"),
        (lambda: avida.rand_augment(images(), m=9.5), TypeError, "rand_augment: expected an integer as m, got 9.5"),
        (lambda: avida.rand_augment(images(), n="2"), TypeError, "rand_augment: expected an integer as n, got '2'"),
        (
            lambda: avida.trivial_augment(images(), num_magnitude_bins=2.5),
            TypeError,
            "trivial_augment: expected an integer as num_magnitude_bins, got 2.5",
        ),
        (
            lambda: avida.rand_augment(images(), max_translate_abs=1, max_translate_rel=1),
            ValueError,
            "max_translate_abs or max_translate_rel, got both",
        ),
        (lambda: SubPolicies([]), ValueError, "at least one sub-policy"),
        (lambda: SubPolicies([[Step("blur", 1)]]), ValueError, "got 'blur'"),
        (lambda: SubPolicies([[Step("rotate", 1.5, 1)]]), ValueError, "probability from 0 to 1, got 1.5"),
        (lambda: SubPolicies([[Step("rotate", 1)]]), ValueError, "magnitude from 0 to 9, got None"),
        (lambda: SubPolicies([[Step("invert", 1, 3)]]), ValueError, "expected no magnitude, got 3"),
        (lambda: Augmentation("x", 5), TypeError, "expected a function, got 5"),
        (lambda: Augmentation("x", None, (1, 2, 3)), ValueError, "the weakest and the strongest"),
    ],
)
def test_wrong_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()


@EACH
@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"interp_type": 2}, ValueError, "expected one of INTERP_NN, INTERP_LINEAR as interp_type; got 2"),
        ({"interp_type": avida.types.INTERP_CUBIC}, ValueError, ".* as interp_type; got INTERP_CUBIC"),
        ({"interp_type": "closest"}, ValueError, ".* as interp_type; got 'closest'"),
        ({"fill_value": "x"}, TypeError, "expected a number as fill_value, got 'x'"),
        ({"fill_value": [1, 2, 3]}, TypeError, "expected a number as fill_value, got list"),
        ({"fill_value": float("nan")}, ValueError, "expected fill_value to be finite, got nan"),
        ({"max_translate_abs": [3, 4]}, TypeError, "expected a number as max_translate_abs, got list"),
        ({"max_translate_abs": -3}, ValueError, "expected max_translate_abs of at least 0, got -3"),
        ({"max_translate_rel": float("inf")}, ValueError, "expected max_translate_rel of at least 0, got inf"),
        ({"keyed_by": images()}, ValueError, ".*keyed_by.* samples that a reader has read"),
        ({"keyed_by": 3}, TypeError, ".*keyed_by.* expected a Batch or Tensor that comes from a reader, got int"),
        ({"rng": 3}, ValueError, "expected an avida.random.RNG as rng, got 3"),
    ],
    ids=str,
)
def test_wrong_arguments_of_all(function, arguments, error, text):
    """At the call, and whatever is drawn: here nothing is, as there are no samples."""
    none = images()._select([])
    with avida.EvalMode.deferred, pytest.raises(error, match=f"^{function.__name__}: {text}"):
        function(none if "keyed_by" not in arguments else images(), **arguments)


@pytest.mark.parametrize(
    "documented", [avida.rand_augment, avida.trivial_augment, SubPolicies], ids=lambda f: f.__name__
)
def test_signatures_are_short(documented):
    assert len(str(inspect.signature(documented))) < 700
    assert "Augmentation(" not in str(inspect.signature(documented))


@pytest.mark.parametrize(
    ("function", "default"),
    [(avida.rand_augment, augment.RAND_AUGMENT), (avida.trivial_augment, augment.TRIVIAL_AUGMENT_WIDE)],
    ids=["rand_augment", "trivial_augment"],
)
def test_default_augmentations(function, default):
    assert same(function(images(), augmentations=None, rng=rng()), function(images(), augmentations=default, rng=rng()))


def test_a_wrong_result_of_a_function():
    for result, text in ((None, "got NoneType"), (avida.as_batch(IMAGES[:1], layout="HWC"), "got 1 samples")):
        wrong = Augmentation("wrong", lambda samples, result=result: result)
        with pytest.raises(TypeError, match=f"augmentation 'wrong': expected a Batch of 12 samples as result, {text}"):
            avida.rand_augment(images(), augmentations=[wrong]).evaluate()
