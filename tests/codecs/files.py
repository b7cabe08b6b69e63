"""Small image files in every format and many variants, made by independent encoders or byte by byte."""

import io
import struct
import zlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import imagecodecs
import numpy as np
import tifffile
from PIL import Image

HEIGHT, WIDTH = 13, 22


def noise(channels: int, dtype: str = "uint8") -> np.ndarray:
    """The same noise each time, one draw for each shape and type."""
    rng = np.random.default_rng(channels)
    top = np.iinfo(dtype).max + 1 if dtype.startswith("u") else 0
    shape = (HEIGHT, WIDTH, channels)
    return rng.integers(0, top, shape, dtype) if top else (rng.random(shape) * 1.5 - 0.2).astype(dtype)


def waves(height: int = HEIGHT, width: int = WIDTH, channels: int = 3) -> np.ndarray:
    """A smooth picture, for lossy formats."""
    y, x = np.mgrid[:height, :width]
    planes = [(np.sin(x / 5 + k) + np.cos(y / 4 + 2 * k)) / 4 + 0.5 for k in range(channels)]
    return (np.stack(planes, -1) * 255).astype(np.uint8)


RGB, RGBA = noise(3), noise(4)
GRAY, GRAY_ALPHA = np.ascontiguousarray(RGB[..., 0]), np.ascontiguousarray(RGBA[..., 2:])
RGB16, RGBA16 = noise(3, "uint16"), noise(4, "uint16")
GRAY16 = np.ascontiguousarray(RGB16[..., 0])
WIDE = np.random.default_rng(9).integers(0, 1 << 32, (HEIGHT, WIDTH), np.uint32)
BITS = GRAY > 127
INDICES = (GRAY % 16).astype(np.uint8)
PALETTE = np.random.default_rng(7).integers(0, 256, (16, 3), np.uint8)


def pillow(array: np.ndarray | Image.Image, format_name: str, **options: Any) -> bytes:
    image = array if isinstance(array, Image.Image) else Image.fromarray(array)
    out = io.BytesIO()
    image.save(out, format_name, **options)
    return out.getvalue()


def packed(row: np.ndarray, bits: int) -> bytes:
    return row.tobytes() if bits == 8 else bytes(imagecodecs.packints_encode(row, bits))


def exif(orientation: int) -> Image.Exif:
    data = Image.Exif()
    data[274] = orientation
    return data


# --- PNG ---


def png_chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(samples: np.ndarray, depth: int, color_type: int, extra: bytes = b"") -> bytes:
    """A file with rows of integers stored in `depth` bits; `extra` are chunks before the pixels."""
    height, width = samples.shape[:2]
    rows = samples.reshape(height, -1)
    if depth == 16:
        stored = [row.astype(">u2").tobytes() for row in rows]
    else:
        stored = [packed(row.astype(np.uint8), depth) for row in rows]
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, 0))
    pixels = png_chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in stored)))
    return b"\x89PNG\r\n\x1a\n" + header + extra + pixels + png_chunk(b"IEND", b"")


def filtered_png(
    height: int, width: int, depth: int, color_type: int, filters: Sequence[int] = range(5), piece: int = 1 << 20
) -> bytes:
    """Random bytes behind random filters: each is a picture. A chunk has at most `piece` bytes of pixels."""
    rng = np.random.default_rng([height, width, depth, color_type])
    row_bytes = width * {0: 1, 2: 3, 4: 2, 6: 4}[color_type] * depth // 8
    rows = rng.integers(0, 256, (height, 1 + row_bytes), np.uint8)
    rows[:, 0] = rng.choice(np.array(filters), height)
    rows[:, 1:] //= rng.choice([1, 16, 64], (height, row_bytes)).astype(np.uint8)  # small differences, too
    data = zlib.compress(rows.tobytes())
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, 0))
    pieces = b"".join(png_chunk(b"IDAT", data[at : at + piece]) for at in range(0, len(data), piece))
    return b"\x89PNG\r\n\x1a\n" + header + pieces + png_chunk(b"IEND", b"")


def interlaced_png(samples: np.ndarray, color_type: int) -> bytes:
    """Adam7, which no encoder at hand writes."""
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    parts = [samples[y::dy, x::dx] for y, x, dy, dx in passes]
    rows = [b"\0" + row.tobytes() for part in parts if part.size for row in part]
    height, width = samples.shape[:2]
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color_type, 0, 0, 1))
    pixels = png_chunk(b"IDAT", zlib.compress(b"".join(rows)))
    return b"\x89PNG\r\n\x1a\n" + header + pixels + png_chunk(b"IEND", b"")


