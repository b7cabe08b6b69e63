"""batch_permutation: which permutations are drawn, and how often."""

from collections import Counter

import pytest

import avida as ndd


def draw(n, **arguments):
    return tuple(t.item() for t in ndd.batch_permutation(batch_size=n, **arguments))


def counts(n, times=2000, **arguments):
    rng = ndd.random.RNG(7)
    return Counter(draw(n, rng=rng, **arguments) for _ in range(times))


def test_permutations_are_equally_likely():
    found = counts(3)
    assert len(found) == 6
    assert min(found.values()) > 270


def test_no_fixed_points():
    found = counts(4, no_fixed_points=True)
    assert len(found) == 9
    assert all(p[i] != i for p in found for i in range(4))
    assert min(found.values()) > 160
    assert draw(1, no_fixed_points=True) == (0,)


def test_repetitions():
    assert len(counts(2, allow_repetitions=True)) == 4
    found = counts(3, allow_repetitions=True, no_fixed_points=True)
    assert len(found) == 8
    assert all(p[i] != i for p in found for i in range(3))
    assert draw(1, allow_repetitions=True, no_fixed_points=True) == (0,)


@pytest.mark.parametrize("arguments", [{}, {"allow_repetitions": True}, {"no_fixed_points": True}], ids=str)
def test_large_batches(arguments):
    drawn = draw(1000, **arguments)
    assert all(0 <= i < 1000 for i in drawn)
    assert (sorted(drawn) == list(range(1000))) == ("allow_repetitions" not in arguments)


def test_form():
    out = ndd.batch_permutation(batch_size=3)
    assert isinstance(out, ndd.Batch)
    assert out.dtype == ndd.int32
    assert out.shape == [()] * 3
    assert ndd.batch_permutation(batch_size=0).evaluate().batch_size == 0


def test_same_numbers_in_every_mode_and_for_any_number_of_threads():
    expected = None
    for mode in ndd.EvalMode:
        for threads in (1, 2, 8):
            with mode, ndd.EvalContext(num_threads=threads):
                rng = ndd.random.RNG(3)
                first, second = (ndd.batch_permutation(batch_size=50, rng=rng) for _ in range(2))
                drawn = [[t.item() for t in second], [t.item() for t in first]]  # read in the other order
                expected = expected or drawn
                assert drawn == expected
    assert expected is not None
    assert expected[0] != expected[1]


def test_refused():
    with pytest.raises(ValueError, match="batch_size"):
        ndd.batch_permutation()
    with pytest.raises(ValueError, match="rng must be"):
        ndd.batch_permutation(batch_size=3, rng=5)
    with pytest.raises(ValueError, match="batch_size"):
        ndd.batch_permutation(batch_size=-1)
    with pytest.raises(TypeError):
        ndd.batch_permutation(batch_size=3, seed=1)
