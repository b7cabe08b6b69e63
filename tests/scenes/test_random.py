"""Random arguments and choices of functions: every sample draws for itself, the same in whatever way it is run."""

import functools

import numpy as np
import pytest

import avida
from avida.augment import between, chance, either, maybe, normal, one_of, shuffled, some_of
from avida.augment._combinators import _child
from tests.ahead.loops import run
from tests.scenes.made import arrays, scene

FUNCTIONS = [
    functools.partial(avida.rotate, angle=between(-20, 20), fill_value=0, keep_size=True),
    functools.partial(avida.flip, horizontal=chance(0.5)),
    functools.partial(avida.random_resized_crop, size=[30, 30]),
]


@pytest.fixture
def images():
    return scene().image


def same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def same_scenes(one, other):
    for name in ("image", *one.fields, "matrix"):
        same(getattr(one, name), getattr(other, name))


def seeded(make, *args, **kwargs):
    avida.random.set_seed(11)
    return make(*args, **kwargs)


def many(value, size=2000, **where):
    ones = avida.as_batch(np.ones((size, 1), np.float32))
    return np.asarray(ones * value.draw(ones, None, None, None, False)).ravel()


def test_what_is_drawn():
    assert seeded(many, between(2, 4)).min() >= 2
    assert 3.95 < seeded(many, between(2, 4)).max() < 4
    assert abs(seeded(many, chance(0.3)).mean() - 0.3) < 0.05
    assert set(seeded(many, either(1, 5, 7))) == {1, 5, 7}
    assert abs((seeded(many, either(1, 5, p=[0.9, 0.1])) == 5).mean() - 0.1) < 0.03
    numbers = seeded(many, normal(5, 2))
    assert abs(numbers.mean() - 5) < 0.2
    assert abs(numbers.std() - 2) < 0.2
    assert set(seeded(many, between(3, 3))) == {3}


def test_integers_are_drawn_for_functions_that_take_them(images):
    bits = between(1, 3)
    drawn = seeded(bits.draw, avida.as_batch(np.zeros((500, 1))), None, None, None, True)
    assert set(np.asarray(drawn).ravel()) == {1, 2, 3}


def test_an_argument_is_drawn_as_by_hand(images):
    ours = seeded(avida.flip, images, horizontal=chance(0.5))
    drawn = seeded(avida.random.coin_flip, like=images, probability=0.5)
    same(ours, avida.flip(images, horizontal=drawn))


def test_an_argument_is_one_for_image_and_annotations():
    made = seeded(avida.rotate, scene(), angle=between(-30, 30), fill_value=0)
    drawn = seeded(avida.random.uniform, like=scene().image, range=[-30, 30])
    same_scenes(made, avida.rotate(scene(), angle=drawn, fill_value=0))
    assert len({float(matrix[0, 0]) for matrix in arrays(made.matrix)}) == 5


def test_lists_and_single_images():
    made = avida.flip(np.zeros((4, 5, 3), np.uint8), horizontal=chance(1))
    assert isinstance(made, avida.Tensor)
    sizes = avida.resize(scene().image, size=either([10, 20], [30, 40])).shape
    assert {size[:2] for size in sizes} <= {(10, 20), (30, 40)}


def test_what_is_wrong_is_said(images):
    with pytest.raises(ValueError, match="between: expected low <= high, got 3, 2"):
        between(3, 2)
    with pytest.raises(ValueError, match="chance: expected p from 0 to 1, got 2"):
        chance(2)
    with pytest.raises(ValueError, match="either: expected at least one value"):
        either()
    with pytest.raises(TypeError, match=r"between\(0.0, 1.0\) is drawn by the operator"):
        np.asarray(between(0, 1))
    with pytest.raises(TypeError, match="maybe: expected a function, got"):
        maybe(images, 3)
    with pytest.raises(TypeError, match="one_of: expected a list of functions, got function"):
        one_of(images, avida.flip)
    with pytest.raises(TypeError, match="some_of: expected a list of functions, got 2"):
        some_of(images, [avida.flip], 2)
    with pytest.raises(ValueError, match="one_of: expected 1 weights"):
        one_of(images, [avida.flip], weights=[1, 2])
    with pytest.raises(ValueError, match="some_of: expected from 0 to 1 as n"):
        some_of(images, 2, [avida.flip])
    with pytest.raises(TypeError, match=r"maybe: expected <lambda> to return a Batch of 5 samples, got int"):
        maybe(images, lambda x: 3, p=1).evaluate()
    with pytest.raises(RuntimeError, match="expected results of one kind for all samples"):
        maybe(images, functools.partial(avida.cast, dtype="float32"), p=0.5, rng=avida.random.RNG(3)).evaluate()


