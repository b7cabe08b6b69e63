"""Loops written for capture mode give the same results; here they may also do what its rules forbid."""

import functools

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida

OFFSET = 5


class Settings:
    shape = (4,)


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / f"{i}.txt" for i in range(6)]
    for path in paths:
        path.write_text(path.stem * 3)
    return [str(path) for path in paths]


def captured(ndd, epoch):
    settings = ndd.capture.invariant(Settings)
    results = []
    for item in epoch:
        numbers = ndd.cast(item[0] if isinstance(item, tuple) else item, dtype=ndd.int32)
        shifted = numbers + ndd.capture.invariant(OFFSET)
        padded = ndd.pad(shifted, shape=settings.shape, fill_value=ndd.capture.invariant(3))
        results.append([np.asarray(sample).tolist() for sample in padded.tensors])
    return results


def test_readers(files):
    ours, theirs = (captured(n, n.readers.File(files=files).next_epoch(2, capture=True)) for n in (avida, dali))
    assert ours == theirs
    assert ours[2] == [[4 + 48 + OFFSET] * 3 + [3], [5 + 48 + OFFSET] * 3 + [3]]


@pytest.mark.filterwarnings("ignore:capture=True")
def test_external_sources():
    ours, theirs = (captured(n, n.ExternalSource([[1, 2], [3]]).captured(2)) for n in (avida, dali))
    assert ours == theirs == [[[6, 7, 3, 3]] * 2, [[8, 3, 3, 3]] * 2]


@pytest.mark.parametrize("value", [3, [1, 2], None, "text", len, avida.tensor([1])])
def test_invariant_is_the_value_itself(value):
    assert avida.capture.invariant(value) is value


def test_no_rules(files):
    """A marker that comes and goes, conditionals, a state in the middle, another batch size, a plain loop after."""
    reader = avida.readers.File(files=files)
    read = functools.partial(reader.next_epoch, capture=True)
    found, states = [], []
    for number, (item, _) in enumerate(read(2)):
        mark = avida.capture.invariant if number % 2 else int
        shifted = avida.cast(item, dtype=avida.int32) + mark(OFFSET)
        if number == 1:
            shifted = shifted * 2
            states.append(reader.get_state())
        found.append(np.asarray(shifted)[0, 0])
    assert found == [48 + 5, (50 + 5) * 2, 52 + 5]
    assert [item.batch_size for item, _ in read(3)] == [3, 3]
    reader.set_state(states[0])
    assert [np.asarray(item)[0, 0] for item, _ in reader.next_epoch(1)] == [52, 53]
