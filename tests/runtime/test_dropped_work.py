"""Work whose results nobody can read any more ends when they are dropped, with all that it holds."""

import queue
import threading

import numpy as np
import pytest

import avida as ndd
from tests.children import in_child
from tests.runtime.test_chains import FILES, held_up


@pytest.fixture(autouse=True)
def two_threads():
    with ndd.EvalContext(num_threads=2):
        yield


def bytes_in_use():
    return ndd.memory_use().in_use


def decoded_and_resized():
    images = ndd.decoders.image(ndd.batch(FILES))
    return ndd.resize(images, size=[10, 10])


def test_dropped_calls_leave_the_queue_with_their_inputs():
    with held_up():
        before = bytes_in_use()
        for _ in range(200):
            decoded_and_resized()
        assert bytes_in_use() < before + 2 * sum(file.nbytes for file in FILES)


def test_what_others_still_need_is_computed():
    with held_up():
        images = ndd.decoders.image(ndd.batch(FILES))
        kept = ndd.resize(images, size=[10, 10])
        dropped = ndd.flip(images)
        del images, dropped
    np.testing.assert_array_equal(kept, decoded_and_resized())


def test_one_of_several_results_is_enough():
    with held_up():
        minimum, other = ndd.nonsilent_region(ndd.tensor(np.ones(100, np.float32)))
        del other
    assert minimum.item() == 0


@pytest.mark.parametrize("mode", [ndd.EvalMode.eager, ndd.EvalMode.deferred])
def test_the_end_of_a_long_chain(mode):
    with mode, held_up():
        before = bytes_in_use()
        x = ndd.tensor([0])
        for _ in range(100_000):
            x = x + 1
        del x
        assert mode is ndd.EvalMode.deferred or bytes_in_use() < before + 1000


def test_functions_with_effects_run_nevertheless():
    seen = []

    @ndd.operator
    def note(x):
        seen.append(int(x))
        return x

    with held_up():
        for i in range(5):
            note(ndd.tensor(i))
    ndd.EvalContext.current().evaluate_all()
    assert seen == [0, 1, 2, 3, 4]


def test_waiting_for_all_work_while_some_is_dropped():
    for _ in range(20):
        with held_up():
            values = [decoded_and_resized() for _ in range(20)]
            waiting = threading.Thread(target=ndd.EvalContext.current().evaluate_all)
            waiting.start()
            del values
        waiting.join()


def test_values_are_dropped_by_other_threads_than_their_own():
    """Some of what they drop is queued, some is running, some is done."""
    made, errors = queue.Queue(maxsize=50), []

    def make(seed):
        with ndd.EvalContext(num_threads=1):
            for i in range(500):
                made.put(((ndd.tensor([seed]) + i) * 2, 2 * (seed + i)))
        made.put(None)

    def drop(seed):
        draw = np.random.default_rng(seed)
        try:
            while (item := made.get()) is not None:
                value, expected = item
                if draw.random() < 0.2:
                    assert value.item() == expected
                del item, value
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4) for work in (make, drop)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_child_drops_work_of_its_parent():
    with held_up():
        values = [decoded_and_resized() for _ in range(10)]

        def drop():
            before = bytes_in_use()
            values.clear()
            return before - bytes_in_use()

        assert in_child(drop) > 0
    assert len(values) == 10
