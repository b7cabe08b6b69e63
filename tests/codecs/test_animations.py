"""Animations: GIF, WebP and PNG, frame by frame, against Pillow, and against rules where Pillow has its own."""

import io
import struct
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageSequence

import avida

from .decoding import as_input, decode
from .files import (
    GRAY,
    HEIGHT,
    INDICES,
    PALETTE,
    RGB,
    RGBA,
    WIDTH,
    all_files,
    gif_control,
    gif_files,
    gif_of,
    gif_picture,
    pillow,
    png_chunk,
    png_files,
    waves,
    webp_files,
)

ANIMATIONS = {
    "gif": gif_files()["animated"],
    "gif_disposals": gif_files()["disposals"],
    "gif_waves": gif_files()["waves"],
    "png": png_files()["animated"],
    "webp": webp_files()["animated"],
}


def frames_of(data: bytes, frames: object = True, **options: object) -> np.ndarray:
    images = avida.decoders.image(as_input(data), frames=frames, **options)
    assert images.layout == "FHWC"
    return np.asarray(images)


def composed(data: bytes) -> np.ndarray:
    image = Image.open(io.BytesIO(data))
    return np.stack([np.asarray(frame.convert("RGBA")) for frame in ImageSequence.Iterator(image)])


def without_hidden(rgba: np.ndarray) -> np.ndarray:
    """What is transparent has no colour."""
    return np.where(rgba[..., 3:] > 0, rgba, 0)


@pytest.mark.parametrize("name", ANIMATIONS)
def test_frames_are_those_of_pillow(name: str) -> None:
    data, expected = ANIMATIONS[name], composed(ANIMATIONS[name])
    assert len(expected) > 1
    assert avida.decoders.image_info(data).frames == len(expected)
    got = frames_of(data, output_type=avida.types.ANY_DATA)
    if got.shape[-1] == 4:
        np.testing.assert_array_equal(without_hidden(got), without_hidden(expected))
    else:
        np.testing.assert_array_equal(got, expected[..., :3])
    np.testing.assert_array_equal(frames_of(data), without_hidden(expected)[..., :3])


@pytest.mark.parametrize("name", ANIMATIONS)
def test_chosen_frames(name: str) -> None:
    data, everything = ANIMATIONS[name], frames_of(ANIMATIONS[name])
    for chosen in ([0], [1], [1, 0, 1], []):
        np.testing.assert_array_equal(frames_of(data, chosen), everything[chosen])
    np.testing.assert_array_equal(frames_of(data, 1), everything[[1]])
    for wrong in ([len(everything)], [-1]):
        with pytest.raises(RuntimeError, match=f"expected frames from 0 to {len(everything) - 1}, got {wrong[0]}"):
            frames_of(data, wrong)


def test_batches() -> None:
    files = avida.as_batch([as_input(ANIMATIONS["gif"]), as_input(ANIMATIONS["png"]), as_input(pillow(RGB, "BMP"))])
    images = avida.decoders.image(files, frames=True)
    assert [image.shape for image in images.tensors] == [(3, *RGB.shape), (2, *RGB.shape), (1, *RGB.shape)]
    varying = avida.decoders.image(files, frames=avida.batch([[2, 0], [1, 1], [0, 0]]))
    np.testing.assert_array_equal(np.asarray(varying.tensors[0]), np.asarray(images.tensors[0])[[2, 0]])
    cropped = avida.crop(images, crop=[4, 5])
    assert [image.shape[1:] for image in cropped.tensors] == [(4, 5, 3)] * 3


def test_other_types_and_colors() -> None:
    data = ANIMATIONS["gif"]
    rgb = frames_of(data)
    np.testing.assert_array_equal(frames_of(data, output_type="bgr"), rgb[..., ::-1])
    np.testing.assert_array_equal(frames_of(data, dtype=avida.uint16), rgb.astype(np.uint16) * 257)
    assert frames_of(data, output_type="gray").shape == (*rgb.shape[:3], 1)


