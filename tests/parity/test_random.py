"""Random operators follow the same distributions as the real library's; their streams differ. Seeds are fixed."""

import math

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import both

N = 40_000


def draw(library, name, *inputs, **arguments):
    arguments = {n: getattr(library, v) if n == "dtype" else v for n, v in arguments.items()}
    rng = library.random.RNG(seed=99)
    return np.asarray(getattr(library.random, name)(*inputs, shape=N, rng=rng, **arguments))


def both_drawn(name, *inputs, **arguments):
    ours, theirs = (draw(library, name, *inputs, **arguments) for library in (avida, dali))
    assert ours.dtype == theirs.dtype
    return ours.astype(np.float64), theirs.astype(np.float64)


def assert_same_moments(ours, theirs):
    """Mean and variance differ by less than five standard errors."""
    for a, b in ((ours, theirs), ((ours - ours.mean()) ** 2, (theirs - theirs.mean()) ** 2)):
        error = math.sqrt((a.var() + b.var()) / N)
        assert abs(a.mean() - b.mean()) <= 5 * error


def assert_same_distribution(ours, theirs):
    """The Kolmogorov-Smirnov distance of two samples; beyond the bound less than once in a million."""
    everything = np.concatenate([ours, theirs])
    distance = np.abs(
        np.searchsorted(np.sort(ours), everything, "right") - np.searchsorted(np.sort(theirs), everything, "right")
    ).max()
    assert distance / N < 2.7 * math.sqrt(2 / N)


def assert_same_frequencies(ours, theirs):
    """The chi-square statistic of two samples, at most five standard deviations off."""
    values = np.unique(np.concatenate([ours, theirs]))
    a, b = (np.array([(drawn == value).sum() for value in values]) for drawn in (ours, theirs))
    kept = a + b >= 10
    statistic = ((a - b)[kept] ** 2 / (a + b)[kept]).sum()
    freedom = max(1, kept.sum() - 1)
    assert statistic < freedom + 5 * math.sqrt(2 * freedom)


CONTINUOUS = [
    ("uniform", {}),
    ("uniform", {"range": [3, 4.5]}),
    ("uniform", {"dtype": "float64"}),
    ("normal", {}),
    ("normal", {"mean": -4, "stddev": 12}),
    ("normal", {"dtype": "float64"}),
    ("normal", {"stddev": -2}),
    *(("beta", {"alpha": a, "beta": b}) for a in (0.05, 0.5, 1, 3, 1000) for b in (0.2, 1, 1.5, 40)),
    ("beta", {"alpha": 2, "beta": 2, "dtype": "float64"}),
]


@pytest.mark.parametrize(("name", "arguments"), CONTINUOUS, ids=str)
def test_continuous(name, arguments):
    ours, theirs = both_drawn(name, **arguments)
    assert_same_moments(ours, theirs)
    assert_same_distribution(ours, theirs)


INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "int64", "uint64"]
DISCRETE = [
    *(("uniform", [], {"range": [0, 9], "dtype": dtype}) for dtype in INTEGERS),
    *(("normal", [], {"mean": 20, "stddev": 3, "dtype": dtype}) for dtype in INTEGERS),
    ("normal", [], {"mean": 1, "stddev": 3, "dtype": "uint8"}),
    ("uniform", [], {"values": [1.5, 2, 7, 7]}),
    ("uniform", [], {"values": [1.5, 300, -2], "dtype": "uint8"}),
    ("uniform", [], {"range": [0, 1], "values": [3, 5]}),
    *(("coin_flip", [], {"probability": p}) for p in (0, 0.1, 0.5, 1, 2, -1)),
    *(("coin_flip", [], {"dtype": dtype}) for dtype in ("bool", "uint8", "int32")),
    ("choice", [7], {}),
    ("choice", [np.uint8(200)], {}),
    ("choice", [[1.5, 2.5, 2.5]], {}),
    ("choice", [4], {"p": [0.1, 0.2, 0.0, 0.7]}),
    ("choice", [[5, 6]], {"p": [0.999, 0.001]}),
]


@pytest.mark.parametrize(("name", "inputs", "arguments"), DISCRETE, ids=str)
def test_discrete(name, inputs, arguments):
    assert_same_frequencies(*both_drawn(name, *inputs, **arguments))


