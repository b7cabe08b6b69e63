"""What the random operators promise: shapes, types, ranges, and numbers that follow from the seed alone."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest

import avida as ndd

random = ndd.random
N = 100_000
DTYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
OPERATORS = {
    "uniform": random.uniform,
    "values": lambda *inputs, **arguments: random.uniform(*inputs, values=[1, 2, 5], **arguments),
    "normal": random.normal,
    "coin_flip": random.coin_flip,
    "choice": lambda *inputs, **arguments: random.choice(np.arange(7.0), *inputs, **arguments),
    "choice_p": lambda *inputs, **arguments: random.choice([1, 2], *inputs, p=[0.25, 0.75], **arguments),
    "beta": random.beta,
}
each_operator = pytest.mark.parametrize("draw", OPERATORS.values(), ids=OPERATORS)


def array(tensor):
    return np.asarray(tensor).astype(np.float64)


def assert_moments(drawn, mean, stddev):
    """Within five standard errors."""
    drawn = array(drawn).ravel()
    assert abs(drawn.mean() - mean) < 5 * stddev / math.sqrt(drawn.size)
    assert abs(drawn.std() / stddev - 1) < 10 / math.sqrt(drawn.size)


def assert_frequencies(drawn, expected):
    """The chi-square statistic of the values that occur is not beyond five standard deviations."""
    values, counts = np.unique(np.asarray(drawn), return_counts=True)
    assert set(values.tolist()) == {value for value, p in expected.items() if p}
    probabilities = np.array([expected[value] for value in values.tolist()])
    wanted = probabilities / probabilities.sum() * counts.sum()
    statistic = ((counts - wanted) ** 2 / wanted).sum()
    freedom = len(values) - 1
    assert statistic < freedom + 5 * math.sqrt(2 * freedom)


def assert_distributed(drawn, cumulative):
    """The Kolmogorov-Smirnov distance; beyond the bound once in about 20 million."""
    drawn = np.sort(array(drawn).ravel())
    expected = np.array([cumulative(x) for x in drawn])
    steps = np.arange(drawn.size + 1) / drawn.size
    distance = max((steps[1:] - expected).max(), (expected - steps[:-1]).max())
    assert distance < 3 / math.sqrt(drawn.size)


@pytest.fixture(autouse=True)
def seeded():
    random.set_seed(1234)


@each_operator
def test_shapes(draw):
    assert isinstance(draw(), ndd.Tensor)
    assert draw().shape == ()
    assert draw(shape=3).shape == (3,)
    assert draw(shape=[]).shape == ()
    assert draw(shape=(2, 0, 3)).shape == (2, 0, 3)
    assert draw(shape=np.array([2, 3])).shape == (2, 3)
    assert draw(batch_size=2).shape == [(), ()]
    assert draw(batch_size=1, shape=[4]).shape == [(4,)]
    assert draw(batch_size=0).evaluate().batch_size == 0
    assert draw(shape=ndd.as_batch([[1, 2], [3, 4]])).shape == [(1, 2), (3, 4)]
    like = ndd.as_batch([np.zeros((2, 3)), np.zeros((1, 5))], layout="HW")
    assert draw(like).shape == [(2, 3), (1, 5)]
    assert draw(like).layout is None
    assert draw(np.zeros((2, 0))).shape == (2, 0)
    with pytest.raises(RuntimeError, match="got both"):
        draw(like, shape=[2])
    with pytest.raises(RuntimeError, match="negative"):
        draw(shape=[2, -1]).evaluate()
    with pytest.raises((ValueError, MemoryError)):
        draw(shape=[10**6] * 4).evaluate()


@each_operator
def test_numbers_follow_from_seed_sample_and_place(draw):
    """The same numbers in every mode, for any number of threads, alone or in a batch, in a longer or shorter shape."""
    rng = random.RNG(5)
    expected = [np.asarray(t).tobytes() for t in draw(shape=[300, 311], batch_size=2, rng=rng)]
    assert expected[0] != expected[1]
    for mode, threads in itertools.product(ndd.EvalMode, (1, 2, 8)):
        with mode, ndd.EvalContext(num_threads=threads):
            drawn = draw(shape=[300, 311], batch_size=2, rng=random.RNG(5))
            assert [np.asarray(t).tobytes() for t in drawn] == expected
    alone = np.asarray(draw(shape=[300, 311], rng=random.RNG(5)))
    assert alone.tobytes() == expected[0]
    for size in (1, 15, 16, 17, 63, 64, 65, 4096, 5000):
        assert expected[0].startswith(np.asarray(draw(shape=[size], rng=random.RNG(5))).tobytes())
    assert np.asarray(draw(shape=[300, 311], rng=rng)).tobytes() != expected[0]


@each_operator
def test_like_takes_the_number_of_samples(draw):
    images = ndd.as_batch([np.zeros((2, 2, 3), np.uint8)] * 3, layout="HWC")
    drawn = draw(like=images, shape=[2])
    assert isinstance(drawn, ndd.Batch)
    assert drawn.shape == [(2,)] * 3
    same = draw(like=images, rng=random.RNG(1)), draw(batch_size=3, rng=random.RNG(1))
    assert [t.item() for t in same[0]] == [t.item() for t in same[1]]
    with pytest.raises(ValueError, match="got both"):
        draw(like=images, batch_size=3)
    with pytest.raises(TypeError, match="expected a Batch, got Tensor"):
        draw(like=ndd.tensor([1]))
    with pytest.raises(TypeError, match="expected a Batch, got int"):
        draw(like=3)


def test_like_does_not_wait():
    read = []

    @ndd.operator
    def slow(x):
        read.append(1)
        return x

    with ndd.EvalMode.deferred:
        pending = slow(ndd.as_batch([[1], [2]]))
        assert random.coin_flip(like=pending).evaluate().batch_size == 2
        assert sorted(t.item() for t in ndd.batch_permutation(like=pending)) == [0, 1]
        assert read == []
        pending.evaluate()


@pytest.mark.parametrize("dtype", DTYPES)
def test_uniform(dtype):
    drawn = np.asarray(random.uniform(range=[2, 100], shape=N, dtype=dtype))
    assert drawn.dtype == dtype
    assert drawn.min() >= 2
    assert drawn.max() <= 100
    assert_moments(drawn, 51, math.sqrt(98**2 / 12 + (0 if dtype.startswith("float") else 1 / 12)))
    assert random.uniform().dtype == ndd.float32


def test_uniform_covers_its_range():
    drawn = np.asarray(random.uniform(shape=N))
    assert drawn.dtype == np.float32
    assert -1 <= drawn.min() < -0.999
    assert 0.999 < drawn.max() < 1
    assert_distributed(drawn, lambda x: (x + 1) / 2)
    drawn = np.asarray(random.uniform(range=[0, 1], dtype="float64", shape=N))
    assert_distributed(drawn, lambda x: x)
    assert np.unique(drawn * 2**53 % 2**21).size > 0.9 * N, "the low bits are random too"
    assert np.unique(np.asarray(random.uniform(range=[0, 1], shape=N)) * 2**24 % 2).size == 2


def test_uniform_at_the_limits():
    just = np.asarray(random.uniform(range=[1, 1 + 2**-23], shape=1000))
    assert set(just.tolist()) == {1.0}
    wide = np.asarray(random.uniform(range=[-3.4e38, 3.4e38], shape=N))
    assert np.isfinite(wide).all()
    assert_distributed(wide.astype(np.float64) / 3.4e38, lambda x: (x + 1) / 2)
    assert np.isfinite(random.uniform(range=[0, math.inf], shape=1000)).all()
    bytes_ = np.asarray(random.uniform(range=[-100, 500], dtype="uint8", shape=N))
    assert abs((bytes_ == 0).mean() - 100.5 / 600) < 0.01
    assert abs((bytes_ == 255).mean() - 245.5 / 600) < 0.01


def test_uniform_values():
    drawn = random.uniform(values=[1.5, -2, 300], shape=N)
    assert_frequencies(drawn, {1.5: 1, -2.0: 1, 300.0: 1})
    assert set(np.asarray(random.uniform(values=[1.5, -2, 300], shape=100, dtype="uint8")).tolist()) == {0, 2, 255}
    batch = random.uniform(values=ndd.as_batch([[1, 2], [3]]), shape=100)
    assert [set(np.asarray(t).tolist()) for t in batch] == [{1.0, 2.0}, {3.0}]
    assert random.uniform(values=4.5).item() == 4.5
    assert set(np.asarray(random.uniform(range=[8, 9], values=[1], shape=9)).tolist()) == {1.0}
    many = np.asarray(random.uniform(values=np.arange(1000), shape=N))
    assert_frequencies(many, dict.fromkeys(map(float, range(1000)), 1))


def test_uniform_per_sample():
    drawn = random.uniform(range=ndd.as_batch([[0, 1], [10, 20]]), shape=1000)
    first, second = map(np.asarray, drawn)
    assert 0 <= first.min() <= first.max() < 1
    assert 10 <= second.min() < 11
    assert 19 < second.max() < 20


@pytest.mark.parametrize(
    "arguments",
    [
        *({"range": numbers} for numbers in (1, [1], [1, 0], [1, 1], [1, 2, 3], [0, math.nan])),
        {"values": []},
    ],
    ids=str,
)
def test_uniform_refuses(arguments):
    with pytest.raises(RuntimeError, match="expected"):
        random.uniform(**arguments).evaluate()


def normal_cdf(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal(dtype):
    drawn = np.asarray(random.normal(shape=N, dtype=dtype))
    assert drawn.dtype == dtype
    assert_moments(drawn, 0, 1)
    assert_distributed(drawn, normal_cdf)
    assert abs((drawn.astype(float) ** 4).mean() - 3) < 0.15
    many = np.asarray(random.normal(shape=3_000_000, dtype=dtype))
    assert 4.5 < np.abs(many).max() < 6.5
    assert abs((np.abs(many) > 4).mean() / 6.334e-5 - 1) < 0.4
    pairs = many.reshape(-1, 2, 16).astype(np.float64)  # those that come of one radius and direction
    assert abs(np.corrcoef(pairs[:, 0].ravel(), pairs[:, 1].ravel())[0, 1]) < 0.004
    assert abs(np.corrcoef(pairs[:, 0].ravel() ** 2, pairs[:, 1].ravel() ** 2)[0, 1]) < 0.004


def test_normal_arguments():
    assert_moments(random.normal(mean=5, stddev=0.1, shape=N), 5, 0.1)
    assert np.asarray(random.normal(mean=5, stddev=0, shape=3)).tolist() == [5, 5, 5]
    assert_moments(random.normal(mean=100, stddev=20, dtype="uint8", shape=N), 100, 20)
    assert_moments(random.normal(mean=-3, stddev=2, dtype="float16", shape=N), -3, 2)
    clamped = np.asarray(random.normal(stddev=1000, dtype="int8", shape=N))
    assert (clamped.min(), clamped.max()) == (-128, 127)
    one, other = random.normal(mean=ndd.as_batch([0, 100]), stddev=ndd.as_batch([1, 10]), shape=N)
    assert_moments(one, 0, 1)
    assert_moments(other, 100, 10)
    with pytest.raises(RuntimeError, match='"mean" expected a number, got NaN'):
        random.normal(mean=math.nan)


@pytest.mark.parametrize("probability", [0.5, 0.01, 0.999])
def test_coin_flip(probability):
    drawn = np.asarray(random.coin_flip(probability=probability, shape=N))
    assert drawn.dtype == np.int32
    assert_frequencies(drawn, {0: 1 - probability, 1: probability})


def test_coin_flip_at_the_limits():
    for probability, expected in [(0, 0), (1, 1), (2, 1), (-1, 0), (math.inf, 1)]:
        assert set(np.asarray(random.coin_flip(probability=probability, shape=1000)).tolist()) == {expected}
    rare = random.coin_flip(probability=2**-16, shape=10_000_000, dtype="uint8")
    assert 100 < np.asarray(rare).sum() < 220
    for dtype in [*DTYPES, "bool"]:
        drawn = np.asarray(random.coin_flip(dtype=dtype, shape=100))
        assert drawn.dtype == dtype
        assert set(drawn.tolist()) == {0, 1}
    batch = random.coin_flip(probability=ndd.as_batch([0.0, 1.0]), shape=50)
    assert [np.asarray(t).mean() for t in batch] == [0, 1]


def test_choice():
    assert_frequencies(random.choice(5, shape=N), dict.fromkeys(range(5), 1))
    assert_frequencies(random.choice([4, 8], shape=N), {4: 1, 8: 1})
    assert_frequencies(random.choice(4, p=[0.1, 0.0, 0.65, 0.25], shape=N), {0: 0.1, 1: 0, 2: 0.65, 3: 0.25})
    assert set(np.asarray(random.choice(3, p=[0, 1, 0], shape=1000)).tolist()) == {1}
    assert random.choice(1).item() == 0


@pytest.mark.parametrize("count", [3 * 2**30, 2**32 - 1, 2**32, 3 * 2**40, 2**63 - 1])
def test_choice_of_many(count):
    """Numbers that would show a bias: 3/4 of all words, and more than a word can tell apart."""
    drawn = np.asarray(random.choice(np.int64(count), shape=N))
    assert_distributed(drawn / count, lambda x: x)
    assert np.unique(drawn % 1000).size == 1000


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_choice_keeps_the_type(dtype):
    items = np.array([0, 1]).astype(dtype)
    drawn = np.asarray(random.choice(items, shape=100))
    assert drawn.dtype == dtype
    assert set(drawn.tolist()) == {0, 1}
    if "float" not in dtype and dtype != "bool":
        assert np.asarray(random.choice(np.array(3, dtype), shape=4)).dtype == dtype


def test_choice_of_items_with_axes():
    items = np.arange(24).reshape(3, 4, 2)
    tensor = ndd.as_tensor(items, layout="FHW")
    drawn = random.choice(tensor, shape=[500])
    assert drawn.layout == "FHW"
    assert drawn.shape == (500, 4, 2)
    firsts = np.asarray(drawn)[:, 0, 0]
    assert np.array_equal(drawn, items[firsts // 8])
    assert set(firsts.tolist()) == {0, 8, 16}
    assert random.choice(tensor).layout == "HW"
    assert random.choice(tensor, shape=[2, 1]).layout is None
    assert random.choice(tensor, shape=[2, 1]).shape == (2, 1, 4, 2)
    assert random.choice(np.zeros((3, 0)), shape=[2]).shape == (2, 0)


def test_choice_per_sample():
    batch = random.choice(ndd.as_batch([[1, 2], [3]]), shape=100)
    assert [set(np.asarray(t).tolist()) for t in batch] == [{1, 2}, {3}]
    batch = random.choice(ndd.as_batch([2, 3]), p=ndd.as_batch([[0.0, 1.0], [0.0, 0.0, 1.0]]), shape=5)
    assert [set(np.asarray(t).tolist()) for t in batch] == [{1}, {2}]
    with pytest.raises(RuntimeError, match=r"sample 1.*expected at least one"):
        random.choice(ndd.as_batch([2, 0])).evaluate()


@pytest.mark.parametrize(
    ("a", "p"),
    [
        *((a, None) for a in (0, -1, 2.0, True, [])),
        *((3, p) for p in ([0.5, 0.5], [0.5, 0.5, 0.5], [0.5, 0.6, -0.1], [math.nan, 0.5, 0.5], [0.333] * 3)),
    ],
    ids=str,
)
def test_choice_refuses(a, p):
    with pytest.raises(RuntimeError, match="expected"):
        random.choice(a, p=p).evaluate()


PARAMETERS = [0.01, 0.3, 1, 1.0001, 2.5, 100, 1e4]


@pytest.mark.parametrize("alpha", PARAMETERS)
@pytest.mark.parametrize("beta", PARAMETERS)
def test_beta_moments(alpha, beta):
    drawn = np.asarray(random.beta(alpha=alpha, beta=beta, shape=20_000, dtype="float64"))
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    total = alpha + beta
    mean, variance = alpha / total, alpha * beta / (total**2 * (total + 1))
    assert abs(drawn.mean() - mean) < 5 * math.sqrt(variance / drawn.size)
    third = math.prod((alpha + k) / (total + k) for k in range(3))
    sixth = math.prod((alpha + k) / (total + k) for k in range(6))
    assert abs((drawn**3).mean() - third) < 5 * math.sqrt((sixth - third**2) / drawn.size) + 1e-12


@pytest.mark.parametrize(
    ("alpha", "beta", "cumulative"),
    [
        (1, 1, lambda x: x),
        (0.5, 0.5, lambda x: 2 / math.pi * math.asin(math.sqrt(x))),
        (0.01, 1, lambda x: x**0.01),
        (1, 0.3, lambda x: 1 - (1 - x) ** 0.3),
        (5, 1, lambda x: x**5),
        (2, 2, lambda x: x * x * (3 - 2 * x)),
        (2, 1, lambda x: x * x),
        (3, 2, lambda x: x**3 * (4 - 3 * x)),
        (1e4, 1, lambda x: x**1e4),
    ],
)
def test_beta_distribution(alpha, beta, cumulative):
    assert_distributed(random.beta(alpha=alpha, beta=beta, shape=20_000, dtype="float64"), cumulative)


def test_beta_forms():
    assert random.beta().dtype == ndd.float32
    assert np.asarray(random.beta(dtype="float16", shape=3)).dtype == np.float16
    low, high = random.beta(alpha=ndd.as_batch([1.0, 1e4]), shape=1000)
    assert np.asarray(low).mean() < 0.6
    assert np.asarray(high).min() > 0.99
    for wrong in (0, -1, math.inf):
        with pytest.raises(RuntimeError, match='expected a positive number for "alpha"'):
            random.beta(alpha=wrong).evaluate()
        with pytest.raises(RuntimeError, match='expected a positive number for "beta"'):
            random.beta(beta=wrong).evaluate()
    with pytest.raises(RuntimeError, match="float type"):
        random.beta(dtype="int32")


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (
            lambda **how: random.uniform(shape=3, **how),
            [-0.9450955390930176, -0.5365110635757446, -0.02183067798614502],
        ),
        (
            lambda **how: random.uniform(shape=3, dtype="float64", **how),
            [-0.9450955352216641, -0.5365110197866865, -0.021830638304724426],
        ),
        (lambda **how: random.normal(shape=3, **how), [-2.0041797161102295, 0.8677902817726135, -0.9823143482208252]),
        (
            lambda **how: random.normal(shape=3, dtype="float64", **how),
            [2.1910375201864727, -0.5971331649092548, -0.7505689339390482],
        ),
        (
            lambda **how: random.beta(alpha=2, beta=3, shape=3, **how),
            [0.060601308941841125, 0.23324839770793915, 0.39315900206565857],
        ),
        (lambda **how: random.coin_flip(shape=8, **how), [1, 1, 1, 1, 1, 1, 0, 1]),
        (lambda **how: random.choice(100, shape=8, **how), [2, 23, 48, 42, 10, 13, 69, 0]),
    ],
    ids=["uniform", "uniform64", "normal", "normal64", "beta", "coin_flip", "choice"],
)
def test_known_numbers(draw, expected):
    """A seed stands for the same numbers on every machine."""
    assert np.asarray(draw(rng=random.RNG(1))).tolist() == expected


EXTREMES = [1e-200, 1e-5, 1, 1.5, 1e6, 1e12]


@pytest.mark.parametrize("alpha", EXTREMES)
@pytest.mark.parametrize("beta", EXTREMES)
def test_beta_of_extreme_numbers(alpha, beta):
    drawn = np.asarray(random.beta(alpha=alpha, beta=beta, shape=1000, dtype="float64", rng=random.RNG(1)))
    mean, variance = alpha / (alpha + beta), alpha / (alpha + beta) * (beta / (alpha + beta)) / (alpha + beta + 1)
    assert abs(drawn.mean() - mean) <= 5 * math.sqrt(variance / drawn.size) + 1e-15


@pytest.mark.parametrize(
    "call",
    [
        "avida.random.beta(alpha=10, beta=1e308)",
        "avida.random.beta(alpha=1e308, beta=1e308)",
        "avida.random.beta(alpha=5e-324, beta=1)",
        "avida.random.beta(alpha=5e-324, beta=1e308)",
        "avida.random_resized_crop(np.zeros((1, 1000, 3), np.uint8), size=4, num_attempts=2**31 - 1)",
        "avida.random_resized_crop(np.zeros((0, 1000, 3), np.uint8), size=4, num_attempts=2**31 - 1)",
    ],
)
def test_hopeless_draws_end(call):
    code = f"import avida, numpy as np\ntry: {call}.evaluate()\nexcept RuntimeError as error: print(error)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
