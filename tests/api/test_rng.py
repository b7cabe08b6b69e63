"""avida.random.RNG: words, seeds, states, and how operators advance it."""

import copy
import pickle
import threading

import numpy as np
import pytest

import avida as ndd

RNG = ndd.random.RNG


def draw(**arguments):
    return [t.item() for t in ndd.batch_permutation(batch_size=20, **arguments)]


def test_known_words():
    rng = RNG(seed=1234)
    assert [rng() for _ in range(5)] == [546353992, 3665621163, 1140953199, 3419031310, 2666454581]


def test_philox_reference_values():
    # The known answers that the authors of the generator publish.
    assert [ndd._core.philox(0, 0, 0, i) for i in range(4)] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = 2**64 - 1
    assert [ndd._core.philox(ones, ones, ones, i) for i in range(4)] == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def test_state():
    rng = RNG(5)
    words = [rng() for _ in range(10)]
    rng.seed = 5
    assert str(rng.state) == "Philox_0000000000000005_0000000000000000:0000000000000000_0"
    rng.advance(7)
    assert rng.get_state() == rng.state == "Philox_0000000000000005_0000000000000000:0000000000000001_3"
    assert repr(rng) == f"RNG(state='{rng.state}')"
    other = RNG(state=rng.state)
    assert rng() == other() == words[7]
    other.set_state(RNG(5).get_state(cuda_stream=None))
    assert [other() for _ in range(10)] == words
    assert RNG(state=RNG(5).state.encode()).state == RNG(5).state
    with pytest.raises(ValueError, match="not the state"):
        RNG(state=b"\xff")
    rng.advance(2**64)
    rng.advance(2**66)
    assert RNG(state=rng.state).state == rng.state


def test_clones_are_independent():
    rng = RNG(1)
    rng()
    copies = [rng.clone(), copy.copy(rng), copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))]
    expected = [rng() for _ in range(5)]
    for one in copies:
        assert [one() for _ in range(5)] == expected


def test_seeds():
    assert RNG(-1).seed == 2**64 - 1
    assert RNG(2**64 + 5).seed == 5
    assert RNG(np.int64(4)).seed == 4
    assert RNG().seed != RNG().seed


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: RNG(1.5), TypeError),
        (lambda: RNG("3"), TypeError),
        (lambda: RNG(1, RNG(1).state), ValueError),
        (lambda: RNG(state="abc"), ValueError),
        (lambda: RNG(state=""), ValueError),
        (lambda: RNG(state=5), TypeError),
        (lambda: RNG(1).set_state(None), TypeError),
        (lambda: RNG(1).advance(-1), ValueError),
        (lambda: RNG(1).advance(1.5), TypeError),
        (lambda: ndd.random.set_seed(None), TypeError),
        (lambda: ndd.random.set_seed("a"), TypeError),
    ],
)
def test_refused(make, error):
    with pytest.raises(error):
        make()


def test_operators_move_the_generator_on_at_the_call():
    with ndd.EvalMode.deferred:
        rng = RNG(5)
        first, second = draw(rng=rng), draw(rng=rng)
    assert first != second
    assert rng.state == "Philox_0000000000000005_0000000000000000:0000000000000003_2"
    assert draw(rng=RNG(5)) == first


def test_set_seed():
    default = ndd.random.get_default_rng()
    ndd.random.set_seed(3)
    first = [draw() for _ in range(3)]
    ndd.random.set_seed(3)
    assert [draw() for _ in range(3)] == first
    assert ndd.random.get_default_rng() is default
    assert draw(rng=RNG(3)) == first[0]


def in_thread(function):
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def test_every_thread_has_its_own_default():
    ndd.random.set_seed(3)
    state = ndd.random.get_default_rng().state
    assert in_thread(ndd.random.get_default_rng) is not ndd.random.get_default_rng()
    assert in_thread(lambda: ndd.random.get_default_rng().seed) != 3
    assert ndd.random.get_default_rng().state == state


def test_threads_that_share_a_generator_never_draw_the_same():
    rng = RNG(1)
    words = []
    threads = [threading.Thread(target=lambda: words.extend(rng._take(1)[1] for _ in range(2000))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(words) == list(range(8000))