def test_wrong_requests() -> None:
    with pytest.raises((RuntimeError, ValueError), match="expected True, for all frames"):
        avida.decoders.image(as_input(ANIMATIONS["gif"]), frames=False)
    with pytest.raises(RuntimeError, match="expected frames or reduce_to"):
        avida.decoders.image(as_input(ANIMATIONS["gif"]), frames=True, reduce_to=5)
    empty = avida.decoders.image(avida.as_batch([as_input(b"GIF89a")]), frames=True, on_error="placeholder")
    assert empty.tensors[0].shape == (0, 0, 0, 3)


# --- GIF ---


def test_gif_pixels() -> None:
    files = gif_files()
    colors = PALETTE[INDICES]
    for name in ("palette", "interlaced"):
        np.testing.assert_array_equal(decode(files[name], "RGB"), colors)
    np.testing.assert_array_equal(decode(files["gray"], "RGB")[..., 0], GRAY)
    transparent = decode(files["transparent"])
    np.testing.assert_array_equal(transparent[..., 3], np.where(INDICES == 3, 0, 255))
    np.testing.assert_array_equal(transparent[..., :3], np.where(INDICES[..., None] == 3, 0, colors))
    small = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    small[3:9, 4:13] = np.dstack([colors[:6, :9], np.full((6, 9), 255, np.uint8)])
    np.testing.assert_array_equal(decode(files["small"]), small)
    np.testing.assert_array_equal(decode(files["outside"], "RGB")[5:, 9:], colors[: HEIGHT - 5, : WIDTH - 9])
    for name in ("rgb", "own_palette", "waves"):
        np.testing.assert_array_equal(decode(files[name]), composed(files[name])[0])


def test_large_gif_uses_codes_of_all_lengths() -> None:
    noise = np.random.default_rng(3).integers(0, 256, (200, 300), np.uint8)
    for picture in (noise, waves(200, 300, 1)[..., 0], np.zeros((200, 300), np.uint8)):
        np.testing.assert_array_equal(decode(pillow(picture, "GIF"), "RGB")[..., 1], picture)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gif_files()["palette"][:100], "ends at byte"),
        (gif_of(), "expected a picture"),
        (
            gif_of(gif_picture(INDICES[:5], 0, 0).replace(struct.pack("<HH", WIDTH, 5), struct.pack("<HH", WIDTH, 6))),
            "data ends after 110",
        ),
        (gif_of(b"?"), "expected an image or an extension"),
        (gif_of(gif_control(0)), "expected a picture"),
    ],
    ids=["cut", "none", "short", "block", "control"],
)
def test_broken_gif(data: bytes, message: str) -> None:
    with pytest.raises(RuntimeError, match=f"GIF: .*{message}|{message}"):
        decode(data)


def test_gif_without_its_trailer() -> None:
    np.testing.assert_array_equal(decode(gif_files()["palette"][:-1], "RGB"), PALETTE[INDICES])


# --- PNG ---


def apng(canvas: np.ndarray, frames: list[tuple[np.ndarray, int, int, int, int]], hidden: bool = False) -> bytes:
    """Frames of pixels, y, x, disposal and blending; hidden: the first picture does not belong to them."""

    def rows(pixels: np.ndarray) -> bytes:
        return zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels))

    height, width = canvas.shape[:2]
    out = b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
    out += png_chunk(b"acTL", struct.pack(">II", len(frames), 0))
    if hidden:
        out += png_chunk(b"IDAT", rows(canvas))
    for i, (pixels, y, x, disposal, blending) in enumerate(frames):
        size = pixels.shape[1], pixels.shape[0]
        out += png_chunk(b"fcTL", struct.pack(">IIIIIHHBB", 2 * i, *size, x, y, 1, 10, disposal, blending))
        is_first = i == 0 and not hidden
        out += png_chunk(b"IDAT", rows(pixels)) if is_first else png_chunk(b"fdAT", struct.pack(">I", i) + rows(pixels))
    return out + png_chunk(b"IEND", b"")


