"""JPEG: parts equal crops, reduced sizes, orientation, inks, and files that are broken."""

import imagecodecs
import numpy as np
import pytest

import avida
from tests.codecs import samples
from tests.codecs.decoding import decode

IMAGE_TYPES = range(5)


@pytest.mark.parametrize("subsampling", samples.SUBSAMPLINGS)
@pytest.mark.parametrize("progressive", [False, True])
def test_parts_equal_crops(subsampling, progressive):
    rng = np.random.default_rng([progressive, *map(ord, subsampling)])
    for _ in range(12):
        height, width = rng.integers(1, 120, 2)
        file = samples.jpeg(samples.picture(height, width), subsampling, 75, progressive, int(rng.choice([0, 5])))
        if rng.random() < 0.4:
            file = samples.with_exif(file, int(rng.integers(1, 9)))
        arguments = {"output_type": int(rng.integers(5)), "use_fast_idct": bool(rng.random() < 0.2)}
        whole = np.asarray(avida.decoders.image(file, **arguments))
        starts = [rng.integers(0, whole.shape[:2]) for _ in range(16)]
        sizes = [rng.integers(1, np.array(whole.shape[:2]) - start + 1) for start in starts]
        parts = avida.decoders.image_slice(
            avida.as_batch([file] * 16), avida.as_batch(starts), avida.as_batch(sizes), axes=[0, 1], **arguments
        )
        for part, (y, x), (h, w) in zip(parts, starts, sizes, strict=True):
            np.testing.assert_array_equal(np.asarray(part), whole[y : y + h, x : x + w])


@pytest.mark.parametrize("subsampling", ["444", "420"])
def test_reduced_sizes(subsampling):
    image = samples.picture(160, 240)
    file = samples.jpeg(image, subsampling)
    for wanted in range(1, 9):
        eighths = wanted if wanted <= 4 else 8  # 5/8 to 7/8 would take longer than the whole image
        reduced = np.asarray(avida.decoders.image(file, reduce_to=20 * wanted))
        assert reduced.shape == (20 * eighths, 30 * eighths, 3)
    halves = np.asarray(avida.decoders.image(file, reduce_to=[80, 100])).astype(float)
    expected = image.reshape(80, 2, 120, 2, 3).mean((1, 3))
    assert np.abs(halves - expected).mean() < 6


def test_reduced_is_never_below_what_is_needed():
    for height, width in [(100, 75), (33, 500), (7, 9)]:
        file = samples.jpeg(samples.picture(height, width))
        for least in (1, 10, 50, 74, 75, 76, 1000):
            shape = avida.decoders.image(file, reduce_to=least).shape
            assert min(shape[:2]) >= min(least, height, width)
    tall = samples.with_exif(samples.jpeg(samples.picture(80, 160)), 6)
    assert avida.decoders.image(tall, reduce_to=[40, 40]).shape == (80, 40, 3)
    assert avida.decoders.image(tall, reduce_to=[50, 10]).shape == (60, 30, 3)
    assert avida.decoders.image(tall, reduce_to=[100, 10]).shape == (160, 80, 3)
    with pytest.raises(RuntimeError, match="reduce_to"):
        avida.decoders.image(tall, reduce_to=[1, 2, 3]).evaluate()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(orientation):
    image = samples.jpeg(samples.picture(37, 51))
    file = samples.with_exif(image, orientation)
    stored = np.asarray(avida.decoders.image(image))
    np.testing.assert_array_equal(np.asarray(avida.decoders.image(file)), samples.turned(stored, orientation))
    np.testing.assert_array_equal(np.asarray(avida.decoders.image(file, adjust_orientation=False)), stored)


def test_channels_of_the_file():
    assert avida.decoders.image(samples.jpeg(samples.picture(9, 7, 1)[..., 0]), output_type=4).shape == (9, 7, 1)
    cmyk = samples.encoded(samples.picture(9, 7), "JPEG", "CMYK")
    assert avida.decoders.image(cmyk, output_type=4).shape == (9, 7, 4)
    assert avida.peek_image_shape(cmyk, image_type=4).torch().tolist() == [9, 7, 4]


