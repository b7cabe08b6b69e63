"""augment.Policy: steps as data, to JSON and back, with records that are policies."""

import functools
import json
import pickle
from typing import Any

import numpy as np
import pytest

import avida
from avida import augment
from avida.augment import Policy, between, chance, either, normal, record
from tests.ahead.loops import run
from tests.scenes.made import scene

RANDOM = np.random.default_rng(0)
IMAGES = [RANDOM.integers(0, 256, (40 + i, 60, 3), np.uint8) for i in range(8)]
STEPS = [
    ("rotate", {"angle": between(-10, 10), "fill_value": 0}),
    ("one_of", {"p": 0.9, "weights": [1, 2, 3]}, [
        "flip",
        ("gaussian_blur", {"sigma": between(0.5, 2)}),
        ("some_of", {"n": [1, 2]}, [
            ("augment.color_jitter", {"hue": 0.1, "brightness": 0.4}),
            ("flip", {"horizontal": chance(0.5)}),
            ("noise.gaussian", {"stddev": 20.0}),
        ]),
    ]),
    ("maybe", {"p": 0.5}, [("in_turn", {}, ["augment.invert", ("augment.gamma", {"gamma": normal(1, 0.1)})])]),
    ("shuffled", {}, [("rand_augment", {"n": 1}), "trivial_augment", ("auto_augment", {"policy": "cifar10"})]),
    ("augment.rgb_shift", {"shift": between([-0.1, 0, 0], [0.1, 0, 0.2])}),
    ("resize", {"size": either([32, 32], [40, 20], p=[0.5, 0.5])}),
]  # fmt: skip


@pytest.fixture
def policy():
    return Policy(STEPS)


def images():
    return avida.as_batch(IMAGES, layout="HWC")


def rng(seed=3):
    return avida.random.RNG(seed=seed)


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(map(np.asarray, one), map(np.asarray, other), strict=True))


def same_scenes(one, other):
    return all(same(getattr(one, name), getattr(other, name)) for name in ("image", *one.fields, "matrix"))


def test_the_same_bits_through_json_and_pickle(policy):
    made = policy(images(), rng=rng())
    assert policy.to_json().count("\n") == len(STEPS) + 1
    for again in (Policy.from_json(policy.to_json()), pickle.loads(pickle.dumps(policy))):
        assert again == policy
        assert hash(again) == hash(policy)
        assert again.to_json() == policy.to_json()
        assert same(again(images(), rng=rng()), made)
    assert not same(policy(images(), rng=rng(4)), made)
    assert policy != Policy(STEPS[1:])
    assert (len(policy), repr(Policy(["flip", "copy"]))) == (len(STEPS), "Policy(flip, copy)")


def test_the_same_bits_in_all_modes_and_for_all_threads(policy):
    expected = policy(scene(masks=None), rng=rng()).evaluate()
    for mode in (avida.EvalMode.eager, avida.EvalMode.deferred):
        for threads in (1, 2, 16):
            with mode, avida.EvalContext(num_threads=threads):
                assert same_scenes(policy(scene(masks=None), rng=rng()), expected), (mode, threads)


def test_a_sample_depends_on_no_other(policy):
    alone = [policy(image, rng=rng()) for image in images().tensors]
    first = policy(images()._select([0] * 8), rng=rng())
    assert np.array_equal(alone[0], first.tensors[0])  # the generator gives the first sample the same number

    def results(batch_size):
        made = []
        for (batch,) in avida.ExternalSource(IMAGES, layout="HWC").next_epoch(batch_size=batch_size):
            out = policy(batch, rng=rng(), keyed_by=batch)
            assert out.sources == batch.sources
            made += list(out)
        return made

    assert same(results(8), results(3))


def test_loops_with_policies_run_ahead(tmp_path, policy):
    for i, image in enumerate(IMAGES * 2):
        np.save(tmp_path / f"{i}.npy", image)

    def body(i, files):
        return policy(avida.reinterpret(files, layout="HWC"), keyed_by=files).evaluate()

    def results(ahead, calls):
        reader = avida.readers.Numpy(file_root=str(tmp_path), files=[f"{i}.npy" for i in range(16)])
        return run(reader.next_epoch(batch_size=2, ahead=ahead), body, calls)

    avida.random.set_seed(5)
    ahead, count = results(1, 2)
    behind, _ = results(0, 0)
    assert count >= 3 * 2
    assert all(same(a, b) for a, b in zip(ahead, behind, strict=True))


def images_of(made) -> Any:
    return made.image


