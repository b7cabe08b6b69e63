"""avida.ahead: a generator is advanced ahead of the loop, and nothing else about the loop changes."""

import contextlib
import gc
import itertools

import numpy as np
import pytest

import avida


class Numbers:
    """A generator that notes how far it is."""

    def __init__(self, count, fails_at=None):
        self.count = count
        self.fails_at = fails_at
        self.begun = 0
        self.closed = False

    def __iter__(self):
        try:
            for i in range(self.count):
                self.begun = i + 1
                if i == self.fails_at:
                    raise KeyError(f"item {i}")
                yield i
        finally:
            self.closed = True


@pytest.mark.parametrize("depth", [0, 1, 2, 5, 64])
def test_it_is_ahead_by_the_depth(depth):
    numbers = Numbers(10)
    items = avida.ahead(numbers, depth)
    assert numbers.begun == 0  # it begins with the first item
    for i in range(10):
        assert next(items) == i
        assert numbers.begun == min(i + 1 + depth, 10)
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(items)


def test_calls_of_the_next_items_are_made_before_the_loop_asks():
    ran = []

    @avida.operator
    def note(x):
        ran.append(int(x))
        return x * 10

    def batches():
        for i in range(5):
            yield note(avida.tensor(i))

    items = avida.ahead(batches(), depth=2)
    first = next(items)
    avida.EvalContext.current().evaluate_all()
    assert ran == [0, 1, 2]
    assert [first.item(), *(x.item() for x in items)] == [0, 10, 20, 30, 40]


@pytest.mark.parametrize("depth", [0, 2, 5])
def test_an_error_is_raised_at_its_item(depth):
    numbers = Numbers(10, fails_at=4)
    items, found = avida.ahead(numbers, depth), []
    with pytest.raises(KeyError, match="item 4") as raised:
        found.extend(items)
    assert found == [0, 1, 2, 3]
    assert any(entry.name == "__iter__" for entry in raised.traceback)  # where the generator failed
    assert list(items) == []
    assert numbers.closed


def test_an_iterator_that_goes_on_after_an_error():
    class Odd:
        def __init__(self):
            self.asked = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.asked += 1
            if self.asked == 2:
                raise ValueError("even")
            if self.asked > 4:
                raise StopIteration
            return self.asked

    odd = Odd()
    items = avida.ahead(odd, depth=5)
    assert next(items) == 1
    assert odd.asked == 2  # what comes after the error is not asked for before the loop has seen it
    with pytest.raises(ValueError, match="even"):
        next(items)
    assert list(items) == [3, 4]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_only_an_interrupt_does_not_wait_for_its_turn(interrupt):
    def source():
        yield 1
        yield 2
        raise interrupt

    items = avida.ahead(source(), depth=3)
    if interrupt is SystemExit:
        assert [next(items), next(items)] == [1, 2]
    with pytest.raises(interrupt):
        next(items)
    assert list(items) == ([1, 2] if interrupt is KeyboardInterrupt else [])


def test_leaving_the_loop_closes_the_generator():
    numbers = Numbers(10)
    gc.disable()  # at once, not when the garbage collector comes by
    try:
        for i in avida.ahead(numbers):
            if i == 3:
                break
        assert numbers.closed
        numbers.closed = False
        with contextlib.suppress(ZeroDivisionError):
            for i in avida.ahead(iter(numbers)):
                print(1 / i)
        assert numbers.closed
    finally:
        gc.enable()


def test_close():
    numbers = Numbers(10)
    with contextlib.closing(avida.ahead(numbers)) as items:
        assert next(items) == 0
    assert numbers.closed
    assert list(items) == []
    items.close()
    avida.ahead([1, 2]).close()  # a list needs no closing


def test_what_was_made_ahead_is_dropped():
    ran = []

    @avida.operator
    def note(x):
        ran.append(int(x))
        return x

    def batches():
        for i in itertools.count():
            yield note(avida.tensor(i))

    with avida.EvalMode.deferred:
        for item in avida.ahead(batches(), depth=3):
            assert item.item() == 0
            break
    avida.EvalContext.current().evaluate_all()
    assert ran == [0]


def test_length():
    assert len(avida.ahead([1, 2, 3])) == 3
    assert len(avida.ahead(avida.ExternalSource(range(5)).next_epoch(2))) == 3
    items = avida.ahead(i for i in range(3))
    with pytest.raises(TypeError, match=r"generator has no len\(\)"):
        len(items)
    assert items  # no call of len()
    assert list(items) == [0, 1, 2]


def test_as_an_iterator():
    assert list(zip(avida.ahead("abc"), avida.ahead(range(9), depth=1), strict=False)) == [("a", 0), ("b", 1), ("c", 2)]
    assert list(enumerate(avida.ahead([None, None]), 1)) == [(1, None), (2, None)]
    items = avida.ahead([1, 2])
    assert iter(items) is items
    assert list(avida.ahead(avida.ahead([1, 2]))) == [1, 2]


def test_an_epoch_of_a_reader(recwarn):
    source = avida.ExternalSource(range(7))
    read = [np.asarray(batch).tolist() for (batch,) in avida.ahead(source.next_epoch(3), depth=5)]
    assert read == [[0, 1, 2], [3, 4, 5], [6]]
    assert not recwarn.list


def test_states_that_the_generator_yields():
    """Each resumes behind its own item, however far ahead the generator is."""
    source = avida.ExternalSource(range(10))

    def batches():
        for (batch,) in source.next_epoch(2):
            yield batch, source.get_state()

    rests = []
    for _, state in avida.ahead(batches(), depth=3):
        again = avida.ExternalSource(range(10))
        again.set_state(state)
        rests.append([x.item() for (batch,) in again.next_epoch(2) for x in batch])
    assert rests[:-1] == [list(range(first, 10)) for first in (2, 4, 6, 8)]
    assert rests[-1] == list(range(10))  # behind the last item begins the next epoch


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1], -1), ValueError, "depth must be from 0 to 64, got -1"),
        (([1], 65), ValueError, "depth must be from 0 to 64, got 65"),
        (([1], 1.5), TypeError, "integer"),
        ((3,), TypeError, "expected an iterable, got int"),
        ((Numbers.__iter__,), TypeError, r"call it: ahead\(__iter__\(\)\)"),
        ((avida.ExternalSource([1]),), TypeError, "next_epoch"),
    ],
)
def test_what_is_rejected(arguments, error, message):
    with pytest.raises(error, match=message):
        avida.ahead(*arguments)
