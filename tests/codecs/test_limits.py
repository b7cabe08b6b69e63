"""Files that would cost too much are refused at once, with their name and that of the limit."""

import multiprocessing
import struct
import subprocess
import sys
import textwrap

import imagecodecs
import numpy as np
import pytest

import avida

from . import bombs
from .decoding import as_input, decode, decode_part
from .files import all_files, pillow, tiff
from .sounds import encoded, noise

MIB = 1 << 20
# The limit that refuses each under the default limits. Decoding the first five once took 1 to 12 GB.
BOMBS = {
    "tiff": ("memory", bombs.tiff_of(16000, 16000, 250_000)),
    "jpeg2000": ("work", bombs.jpeg2000_of(16000, 16000, 60_000)),
    "jpeg2000_small_blocks": ("memory", bombs.jpeg2000_of(8000, 8000, 60_000, block_exponent=2)),
    "bmp": ("pixels", bombs.rle_bmp(30000, 30000, 900_000)),
    "progressive": ("work", bombs.progressive_jpeg(4000, 65500, 400_000)),
    "work": ("work", bombs.many_scans_of(90, 5000, 100_000)),
    "scans": ("scans", bombs.many_scans(490)),
    "plain_scans": ("scans", bombs.many_plain_scans(490)),
    "png": ("pixels", bombs.png_of(10000, 50000, 4_200_000)),
    "flac": ("memory", bombs.flac_of(2**34)),
}


