"""Kernels decode ordinary JPEG files themselves: what they give back to the CPU would show in no result."""

import threading

import numpy as np
import pytest
from PIL import Image

import avida as ndd
from avida import _core
from tests.codecs import samples
from tests.codecs.samples import picture


def encoded(pixels: np.ndarray, **options: object) -> np.ndarray:
    return samples.encoded(pixels, "JPEG", **options)


def page(height: int, width: int, colour: int = 255) -> np.ndarray:
    """Lines of something like text, with wide margins."""
    made = np.full((height, width, 3), colour, np.uint8)
    letters = np.random.default_rng(9).integers(0, 2, (height // 4, width // 4, 1), np.uint8) * 255
    for top in range(height // 8, height - height // 4, 48):
        rows = slice(top, top + 24)
        made[rows, width // 8 : -width // 3] = letters.repeat(4, 0).repeat(4, 1)[rows, width // 8 : -width // 3]
    return made


def decoded(files: list[np.ndarray], **options: object) -> int:
    """How many of the files kernels decode; all have the bits of the CPU."""
    before = _core.testing.gpu_jpeg_decodes()
    got = ndd.decoders.image(ndd.batch(files), device="gpu", **options).evaluate().cpu()
    count = _core.testing.gpu_jpeg_decodes() - before
    for i, (file, image) in enumerate(zip(files, got, strict=True)):
        expected = ndd.decoders.image(file, device="cpu", **options)
        np.testing.assert_array_equal(np.asarray(image), np.asarray(expected), err_msg=f"file {i}")
    return count


@pytest.mark.parametrize(
    "options", [{}, {"optimize": True}, {"restart_marker_blocks": 25}], ids=["", "codes", "restarts"]
)
@pytest.mark.parametrize("subsampling", range(3))
def test_ordinary_files(subsampling, options):
    files = [
        encoded(picture(height, width), subsampling=subsampling, quality=quality, **options)
        for height, width in ((1, 1), (33, 200), (240, 321), (600, 811))
        for quality in (30, 75, 95)
    ]
    assert decoded(files) == len(files)


@pytest.mark.parametrize("subsampling", range(3))
def test_many_restart_markers(subsampling):
    """Each interval is a segment of its own; small files, since each costs a thread block."""
    sizes = ((1, 1), (33, 200), (240, 321))
    files = [encoded(picture(*size), subsampling=subsampling, quality=95, restart_marker_blocks=3) for size in sizes]
    assert decoded(files) == len(files)


@pytest.mark.parametrize("output_type", ["RGB", "BGR"])
def test_edges_of_items(output_type):
    """An item is 16 pixels of two rows; beyond the image the planes contain samples that must not be used."""
    widths = [5, 7, 8, 15, 16, 17, 18, 20, 28, 31, 32, 33, 34, 36, 47, 48, 52, 60, 64, 68, 71]
    files = [encoded(picture(height, width), quality=95) for width in widths for height in (1, 2, 17, 34)]
    assert decoded(files, output_type=getattr(ndd.types, output_type)) == len(files)


@pytest.mark.parametrize("size", [(35, 68), (34, 71), (48, 64)])
def test_windows(size):
    file = encoded(picture(*size), quality=95)
    for y, x in ((0, 0), (0, 16), (2, 32), (1, 3), (16, 15), (7, 17), (33, 50), size):
        for shape in ([1, 1], [2, 4], [13, 16], [0, 5], [5, 0], [size[0] - y, size[1] - x]):
            inside = [min(shape[0], size[0] - y), min(shape[1], size[1] - x)]
            part = {"start": [y, x], "shape": inside, "axes": [0, 1]}
            got, expected = (ndd.decoders.image_slice(file, device=device, **part).cpu() for device in ("gpu", "cpu"))
            np.testing.assert_array_equal(np.asarray(got), np.asarray(expected), err_msg=str(part))


def test_progressive_files():
    """Threads read their coefficients, kernels do the rest."""
    sizes = [(1, 1), (33, 200), (240, 321), (7, 50), (1200, 1500)]
    files = [encoded(picture(*size), subsampling=n, progressive=True) for size in sizes for n in range(3)]
    files.append(encoded(picture(33, 200)[..., 0], progressive=True))
    assert decoded(files) == len(files)
    assert decoded(files, output_type=ndd.types.GRAY) == len(files)
    broken = files[7][: len(files[7]) // 2]
    with pytest.raises(RuntimeError):
        ndd.decoders.image(ndd.batch([files[0], broken]), device="gpu").evaluate()


@pytest.mark.parametrize("output_type", ["RGB", "BGR", "GRAY", "ANY_DATA"])
def test_gray_files_and_results(output_type):
    files = [encoded(picture(*size)[..., 0]) for size in ((1, 1), (33, 200), (240, 321))]
    if output_type != "ANY_DATA":
        files += [encoded(picture(97, 131), subsampling=subsampling) for subsampling in range(3)]
    assert decoded(files, output_type=getattr(ndd.types, output_type)) == len(files)


@pytest.mark.parametrize("orientation", range(2, 9))
def test_turned_files(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    files = [encoded(picture(height, width), exif=exif) for height, width in ((40, 57), (64, 31), (1, 9))]
    files.append(encoded(picture(33, 50)[..., 0], exif=exif))
    assert decoded(files) == len(files)
    part = {"start": [3, 5], "shape": [11, 13], "axes": [0, 1]}
    got, expected = (ndd.decoders.image_slice(files[0], device=device, **part).cpu() for device in ("gpu", "cpu"))
    np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))


@pytest.mark.parametrize(
    "options", [{}, {"subsampling": 0, "quality": 95}, {"restart_marker_rows": 40}], ids=["", "444", "restarts"]
)
def test_files_that_thread_blocks_share(options):
    files = [encoded(picture(1100, 1300), **({"quality": 90} | options)) for _ in range(2)]
    assert len(files[0]) > 300_000
    assert decoded(files) == len(files)


@pytest.mark.parametrize("optimize", [False, True])
def test_pages(optimize):
    """Blocks without coefficients, among which decoders do not synchronise."""
    flat = np.full((1600, 1100, 3), 255, np.uint8)
    files = [encoded(page(1600, 1100), subsampling=subsampling, optimize=optimize) for subsampling in range(3)]
    files += [encoded(pixels, optimize=optimize) for pixels in (flat, flat[..., 0], flat // 3, page(900, 2000)[..., 1])]
    assert decoded(files) == len(files)


def test_stretches_that_only_look_empty():
    """Tiles repeat as empty blocks do, and a page that continues in another colour is not flat."""
    tiles = np.tile(picture(16, 16), (40, 50, 1))
    steps = np.repeat(np.arange(8, dtype=np.uint8) * 30, 64)[None, :, None].repeat(512, 0).repeat(3, 2)
    files = [encoded(image, optimize=optimize) for image in (tiles, steps) for optimize in (False, True)]
    assert decoded(files) == len(files)


def test_broken_and_unusual_files_are_given_back():
    good = encoded(picture(97, 131))
    before = _core.testing.gpu_jpeg_decodes()
    for broken in (good[: len(good) // 2], np.concatenate([good[:-40], good[-20:]])):
        with pytest.raises(RuntimeError):
            ndd.decoders.image(broken, device="gpu").evaluate()
    assert _core.testing.gpu_jpeg_decodes() == before
    assert decoded([encoded(picture(97, 131), keep_rgb=True), good]) == 1


def test_bytes_after_the_image():
    """Phones append other images."""
    file = encoded(picture(600, 811), quality=95)
    assert decoded([np.concatenate([file, file, file])]) == 1


def test_contexts_decode_at_the_same_time():
    files = [encoded(picture(200 + 8 * i, 301), quality=90) for i in range(8)]
    expected = [np.asarray(ndd.decoders.image(file, device="cpu")) for file in files]
    wrong = []

    def run() -> None:
        with ndd.EvalContext(num_threads=2, device_id=0):
            for _ in range(5):
                got = ndd.decoders.image(ndd.batch(files), device="gpu").cpu()
                wrong.extend(i for i, image in enumerate(got) if not np.array_equal(np.asarray(image), expected[i]))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
