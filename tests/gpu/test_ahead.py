"""Loops that use a GPU: they see the same however far ahead they are prepared, and where they decode, batches overlap."""

import time

import numpy as np
import pytest
from hypothesis import given, settings

import avida as ndd
from tests.ahead.data import make_files
from tests.ahead.loops import reader, ready, wait_for
from tests.ahead.programs import programs
from tests.ahead.test_random_programs import PROGRAMS, check


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("images"))


@given(program=programs(gpu=True))
@settings(max_examples=PROGRAMS)
def test_same_bits(data, program):
    check(data, program, (0, 1, None))


def decoded(data, batches, prepared, **settings):
    """The streams that a loop's last batches were decoded in, and all pixels. So many batches are prepared meanwhile."""
    streams, pixels = [], []
    for number, (files, _) in enumerate(reader(data, times=8).next_epoch(batch_size=4, **settings)):
        images = ndd.resize(ndd.decoders.image(files, device="gpu"), size=[6, 5])
        images.evaluate()
        if number >= 4:
            wait_for(lambda: ready() >= 3 * prepared)  # three calls each
        pixels.append(np.asarray(ndd.as_tensor(images.cpu())))
        streams.append(images._stream)
        if number == batches:
            break
    return streams[-8:], pixels


def test_batches_of_loops_that_decode_overlap(data):
    one, expected = decoded(data, 15, 0, ahead=0)
    assert len(set(one)) == 1
    two, pixels = decoded(data, 15, 1, ahead=1)
    assert len(set(two)) <= 3  # those of two batches, and that of calls that were not predicted
    np.testing.assert_array_equal(pixels, expected)
    five, pixels = decoded(data, 15, 4)
    assert len(set(five)) == 5
    np.testing.assert_array_equal(pixels, expected)


def test_evaluate_all_waits_for_what_was_made_ahead(data):
    done = []

    @ndd.operator(pure=True)
    def note(image):
        time.sleep(0.002)
        done.append(1)
        return image

    with ndd.EvalContext() as context:
        for number, (files, _) in enumerate(reader(data, times=4).next_epoch(batch_size=4)):
            _images, small = ndd.decoders.image(files, device="gpu"), note(files)
            context.evaluate_all()
            assert len(done) >= 4 * (number + 1)
            del small