LIKE = np.zeros((2, 3), np.uint8)
FORMS = {
    "scalar": lambda draw, library: draw(),
    "batch": lambda draw, library: draw(batch_size=3),
    "batch_of_one": lambda draw, library: draw(batch_size=1),
    "shape": lambda draw, library: draw(shape=[2, 3]),
    "shape_number": lambda draw, library: draw(shape=4),
    "shape_empty": lambda draw, library: draw(shape=[]),
    "shape_zero": lambda draw, library: draw(shape=[0, 3]),
    "shape_fraction": lambda draw, library: draw(shape=[2.6]),
    "shape_array": lambda draw, library: draw(shape=np.array([2, 3])),
    "shape_per_sample": lambda draw, library: draw(shape=library.as_batch([[1, 2], [3, 4]])),
    "shape_number_per_sample": lambda draw, library: draw(shape=library.as_batch([1, 2])),
    "like": lambda draw, library: draw(LIKE),
    "like_with_layout": lambda draw, library: draw(library.as_tensor(LIKE, layout="HW")),
    "like_list": lambda draw, library: draw(library.as_tensor(LIKE[0], layout="X")),
    "like_batch": lambda draw, library: draw(library.as_batch([LIKE, LIKE[:1]])),
    "like_as_batch": lambda draw, library: draw(LIKE, batch_size=2),
    "error_both": lambda draw, library: draw(LIKE, shape=[2]),
    "error_negative": lambda draw, library: draw(shape=[2, -1]),
    "error_seed": lambda draw, library: draw(seed=5),
    "error_by_name": lambda draw, library: draw(shape_like=LIKE),
    "error_batch_size": lambda draw, library: draw(batch_size=-1),
}
REFUSED = {
    "error_both": RuntimeError,
    "error_negative": RuntimeError,
    "error_seed": TypeError,
    "error_by_name": TypeError,
    "error_batch_size": ValueError,
}
OPERATORS = {
    "uniform": lambda library: library.random.uniform,
    "normal": lambda library: library.random.normal,
    "coin_flip": lambda library: library.random.coin_flip,
    "beta": lambda library: library.random.beta,
    "choice": lambda library: lambda *inputs, **how: library.random.choice(5, *inputs, **how),
    "choice_of_rows": lambda library: (
        lambda *inputs, **how: library.random.choice(
            library.as_tensor(np.zeros((3, 2), np.int16), layout="FX"), *inputs, **how
        )
    ),
}


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("form", FORMS)
def test_forms(operator, form):
    both(lambda library: zeroed(library, FORMS[form](operator(library), library)), fails=REFUSED.get(form))


def zeroed(library, value):
    """The value with zeros for its numbers: form, type, shape and layout are left to compare."""
    value.evaluate()
    return library.zeros_like(value)


ERRORS = {
    "range_reversed": lambda random: random.uniform(range=[1, 0]),
    "range_empty": lambda random: random.uniform(range=[1, 1]),
    "range_short": lambda random: random.uniform(range=[1]),
    "range_long": lambda random: random.uniform(range=[1, 2, 3]),
    "range_nan": lambda random: random.uniform(range=[0, math.nan]),
    "mean_list": lambda random: random.normal(mean=np.array([5, 6], np.float32), shape=3),
    "choice_of_none": lambda random: random.choice(0),
    "choice_of_fewer": lambda random: random.choice(-1),
    "choice_float": lambda random: random.choice(2.0),
    "choice_bool": lambda random: random.choice(True),
    "choice_empty": lambda random: random.choice([]),
    "p_short": lambda random: random.choice(3, p=[0.5, 0.5]),
    "p_sum": lambda random: random.choice(3, p=[0.5, 0.5, 0.5]),
    "p_nearly": lambda random: random.choice(3, p=[0.333, 0.333, 0.333]),
    "p_negative": lambda random: random.choice(3, p=[0.5, 0.6, -0.1]),
    "p_nan": lambda random: random.choice(2, p=[math.nan, 1]),
    "alpha_zero": lambda random: random.beta(alpha=0),
    "alpha_negative": lambda random: random.beta(alpha=-1),
    "beta_infinite": lambda random: random.beta(beta=math.inf),
    "beta_nan": lambda random: random.beta(beta=math.nan),
    "two_shapes": lambda random: random.uniform(LIKE, LIKE),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    both(lambda library: ERRORS[name](library.random), fails=TypeError if name == "two_shapes" else RuntimeError)


def test_generator():
    for seed in (0, 5, 2**63):
        ours, theirs = avida.random.RNG(seed), dali.random.RNG(seed)
        for _ in range(5):
            assert ours() == theirs()
            assert str(ours.state) == str(theirs.state)
        ours.advance(1001)
        theirs.advance(1001)
        assert str(ours.get_state()) == str(theirs.get_state())
        assert ours.clone()() == theirs.clone()()
        avida.random.uniform(shape=3, rng=ours)
        dali.random.uniform(shape=3, rng=theirs).evaluate()
        assert str(ours.state) == str(theirs.state), "a call moves the generator on as there"
        ours.set_state(str(theirs.state))
        assert ours() == theirs()
