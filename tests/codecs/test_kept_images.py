"""`decoders.image(cache_size=...)`: decoded images that are kept, within a budget, and never those of other bytes."""

import os

import imagecodecs
import numpy as np
import pytest

import avida
from avida.decoders import cache_info

KB = 1024


@pytest.fixture(autouse=True)
def nothing_kept():
    avida.decoders.clear_cache()
    yield
    avida.decoders.clear_cache()


def photo(seed, height=64, width=48):
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    return np.frombuffer(imagecodecs.jpeg8_encode(pixels, 80), np.uint8)


def decoded(files, **options):
    return [np.asarray(image) for image in avida.decoders.image(avida.as_batch(files), **options)]


def same(images, others):
    return all(np.array_equal(image, other) for image, other in zip(images, others, strict=True))


def test_images_are_found_again():
    files = [photo(i, 40 + i) for i in range(10)]
    expected = decoded(files)
    assert cache_info() == (0, 0, 0, 0), "nothing is kept unless asked for"
    for i in range(3):
        assert same(decoded(files, cache_size=10), expected)
        assert cache_info()[2:] == (10 * i, 10)
    assert cache_info().images == 10
    assert cache_info().bytes == sum(map(len, files)) + sum(image.nbytes for image in expected)


@pytest.mark.parametrize(
    "options",
    [
        {"output_type": avida.types.GRAY},
        {"output_type": avida.types.BGR},
        {"dtype": avida.float32},
        {"dtype": avida.int16},
        {"use_fast_idct": True},
        {"adjust_orientation": False},
        {"reduce_to": 16},
        {"reduce_to": (16, 20)},
    ],
    ids=repr,
)
def test_other_arguments_are_other_images(options):
    files = [photo(i, 200, 160) for i in range(3)]
    decoded(files, cache_size=10)
    for _ in range(2):
        assert same(decoded(files, cache_size=10, **options), decoded(files, **options))
    assert cache_info() == (6, cache_info().bytes, 3, 6)


def test_other_bytes_are_other_images():
    """Also of files of the same name, size, beginning and end."""
    reader = avida.readers.File(files=["memory://a.ppm"])
    for value in range(20):
        file = np.frombuffer(b"P6 20 20 255\n" + bytes(1200), np.uint8).copy()
        file[600] = value
        avida.storage.memory["a.ppm"] = file.tobytes()
        assert np.array_equal(
            np.asarray(avida.decoders.image(reader[0][0], cache_size=10)), file[-1200:].reshape(20, 20, 3)
        )
    del avida.storage.memory["a.ppm"]
    assert cache_info()[2:] == (0, 20)


def test_users_own_what_they_get():
    file = photo(1)
    (expected,) = decoded([file])
    for _ in range(3):
        image = avida.decoders.image(file, cache_size=10).torch()
        assert np.array_equal(image, expected)
        image[:] = 0
    file = file.copy()
    shared = avida.as_tensor(file)
    avida.decoders.image(shared, cache_size=10).evaluate()
    file[:] = 0
    assert np.array_equal(avida.decoders.image(photo(1), cache_size=10), expected)


def test_the_first_ones_within_the_limit():
    files = [photo(i, 256, 256) for i in range(10)]  # 192 KiB each, and the file
    expected = decoded(files)
    for _ in range(2):
        assert same(decoded(files, cache_size=1), expected)
    info = cache_info()
    assert info.bytes <= 1024 * KB
    assert 3 <= info.images == info.hits <= 5
    decoded(files, cache_size=10)
    assert cache_info().images == 10, "a call may keep more than the one before it"


def test_the_largest_ones_within_the_limit():
    files = [photo(i, 64 + 16 * i, 256) for i in range(12)]
    expected = decoded(files)
    for _ in range(3):
        assert same(decoded(files, cache_size=1, cache_type="largest"), expected)
    kept = cache_info()
    assert kept.bytes <= 1024 * KB
    before = cache_info().hits
    decoded(files[1 - kept.images :], cache_size=1, cache_type="largest")
    assert cache_info().hits - before == kept.images - 1 >= 4, "and one that is small enough beside them"


def test_small_images_are_not_kept():
    decoded([photo(0, 10, 10), photo(1, 100, 100)], cache_size=10, cache_threshold=20_000)
    assert cache_info().images == 1


def test_images_behind_a_crop():
    """A decoder that keeps images decodes all of them, and what follows is the same."""
    files = avida.as_batch([photo(i, 100, 120) for i in range(8)])
    expected = [np.asarray(each) for each in avida.crop(avida.decoders.image(files), crop=[10, 10])]
    for _ in range(2):
        images = avida.crop(avida.decoders.image(files, cache_size=10), crop=[10, 10])
        assert same([np.asarray(each) for each in images], expected)
    assert cache_info()[2:] == (8, 8)


def test_damaged_files():
    files = [photo(0), photo(1)[:100], photo(2)]
    for _ in range(2):
        with pytest.raises(RuntimeError, match="sample 1"):
            decoded(files, cache_size=10)
        assert [image.size > 0 for image in decoded(files, cache_size=10, on_error="placeholder")] == [
            True,
            False,
            True,
        ]
    assert cache_info().images == 2


def test_children_have_their_own():
    files = [photo(i) for i in range(4)]
    expected = decoded(files, cache_size=10)
    child = os.fork()
    if child == 0:
        good = False
        try:
            good = same(decoded(files, cache_size=10), expected) and cache_info()[2:] == (4, 4)
            decoded([photo(9)], cache_size=10)
        finally:
            os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert cache_info().images == 4


@pytest.mark.parametrize("given", [{"cache_size": -1}, {"cache_size": 1, "cache_threshold": -1}])
def test_wrong_sizes(given):
    with pytest.raises(ValueError, match="must be 0"):
        avida.decoders.image(photo(0), **given)


def test_wrong_types():
    with pytest.raises(RuntimeError, match='must be "threshold"'):
        avida.decoders.image(photo(0), cache_size=1, cache_type="newest")
