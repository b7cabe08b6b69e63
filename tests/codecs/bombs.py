"""Small files that would take gigabytes or minutes to decode."""

import io
import struct

import imagecodecs
import numpy as np
import soundfile

from . import samples
from .files import bmp, pillow, png, tiff

SMALL = np.zeros((16, 16, 3), np.uint8)


def patched(data: bytes, *changes: tuple[int, bytes], padding: int = 0) -> bytes:
    """With other bytes at some offsets, and zeros behind, so that the file is not too short for what it claims."""
    changed = bytearray(data)
    for offset, new in changes:
        changed[offset : offset + len(new)] = new
    return bytes(changed) + bytes(padding)


def png_of(height: int, width: int, padding: int) -> bytes:
    return patched(png(np.zeros((16, 16, 4)), 16, 6), (16, struct.pack(">II", width, height)), padding=padding)


def rle_bmp(height: int, width: int, padding: int) -> bytes:
    return patched(bmp(8, b"\0\1", bytes(1024), 1), (18, struct.pack("<ii", width, height)), padding=padding)


def tiff_of(height: int, width: int, padding: int) -> bytes:
    """Four floats to a pixel, compressed by zstd, in one strip."""
    data = tiff(np.zeros((16, 16, 4), np.float32), compression="zstd", photometric="rgb", planarconfig="contig")
    sizes = ((256, width), (257, height), (278, height))
    tags = [(data.index(struct.pack("<HHI", tag, 4, 1)), size) for tag, size in sizes if size]
    return patched(data, *((at + 8, struct.pack("<I", size)) for at, size in tags), padding=padding)


def jpeg2000_of(height: int, width: int, padding: int, block_exponent: int = 6) -> bytes:
    data = bytes(imagecodecs.jpeg2k_encode(SMALL, codecformat="j2k", level=0, resolutions=1))
    size = struct.pack(">II", width, height)
    style = data.index(b"\xff\x52") + 10
    blocks = bytes([block_exponent - 2] * 2)
    return patched(data, (8, size), (24, size), (style, blocks), padding=padding)


def progressive_jpeg(height: int, width: int, padding: int) -> bytes:
    data = pillow(SMALL, "JPEG", progressive=True)
    return patched(data, (data.index(b"\xff\xc2") + 5, struct.pack(">HH", height, width)), padding=padding)


def many_scans(count: int, size: int = 64) -> bytes:
    """A valid progressive file that repeats its first scan, which changes nothing."""
    data = samples.jpeg(samples.picture(size, size), progressive=True).tobytes()
    first = data.index(b"\xff\xda")
    end = data.index(b"\xff\xc4", first)
    return data[:end] + data[first:end] * (count - data.count(b"\xff\xda")) + data[end:]


def many_scans_of(count: int, extent: int, padding: int) -> bytes:
    data = many_scans(count)
    return patched(data, (data.index(b"\xff\xc2") + 5, struct.pack(">HH", extent, extent)), padding=padding)


def many_plain_scans(count: int) -> bytes:
    """A file without progression whose components come one by one, and the last again and again."""
    data = bytes(imagecodecs.jpeg8_encode(np.zeros((64, 64), np.uint8)))
    frame, scan = data.index(b"\xff\xc0"), data.index(b"\xff\xda")
    components = b"\x03" + b"".join(bytes([number, 0x11, 0]) for number in (1, 2, 3))
    head = data[:frame] + b"\xff\xc0\0\x11" + data[frame + 4 : frame + 9] + components
    body = data[frame + 2 + 11 : scan]
    scans = [data[scan:-2].replace(b"\xff\xda\0\x08\1\1", b"\xff\xda\0\x08\1" + bytes([n]), 1) for n in (1, 2, 3)]
    return head + body + scans[0] + scans[1] + scans[2] * (count - 2) + b"\xff\xd9"


def flac_of(frames: int) -> bytes:
    out = io.BytesIO()
    soundfile.write(out, np.zeros((4096, 2), np.int16), 44100, format="FLAC")
    data = out.getvalue()
    field = int.from_bytes(data[18:26], "big") >> 36 << 36  # rate, channels and bits stand before the frames
    return patched(data, (18, (field | frames).to_bytes(8, "big")))