def test_tables_do_not_leak_from_one_file_to_the_next():
    """A file without quantization tables is an error, whatever was decoded before."""
    file = bytes(samples.jpeg(samples.picture(16, 16)))
    at = file.index(b"\xff\xdb")
    size = int.from_bytes(file[at + 2 : at + 4], "big")
    bare = file[:at] + file[at + 2 + size :]
    at = bare.index(b"\xff\xdb")
    bare = bare[:at] + bare[at + 2 + int.from_bytes(bare[at + 2 : at + 4], "big") :]
    batch = avida.as_batch([samples.as_bytes(file), samples.as_bytes(bare)])
    with avida.EvalContext(num_threads=1), pytest.raises(RuntimeError, match="sample 1"):
        avida.decoders.image(batch).evaluate()


def refuses(file: np.ndarray, match: str) -> None:
    with pytest.raises(RuntimeError, match=match):
        avida.decoders.image(file).evaluate()


def test_broken_files():
    file = samples.jpeg(samples.picture(60, 80))
    start = samples.scan_start(file)
    refuses(file[: start + 100], "ends early")
    refuses(file[:-1], "ends early")
    refuses(file[:30], "ends")
    ended = file.copy()
    ended[start + 200 : start + 202] = [0xFF, 0xD9]
    refuses(ended, "Corrupt JPEG data")
    noise = file.copy()
    noise[start:-2] = np.random.default_rng(0).integers(0, 255, len(noise) - start - 2)
    refuses(noise, "Corrupt JPEG data")
    between = np.insert(file, len(file) - 2, [1, 2, 3])  # harmless, and seen in the wild
    np.testing.assert_array_equal(np.asarray(avida.decoders.image(between)), np.asarray(avida.decoders.image(file)))


@pytest.mark.parametrize(("height", "width"), [(60000, 60000), (65535, 65535), (0, 100), (20000, 20000)])
def test_lying_headers_cost_nothing(height, width):
    file = samples.jpeg(samples.picture(60, 80)).copy()
    frame = bytes(file).index(b"\xff\xc0")
    file[frame + 5 : frame + 9] = [height >> 8, height & 255, width >> 8, width & 255]
    refuses(file, "header declares")


def lossless(image: np.ndarray, predictor: int, bits: int) -> bytes:
    return bytes(imagecodecs.jpeg8_encode(image, lossless=True, predictor=predictor, bitspersample=bits))


@pytest.mark.parametrize("predictor", range(1, 8))
@pytest.mark.parametrize(("channels", "bits"), [(1, 8), (3, 8), (1, 12), (1, 16), (3, 16)])
def test_lossless(predictor, channels, bits):
    rng = np.random.default_rng([predictor, channels, bits])
    dtype = np.uint8 if bits == 8 else np.uint16
    smooth = np.cumsum(rng.integers(-9, 10, (33, 41, channels)), 1) * (1 << (bits - 8)) + (1 << (bits - 1))
    for image in (smooth, rng.integers(0, 1 << bits, (33, 41, channels))):
        stored = np.clip(image, 0, (1 << bits) - 1).astype(dtype)
        squeezed = stored[..., 0] if channels == 1 else stored
        # Three channels are stored as they are, not as YCbCr, since that could not be undone.
        got = decode(lossless(squeezed, predictor, bits), dtype=np.dtype(dtype).name)
        top = (1 << bits) - 1
        expected = (stored.astype(np.uint64) * np.iinfo(dtype).max * 2 + top) // (2 * top)
        np.testing.assert_array_equal(got, expected)


def test_lossless_parts_and_broken_files():
    image = np.random.default_rng(0).integers(0, 65536, (20, 30), dtype=np.uint16)
    file = samples.as_bytes(lossless(image, 4, 16))
    part = avida.decoders.image_slice(
        file, start=[5, 7], shape=[9, 11], axes=[0, 1], output_type=avida.types.GRAY, dtype=avida.uint16
    )
    np.testing.assert_array_equal(np.asarray(part)[..., 0], image[5:14, 7:18])
    refuses(file[:-100], "truncated")
    refuses(file[:40], "ends")
