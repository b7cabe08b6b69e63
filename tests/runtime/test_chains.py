"""Consecutive calls run as one: the same results and errors as one by one."""

import contextlib
import threading
import time

import numpy as np
import pytest

import avida as ndd
from tests.children import in_child


def picture(i, height=40, width=60):
    """A PPM file."""
    pixels = np.random.default_rng(i).integers(0, 256, (height + i, width - i, 3), np.uint8)
    return np.frombuffer(b"P6 %d %d 255 " % (width - i, height + i) + pixels.tobytes(), np.uint8), pixels


FILES = [picture(i)[0] for i in range(8)]
PIXELS = [picture(i)[1] for i in range(8)]
MEAN = [10.0, 20.0, 30.0]


def encoded(files=FILES):
    return ndd.batch(files)


@pytest.fixture(autouse=True)
def two_threads():
    """Whatever the machine has: with more threads than samples, calls run one by one."""
    with ndd.EvalContext(num_threads=2):
        yield


@contextlib.contextmanager
def held_up():
    """Keeps the executor busy, so that calls are queued as a whole however slowly they follow one another."""
    ready = threading.Event()
    with ndd.EvalMode.eager:
        ndd.operator(lambda x: ready.wait() and x)(ndd.tensor([0]))
    try:
        yield
    finally:
        ready.set()


def chained(run):
    """The result, and how many calls were run in chains."""
    before = ndd._core.testing.chained_calls()
    with held_up():
        made = run()
    samples = [np.asarray(made.tensors[i]) for i in range(made.batch_size)]
    return samples, ndd._core.testing.chained_calls() - before


def resized():
    images = ndd.decoders.image(encoded())
    images = ndd.resize(images, size=[16, 20])
    return ndd.crop_mirror_normalize(images, mean=MEAN)


def with_random_arguments():
    rng = ndd.random.RNG(1)
    images = ndd.decoders.image(encoded())
    images = ndd.random_resized_crop(images, size=[16, 20], rng=rng)
    mirror = ndd.random.coin_flip(batch_size=8, rng=rng)
    return ndd.crop_mirror_normalize(images, mean=MEAN, mirror=mirror)


def cropped():
    return ndd.flip(ndd.crop(ndd.decoders.image(encoded()), crop=[11, 13], crop_pos_x=0.9))


def reaching_out():
    images = ndd.decoders.image(encoded())
    return ndd.crop_mirror_normalize(images, crop=[50, 50], out_of_bounds_policy="pad", fill_values=[3.0])


@pytest.mark.parametrize(("run", "calls"), [(resized, 3), (with_random_arguments, 3), (cropped, 3), (reaching_out, 2)])
def test_same_bits_as_one_by_one(run, calls):
    with ndd.EvalMode.sync_cpu:
        expected, none = chained(run)
    assert none == 0
    for mode in (ndd.EvalMode.eager, ndd.EvalMode.deferred):
        for threads in (1, 2, 8):
            with mode, ndd.EvalContext(num_threads=threads):
                made, count = chained(run)
            assert count == calls
            for a, b in zip(made, expected, strict=True):
                np.testing.assert_array_equal(a, b)


def test_intermediates_that_are_held_are_whole():
    held = []

    def run():
        held.append(ndd.decoders.image(encoded()))
        held.append(ndd.crop(held[0], crop=[5, 5]))
        return ndd.flip(held[1])

    made, count = chained(run)
    images, small = held
    assert count == 3
    for i, pixels in enumerate(PIXELS):
        np.testing.assert_array_equal(np.asarray(images.tensors[i]), pixels)
        np.testing.assert_array_equal(np.asarray(small.tensors[i])[:, ::-1], made[i])


def test_a_value_used_twice():
    images = ndd.decoders.image(encoded())
    left, right = ndd.crop(images, crop=[8, 8], crop_pos_x=0), ndd.crop(images, crop=[8, 8], crop_pos_x=1)
    del images
    for i, pixels in enumerate(PIXELS):
        top = (pixels.shape[0] - 8 + 1) // 2
        np.testing.assert_array_equal(np.asarray(left.tensors[i]), pixels[top : top + 8, :8])
        np.testing.assert_array_equal(np.asarray(right.tensors[i]), pixels[top : top + 8, -8:])


def test_an_error_belongs_to_the_call_that_made_it():
    images = ndd.decoders.image(encoded())
    too_large = ndd.crop(images, crop=[47, 10])
    after = ndd.flip(too_large)
    with pytest.raises(RuntimeError, match=r"^crop: sample 0: .*reaches beyond"):
        after.evaluate()
    with pytest.raises(RuntimeError, match=r"^crop: sample 0: .*reaches beyond"):
        too_large.evaluate()
    np.testing.assert_array_equal(np.asarray(images.tensors[7]), PIXELS[7])


def test_a_broken_file_in_the_middle():
    files = [*FILES[:3], FILES[3][:-100], *FILES[4:]]
    made = ndd.crop(ndd.decoders.image(encoded(files)), crop=[5, 5])
    with pytest.raises(RuntimeError, match=r"decoders.image: sample 3: "):
        made.evaluate()
    assert chained(cropped)[1] == 3  # and the next batch works


def test_an_unread_end_is_left_out():
    images = ndd.decoders.image(encoded())
    small = ndd.crop(images, crop=[5, 5])
    ndd.flip(small)
    made, _ = chained(lambda: small)
    assert made[0].shape == (5, 5, 3)


def test_a_decoder_alone_starts_by_itself():
    images = ndd.decoders.image(encoded())
    deadline = time.monotonic() + 60
    while images._pending():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_child_process_finishes_what_was_begun():
    made = resized()
    assert in_child(lambda: np.asarray(made.tensors[0]).shape) == (3, 16, 20)
    assert made.batch_size == 8
    assert np.asarray(made.tensors[7]).shape == (3, 16, 20)


def test_long_chains():
    def run():
        images = ndd.decoders.image(encoded())
        for _ in range(40):
            images = ndd.flip(images)
        return images

    made, count = chained(run)
    assert count == 16  # the rest follows one by one
    for a, b in zip(made, PIXELS, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_decoder_of_what_a_decoder_made():
    with pytest.raises(RuntimeError, match=r"decoders.image: expected the bytes of an image file"):
        ndd.decoders.image(ndd.decoders.image(encoded()))


def test_batches_in_flight_are_chains_each():
    before = ndd._core.testing.chained_calls()
    with held_up():
        batches = [resized() for _ in range(6)]
    for made in batches:
        made.evaluate()
    assert ndd._core.testing.chained_calls() - before == 18


def test_a_part_beyond_the_border_of_floats():
    values = np.full((64, 64, 3), 3, np.float32)
    header = np.frombuffer(b"P6 64 64 255 ", np.uint8)
    files = [np.concatenate([header, values.astype(np.uint8).ravel()])] * 8

    def run():
        images = ndd.decoders.image(ndd.batch(files), dtype=ndd.float32)
        return ndd.resize(images, size=[8, 8], roi_start=[100, 100], roi_end=[120, 120], interp_type=2)

    made, count = chained(run)
    assert count == 2
    np.testing.assert_allclose(made[0], 3 / 255, rtol=1e-5)