def test_records_are_policies(policy):
    made = policy(scene(masks=None), rng=rng())
    with record() as records:
        recorded = policy(scene(masks=None), rng=rng())
        alone = policy(images().tensors[0], rng=rng())
    assert same_scenes(recorded, made)
    assert [len(lines) for lines in records] == [5, 1]
    for i, line in enumerate(records[0]):
        assert "\n" not in line
        names = [step[0] for step in json.loads(line)]
        assert names[0] == "rotate"
        assert not {"one_of", "maybe", "shuffled", "some_of", "rand_augment"} & set(names)
        alike = scene()
        again = Policy.from_json(line)(avida.Scene(images_of(alike).tensors[i], boxes=alike.boxes.tensors[i]))
        assert np.array_equal(again.image, images_of(made).tensors[i])
        np.testing.assert_allclose(again.boxes.numpy(), made.boxes.tensors[i].numpy(), atol=1e-3)
    assert np.array_equal(Policy.from_json(records[1][0])(images().tensors[0]), alone)
    policy(images())
    assert len(records) == 2  # no longer kept


CHOICES = [
    lambda x: augment.maybe(x, avida.gaussian_blur, p=0.7, sigma=between(0.5, 2)),
    lambda x: augment.one_of(x, [functools.partial(avida.rotate, angle=between(-20, 20), fill_value=0), avida.flip]),
    lambda x: augment.some_of(
        x, 2, [augment.elastic, functools.partial(avida.noise.gaussian, stddev=between(1, 9)), augment.invert]
    ),
    lambda x: augment.shuffled(
        x, [functools.partial(avida.rotate, angle=between(-9, 9), keep_size=True, fill_value=0), augment.perspective]
    ),
    lambda x: augment.maybe(
        x, avida.brightness, brightness=avida.as_batch(np.linspace(0.5, 1.5, 8, dtype=np.float32)), p=0.8
    ),
    lambda x: augment.maybe(x, avida.random_resized_crop, size=[20, 20], random_area=[0.2, 1], p=0.9),
]


