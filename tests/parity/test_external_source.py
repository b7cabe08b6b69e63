"""ExternalSource of both libraries over the same sources: items, forms, cycles, types, layouts, errors."""

import inspect

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import both


def arrays():
    return [np.full((2, 3), i, np.float32) for i in range(3)]


def generator_function():
    yield 1
    yield 2


class Both:
    """Callable and iterable."""

    def __call__(self):
        return 7

    def __iter__(self):
        return iter([8])


CALLS = {
    "numbers": lambda ndd: ndd.ExternalSource([1, 2])(),
    "arrays": lambda ndd: ndd.ExternalSource(arrays())(),
    "array of samples": lambda ndd: ndd.ExternalSource(np.arange(6).reshape(3, 2))(),
    "function": lambda ndd: ndd.ExternalSource(lambda: np.arange(3))(),
    "generator function": lambda ndd: ndd.ExternalSource(generator_function)(),
    "generator": lambda ndd: ndd.ExternalSource(generator_function())(),
    "callable and iterable": lambda ndd: ndd.ExternalSource(Both())(),
    "repeated": lambda ndd: ndd.ExternalSource(arrays())(batch_size=3),
    "no samples": lambda ndd: ndd.ExternalSource([1])(batch_size=0),
    "batch": lambda ndd: ndd.ExternalSource([ndd.batch([np.zeros(2), np.ones(3)])])(),
    "batch of that size": lambda ndd: ndd.ExternalSource([ndd.batch([np.zeros(2), np.ones(3)])])(batch_size=2),
    "batch of another size": lambda ndd: ndd.ExternalSource([ndd.batch([np.zeros(2), np.ones(3)])])(batch_size=3),
    "list": lambda ndd: ndd.ExternalSource([[1, 2, 3]])(),
    "list, repeated": lambda ndd: ndd.ExternalSource([[1, 2, 3]])(batch_size=2),
    "two outputs": lambda ndd: ndd.ExternalSource([(1, 2.0)], 2)(),
    "two outputs in a list": lambda ndd: ndd.ExternalSource([[1, 2.0]], 2)(),
    "two outputs in an array": lambda ndd: ndd.ExternalSource([np.zeros((2, 3))], 2)(),
    "three for two outputs": lambda ndd: ndd.ExternalSource([(1, 2, 3)], 2)(),
    "one for two outputs": lambda ndd: ndd.ExternalSource([1], 2)(),
    "sample and batch": lambda ndd: ndd.ExternalSource([(1, ndd.batch([1, 2]))], 2)(),
    "sample and batch, repeated": lambda ndd: ndd.ExternalSource([(1, ndd.batch([1, 2]))], 2)(batch_size=2),
    "batches of two sizes": lambda ndd: ndd.ExternalSource([(ndd.batch([1, 2, 3]), ndd.batch([1, 2]))], 2)(),
    "layout": lambda ndd: ndd.ExternalSource(arrays(), layout="HW")(),
    "layout of a batch": lambda ndd: ndd.ExternalSource([ndd.batch(arrays())], layout="HW")(),
    "another layout": lambda ndd: ndd.ExternalSource([ndd.tensor(np.zeros((2, 3)), layout="XY")], layout="HW")(),
    "layout of another rank": lambda ndd: ndd.ExternalSource(arrays(), layout="HWC")(),
    "layouts": lambda ndd: ndd.ExternalSource([(np.zeros((2, 3)), np.zeros(3))], 2, layout=["HW", None])(),
    "one layout for two": lambda ndd: ndd.ExternalSource([(np.zeros((2, 3)), np.zeros((3, 2)))], 2, layout="HW")(),
    "dtype": lambda ndd: ndd.ExternalSource([1], dtype=ndd.float32)(),
    "dtype, rounded": lambda ndd: ndd.ExternalSource([np.float64(2.7)], dtype=ndd.int32)(),
    "dtype of a batch": lambda ndd: ndd.ExternalSource([ndd.batch([1.5, 2.7])], dtype=ndd.int32)(),
    "dtypes": lambda ndd: ndd.ExternalSource([(1, 2)], 2, dtype=(ndd.float32, None))(),
    "one dtype for two": lambda ndd: ndd.ExternalSource([(1, 2)], 2, dtype=ndd.float32)(),
    "no device": lambda ndd: ndd.ExternalSource([1], device=None)(),
    "None": lambda ndd: ndd.ExternalSource([None])(),
    "empty": lambda ndd: ndd.ExternalSource([])(),
    "empty, cycle": lambda ndd: ndd.ExternalSource([], cycle="quiet")(),
    "neither": lambda ndd: ndd.ExternalSource(5),
    "parameters": lambda ndd: ndd.ExternalSource(lambda i: i)(),
    "no outputs": lambda ndd: ndd.ExternalSource([1], 0),
    "number of outputs": lambda ndd: ndd.ExternalSource([1], 1.0),
    "too few layouts": lambda ndd: ndd.ExternalSource([(1, 2)], 2, layout=["HW"]),
    "too few dtypes": lambda ndd: ndd.ExternalSource([(1, 2)], 2, dtype=[ndd.float32]),
    "unknown cycle": lambda ndd: ndd.ExternalSource([1], cycle="often"),
    "cycle as a number": lambda ndd: ndd.ExternalSource([1], cycle=1),
    "cycle of a function": lambda ndd: ndd.ExternalSource(lambda: 1, cycle="no"),
    "cycle of a generator": lambda ndd: ndd.ExternalSource(generator_function(), cycle="quiet")(),
    "batch size by position": lambda ndd: ndd.ExternalSource([1])(2),
    "captured": lambda ndd: list(ndd.ExternalSource([ndd.batch([1, 2]), ndd.batch([3, 4])]).captured(2))[1:],
}


