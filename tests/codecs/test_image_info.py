"""decoders.image_info: what Pillow and tifffile say of the same files."""

import io

import imagecodecs
import numpy as np
import pytest
from PIL import Image, ImageCms

import avida

from .decoding import as_input
from .files import GRAY16, RGB, all_files, exif, pillow

PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
CASES = [(format_name, name) for format_name, files in all_files().items() for name in files]


@pytest.mark.parametrize(("format_name", "name"), CASES)
def test_agrees_with_decoding(format_name: str, name: str) -> None:
    data = all_files()[format_name][name]
    info = avida.decoders.image_info(data)
    assert info.format.lower().replace(" ", "").removeprefix("lossless") == format_name
    shape = np.asarray(avida.decoders.image(as_input(data), output_type=avida.types.ANY_DATA)).shape
    assert (info.height, info.width, info.channels) == shape
    frames = avida.decoders.image(as_input(data), frames=True)
    assert info.frames == frames.shape[0] == (getattr(opened(data), "n_frames", 1) if is_animated(format_name) else 1)
    assert 1 <= info.bits <= 64


def is_animated(format_name: str) -> bool:
    return format_name in ("gif", "png", "webp")


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def test_bits() -> None:
    files = all_files()
    expected = {"png": {"gray1": 1, "palette4": 4, "rgb": 8, "rgb16": 16}, "jpeg2000": {"gray12": 12, "rgb": 8}}
    expected |= {"tiff": {"gray12": 12, "float32": 32, "bits": 1}, "jpeg": {"420": 8, "lossless": 16}}
    for format_name, names in expected.items():
        for name, bits in names.items():
            assert avida.decoders.image_info(files[format_name][name]).bits == bits


@pytest.mark.parametrize("format_name", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_profiles(format_name: str) -> None:
    data = pillow(RGB, format_name, icc_profile=PROFILE)
    expected = ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(io.BytesIO(PROFILE))).strip()
    assert avida.decoders.image_info(data).color_profile == expected
    assert avida.decoders.image_info(pillow(RGB, format_name)).color_profile == ""
    broken = pillow(RGB, format_name, icc_profile=PROFILE[:200])
    assert avida.decoders.image_info(broken).color_profile == ""


@pytest.mark.parametrize("format_name", ["PNG", "JPEG", "WEBP"])
def test_orientation(format_name: str) -> None:
    info = avida.decoders.image_info(pillow(RGB, format_name, exif=exif(6)))
    assert info.orientation == 6
    assert (info.height, info.width) == RGB.shape[1::-1]


def test_batches_and_errors() -> None:
    png, jpeg = pillow(GRAY16, "PNG"), pillow(RGB, "JPEG")
    infos = avida.decoders.image_info(avida.as_batch([as_input(png), as_input(jpeg)]))
    assert [info.format for info in infos] == ["PNG", "JPEG"]
    assert infos[0] == avida.decoders.image_info(png) == avida.decoders.image_info(as_input(png))
    with pytest.raises(RuntimeError, match="image_info: sample 1: expected an image in a known format"):
        avida.decoders.image_info(avida.as_batch([as_input(png), as_input(b"nothing")]))
    with pytest.raises(TypeError, match=r"uint8, one axis\), got float64 with 2 axes"):
        avida.decoders.image_info(np.zeros((2, 2)))


def test_jpeg_2000_profile() -> None:
    data = bytes(imagecodecs.jpeg2k_encode(RGB, codecformat="jp2", reversible=True, level=0))
    plain = data.index(b"colr") - 4
    size = int.from_bytes(data[plain : plain + 4], "big")
    color = b"colr\2\0\0" + PROFILE
    data = data[:plain] + (len(color) + 4).to_bytes(4, "big") + color + data[plain + size :]
    header = data.index(b"jp2h") - 4
    grown = int.from_bytes(data[header : header + 4], "big") + len(color) + 4 - size
    data = data[:header] + grown.to_bytes(4, "big") + data[header + 4 :]
    assert avida.decoders.image_info(data).color_profile