@pytest.mark.parametrize("choice", range(len(CHOICES)))
def test_choices_are_recorded(choice):
    """With the same result as without a record, and each line makes it again."""
    avida.random.set_seed(3)
    made = CHOICES[choice](images())
    avida.random.set_seed(3)
    with record() as records:
        recorded = CHOICES[choice](images())
    assert len(records) == 1
    assert len(records[0]) == 8
    assert any(line != "[]" for line in records[0])
    for before, one, other, line in zip(images(), made, recorded, records[0], strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
        np.testing.assert_array_equal(np.asarray(Policy.from_json(line)(before)), np.asarray(one))


def test_choices_that_no_policy_can_repeat_are_not_recorded():
    with record() as records:
        augment.maybe(images(), lambda x: avida.flip(x))
        augment.maybe(images(), avida.trivial_augment)
        augment.maybe(images().tensors[0], avida.flip, p=1)
    assert list(records) == [['[["flip"]]']]


def test_values_of_arguments():
    steps = [("cast", {"dtype": avida.float32}), ("warp_affine", {"matrix": np.eye(2, 3), "interp_type": 1})]
    text = Policy([*steps, ("rotate", {"angle": np.float32(3), "interp_type": avida.types.INTERP_NN})]).to_json()
    assert json.loads(text) == [
        ["cast", {"dtype": "f32"}],
        ["warp_affine", {"matrix": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "interp_type": 1}],
        ["rotate", {"angle": 3.0, "interp_type": 0}],
    ]
    assert Policy([avida.flip, (avida.augment.affine, {"angle": 3})]) == Policy(
        ["flip", ("augment.affine", {"angle": 3})]
    )
    assert Policy([("one_of", ["flip", "copy"])]) == Policy([("one_of", {}, ["flip", "copy"])])
    assert Policy([])(images()).shape == images().shape
    assert Policy(["flip"])(images()._select([])).batch_size == 0


@pytest.mark.parametrize(
    ("steps", "error", "text"),
    [
        (["rotat"], ValueError, r"step 1 \(rotat\): there is no operator of this name; did you mean rotate\?"),
        (["flip", ("one_of", {}, [("rotate", {"angel": 3})])], ValueError,
         r"step 2 \(one_of\), step 1 \(rotate\): there is no argument 'angel'; did you mean angle\?"),
        (["os.system"], ValueError, "there is no operator"),
        (["io.file.read"], ValueError, "there is no operator"),
        (["__import__"], ValueError, "there is no operator"),
        (["augment.presets"], ValueError, "there is no operator"),
        (["augment.mosaic"], ValueError, "steps do not mix samples"),
        (["mosaic"], ValueError, "steps do not mix samples"),
        ([avida.mosaic], ValueError, "steps do not mix samples"),
        ([print], TypeError, "functions of your own have no name in a policy"),
        ([[]], TypeError, "expected a list of a name, arguments and children"),
        ([("flip", 3)], TypeError, "expected arguments by their names, got int"),
        ([("flip", ["copy"])], ValueError, r"step 1 \(flip\): expected no children, got 1"),
        ([("flip", {}, ["copy"])], ValueError, r"step 1 \(flip\): expected no children, got 1"),
        ([("maybe", {}, [])], ValueError, "expected one function, got 0"),
        ([("maybe", {"q": 1}, ["flip"])], TypeError, r"step 1 \(maybe\): .* unexpected keyword"),
        ([("maybe", {"p": 2}, ["flip"])], ValueError, "expected p from 0 to 1, got 2"),
        ([("one_of", {"weights": [1, 2]}, ["flip"])], ValueError, "expected 1 weights"),
        ([("some_of", {"n": 3}, ["flip"])], ValueError, "expected from 0 to 1 as n"),
        ([("in_turn", {"p": 1}, ["flip"])], ValueError, "expected no arguments, got p"),
        ([("rand_augment", {"m": 99})], ValueError, r"step 1 \(rand_augment\): rand_augment: expected m from 0 to 30"),
        ([("rotate", {"angle": float("nan")})], ValueError, "argument 'angle': expected a finite number, got nan"),
        ([("rotate", {"angle": avida.as_batch([1.0])})], TypeError, "expected a number, a string, .* got Batch"),
        ([("rotate", {"angle": between(0, 1, rng=rng())})], ValueError, "has a generator or a key of its own"),
        ([("flip", {"horizontal": {"betwen": [0, 1]}})], ValueError, "expected a random argument as one of"),
        ([("flip", {"horizontal": {"chance": 3}})], ValueError, "chance: expected p from 0 to 1"),
        ([("rotate", {"fill_value": between(0, 9)})], ValueError, "'fill_value' is the same for the whole batch"),
        ([("flip", {"seed": "12"})], ValueError, "this operator draws nothing"),
        ([("augment.elastic", {"seed": "xyz"})], ValueError, "up to 16 hexadecimal digits"),
        ([("flip", {"horizontal": [[[[[[[[[[1]]]]]]]]]]})], ValueError, "lists of up to 8 levels"),
    ],
)  # fmt: skip
def test_what_is_wrong_names_the_step(steps, error, text):
    with pytest.raises(error, match=text) as caught:
        Policy(steps)
    assert str(caught.value).startswith("Policy: step ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[["flip"', "this is not JSON"),
        ('{"steps": []}', "expected a list of steps, got dict"),
        ("[" * 100_000, "nested too deeply"),
        ('[["rotate", {"angle": Infinity}]]', "Infinity is not a number"),
        ('[["rotate", {"angle": 1e999}]]', "expected a finite number, got inf"),
        (json.dumps(["flip"] * 10_001), "at most 10000 steps"),
        ('[["in_turn", {}, ' * 40 + "[]" + "]]" * 40, "steps within steps up to 32 times"),
        (" " * (1 << 23), "at most 4194304 characters"),
        (7, "expected JSON as a string, got int"),
    ],
)
def test_hostile_json(text, message):
    with pytest.raises((TypeError, ValueError), match=f"^Policy: .*{message}"):
        Policy.from_json(text)


def test_huge_ranges_are_no_memory():
    made = Policy([("augment.motion_blur", {"size": between(0, 1e15)})])(images())
    with pytest.raises(ValueError, match=r"Policy: step 1 \(augment.motion_blur\): .* up to 1048576 integers"):
        made.evaluate()


def test_errors_of_operators_name_the_step():
    made = Policy(["flip", ("one_of", {}, [("crop", {"crop": [500, 500]})])])(images())
    with pytest.raises(RuntimeError, match=r"Policy: step 2 \(one_of\), step 1 \(crop\): crop: sample 0: the window"):
        made.evaluate()
    with pytest.raises(TypeError, match="Policy: expected a Batch, a Tensor or a Scene, got ndarray"):
        Policy(["flip"])(IMAGES[0])
    with pytest.raises(TypeError, match="Policy: expected a list of steps, got str"):
        Policy("flip")