def test_png_blends_and_disposes() -> None:
    small, whole = RGBA[:5, :7], RGBA
    frames = [(whole, 0, 0, 0, 0), (small, 2, 3, 2, 1), (small, 4, 1, 1, 0), (small, 3, 2, 0, 1)]
    got = frames_of(apng(whole, frames), output_type="any_data").astype(float)
    canvas = whole.astype(float)
    np.testing.assert_array_equal(got[0], canvas)
    for i, (pixels, y, x, disposal, blending) in enumerate(frames[1:], 1):
        shown, part = canvas.copy(), pixels.astype(float)
        window = shown[y : y + 5, x : x + 7]
        if blending:
            alpha, below = part[..., 3:] / 255, window[..., 3:] / 255 * (1 - part[..., 3:] / 255)
            total = np.where(alpha + below > 0, alpha + below, 1)
            colors = (part[..., :3] * alpha + window[..., :3] * below) / total
            window[...] = np.dstack([colors, (alpha + below) * 255])
        else:
            window[...] = part
        is_seen = shown[..., 3:] > 0
        assert np.abs(np.where(is_seen, got[i] - shown, 0)).max() <= 1
        if disposal == 0:
            canvas = shown
        elif disposal == 1:
            canvas = shown
            canvas[y : y + 5, x : x + 7] = 0
        # 2: what was there before


def test_png_with_a_picture_beside_the_animation() -> None:
    data = apng(RGBA, [(RGBA[::-1].copy(), 0, 0, 0, 0)], hidden=True)
    np.testing.assert_array_equal(decode(data), RGBA)
    np.testing.assert_array_equal(frames_of(data, output_type="any_data"), RGBA[None, ::-1])


def test_png_frames_outside_of_the_picture() -> None:
    with pytest.raises(RuntimeError, match="PNG: frame 1 lies outside of the picture"):
        frames_of(apng(RGBA, [(RGBA, 0, 0, 0, 0), (RGBA, 1, 0, 0, 0)]))


# --- all ---


def test_still_pictures_have_one_frame() -> None:
    for files in all_files().values():
        data = next(iter(files.values()))
        np.testing.assert_array_equal(frames_of(data, output_type="rgb"), decode(data, "RGB")[None])


def test_limit_of_memory() -> None:
    before = avida.decode_limits()
    data = pillow(
        np.zeros((100, 100), np.uint8),
        "GIF",
        save_all=True,
        append_images=[Image.new("L", (100, 100), i) for i in range(1, 99)],
    )
    try:
        avida.set_decode_limits(memory=1 << 20)
        assert frames_of(data, [5, 7]).shape == (2, 100, 100, 3)
        with pytest.raises(RuntimeError, match=r"avida.set_decode_limits\(memory=...\)"):
            frames_of(data)
    finally:
        avida.set_decode_limits(**before._asdict())


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_frames_of_gray_with_alpha_are_colors_with_alpha(dtype: type) -> None:
    pixels = np.arange(2 * 4 * 5, dtype=dtype).reshape(4, 5, 2) * 3
    file = io.BytesIO()
    tifffile.imwrite(file, pixels, photometric="minisblack", planarconfig="contig", extrasamples=["unassalpha"])
    options = {"output_type": avida.types.ANY_DATA, "dtype": np.dtype(dtype).name}
    made = avida.decoders.image(file.getvalue(), frames=True, **options)
    assert np.array_equal(np.asarray(made), pixels[None][..., [0, 0, 0, 1]])


def test_many_small_frames_in_any_order() -> None:
    file = gif_of(*(gif_picture(INDICES[i % 5 : i % 5 + 1, : 1 + i % 3], i % 4, i % 7) for i in range(300)))
    chosen = np.random.default_rng(0).permutation(300)
    made = decode(file, frames=chosen.tolist())
    whole = decode(file, frames=True)
    assert np.array_equal(made, whole[chosen])


def test_limit_of_work_counts_frames() -> None:
    file = webp_files()["animated"]
    limits = avida.decode_limits()
    avida.set_decode_limits(work=5000)
    try:
        with pytest.raises(RuntimeError, match="at most 5000 steps"):
            decode(file, frames=True)
    finally:
        avida.set_decode_limits(**limits._asdict())