@pytest.fixture
def limits():
    """Whatever a test sets is undone."""
    before = avida.decode_limits()
    yield avida.set_decode_limits
    avida.set_decode_limits(**before._asdict())


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(tmp_path, name: str) -> None:
    """In a process that could not get the memory, nor the time."""
    limit, data = BOMBS[name]
    file = tmp_path / f"{name}.bin"
    file.write_bytes(data)
    script = f"""
        import resource, sys
        import numpy as np
        import avida
        decode = avida.decoders.{"audio" if name == "flac" else "image"}
        data = avida.io.file.read(np.frombuffer({str(file)!r}.encode(), np.uint8)).evaluate()
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 256 * {MIB},) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        try:
            result = decode(data)
            (result[0] if isinstance(result, tuple) else result).evaluate()
        except RuntimeError as error:
            print(error)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert f"avida.set_decode_limits({limit}=...)" in ran.stdout
    assert f"{name}.bin" in ran.stdout


@pytest.mark.parametrize("name", ["scans", "plain_scans"])
def test_the_files_are_valid_otherwise(limits, name: str) -> None:
    limits(scans=490)
    assert decode(BOMBS[name][1], "RGB").shape == (64, 64, 3)
    limits(scans=489)
    with pytest.raises(RuntimeError, match="expected at most 489 scans, got 490"):
        decode(BOMBS[name][1], "RGB")


def test_ordinary_files_have_few_scans(limits) -> None:
    limits(scans=1)
    assert decode(all_files()["jpeg"]["420"]).shape == (40, 70, 3)
    with pytest.raises(RuntimeError, match=r"at most 1 scans, got \d+; avida.set_decode_limits\(scans=...\)"):
        decode(all_files()["jpeg"]["progressive"])


@pytest.mark.parametrize("format_name", all_files())
def test_limits_of_every_format(limits, format_name: str) -> None:
    """The same for all: nothing passes that exceeds what is set, everything passes that does not."""
    for name, data in all_files()[format_name].items():
        whole = decode(data, "RGB")
        height, width, _ = whole.shape
        limits(pixels=height * width)
        np.testing.assert_array_equal(decode(data, "RGB"), whole)
        limits(pixels=height * width - 1)
        with pytest.raises(RuntimeError, match=r"avida.set_decode_limits\(pixels=...\)"):
            decode(data, "RGB")
        limits(pixels=1 << 20, memory=whole.nbytes - 1)
        with pytest.raises(RuntimeError, match=r"avida.set_decode_limits\(memory=...\)"):
            decode(data, "RGB")
        limits(memory=20 * whole.nbytes + (1 << 20))
        np.testing.assert_array_equal(decode(data, "RGB"), whole, err_msg=name)
        limits(memory=4 << 30)


def test_a_part_needs_less_memory(limits) -> None:
    data = all_files()["tiff"]["tiles"]
    limits(memory=16 * 32 * 3 + 8 * 8 * 3)  # a tile and the part
    assert decode_part(data, (2, 2, 8, 8)).shape == (8, 8, 3)
    with pytest.raises(RuntimeError, match="memory"):
        decode(data)


def test_sound(limits) -> None:
    sound = encoded(noise(1000, 2))
    limits(memory=8000)
    assert avida.decoders.audio(sound)[0].shape == (1000, 2)
    limits(memory=7999)
    with pytest.raises(RuntimeError, match=r"avida.set_decode_limits\(memory=...\)"):
        avida.decoders.audio(sound)[0].evaluate()
    assert avida.decoders.audio(sound, dtype=avida.int16)[0].shape == (1000, 2)
    with pytest.raises(RuntimeError, match="memory"):  # a copy at the old rate, too
        avida.decoders.audio(sound, dtype=avida.int16, sample_rate=8000)[0].evaluate()


def test_placeholders(limits) -> None:
    """A refused file among others is like any bad one."""
    limits(pixels=40 * 70 - 1)
    batch = avida.as_batch([as_input(all_files()["jpeg"]["420"]), as_input(all_files()["png"]["rgb"])])
    images = avida.decoders.image(batch, on_error="placeholder")
    assert [image.shape[0] > 0 for image in images.tensors] == [False, True]


def test_settings(limits) -> None:
    assert avida.decode_limits() == (1 << 28, 100, 1 << 31, 4 << 30)
    limits(scans=np.int64(7))
    assert avida.decode_limits() == avida.DecodeLimits(pixels=1 << 28, scans=7, work=1 << 31, memory=4 << 30)
    for wrong in ({"pixels": 0}, {"scans": -1}, {"work": 0}, {"memory": 0}):
        with pytest.raises(ValueError, match="limits of at least 1"):
            limits(**wrong)
    with pytest.raises(TypeError):
        limits(memory="4G")
    assert avida.decode_limits().scans == 7


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_child_processes_inherit_the_limits(limits, method: str) -> None:
    limits(scans=11, memory=123 * MIB)
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply_async(avida.decode_limits).get(timeout=600) == avida.decode_limits()


def test_large_images_are_not_refused(limits) -> None:
    """What microscopes and satellites give passes the default limits, or higher ones: headers alone are read here."""
    for height, width in [(3000, 4000), (10980, 10980), (16384, 16384), (20000, 25000)]:
        if height * width > avida.decode_limits().pixels:
            limits(pixels=1 << 29)
        data = bombs.png_of(height, width, height * width * 8 // 1032)
        shape = np.asarray(avida.peek_image_shape(as_input(data)))
        assert tuple(shape) == (height, width, 3)


@pytest.mark.parametrize("kind", ["jpeg2000", "webp", "zstd", "group4"])
def test_uniform_pictures_are_small(kind: str) -> None:
    """Valid files of some hundred bytes: their formats have no least size of a pixel."""
    image = np.full((4000, 4000, 3), 77, np.uint8)
    if kind == "jpeg2000":
        data = imagecodecs.jpeg2k_encode(image, codecformat="j2k", level=0)
    elif kind == "webp":
        data = imagecodecs.webp_encode(image, lossless=True)
    elif kind == "zstd":
        data = tiff(image, compression="zstd", rowsperstrip=4000)
    else:
        image[...] = 255
        data = pillow(image[..., 0] > 0, "TIFF", compression="group4")
    assert len(data) < image.nbytes // 20_000
    assert np.array_equal(decode(data, "RGB"), image)


def test_work_of_scans(limits) -> None:
    """Pixels times scans."""
    data = bombs.many_scans(90)
    limits(work=90 * 64 * 64)
    assert decode(data, "RGB").shape == (64, 64, 3)
    limits(work=90 * 64 * 64 - 1)
    with pytest.raises(RuntimeError, match=r"got 4096 pixels of 90 steps; avida.set_decode_limits\(work=...\)"):
        decode(data, "RGB")


def test_work_of_jpeg2000(limits) -> None:
    data = all_files()["jpeg2000"]["rgb"]
    height, width, _ = decode(data, "RGB").shape
    limits(work=16 * height * width)
    decode(data, "RGB")
    limits(work=16 * height * width - 1)
    with pytest.raises(RuntimeError, match=r"avida.set_decode_limits\(work=...\)"):
        decode(data, "RGB")


def box(kind: bytes, content: bytes = b"") -> bytes:
    return struct.pack(">I4s", 8 + len(content), kind) + content


@pytest.mark.parametrize("inside", ["file", "moov", "udta", "large", "stsd", "meta"])
def test_boxes_of_videos(limits, inside: str) -> None:
    """Millions of empty boxes are refused before a library reads them one by one."""
    limits(work=4096 * 1000)
    many = box(b"free") * 1100
    data = {
        "file": many,
        "moov": box(b"moov", many),
        "udta": box(b"moov", box(b"udta", many)),
        "large": struct.pack(">I4sQ", 1, b"moov", 16 + len(many)) + many,
        "stsd": box(b"moov", box(b"trak", box(b"stsd", bytes(8) + box(b"avc1", bytes(78) + many)))),
        "meta": box(b"moov", box(b"meta", bytes(4) + many)),
    }[inside]
    file = box(b"ftyp", b"isom\0\0\2\0isom") + data
    with pytest.raises(RuntimeError, match=r"boxes of 4096 steps; avida.set_decode_limits\(work=...\)"):
        avida.decoders.video(as_input(file)).evaluate()
    limits(work=4096 * 3000)
    with pytest.raises(RuntimeError, match="expected a video"):
        avida.decoders.video(as_input(file)).evaluate()