def test_maybe_runs_the_function_on_those_that_it_is_for(images):
    made = seeded(maybe, images, avida.flip, p=0.5)
    flipped = [np.array_equal(a, b[:, ::-1]) for a, b in zip(arrays(made), arrays(images), strict=True)]
    untouched = [np.array_equal(a, b) for a, b in zip(arrays(made), arrays(images), strict=True)]
    assert [a != b for a, b in zip(flipped, untouched, strict=True)] == [True] * 5
    same(maybe(images, avida.flip, p=0), images)
    same(maybe(images, avida.flip, p=1), avida.flip(images))
    assert maybe(images.tensors[0], avida.flip, p=1).shape == images.tensors[0].shape


def test_a_batch_among_the_arguments_has_a_value_for_each_sample(images):
    angles = avida.as_batch(np.float32([0, 90, 180, 270, 90]))
    made = seeded(maybe, images, avida.rotate, p=0.6, angle=angles)
    turned = avida.rotate(images, angle=angles)
    for a, b, c in zip(arrays(made), arrays(turned), arrays(images), strict=True):
        assert np.array_equal(a, b) or np.array_equal(a, c)


def test_a_batch_among_the_arguments_has_as_many_samples(images):
    few = avida.as_batch(np.float32([1, 2, 3]))
    with pytest.raises(ValueError, match='maybe: expected 5 samples in the argument "brightness", as x has, got 3'):
        maybe(images, avida.brightness, p=0.5, brightness=few)
    with pytest.raises(ValueError, match='one_of: expected 5 samples in the argument "brightness", as x has, got 3'):
        one_of(images, [functools.partial(avida.brightness, brightness=few)])
    with pytest.raises(ValueError, match='expected 1 samples in the argument "brightness"'):
        maybe(images.tensors[0], avida.brightness, brightness=few)


def test_a_batch_in_a_partial_is_split_with_the_samples():
    ones, factors = avida.as_batch(np.ones((9, 1))), avida.as_batch(np.arange(9.0))
    turns = [functools.partial(lambda x, by: x * by, by=factors), functools.partial(lambda x, by: -x * by, by=factors)]
    made = np.asarray(seeded(one_of, ones, turns)).ravel()
    np.testing.assert_array_equal(abs(made), np.arange(9))
    assert min(made) < 0 < max(made)
    with pytest.raises(TypeError, match=r"expected a Batch in functools\.partial under the name of its argument"):
        one_of(ones, [functools.partial(avida.cast_like, factors)])


def test_samples_without_a_layout_get_that_of_the_others():
    made = seeded(maybe, avida.as_batch(np.zeros((9, 4, 5, 3), np.uint8)), avida.flip, p=0.5)
    assert made.evaluate().layout == "HWC"


def test_boxes_do_not_grow_with_turns_by_choice():
    def turned(angle):
        return functools.partial(avida.rotate, angle=angle, fill_value=0, keep_size=True)

    before = scene(masks=None)
    made = before
    for angle in (20, -20, 35, -35):
        made = one_of(made, [turned(angle)])
    for a, b in zip(arrays(made.boxes), arrays(before.boxes), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)
    same(avida.rotate(maybe(scene(), turned(20), p=1), angle=7).boxes, avida.rotate(turned(20)(scene()), angle=7).boxes)
    same(maybe(scene(), turned(20), p=0).boxes, scene().boxes)


def test_shares():
    ones = avida.as_batch(np.ones((3000, 1), np.float32))

    def times(factor):
        return lambda x: x * factor

    made = np.asarray(seeded(one_of, ones, [times(2.0), times(3.0)], p=0.8, weights=[1, 3])).ravel()
    assert abs((made == 1).mean() - 0.2) < 0.03
    assert abs((made == 3).mean() - 0.6) < 0.03
    made = np.asarray(seeded(some_of, ones, (1, 2), [times(2.0), times(3.0), times(5.0)])).ravel()
    assert set(made) == {2, 3, 5, 6, 10, 15}
    assert abs(np.isin(made, [2, 3, 5]).mean() - 0.5) < 0.03

    def plus(x):
        return x + 1

    made = np.asarray(seeded(shuffled, ones, [times(2.0), plus])).ravel()
    assert set(made) == {3, 4}
    assert abs((made == 3).mean() - 0.5) < 0.03


def test_draws_do_not_depend_on_the_other_samples():
    """The inner draws of a sample follow from its own outer draw, whoever else is in the group."""
    every = seeded(maybe, scene(), FUNCTIONS[0], p=1)
    some = seeded(maybe, scene(), FUNCTIONS[0], p=0.5)
    moved = 0
    for i, matrix in enumerate(arrays(some.matrix)):
        if not np.array_equal(matrix, np.eye(3)):
            moved += 1
            np.testing.assert_array_equal(matrix, np.asarray(every.matrix.tensors[i]))
    assert 0 < moved < 5


