"""Small videos for the tests, written by PyAV, and what PyAV makes of them."""

import io
import pathlib
import struct
from fractions import Fraction
from functools import cache
from typing import Any

import av
import numpy as np

WEIGHTS = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


def picture(number: int, height: int, width: int) -> np.ndarray:
    """Gradients, and a box that moves from frame to frame."""
    y, x = np.mgrid[:height, :width]
    image = np.stack([(x * 4 + number * 8) % 256, (y * 5 + number * 3) % 256, ((x + y) * 3 + number * 11) % 256], -1)
    image[5:20, (2 * number) % width : (2 * number) % width + 10] = [255 * (number % 2), 40, 255 - 10 * number % 256]
    return image.astype(np.uint8)


def encoded(
    codec: str = "libvpx-vp9",
    container: str = "webm",
    frames: int = 20,
    size: tuple[int, int] = (48, 64),
    pixels: str = "yuv420p",
    gop: int = 6,
    times: list[int] | None = None,
    options: dict[str, str] | None = None,
    colorspace: int | None = None,
    color_range: int | None = None,
    audio: bool = False,
) -> np.ndarray:
    """The bytes of a video of 25 frames per second, or with a frame at each of ``times``, in 25ths of a second."""
    height, width = size
    file = io.BytesIO()
    with av.open(file, "w", format=container) as output:
        stream: Any = output.add_stream(codec, rate=25, options=options or {})
        stream.width, stream.height, stream.pix_fmt, stream.gop_size = width, height, pixels, gop
        if colorspace is not None:
            stream.codec_context.colorspace = colorspace
        if color_range is not None:
            stream.codec_context.color_range = color_range
        if audio:
            sound: Any = output.add_stream("aac", rate=8000)
            silence = av.AudioFrame.from_ndarray(np.zeros((1, 4000), np.float32), format="fltp", layout="mono")
            silence.sample_rate = 8000
            for packet in [*sound.encode(silence), *sound.encode(None)]:
                output.mux(packet)
        for i in range(frames):
            frame = av.VideoFrame.from_ndarray(picture(i, height, width), format="rgb24")
            frame = frame.reformat(format=pixels, dst_colorspace=colorspace, dst_color_range=color_range)
            frame.pts, frame.time_base = i if times is None else times[i], Fraction(1, 25)
            for packet in stream.encode(frame):
                output.mux(packet)
        for packet in stream.encode(None):
            output.mux(packet)
    return np.frombuffer(file.getvalue(), np.uint8)


def remuxed(file: np.ndarray, container: str, skip: int = 0, later: int = 0) -> np.ndarray:
    """The same packets in another container: without the first ones, or with only what is shown ``later`` frames on.

    What is shown before time 0 is hidden by an edit list in MP4.
    """
    copy = io.BytesIO()
    with av.open(io.BytesIO(file.tobytes()), "r") as video, av.open(copy, "w", format=container) as output:
        source = video.streams.video[0]
        stream = output.add_stream_from_template(source, opaque=True)
        for packet in list(video.demux(source))[skip:-1]:
            shift = round(later / (25 * source.time_base))
            packet.pts, packet.dts, packet.stream = packet.pts - shift, packet.dts - shift, stream
            output.mux(packet)
    return np.frombuffer(copy.getvalue(), np.uint8)


def rotated(file: np.ndarray, degrees: int) -> np.ndarray:
    """An MP4 file with the note that it is to be shown rotated clockwise, as phones make it."""
    data = bytearray(file.tobytes())
    matrix = data.index(b"tkhd") + 44
    cosine, sine = {90: (0, 1), 180: (-1, 0), 270: (0, -1)}[degrees]
    values = [cosine, sine, 0, -sine, cosine, 0, 0, 0]
    data[matrix : matrix + 36] = struct.pack(">9i", *(value << 16 for value in values), 1 << 30)
    return np.frombuffer(bytes(data), np.uint8)


