"""What holds for all formats alike."""

import io
import resource
from collections.abc import Callable

import imagecodecs
import numpy as np
import pytest
import tifffile
from PIL import Image

import avida

from .decoding import as_input, decode, decode_part, to_uint8
from .files import RGB, all_files

CASES = [(format_name, name) for format_name, files in all_files().items() for name in files]
FORMATS = list(all_files())


def file(format_name: str, name: str) -> bytes:
    return all_files()[format_name][name]


def rectangles(height: int, width: int) -> list[tuple[int, int, int, int]]:
    rng = np.random.default_rng(height * width)
    corners = [(0, 0, 1, 1), (height - 1, width - 1, 1, 1), (0, 0, height, 1), (height // 2, 0, 1, width)]
    for _ in range(12):
        y, x = int(rng.integers(height)), int(rng.integers(width))
        corners.append((y, x, int(rng.integers(height - y)) + 1, int(rng.integers(width - x)) + 1))
    return corners


@pytest.mark.parametrize(("format_name", "name"), CASES)
@pytest.mark.parametrize("output_type", ["RGB", "GRAY", "ANY_DATA"])
def test_a_part_equals_the_crop_of_the_whole(format_name: str, name: str, output_type: str) -> None:
    data = file(format_name, name)
    whole = decode(data, output_type)
    for y, x, height, width in rectangles(*whole.shape[:2]):
        part = decode_part(data, (y, x, height, width), output_type)
        np.testing.assert_array_equal(part, whole[y : y + height, x : x + width])


@pytest.mark.parametrize(("format_name", "name"), CASES)
def test_types_and_colours_agree(format_name: str, name: str) -> None:
    data = file(format_name, name)
    rgb, stored = decode(data, "RGB"), decode(data)
    np.testing.assert_array_equal(decode(data, "BGR"), rgb[..., ::-1])
    colors = stored[..., :3] if stored.shape[2] >= 3 else np.repeat(stored[..., :1], 3, 2)
    np.testing.assert_array_equal(rgb, colors)
    wide = decode(data, "RGB", "uint16")
    np.testing.assert_array_equal(to_uint8(wide), rgb)
    np.testing.assert_allclose(decode(data, "RGB", "float32").clip(0, 1), wide / 65535, atol=1e-5)
    gray = wide.astype(float) @ [0.299, 0.587, 0.114]
    if name not in ("gamma", "float32", "int16"):  # weighed after decoding gamma; values beyond white and black
        np.testing.assert_allclose(decode(data, "GRAY", "uint16")[..., 0], gray, atol=600)


@pytest.mark.parametrize(("format_name", "name"), CASES)
def test_the_header_tells_the_shape(format_name: str, name: str) -> None:
    data = file(format_name, name)
    shape = np.asarray(avida.peek_image_shape(as_input(data)))
    assert tuple(shape) == decode(data, "RGB").shape


@pytest.mark.parametrize("format_name", FORMATS)
def test_cut_files_fail_or_are_whole(format_name: str) -> None:
    for data in all_files()[format_name].values():
        whole = decode(data)
        for size in {0, 1, 2, 4, 8, 12, 20, 40, len(data) // 3, len(data) // 2}:
            try:
                cut = decode(data[:size])
            except RuntimeError:
                continue
            assert cut.shape == whole.shape


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xea\x60\0\0\xea\x60\x08\2\0\0\0" + bytes(60), id="png"),
        pytest.param(b"BM" + bytes(8) + b"6\0\0\0\x28\0\0\0\x60\xea\0\0\x60\xea\0\0\1\0\x18\0" + bytes(60), id="bmp"),
        pytest.param(b"P6 60000 60000 255\n" + bytes(60), id="pnm"),
        pytest.param(b"RIFF\x30\0\0\0WEBPVP8L\x20\0\0\0\x2f\xff\xff\xff\x0f" + bytes(40), id="webp"),
        pytest.param(
            # 24576 x 24576 in one tile, with three components
            bytes.fromhex("ff4fff51002f0000" + ("00006000" * 2 + "00" * 8) * 2 + "0003" + "070101" * 3) + bytes(60),
            id="jpeg2000",
        ),
    ],
)
def test_headers_that_lie_cost_nothing(data: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(
        RuntimeError, match=r"expected (an image of at most|a file that can hold|\d+ bytes at)|the data is corrupt"
    ):
        decode(data)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB


def test_lying_tiff() -> None:
    out = io.BytesIO()
    Image.new("RGB", (8, 8)).save(out, "TIFF")
    data = bytearray(out.getvalue())
    for field in (256, 257):  # width and height
        place = data.index(field.to_bytes(2, "little") + b"\4\0\1\0\0\0") + 8
        data[place : place + 4] = (16000).to_bytes(4, "little")
    with pytest.raises(RuntimeError, match="expected a file that can hold"):
        decode(bytes(data))


def test_a_bad_file_among_good_ones_is_named() -> None:
    files = [file("png", "rgb"), file("png", "rgb")[:200], file("webp", "lossless")]
    batch = avida.as_batch([as_input(data) for data in files])
    with pytest.raises(RuntimeError, match=r"sample 1.*PNG: the file is truncated"):
        avida.decoders.image(batch).evaluate()


def test_codecs_are_listed() -> None:
    names = [name for name, *_ in avida._core.image_formats()]
    assert {"BMP", "GIF", "JPEG", "JPEG 2000", "PNG", "PNM", "TIFF", "WebP"} <= set(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "got no bytes"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
            r"git-LFS pointer.*git lfs pull",
        ),
        (b"<!DOCTYPE html><title>404</title>", "an HTML page"),
        (b"<HTML><body>", "an HTML page"),
        (
            b"8BPS\0\1\0\0\0\0\x80",
            r'got Photoshop: a file of 11 bytes that begins with 38 42 50 53 00 01 00 00 00 00 80 \("8BPS......."\)',
        ),
        (b"\0\0\0 ftypavif\0\0\0\0", "got AVIF: a file of 16 bytes that begins with"),
        (b"\0\0\0 ftypheic\0\0\0\0", "got HEIC: "),
        (b"\0\0\0 ftypisom\0\0\0\0", "got MP4 or QuickTime: "),
        (b"\xff\x0a" + bytes(20), "got JPEG XL: "),
        (b"\0" * 100, r"got a file of 100 bytes that begins with( 00){16} \("),
        (b"x", r'1 bytes that begins with 78 \("x"\)'),
    ],
)
def test_unknown_formats_say_what_was_found(data: bytes, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        decode(data)
    with pytest.raises(RuntimeError, match=message):
        avida.decoders.audio(as_input(data))[0].evaluate()


def test_jpeg_ls_is_named() -> None:
    data = bytes(imagecodecs.jpegls_encode(RGB))
    with pytest.raises(RuntimeError, match="expected JPEG, got JPEG-LS"):
        decode(data)


def apng(*images: np.ndarray) -> bytes:
    out = io.BytesIO()
    first, *others = map(Image.fromarray, images)
    first.save(out, "PNG", save_all=True, append_images=others)
    return out.getvalue()


def tiff_pages(*images: np.ndarray) -> bytes:
    out = io.BytesIO()
    tifffile.imwrite(out, np.stack(images), photometric="rgb")
    return out.getvalue()


def webp_animation(*images: np.ndarray) -> bytes:
    out = io.BytesIO()
    first, *others = map(Image.fromarray, images)
    first.save(out, "WEBP", save_all=True, append_images=others, lossless=True)
    return out.getvalue()


@pytest.mark.parametrize("written", [apng, tiff_pages, webp_animation])
def test_the_first_of_several_images_is_decoded(written: Callable[..., bytes]) -> None:
    """As docs/formats.md says."""
    np.testing.assert_array_equal(decode(written(RGB, RGB[::-1].copy()), "RGB"), RGB)