@cache
def png_files() -> dict[str, bytes]:
    palette = png_chunk(b"PLTE", PALETTE.tobytes())
    see_through = png_chunk(b"tRNS", bytes(range(0, 160, 10)))
    return {
        "rgb": pillow(RGB, "PNG"),
        "rgba": pillow(RGBA, "PNG"),
        "gray": pillow(GRAY, "PNG"),
        "gray_alpha": pillow(Image.fromarray(GRAY_ALPHA, "LA"), "PNG"),
        "rgb16": png(RGB16, 16, 2),
        "rgba16": png(RGBA16, 16, 6),
        "gray16": png(GRAY16, 16, 0),
        "gray_alpha16": png(RGBA16[..., :2], 16, 4),
        "gray1": png(GRAY >> 7, 1, 0),
        "gray2": png(GRAY >> 6, 2, 0),
        "gray4": png(GRAY >> 4, 4, 0),
        "palette4": png(INDICES, 4, 3, palette),
        "palette8": png(INDICES, 8, 3, palette),
        "palette_transparent": png(INDICES, 8, 3, palette + see_through),
        "gray_transparent": png(GRAY, 8, 0, png_chunk(b"tRNS", struct.pack(">H", GRAY[0, 0]))),
        "gamma": png(RGB, 8, 2, png_chunk(b"gAMA", struct.pack(">I", 45455))),
        "filters": filtered_png(HEIGHT, WIDTH, 8, 2),
        "filters_alpha": filtered_png(HEIGHT, WIDTH, 8, 6),
        "filters_gray": filtered_png(HEIGHT, WIDTH, 8, 0),
        "filters16": filtered_png(HEIGHT, WIDTH, 16, 2),
        "interlaced": interlaced_png(RGB, 2),
        "interlaced_gray": interlaced_png(GRAY, 0),
        "rotated": pillow(RGB, "PNG", exif=exif(6)),
        "animated": pillow(RGB, "PNG", save_all=True, append_images=[Image.fromarray(RGB[::-1].copy())], duration=50),
    }


# --- BMP ---


