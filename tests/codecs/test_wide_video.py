"""Videos of 10 and 12 bits as uint16 and floats, and high dynamic range as sRGB."""

import io
from fractions import Fraction
from typing import Any

import av
import numpy as np
import pytest

import avida
from tests.codecs.videos import WEIGHTS, X265, all_videos


def video(file: np.ndarray, **arguments) -> np.ndarray:
    return np.asarray(avida.decoders.video(file, **arguments))


def planes_of(file: np.ndarray) -> tuple[np.ndarray, int]:
    """Y, Cb and Cr of the first frame of a 4:4:4 video, and their bits."""
    with av.open(io.BytesIO(file.tobytes()), "r") as opened:
        frame: Any = next(opened.decode(video=0))
        dtype = np.uint16 if frame.format.components[0].bits > 8 else np.uint8
        planes = [np.frombuffer(plane, dtype).reshape(plane.height, -1)[:, : plane.width] for plane in frame.planes]
        return np.stack(planes, -1).astype(np.float64), frame.format.components[0].bits


def rgb_of(planes: np.ndarray, bits: int, matrix: str = "bt601") -> np.ndarray:
    """From 0 to 1, in limited range."""
    scale = 2 ** (bits - 8)
    y, cb, cr = (planes[..., 0] / scale - 16) / 219, *(planes[..., k] / scale / 224 - 128 / 224 for k in (1, 2))
    red, blue = WEIGHTS[matrix]
    r, b = y + 2 * (1 - red) * cr, y + 2 * (1 - blue) * cb
    return np.clip(np.stack([r, (y - red * r - blue * b) / (1 - red - blue), b], -1), 0, 1)


@pytest.mark.parametrize("name", ["hevc_444_12_bits.mp4", "h264_444_10_bits.mkv", "h264_444.mp4"])
def test_what_the_bits_hold(name):
    file = all_videos()[name]
    expected = rgb_of(*planes_of(file))
    np.testing.assert_allclose(video(file, dtype=avida.float32)[0], expected, atol=2e-5)
    np.testing.assert_allclose(video(file, dtype=avida.uint16)[0], expected * 65535, atol=2)


@pytest.mark.parametrize("name", all_videos())
def test_they_agree_with_8_bits(name):
    file = all_videos()[name]
    bytes_of = video(file, num_frames=2).astype(np.float64)
    full = "full" in name and "10" in name
    floats = video(file, num_frames=2, dtype=avida.float32)
    np.testing.assert_allclose(floats * 255, bytes_of, atol=1.6 if full else 0.6)
    np.testing.assert_allclose(video(file, num_frames=2, dtype=avida.uint16) / 257, bytes_of, atol=1.6 if full else 0.6)


def hdr(transfer: int, colors: np.ndarray) -> np.ndarray:
    """A video of one frame of 4:4:4 and 10 bits, whose planes are `colors`: (columns, 3) codes."""
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as output:
        options = {"x265-params": X265["x265-params"] + f":lossless=1:transfer={transfer}:colorprim=9:colormatrix=9"}
        stream: Any = output.add_stream("libx265", rate=25, options=options)
        stream.width, stream.height, stream.pix_fmt = 8 * len(colors), 64, "yuv444p10le"
        codec = stream.codec_context
        codec.color_primaries, codec.color_trc, codec.colorspace, codec.color_range = 9, transfer, 9, 1
        frame = av.VideoFrame(8 * len(colors), 64, "yuv444p10le")
        for k, plane in enumerate(frame.planes):
            rows = np.zeros((64, plane.line_size // 2), np.uint16)
            rows[:, : 8 * len(colors)] = np.repeat(colors[:, k], 8)
            plane.update(rows.tobytes())
        frame.pts, frame.time_base = 0, Fraction(1, 25)
        frame.color_primaries, frame.color_trc, frame.colorspace, frame.color_range = 9, transfer, 9, 1
        output.mux([*stream.encode(frame), *stream.encode(None)])
    return np.frombuffer(file.getvalue(), np.uint8)


PQ, HLG, SDR = 16, 18, 14
GRAYS = [(64, 512, 512), (200, 512, 512), (400, 512, 512), (500, 512, 512), (700, 512, 512), (940, 512, 512)]
COLORS = np.array([*GRAYS, (400, 450, 600), (500, 600, 480), (300, 520, 700), (600, 400, 560)])


def light_of(transfer: int, rgb: np.ndarray) -> np.ndarray:
    """Of a display: 1 is the white of SDR, 203 cd/m2."""
    if transfer == SDR:
        return rgb**2.4
    if transfer == PQ:
        power = rgb ** (32 / 2523)
        return 10000 / 203 * (np.maximum(power - 107 / 128, 0) / (2413 / 128 - 2392 / 128 * power)) ** (16384 / 2610)
    a, b, c = 0.17883277, 0.28466892, 0.55991073
    scene = np.where(rgb <= 0.5, rgb**2 / 3, (np.exp((rgb - c) / a) + b) / 12)
    return 1000 / 203 * scene * (scene @ [0.2627, 0.678, 0.0593])[..., None] ** 0.2


def shown(transfer: int, rgb: np.ndarray) -> np.ndarray:
    """As the guide has it: the knee at three quarters, BT.709's primaries, sRGB."""
    light = light_of(transfer, rgb)
    if transfer != SDR:
        most = np.maximum(light.max(-1, keepdims=True), 1e-9)
        x, w = (np.minimum(most, 1000 / 203) - 0.75) / 0.25, (1000 / 203 - 0.75) / 0.25
        light = light * np.where(most <= 0.75, 1, (0.75 + 0.25 * x * (1 + x / w**2) / (1 + x)) / most)
    matrix = [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]]
    light = np.clip(light @ np.array(matrix).T, 0, 1)
    if transfer == SDR:
        return light ** (1 / 2.4)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("transfer", [PQ, HLG, SDR])
def test_tone_mapping(transfer):
    file = hdr(transfer, COLORS)
    info = avida.decoders.video_info(file).video
    assert info
    assert (info.primaries, info.matrix, info.bits) == ("bt2020", "bt2020nc", 10)
    expected = shown(transfer, rgb_of(COLORS.astype(float), 10, "bt2020"))
    found = video(file, tone_map=True, dtype=avida.float32)[0, 30, 4::8]
    np.testing.assert_allclose(found, expected, atol=2e-3)
    np.testing.assert_allclose(video(file, tone_map=True)[0, 30, 4::8], expected * 255, atol=1)
    grays = found[:6]
    assert (np.diff(grays.mean(-1)) >= 0).all()
    np.testing.assert_allclose(grays - grays.mean(-1, keepdims=True), 0, atol=1e-3)


def test_other_videos_stay_as_they_are():
    file = all_videos()["h264_10_bits.mp4"]
    np.testing.assert_array_equal(
        video(file, tone_map=True, dtype=avida.uint16), video(file, color_matrix="file", dtype=avida.uint16)
    )


def test_fill_values():
    file = all_videos()["one_frame.mp4"]
    padding = {"sequence_length": 2, "pad_mode": "constant", "fill_value": [255, 0, 51]}
    assert video(file, dtype=avida.uint16, **padding)[1, 0, 0].tolist() == [65535, 0, 13107]
    np.testing.assert_allclose(video(file, dtype=avida.float32, **padding)[1, 0, 0], [1, 0, 0.2])