REFUSED = {
    "empty": StopIteration,
    "empty, cycle": StopIteration,
    "sample and batch": TypeError,
    "neither": TypeError,
    "number of outputs": TypeError,
    "cycle of a generator": TypeError,
    "batch size by position": TypeError,
    "batch of another size": ValueError,
    "two outputs in an array": ValueError,
    "three for two outputs": ValueError,
    "one for two outputs": ValueError,
    "layout of another rank": ValueError,
    "None": ValueError,
    "parameters": ValueError,
    "no outputs": ValueError,
    "too few layouts": ValueError,
    "too few dtypes": ValueError,
    "unknown cycle": ValueError,
    "cycle as a number": ValueError,
    "cycle of a function": ValueError,
}


@pytest.mark.filterwarnings("ignore:capture=True")
@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    both(CALLS[name], fails=REFUSED.get(name))


def outcomes(source, calls=7):
    """What calls give one after the other: numbers, and "end" for StopIteration."""
    found = []
    for _ in range(calls):
        try:
            found.append(source().item())
        except StopIteration:
            found.append("end")
    return found


@pytest.mark.parametrize("cycle", [None, False, True, "no", "quiet", "raise"])
@pytest.mark.parametrize("make", [lambda: [1, 2], lambda: generator_function, lambda: iter([1, 2])])
def test_cycles(make, cycle):
    ours, theirs = (outcomes(ndd.ExternalSource(make(), cycle=cycle)) for ndd in (avida, dali))
    assert ours == theirs


def test_function_that_ends():
    def make():
        items = iter([1, 2])
        return lambda: next(items)

    assert outcomes(avida.ExternalSource(make())) == outcomes(dali.ExternalSource(make()))


@pytest.mark.filterwarnings("ignore:capture=True")
@pytest.mark.parametrize("cycle", ["no", "raise"])
def test_captured_epochs(cycle):
    lengths = []
    for ndd in (avida, dali):
        source = ndd.ExternalSource([1, 2, 3], cycle=cycle)
        lengths.append([len(list(source.captured(2))) for _ in range(3)])
    assert lengths[0] == lengths[1]


def test_errors_of_the_source():
    def source():
        raise KeyError("mine")

    for ndd in (avida, dali):
        with pytest.raises(KeyError, match="mine"):
            ndd.ExternalSource(source)()


def test_signatures():
    for ours, theirs in [
        (avida.ExternalSource, dali.ExternalSource),
        (avida.ExternalSource.__call__, dali.ExternalSource.__call__),
        (avida.ExternalSource.captured, dali.ExternalSource.captured),
    ]:
        parameters, expected = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
        # Without num_outputs, tuples are several outputs here.
        assert [
            (n, p.kind, expected[n].default if n == "num_outputs" else p.default)
            for n, p in list(parameters.items())[: len(expected)]
        ] == [(n, p.kind, p.default) for n, p in expected.items()]