def bmp(
    bits: int,
    rows: Sequence[bytes] | bytes,
    palette: bytes = b"",
    compression: int = 0,
    masks: bytes = b"",
    height: int = HEIGHT,
) -> bytes:
    """A file with a 40-byte header around rows from the bottom up, or around run-length coded data."""
    data = rows if isinstance(rows, bytes) else b"".join(row + b"\0" * (-len(row) % 4) for row in rows)
    offset = 54 + len(masks) + len(palette)
    file_header = b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset)
    header = struct.pack("<IiiHHIIiiII", 40, WIDTH, height, 1, bits, compression, len(data), 0, 0, len(palette) // 4, 0)
    return file_header + header + masks + palette + data


def bmp_v4(rgba: np.ndarray) -> bytes:
    """32 bits with an alpha mask, which takes the longer header."""
    data = rgba[::-1, :, [2, 1, 0, 3]].tobytes()
    masks = struct.pack("<IIII", 0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    header = struct.pack("<IiiHHIIiiII", 108, WIDTH, HEIGHT, 1, 32, 3, len(data), 0, 0, 0, 0) + masks + bytes(52)
    return b"BM" + struct.pack("<IHHI", 122 + len(data), 0, 0, 122) + header + data


BMP_PALETTE = np.pad(PALETTE[:, ::-1], ((0, 0), (0, 1))).tobytes()


@cache
def bmp_files() -> dict[str, bytes]:
    words = (RGB[..., 0].astype("<u2") * 257)[::-1]
    runs8 = b"".join(b"".join(bytes([1, v]) for v in row) + b"\0\0" for row in INDICES[::-1]) + b"\0\1"
    literal8 = b"".join(b"\0" + bytes([WIDTH]) + row.tobytes() + b"\0\0" for row in INDICES[::-1]) + b"\0\1"
    literal4 = b"".join(b"\0" + bytes([WIDTH]) + packed(row, 4) + b"\0" + b"\0\0" for row in INDICES[::-1]) + b"\0\1"
    core = b"BM" + struct.pack("<IHHI", 0, 0, 0, 26) + struct.pack("<IHHHH", 12, WIDTH, HEIGHT, 1, 24)
    return {
        "rgb": pillow(RGB, "BMP"),
        "gray": pillow(GRAY, "BMP"),
        "bits": pillow(Image.fromarray(BITS), "BMP"),
        "palette8": pillow(Image.fromarray(RGB).quantize(200), "BMP"),
        "palette4": bmp(4, [packed(row, 4) for row in INDICES[::-1]], BMP_PALETTE),
        "top_down": bmp(24, [row[:, ::-1].tobytes() for row in RGB], height=-HEIGHT),
        "555": bmp(16, [row.tobytes() for row in words]),
        "565": bmp(16, [row.tobytes() for row in words], compression=3, masks=struct.pack("<III", 0xF800, 0x7E0, 0x1F)),
        "32": bmp(32, [row.tobytes() for row in RGBA[::-1]]),
        "alpha": bmp_v4(RGBA),
        "rle8": bmp(8, runs8, BMP_PALETTE, compression=1),
        "rle8_literal": bmp(8, literal8, BMP_PALETTE, compression=1),
        "rle4_literal": bmp(4, literal4, BMP_PALETTE, compression=2),
        "core": core + b"".join(row[:, ::-1].tobytes() + b"\0" * (-WIDTH * 3 % 4) for row in RGB[::-1]),
    }


# --- PNM ---


def pnm_text(kind: int, samples: np.ndarray, top: int | None = None) -> bytes:
    height, width = samples.shape[:2]
    head = b"P%d\n# a comment\n%d %d\n" % (kind, width, height) + (b"" if top is None else b"%d\n" % top)
    return head + b"\n".join(b" ".join(b"%d" % v for v in row.reshape(-1)) for row in samples)


def pnm_binary(kind: int, samples: np.ndarray, top: int) -> bytes:
    height, width = samples.shape[:2]
    return b"P%d %d %d %d\n" % (kind, width, height, top) + samples.astype(">u2" if top > 255 else "u1").tobytes()


@cache
def pnm_files() -> dict[str, bytes]:
    size = (WIDTH, HEIGHT)
    return {
        "p1": pnm_text(1, ~BITS),
        "p1_tight": b"P1\n%d %d\n" % size + b"\n".join(b"".join(b"%d" % v for v in row) for row in ~BITS),
        "p2": pnm_text(2, GRAY, 255),
        "p3": pnm_text(3, RGB, 255),
        "p4": b"P4\n%d %d\n" % size + np.packbits(~BITS, axis=1).tobytes(),
        "p5": pnm_binary(5, GRAY, 255),
        "p6": pnm_binary(6, RGB, 255),
        "p2_16": pnm_text(2, GRAY16, 65535),
        "p5_16": pnm_binary(5, GRAY16, 65535),
        "p6_16": pnm_binary(6, RGB16, 65535),
        "p5_100": pnm_binary(5, GRAY % 101, 100),
        "p5_1000": pnm_binary(5, GRAY16 % 1001, 1000),
        "p7": b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" % size + RGBA.tobytes(),
    }


# --- TIFF ---


def tiff(array: np.ndarray, **options: Any) -> bytes:
    out = io.BytesIO()
    tifffile.imwrite(out, array, **options)
    return out.getvalue()


def tiff_pages(*pages: np.ndarray, **options: Any) -> bytes:
    out = io.BytesIO()
    with tifffile.TiffWriter(out, **options) as writer:
        for page in pages:
            writer.write(page)
    return out.getvalue()


@cache
def tiff_files() -> dict[str, bytes]:
    planes = np.moveaxis(RGB, -1, 0)
    big = waves(40, 70)
    colors = np.random.default_rng(8).integers(0, 65536, (3, 256), np.uint16)
    separate: dict[str, Any] = {"photometric": "rgb", "planarconfig": "separate"}
    files = {
        "rgb": tiff(RGB),
        "gray": tiff(GRAY),
        "rgba": tiff(RGBA, photometric="rgb", extrasamples=["unassalpha"]),
        "gray_alpha": tiff(GRAY_ALPHA, photometric="minisblack", planarconfig="contig", extrasamples=["unassalpha"]),
        "rgb16": tiff(RGB16),
        "big_endian16": tiff(RGB16, byteorder=">"),
        "gray16": tiff(GRAY16),
        "float32": tiff(noise(3, "float32"), photometric="rgb"),
        "float16": tiff(noise(1, "float16")[..., 0]),
        "float64": tiff(noise(1, "float64")[..., 0]),
        "min_is_white": tiff(GRAY, photometric="miniswhite"),
        "bits": tiff(BITS, photometric="minisblack"),
        "bits_white": tiff(BITS, photometric="miniswhite"),
        "fax4": pillow(Image.fromarray(BITS), "TIFF", compression="group4"),
        "gray2": tiff(GRAY >> 6, bitspersample=2),
        "gray4": tiff(GRAY >> 4, bitspersample=4),
        "gray12": tiff(GRAY16 >> 4, bitspersample=12),
        "planar": tiff(planes, **separate),
        "planar_tiles": tiff(planes, tile=(16, 16), **separate),
        "tiles": tiff(big, tile=(16, 32), photometric="rgb"),
        "strips": tiff(big, rowsperstrip=7, photometric="rgb"),
        "five": tiff(noise(5), photometric="minisblack", planarconfig="contig"),
        "palette": tiff(GRAY, photometric="palette", colormap=colors),
        "cmyk": tiff(RGBA, photometric="separated"),
        "ycbcr": tiff(RGB, photometric="ycbcr", planarconfig="contig"),
        "bigtiff": tiff(RGB, bigtiff=True),
        "pages": tiff_pages(RGB, GRAY16, GRAY),
        "int8": tiff(GRAY.view(np.int8)),
        "int16": tiff(RGB16.view(np.int16), photometric="rgb"),
        "int32": tiff(WIDE.view(np.int32), compression="zlib", predictor=2),
        "uint32": tiff(WIDE, byteorder=">"),
        "uint32_white": tiff(WIDE, photometric="miniswhite"),
        "uint32_tiles": tiff(WIDE, tile=(16, 16)),
        "predictor": tiff(RGB, compression="lzw", predictor=2),
        "jpeg_tiles": tiff(big, compression="jpeg", tile=(16, 32), photometric="rgb"),
        "jpeg_420": tiff(big, compression="jpeg", rowsperstrip=16, photometric="rgb", subsampling=(2, 2)),
    }
    for compression in ("lzw", "zlib", "packbits", "zstd", "lzma"):
        files[compression] = tiff(RGB, compression=compression)
    for orientation in range(2, 9):
        files[f"orientation{orientation}"] = tiff(RGB, extratags=[(274, 3, 1, orientation, True)])
    return files


# --- WebP ---


@cache
def webp_files() -> dict[str, bytes]:
    frames = [Image.fromarray(RGB[::-1].copy())]
    return {
        "lossy": pillow(waves(), "WEBP", quality=70),
        "lossy_alpha": pillow(np.dstack([waves(), GRAY]), "WEBP", quality=70),
        "lossless": pillow(RGB, "WEBP", lossless=True),
        "lossless_alpha": pillow(RGBA, "WEBP", lossless=True, exact=True),
        "animated": pillow(Image.fromarray(RGB), "WEBP", save_all=True, append_images=frames, lossless=True),
        "rotated": pillow(RGB, "WEBP", lossless=True, exif=exif(6)),
    }


# --- GIF ---


def gif(*pictures: np.ndarray, **options: Any) -> bytes:
    """An animation with a palette of its own for each picture, as Pillow writes it."""
    images = [Image.fromarray(picture) for picture in pictures]
    return pillow(images[0], "GIF", save_all=True, append_images=images[1:], duration=50, **options)


def gif_block(kind: int, content: bytes) -> bytes:
    return b"!" + bytes([kind, len(content)]) + content + b"\0"


def gif_picture(indices: np.ndarray, y: int, x: int, interlaced: bool = False, palette: bytes = b"") -> bytes:
    """Codes of nine bits, of which every 200th clears the table: so none gets longer."""
    height, width = indices.shape
    order = [row for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for row in range(first, height, step)]
    values = (indices[order] if interlaced else indices).reshape(-1).tolist()
    codes = [code for at in range(0, len(values), 200) for code in [256, *values[at : at + 200]]] + [257]
    bits = sum(code << 9 * i for i, code in enumerate(codes))
    data = bits.to_bytes((9 * len(codes) + 7) // 8, "little")
    blocks = b"".join(bytes([len(data[at : at + 255])]) + data[at : at + 255] for at in range(0, len(data), 255))
    flags = (0x40 if interlaced else 0) | (0x87 if palette else 0)
    return b"," + struct.pack("<HHHHB", x, y, width, height, flags) + palette + b"\x08" + blocks + b"\0"


def gif_of(*blocks: bytes, palette: bytes = PALETTE.tobytes()) -> bytes:
    flags = 0x80 | (len(palette) // 3).bit_length() - 2
    return b"GIF89a" + struct.pack("<HHBBB", WIDTH, HEIGHT, flags, 0, 0) + palette + b"".join(blocks) + b";"


def gif_control(disposal: int, transparent: int | None = None) -> bytes:
    return gif_block(0xF9, struct.pack("<BHB", disposal << 2 | (transparent is not None), 5, transparent or 0))


@cache
def gif_files() -> dict[str, bytes]:
    small = INDICES[:6, :9]
    disposals = [gif_control(i, 3) + gif_picture(small, i, 2 * i) for i in (1, 2, 3, 1, 2, 1)]  # Pillow does not know 0
    own = bytes(range(256)) * 3
    return {
        "gray": gif(GRAY),
        "rgb": gif(RGB),
        "palette": gif_of(gif_picture(INDICES, 0, 0)),
        "interlaced": gif_of(gif_picture(INDICES, 0, 0, interlaced=True)),
        "transparent": gif_of(gif_control(0, 3) + gif_picture(INDICES, 0, 0)),
        "small": gif_of(gif_picture(small, 3, 4)),
        "outside": gif_of(gif_picture(INDICES, 5, 9)),
        "own_palette": gif_of(gif_block(0xFE, b"a comment"), gif_picture(GRAY, 0, 0, palette=own)),
        "animated": gif(RGB, RGB[::-1], RGB[:, ::-1]),
        "disposals": gif_of(gif_control(1, 3) + gif_picture(INDICES, 0, 0), *disposals),
        "waves": gif(*(waves().astype(np.uint8) // k for k in (1, 2, 3)), disposal=2),
    }


# --- JPEG 2000 ---


@cache
def jpeg2000_files() -> dict[str, bytes]:
    def encode(array: np.ndarray, codecformat: str = "jp2", **options: Any) -> bytes:
        return bytes(imagecodecs.jpeg2k_encode(array, codecformat=codecformat, reversible=True, level=0, **options))

    return {
        "rgb": encode(RGB),
        "gray": encode(GRAY),
        "rgba": encode(RGBA),
        "gray_alpha": encode(GRAY_ALPHA),
        "rgb16": encode(RGB16),
        "gray16": encode(GRAY16),
        "gray12": encode(GRAY16 >> 4, bitspersample=12),
        "gray4": encode(GRAY >> 4, bitspersample=4),
        "codestream": encode(RGB, codecformat="j2k"),
        "signed": encode(GRAY16.view(np.int16)),
        "ycc": encode(RGB, mct=False).replace(b"colr\1\0\0\0\0\0\x10", b"colr\1\0\0\0\0\0\x12"),
        "lossy": bytes(imagecodecs.jpeg2k_encode(waves(), codecformat="jp2", level=30)),
        "tiles": pillow(waves(40, 70), "JPEG2000", tile_size=(32, 32)),
        "tiles_lossy": pillow(waves(40, 70), "JPEG2000", tile_size=(32, 32), irreversible=True, quality_layers=[20]),
    }


# --- JPEG ---


@cache
def jpeg_files() -> dict[str, bytes]:
    picture = waves(40, 70)
    return {
        "420": pillow(picture, "JPEG", quality=85, subsampling=2),
        "444": pillow(picture, "JPEG", quality=85, subsampling=0),
        "gray": pillow(picture[..., 0], "JPEG"),
        "cmyk": pillow(Image.fromarray(picture).convert("CMYK"), "JPEG"),
        "progressive": pillow(picture, "JPEG", progressive=True),
        "restarts": pillow(picture, "JPEG", restart_marker_blocks=2),
        "rotated": pillow(picture, "JPEG", exif=exif(6)),
        "lossless": bytes(imagecodecs.ljpeg_encode(GRAY16)),
    }


def all_files() -> dict[str, dict[str, bytes]]:
    """Files by format and variant."""
    return {
        "bmp": bmp_files(),
        "gif": gif_files(),
        "jpeg": jpeg_files(),
        "jpeg2000": jpeg2000_files(),
        "png": png_files(),
        "pnm": pnm_files(),
        "tiff": tiff_files(),
        "webp": webp_files(),
    }
