"""One JPEG file that several threads decode together: the bits and errors are those of one thread."""

import contextlib
import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import avida
from avida import _core

from .decoding import as_input, decode, decode_part
from .jpeg_decoders import outcome
from .samples import encoded, jpeg, picture
from .test_fuzz_jpeg import damage_scan, file

OURS = _core.testing.jpeg_decoders()[0]
THREADS = [1, 2, 5]
SEGMENTS = [16, 150, 3000]


@contextlib.contextmanager
def shared(threads: int, segment: int) -> Iterator[None]:
    """Threads share every file, in segments of so many bytes."""
    _core.testing.split_jpeg_scans(segment)
    try:
        with avida.EvalContext(num_threads=threads):
            yield
    finally:
        _core.testing.split_jpeg_scans(0)


def check(run: Callable[[], np.ndarray]) -> int:
    """Compares the outcomes of all numbers of threads; returns how many files were shared."""
    expected, by_us = outcome(OURS, run)
    before = _core.testing.shared_jpeg_decodes()
    for threads in THREADS:
        for segment in SEGMENTS:
            with shared(threads, segment):
                found, also_by_us = outcome(OURS, run)
            if isinstance(expected, str):
                assert found == expected
            else:
                np.testing.assert_array_equal(found, expected, err_msg=f"{threads} threads, {segment} bytes")
            assert also_by_us == by_us
    return _core.testing.shared_jpeg_decodes() - before


@pytest.mark.parametrize("restart", [0, 1, 3, 7, 100])
@pytest.mark.parametrize("subsampling", ["444", "422", "420", "440"])
def test_samplings_and_restart_markers(subsampling, restart):
    data = jpeg(picture(300, 211), subsampling, restart=restart).tobytes()
    count = check(lambda: decode(data))
    assert count >= 6 or restart == 100  # no row of MCUs but the first begins with an interval


@pytest.mark.parametrize("output_type", ["RGB", "BGR", "GRAY", "YCbCr"])
def test_colours(output_type):
    for image in (picture(250, 130), picture(250, 130)[..., 0]):
        assert check(lambda image=image: decode(jpeg(image).tobytes(), output_type)) >= 6


@pytest.mark.parametrize("restart", [0, 5])
def test_windows(restart):
    data = jpeg(picture(400, 170), "420", restart=restart).tobytes()
    rng = np.random.default_rng(3)
    for _ in range(12):
        y, x = rng.integers(390), rng.integers(170)
        part = (int(y), int(x), int(rng.integers(400 - y)) + 1, int(rng.integers(170 - x)) + 1)
        check(lambda part=part: decode_part(data, part))
    assert check(lambda: decode_part(data, (33, 20, 300, 100))) >= 6


def test_files_in_which_no_thread_falls_into_step():
    """In an image of one colour, all blocks have the same few bits; noise has the longest codes."""
    for image in (np.full((300, 400, 3), 200, np.uint8), np.zeros((700, 500), np.uint8)):
        assert check(lambda image=image: decode(jpeg(np.ascontiguousarray(image)).tobytes())) >= 3
    noise = np.random.default_rng(0).integers(0, 256, (200, 160, 3)).astype(np.uint8)
    assert check(lambda: decode(encoded(noise, "JPEG", quality=100, optimize=True).tobytes())) == 9


@pytest.mark.parametrize("restart", [0, 1, 4, 50])
def test_damaged_files_are_refused_alike(restart):
    data = jpeg(picture(210, 180), restart=restart).tobytes()
    for end in (len(data) // 3, len(data) * 9 // 10, len(data) - 3):
        check(lambda end=end: decode(data[:end]))
    for number in range(60):
        damaged = damage_scan(data, random.Random(number))
        check(lambda damaged=damaged: decode(damaged))
        check(lambda damaged=damaged: decode_part(damaged, (20, 30, 90, 100)))


def test_made_and_damaged_files():
    for number in range(200):
        check(lambda number=number: decode(file(number)[0]))


def test_large_images_use_idle_threads():
    noise = np.random.default_rng(1).integers(0, 256, (900, 800, 3)).astype(np.uint8)
    for restart in (0, 50):
        data = jpeg(noise, "420", 95, restart=restart).tobytes()
        with avida.EvalContext(num_threads=1):
            before = _core.testing.shared_jpeg_decodes()
            expected = decode(data)
            assert _core.testing.shared_jpeg_decodes() == before
        for threads in (2, 5):
            with avida.EvalContext(num_threads=threads):
                np.testing.assert_array_equal(decode(data), expected)
                assert _core.testing.shared_jpeg_decodes() > before
                batch = avida.decoders.image(avida.as_batch([as_input(data)] * 3))
                for image in batch:
                    np.testing.assert_array_equal(np.asarray(image)[..., :3], decode(data, "RGB"))


def test_workers_of_many_threads_share_their_files():
    """Whoever becomes idle helps with a file that another worker has begun."""
    noise = np.random.default_rng(2).integers(0, 256, (700, 600, 3)).astype(np.uint8)
    files = [jpeg(noise[: 100 * (1 + k % 7)], "420", 95).tobytes() for k in range(20)]
    with avida.EvalContext(num_threads=1):
        expected = [np.asarray(image) for image in decoded(files)]
    for _ in range(3):
        with avida.EvalContext(num_threads=16):
            for image, alone in zip(decoded(files), expected, strict=True):
                np.testing.assert_array_equal(np.asarray(image), alone)


def decoded(files: list[bytes]) -> avida.Batch:
    return avida.decoders.image(avida.as_batch([as_input(data) for data in files])).evaluate()


def test_small_images_do_not_wake_threads():
    before = _core.testing.shared_jpeg_decodes()
    with avida.EvalContext(num_threads=5):
        decode(jpeg(picture(375, 500)).tobytes())
    assert _core.testing.shared_jpeg_decodes() == before


def test_eight_huffman_tables():
    """Tables that no component uses cost nothing and overflow nothing."""
    data = jpeg(picture(60, 80)).tobytes()
    at = data.index(b"\xff\xda")
    extra = b""
    for which in (2, 3, 0x12, 0x13):
        body = bytes([which, 1] + [0] * 15 + [1])
        extra += b"\xff\xc4" + (2 + len(body)).to_bytes(2, "big") + body
    expected, by_us = outcome(OURS, lambda: decode(data))
    found, also_by_us = outcome(OURS, lambda: decode(data[:at] + extra + data[at:]))
    assert by_us
    assert also_by_us
    np.testing.assert_array_equal(found, expected)
