"""Images decoded for a GPU have the same bits as on the CPU, whoever decodes which of them."""

import io

import numpy as np
import pytest
from PIL import Image

import avida as ndd
from tests.codecs.samples import encoded, picture


def jpeg(height, width, **options):
    return encoded(picture(height, width), "JPEG", **({"quality": 88} | options))


SIZES = [(64, 64), (97, 131), (16, 17), (33, 200), (1, 1), (2, 5), (5, 2), (130, 7), (240, 321)]
FILES = {
    "4:4:4": [jpeg(*size, subsampling=0) for size in SIZES],
    "4:2:2": [jpeg(*size, subsampling=1) for size in SIZES],
    "4:2:0": [jpeg(*size, subsampling=2) for size in SIZES],
    "progressive": [jpeg(*size, progressive=True) for size in SIZES],
    "gray": [jpeg(*size, mode="L") for size in SIZES],
    "inks": [jpeg(*size, mode="CMYK") for size in SIZES],
    "restarts": [jpeg(*size, restart_marker_blocks=3) for size in SIZES],
    "RGB": [jpeg(*size, keep_rgb=True) for size in SIZES],
    "PNG": [encoded(picture(*size), "PNG") for size in SIZES],
    "large": [jpeg(600, 811, quality=quality, subsampling=2 - quality % 3) for quality in (30, 76, 98)],
    "flat": [
        encoded(np.full((350, 517, 3), colour, np.uint8), "JPEG")
        for colour in ((0, 0, 0), (255, 255, 255), (9, 90, 200))
    ],
    "stripes": [
        encoded(np.tile(picture(8, 8), (50, 60, 1)), "JPEG", subsampling=subsampling) for subsampling in (0, 1, 2)
    ],
}
FILES["mixed"] = [file for files in FILES.values() for file in files]


def check(decode, files, **options):
    for batch in (ndd.batch(files), files[1]):
        expected = decode(batch, device="cpu", **options)
        got = decode(batch, device="gpu", **options)
        assert got.device.device_type == "gpu"
        assert (got.layout, got.dtype) == (expected.layout, expected.dtype)
        pairs = zip(got.cpu(), expected, strict=True) if isinstance(expected, ndd.Batch) else [(got.cpu(), expected)]
        for i, (a, b) in enumerate(pairs):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b), err_msg=f"sample {i}")


@pytest.mark.parametrize("kind", FILES)
def test_whole_images(kind):
    check(ndd.decoders.image, FILES[kind])


def test_large_batches(is_fake):
    drawn = np.tile(picture(410, 410, 1)[..., 0], (10, 10))
    number = 2 if is_fake else 17  # so many that a GPU decodes them in three parts
    files = ndd.batch([encoded(np.roll(drawn, 7 * i, 1), "JPEG", quality=30) for i in range(number)])
    got, expected = (ndd.decoders.image(files, device=device, output_type="GRAY") for device in ("gpu", "cpu"))
    for a, b in zip(got.cpu(), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("output", ["BGR", "GRAY", "YCbCr", "ANY_DATA"])
def test_colours(output):
    files = FILES["4:2:0"] + FILES["PNG"] if output == "ANY_DATA" else FILES["mixed"]
    check(ndd.decoders.image, files, output_type=getattr(ndd.types, output))


@pytest.mark.parametrize("options", [{"dtype": ndd.float32}, {"use_fast_idct": True}, {"reduce_to": [20, 20]}])
def test_options(options):
    check(ndd.decoders.image, FILES["4:2:0"], **options)


@pytest.mark.parametrize("kind", ["4:4:4", "4:2:2", "4:2:0", "mixed"])
def test_parts(kind):
    large = [file for file in FILES[kind] if np.asarray(ndd.peek_image_shape(file))[:2].min() >= 16]
    check(ndd.decoders.image_crop, large, crop=[13, 11], crop_pos_x=0.4, crop_pos_y=0.7)
    check(ndd.decoders.image_slice, large, start=[3, 5], shape=[11, 11], axes=[0, 1])
    check(lambda *a, **k: ndd.decoders.image_random_crop(*a, rng=ndd.random.RNG(7), **k), FILES[kind])


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    files = [jpeg(40, 57, exif=exif), jpeg(64, 31, exif=exif)]
    check(ndd.decoders.image, files)
    check(ndd.decoders.image, files, adjust_orientation=False)


def test_broken_files_are_named():
    good = FILES["4:2:0"][1]
    for broken in (good[: len(good) // 2], np.frombuffer(b"nothing", np.uint8)):
        with pytest.raises(RuntimeError, match="sample 2"):
            ndd.decoders.image(ndd.batch([good, good, broken, good, broken]), device="gpu").evaluate()
    batch = ndd.batch([good, good[:300], good])
    result = ndd.decoders.image(batch, device="gpu", on_error="placeholder")
    assert [len(shape) and shape[0] for shape in result.shape] == [97, 0, 97]


def test_mixed_belongs_to_pipelines():
    with pytest.raises(ValueError, match="pipeline"):
        ndd.decoders.image(FILES["4:2:0"][0], device="mixed")


def test_palette_indices():
    mask = Image.fromarray(np.arange(20 * 30, dtype=np.uint8).reshape(20, 30) % 21, "P")
    mask.putpalette(bytes(range(256)) * 3)
    out = io.BytesIO()
    mask.save(out, "PNG")
    check(ndd.decoders.image, [np.frombuffer(out.getvalue(), np.uint8)] * 2, output_type=ndd.types.INDICES)


@pytest.mark.parametrize("limit", [{"pixels": 1000}, {"memory": 3000}])
def test_limits(limit):
    before = ndd.decode_limits()
    ndd.set_decode_limits(**limit)
    try:
        with pytest.raises(RuntimeError, match=rf"avida.set_decode_limits\({next(iter(limit))}=...\)"):
            ndd.decoders.image(jpeg(64, 48), device="gpu").evaluate()
    finally:
        ndd.set_decode_limits(**before._asdict())


@pytest.mark.parametrize("kind", ["4:2:0", "progressive", "restarts", "inks"])
def test_headers_are_parsed_once(kind):
    files = ndd.batch(FILES[kind])
    before = ndd._core.testing.jpeg_headers_read()
    ndd.decoders.image(files, device="gpu").evaluate()
    assert ndd._core.testing.jpeg_headers_read() - before == len(SIZES)