def pipeline(made):
    made = avida.rotate(made, angle=between(-10, 10), fill_value=0, keep_size=True)
    made = one_of(made, FUNCTIONS, p=0.9)
    made = some_of(made, (1, 2), FUNCTIONS)
    made = maybe(made, avida.gaussian_blur, p=0.5, sigma=between(0.1, 2))
    return shuffled(made, FUNCTIONS[:2])


def test_scenes_keep_rows_and_fields():
    made = seeded(pipeline, scene())
    for name, value in made.fields.items():
        if name != "mask":
            assert [len(each) for each in arrays(value)] == [len(each) for each in arrays(scene().boxes)]
    for mask, image in zip(arrays(made.mask), arrays(made.image), strict=True):
        assert mask.shape == image.shape[:2]


@pytest.mark.parametrize("mode", ["deferred", "sync_cpu"])
def test_modes(mode):
    before = seeded(pipeline, scene())
    with getattr(avida.EvalMode, mode):
        same_scenes(seeded(pipeline, scene()), before)


def test_threads():
    before = seeded(pipeline, scene())
    for threads in (1, 2, 16):
        with avida.EvalContext(num_threads=threads):
            same_scenes(seeded(pipeline, scene()), before)


def loop(folder, ahead, keyed, batch_size=3):
    """All that a loop makes of a data set."""
    reader = avida.readers.Numpy(file_root=folder, files=[f"{i}.npy" for i in range(12)])
    images, boxes = [], []
    for _ in range(2):
        avida.random.set_seed(5)
        for (files,) in reader.next_epoch(batch_size=batch_size, ahead=ahead):
            key = files if keyed else None
            made = avida.Scene(avida.reinterpret(files, layout="HWC"), boxes=[[[1, 2, 9, 8]]] * files.batch_size)
            made = avida.rotate(made, angle=between(-9, 9, keyed_by=key), fill_value=0, keep_size=True)
            made = one_of(made, FUNCTIONS, p=0.9, keyed_by=key)
            made = maybe(made, avida.gaussian_blur, p=0.5, sigma=between(0.1, 2), keyed_by=key)
            images += arrays(made.image)
            boxes += arrays(made.boxes)
    return images, boxes


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(12):
        np.save(tmp_path / f"{i}.npy", rng.integers(0, 255, (30, 40, 3)).astype(np.uint8))
    return str(tmp_path)


@pytest.mark.parametrize("keyed", [False, True])
def test_ahead_or_not(folder, keyed):
    for a, b in zip(loop(folder, 1, keyed), loop(folder, 0, keyed), strict=True):
        same(a, b)


def test_keyed_draws_do_not_depend_on_the_batch_size(folder):
    for a, b in zip(loop(folder, 1, True, 3), loop(folder, 1, True, 4), strict=True):
        same(a, b)


FACTOR = 0


def times_factor(x):
    return x * FACTOR


@avida.operator(pure=True)
def doubled(x):
    return x * 2


def choices(folder, make):
    """What iterations see of a number that each of them changes."""
    global FACTOR
    reader = avida.readers.Numpy(file_root=folder, files=[f"{i}.npy" for i in range(12)])
    made = []
    for i, (files,) in enumerate(reader.next_epoch(batch_size=2, ahead=2)):
        FACTOR = i
        ones = avida.cast(files, dtype="float32") * 0 + 1
        made.append(float(np.asarray(make(ones).tensors[0]).max()))
    return made


@pytest.mark.parametrize("wrapped", [False, True])
def test_functions_of_python_wait_for_the_loop(folder, wrapped):
    function = functools.partial(times_factor) if wrapped else times_factor
    made = choices(folder, lambda ones: maybe(ones, function, p=1))
    assert made == [0, 1, 2, 3, 4, 5]


def test_what_is_called_ahead():
    def key(function):
        return _child("maybe", function, {}).key

    assert key(avida.flip) is not None
    assert key(doubled) is not None
    assert key(functools.partial(avida.flip, horizontal=1)) == key(functools.partial(avida.flip, horizontal=1))
    for function in (times_factor, lambda x: x, avida.operator(lambda x: x), functools.partial(times_factor)):
        assert key(function) is None
    assert key(functools.wraps(avida.flip)(lambda x: x)) is None
    assert key(functools.partial(maybe, function=times_factor)) is None


def test_loops_with_random_arguments_run_ahead(folder):
    """All calls of an iteration are made before it: image, draws, matrix, choice, cleaned boxes."""
    reader = avida.readers.Numpy(file_root=folder, files=[f"{i}.npy" for i in range(12)])

    def body(i, files):
        made = avida.Scene(avida.reinterpret(files, layout="HWC"), boxes=[[[1, 2, 9, 8]]] * 2)
        made = avida.rotate(made, angle=between(-9, 9), fill_value=0)
        made = maybe(made, avida.flip, p=0.5, horizontal=chance(0.5)).clean(min_size=1)
        return made.evaluate()

    calls = 12
    _, count = run(reader.next_epoch(batch_size=2, ahead=1), body, calls)
    assert count >= 3 * calls