def two_streams() -> np.ndarray:
    """Sound, a video, and a smaller video of fewer frames, as some cameras make it."""
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as output:
        sound: Any = output.add_stream("aac", rate=8000)
        videos: list[Any] = [output.add_stream("libx264", rate=25, options=X264) for _ in range(2)]
        for video, (height, width) in zip(videos, [(48, 64), (24, 32)], strict=True):
            video.width, video.height, video.pix_fmt, video.gop_size = width, height, "yuv420p", 6
        silence = av.AudioFrame.from_ndarray(np.zeros((1, 4000), np.float32), format="fltp", layout="mono")
        silence.sample_rate = 8000
        output.mux([*sound.encode(silence), *sound.encode(None)])
        for i in range(20):
            for video in videos[: 2 if i % 2 == 0 else 1]:
                image = av.VideoFrame.from_ndarray(picture(i, video.height, video.width), format="rgb24")
                image.pts, image.time_base = i, Fraction(1, 25)
                output.mux(video.encode(image))
        for video in videos:
            output.mux(video.encode(None))
    return np.frombuffer(file.getvalue(), np.uint8)


def decoded(file: np.ndarray, matrix: str = "bt601") -> np.ndarray:
    """All frames as RGB: the planes are PyAV's, the conversion is that of the product, in floats."""
    with av.open(io.BytesIO(file.tobytes()), "r") as video:
        return np.stack([_rgb(frame, matrix) for frame in video.decode(video=0)])


def times_of(file: np.ndarray) -> np.ndarray:
    """Of all frames, in seconds after the first."""
    with av.open(io.BytesIO(file.tobytes()), "r") as video:
        times = np.array([float(frame.time) for frame in video.decode(video=0)])
    return times - times[0]


def _rgb(frame: av.VideoFrame, matrix: str) -> np.ndarray:
    bits = frame.format.components[0].bits
    planes = [_plane(plane, bits) for plane in frame.planes[:3]]
    if frame.format.name.startswith("gbr"):
        return np.stack([planes[2], planes[0], planes[1]], -1).round().astype(np.uint8)
    luma = planes[0]
    cb, cr = (_stretched(plane, luma.shape) - 128 for plane in planes[1:])
    full = frame.format.name.startswith("yuvj") or frame.color_range == 2
    red, blue = WEIGHTS[matrix]
    if not full:
        luma, cb, cr = (luma - 16) * 255 / 219, cb * 255 / 224, cr * 255 / 224
    r, b = luma + 2 * (1 - red) * cr, luma + 2 * (1 - blue) * cb
    g = (luma - red * r - blue * b) / (1 - red - blue)
    return np.clip(np.stack([r, g, b], -1).round(), 0, 255).astype(np.uint8)


def _plane(plane: Any, bits: int) -> np.ndarray:
    rows = np.frombuffer(plane, np.uint16 if bits > 8 else np.uint8).reshape(plane.height, -1)
    return rows[:, : plane.width] / 2.0 ** (bits - 8)


