"""output_type=INDICES: the numbers that files store, as label masks need them."""

from typing import Any

import imagecodecs
import numpy as np
import pytest
from PIL import Image

import avida

from . import files
from .decoding import as_input, decode, decode_part
from .files import BMP_PALETTE, GRAY, GRAY16, INDICES, PALETTE, bmp, packed, pillow, png, png_chunk, pnm_binary, tiff


def palette_png(depth: int) -> tuple[bytes, np.ndarray]:
    indices = INDICES & (2**depth - 1)
    return png(indices, depth, 3, png_chunk(b"PLTE", PALETTE[: 2**depth].tobytes())), indices


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_palette_png(depth: int) -> None:
    data, indices = palette_png(depth)
    decoded = avida.decoders.image(as_input(data), output_type=avida.types.INDICES)
    assert decoded.layout == "HWC"
    assert decoded.dtype == avida.uint8
    np.testing.assert_array_equal(np.asarray(decoded)[..., 0], indices)


def test_void_label() -> None:
    """Pascal VOC: 21 classes, and 255 along their borders, where the palette is nearly white."""
    mask = np.where(GRAY > 240, 255, GRAY % 21).astype(np.uint8)
    image = Image.fromarray(mask, "P")
    image.putpalette(np.random.default_rng(0).integers(0, 256, 768, np.uint8).tobytes())
    np.testing.assert_array_equal(decode(pillow(image, "PNG"), "INDICES")[..., 0], mask)


LABELS16 = (GRAY16 % 1000).astype(np.uint16)
CASES: list[tuple[str, bytes, np.ndarray]] = [
    ("transparent", files.png_files()["palette_transparent"], INDICES),
    ("bmp4", bmp(4, [packed(row, 4) for row in INDICES[::-1]], BMP_PALETTE), INDICES),
    ("bmp1", bmp(1, [packed(row, 1) for row in INDICES[::-1] % 2], BMP_PALETTE[:8]), INDICES % 2),
    ("bmp_rle8", files.bmp_files()["rle8"], INDICES),
    ("bmp_rle4", files.bmp_files()["rle4_literal"], INDICES),
    ("tiff8", files.tiff_files()["palette"], GRAY),
    # Gray values stay as they are stored, too.
    ("gray", files.png_files()["gray"], GRAY),
    ("gray1", files.png_files()["gray1"], GRAY >> 7),
    ("gray4", files.png_files()["gray4"], GRAY >> 4),
    ("tiff_gray4", files.tiff_files()["gray4"], GRAY >> 4),
    ("tiff_min_is_white", files.tiff_files()["min_is_white"], GRAY),
    ("jpeg2000_gray4", files.jpeg2000_files()["gray4"], GRAY >> 4),
    ("pnm_20", pnm_binary(5, GRAY % 21, 20), GRAY % 21),
    ("jpeg", files.jpeg_files()["gray"], decode(files.jpeg_files()["gray"], "GRAY")[..., 0]),
]


@pytest.mark.parametrize(("data", "indices"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_stored_numbers(data: bytes, indices: np.ndarray) -> None:
    whole = decode(data, "INDICES")
    assert whole.dtype == np.uint8
    np.testing.assert_array_equal(whole[..., 0], indices)
    np.testing.assert_array_equal(decode_part(data, (3, 5, 7, 9), "INDICES"), whole[3:10, 5:14])
    np.testing.assert_array_equal(np.asarray(avida.peek_image_shape(as_input(data), image_type=100)), whole.shape)
    for dtype in ("int32", "float32", "uint16"):  # never scaled to the range of the type
        np.testing.assert_array_equal(decode(data, "INDICES", dtype), whole)


@pytest.mark.parametrize(
    "data",
    [
        png(LABELS16, 16, 0),
        tiff(LABELS16),
        tiff(LABELS16, bitspersample=12),
        pnm_binary(5, LABELS16, 999),
        bytes(imagecodecs.ljpeg_encode(LABELS16, bitspersample=12)),
        bytes(imagecodecs.jpeg2k_encode(LABELS16, codecformat="jp2", reversible=True, level=0)),
        bytes(imagecodecs.jpeg2k_encode(LABELS16, codecformat="jp2", reversible=True, level=0, bitspersample=12)),
    ],
    ids=["png", "tiff", "tiff12", "pnm", "lossless_jpeg", "jpeg2000", "jpeg2000_12"],
)
def test_more_than_256_labels(data: bytes) -> None:
    np.testing.assert_array_equal(decode(data, "INDICES", "uint16")[..., 0], LABELS16)
    with pytest.raises(RuntimeError, match=r"dtype that holds the 1[26]-bit indices"):
        decode(data, "INDICES")


@pytest.mark.parametrize(
    ("format_name", "name"),
    [
        ("png", "rgb"),
        ("png", "gray_alpha"),
        ("bmp", "rgb"),
        ("jpeg", "420"),
        ("tiff", "float32"),
        ("webp", "lossless"),
        ("jpeg2000", "signed"),
    ],
)
def test_other_images_are_an_error(format_name: str, name: str) -> None:
    with pytest.raises(RuntimeError, match=r"with a palette, or a gray one, for output_type=INDICES"):
        decode(files.all_files()[format_name][name], "INDICES")


def test_the_file_is_named(tmp_path) -> None:
    (tmp_path / "photo.png").write_bytes(files.png_files()["rgb"])
    with pytest.raises(RuntimeError, match=r"photo\.png.*output_type=INDICES"):
        avida.imread(tmp_path / "photo.png", output_type=avida.types.INDICES).evaluate()


def test_windows_alike() -> None:
    """The other decoders have the indices, too."""
    data, indices = palette_png(8)
    chosen: dict[str, Any] = {"output_type": avida.types.INDICES}
    crop = avida.decoders.image_crop(as_input(data), crop=[4, 6], crop_pos_x=0.0, crop_pos_y=0.0, **chosen)
    np.testing.assert_array_equal(np.asarray(crop)[..., 0], indices[:4, :6])
    random = np.asarray(avida.decoders.image_random_crop(as_input(data), **chosen))
    assert random.shape[2] == 1
    assert set(np.unique(random)) <= set(range(16))