def _stretched(plane: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    for axis, extent in enumerate(shape):
        at = (np.arange(extent) + 0.5) * plane.shape[axis] / extent - 0.5
        first = np.floor(at).astype(int)
        weight = np.expand_dims(at - first, 1 - axis)
        low, high = (plane.take(np.clip(first + k, 0, plane.shape[axis] - 1), axis) for k in (0, 1))
        plane = low * (1 - weight) + high * weight
    return plane


# Made once by encoded("libsvtav1", "mp4", frames=10, size=(64, 64)). In a process of root, that encoder gives the
# thread that calls it real-time priority: with it, a test run takes all of the machine.
AV1 = pathlib.Path(__file__).with_name("av1.mp4")
X264 = {"preset": "veryfast"}
X265 = {"x265-params": "log-level=none"}


@cache
def all_videos() -> dict[str, np.ndarray]:
    """One of each kind that the decoder has to read."""
    h264 = encoded("libx264", "mp4", options=X264)
    hevc = encoded("libx265", "mp4", options=X265)
    av1 = np.frombuffer(AV1.read_bytes(), np.uint8)
    return {
        "h264.mp4": h264,
        "h264.mov": encoded("libx264", "mov", options=X264),
        "h264.mkv": encoded("libx264", "matroska", options=X264),
        "h264.ts": encoded("libx264", "mpegts", options=X264),
        "h264.avi": encoded("libx264", "avi", options=X264),
        "h264_open_gop.mp4": encoded("libx264", "mp4", options={"x264-params": "open-gop=1:bframes=3"}),
        "h264_open_gop.ts": encoded("libx264", "mpegts", options={"x264-params": "open-gop=1:bframes=3"}),
        "h264_edit_list.mp4": remuxed(h264, "mp4", later=7),
        "h264_first_keyframe_missing.mp4": remuxed(h264, "mp4", skip=3),
        "h264_first_keyframe_missing.mkv": remuxed(h264, "matroska", skip=3),
        "h264_first_keyframe_missing.ts": remuxed(h264, "mpegts", skip=3),
        "h264_rotated.mp4": rotated(h264, 90),
        "h264_two_streams.mkv": two_streams(),
        "h264_no_keyframes.mp4": encoded("libx264", "mp4", gop=600, options=X264),
        "h264_intra_refresh.mkv": encoded("libx264", "matroska", options={"x264-params": "intra-refresh=1"}),
        "h264_10_bits.mp4": encoded("libx264", "mp4", pixels="yuv420p10le", options=X264),
        "h264_422.mp4": encoded("libx264", "mp4", pixels="yuv422p", options=X264),
        "h264_444.mp4": encoded("libx264", "mp4", pixels="yuv444p", options=X264),
        "h264_444_10_bits.mkv": encoded("libx264", "matroska", pixels="yuv444p10le", options=X264),
        "h264_full_range.mp4": encoded("libx264", "mp4", color_range=2, options=X264),
        "h264_gray.mp4": encoded("libx264", "mp4", pixels="gray", options=X264),
        "vp9_rgb.webm": encoded("libvpx-vp9", "webm", pixels="gbrp"),
        "h264_with_sound.mp4": encoded("libx264", "mp4", audio=True, options=X264),
        "h264_variable_rate.mp4": encoded("libx264", "mp4", times=[i * i + i for i in range(20)], options=X264),
        "hevc.mp4": hevc,
        "hevc.mov": remuxed(hevc, "mov"),
        "hevc.mkv": remuxed(hevc, "matroska"),
        "hevc.ts": remuxed(hevc, "mpegts"),
        "hevc_open_gop.mp4": encoded("libx265", "mp4", options={"x265-params": "log-level=none:open-gop=1:keyint=6"}),
        "hevc_422_10_bits.mp4": encoded("libx265", "mp4", pixels="yuv422p10le", options=X265),
        "hevc_444_12_bits.mp4": encoded("libx265", "mp4", pixels="yuv444p12le", options=X265),
        "hevc_10_bits.mkv": encoded("libx265", "matroska", pixels="yuv420p10le", options=X265),
        "vp8.webm": encoded("libvpx", "webm", options={"auto-alt-ref": "1", "lag-in-frames": "10"}),
        "vp8.mkv": encoded("libvpx", "matroska"),
        "vp9.webm": encoded("libvpx-vp9", "webm"),
        "vp9.mkv": encoded("libvpx-vp9", "matroska"),
        "vp9.mp4": encoded("libvpx-vp9", "mp4"),
        "av1.mp4": av1,
        "av1.mkv": remuxed(av1, "matroska"),
        "av1.webm": remuxed(av1, "webm"),
        "mpeg4.avi": encoded("mpeg4", "avi"),
        "mpeg4_b_frames.avi": encoded("mpeg4", "avi", options={"bf": "2"}),
        "mpeg4_b_frames.mp4": encoded("mpeg4", "mp4", options={"bf": "2"}),
        "mpeg4_b_frames.mkv": encoded("mpeg4", "matroska", options={"bf": "2"}),
        "mpeg4_b_frames.ts": encoded("mpeg4", "mpegts", options={"bf": "2"}),
        "mpeg4.mov": encoded("mpeg4", "mov"),
        "h263.avi": encoded("h263", "avi", size=(96, 128)),  # all packets claim to be keyframes
        "mpeg2.ts": encoded("mpeg2video", "mpegts", options={"bf": "2"}),
        "mjpeg.avi": encoded("mjpeg", "avi", pixels="yuvj420p"),
        "mjpeg.mov": encoded("mjpeg", "mov", pixels="yuvj422p"),
        "mjpeg.mkv": encoded("mjpeg", "matroska", pixels="yuvj444p"),
        "odd_size.webm": encoded("libvpx-vp9", "webm", size=(47, 63)),
        "one_frame.mp4": encoded("libx264", "mp4", frames=1, options=X264),
    }


@cache
def videos_by_container() -> dict[str, dict[str, bytes]]:
    """The same as bytes, by container and name."""
    found: dict[str, dict[str, bytes]] = {}
    for name, file in all_videos().items():
        found.setdefault("video_" + name.rpartition(".")[2], {})[name] = file.tobytes()
    return found
