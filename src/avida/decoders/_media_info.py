"""video_info: what films and sound files say of themselves."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from fractions import Fraction
from typing import IO, Any, overload

import numpy as np
import numpy.typing as npt

from avida import _core
from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida._values.typing import SupportsArray, SupportsBuffer

Source = str | os.PathLike[str] | IO[bytes] | Tensor | SupportsArray | SupportsBuffer
"""The bytes of a file, its path or URL, or an open file object."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class StreamInfo:
    """What a file says of one of its streams. What it does not say is None or "".

    Attributes:
        number: The number by which ``stream`` of `decoders.video` and `decoders.audio` asks for it.
        kind: "video", "audio", "subtitle", "data" or "attachment".
        codec: The name of the codec, as FFmpeg has it, such as "h264" or "aac".
        profile: The profile of the codec, such as "High".
        language: The language of the stream, as three letters.
        begin: When the stream begins on the clock of the file, in seconds.
        duration: How long the stream lasts, in seconds.
        bit_rate: Bits per second.
        frames: The number of frames, as the header counts them.
        format: The format of pixels or samples, as FFmpeg has it, such as "yuv420p10le" or "fltp".
        bits: The bits of a channel.
        height: Rows of a frame as stored, before the rotation.
        width: Columns of a frame as stored.
        average_rate: Frames per second, on average.
        exact_rate: The lowest rate at which all times of the stream can be told, by FFmpeg's estimate.
        pixel_aspect: The width of a pixel over its height.
        matrix: The matrix of colours, such as "bt709".
        primaries: The primaries of colours, such as "bt2020".
        transfer: The transfer function, such as "bt709", "smpte2084" (PQ) or "arib-std-b67" (HLG).
        range: "full" or "limited".
        rotation: The degrees, 0, 90, 180 or 270, by which frames are turned clockwise to be upright.
        sample_rate: Samples per second.
        channels: The number of channels of sound.
        layout: The names of the channels, such as "stereo" or "5.1".

    """

    number: int
    kind: str
    codec: str
    profile: str = ""
    language: str = ""
    begin: float | None = None
    duration: float | None = None
    bit_rate: int | None = None
    frames: int | None = None
    format: str = ""
    bits: int | None = None
    height: int | None = None
    width: int | None = None
    average_rate: Fraction | None = None
    exact_rate: Fraction | None = None
    pixel_aspect: Fraction | None = None
    matrix: str = ""
    primaries: str = ""
    transfer: str = ""
    range: str = ""
    rotation: int = 0
    sample_rate: int | None = None
    channels: int | None = None
    layout: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class VideoInfo:
    """What a file says of itself, and of its best video stream.

    Attributes:
        container: The names that FFmpeg has for the container, such as "matroska,webm".
        duration: How long the video lasts, in seconds; of a file without video, how long the file does.
        fps: Frames per second, on average.
        num_frames: The number of frames that `decoders.video` gives; from headers, if they say one.
        height: Rows of a frame that `decoders.video` gives, without ``adjust_orientation``.
        width: Columns of a frame.
        rotation: The degrees by which ``adjust_orientation`` turns frames clockwise.
        codec: The name of the video codec, as FFmpeg has it.
        video: All that is known of the best video stream.
        audio: All that is known of the best sound track.
        streams: All streams.
        times: With ``scan=True``, the times of the frames, in seconds after the first one.

    """

    container: str
    duration: float | None
    fps: float | None
    num_frames: int | None
    height: int | None
    width: int | None
    rotation: int
    codec: str
    video: StreamInfo | None
    audio: StreamInfo | None
    streams: tuple[StreamInfo, ...]
    times: npt.NDArray[np.float64] | None = dataclasses.field(default=None, compare=False, repr=False)


@overload
def video_info(files: Batch, /, *, scan: bool = False) -> list[VideoInfo]: ...  # pyright: ignore[reportOverlappingOverload] # Batches are arrays, too
@overload
def video_info(files: Source, /, *, scan: bool = False) -> VideoInfo: ...


def video_info(files: Batch | Source, /, *, scan: bool = False) -> VideoInfo | list[VideoInfo]:
    """Returns what films and sound files say of themselves, without decoding them.

    It waits for the bytes. Of a path, a URL or a file object, only what is needed is read.

    Args:
        files: The bytes of a file, a Batch of files, or the path, the URL or the file object of one.
        scan: Whether the packets are read too, which tells numbers and times of frames exactly. Otherwise the headers
            alone, and the beginnings that FFmpeg needs to know the streams, tell what they can.

    Raises:
        RuntimeError: A file is in no known format, is damaged, or has neither video nor sound.

    Example:
        >>> file = b"YUV4MPEG2 W4 H2 F25:1\\n" + (b"FRAME\\n" + bytes(range(16, 28))) * 5
        >>> info = avida.decoders.video_info(file, scan=True)
        >>> info.num_frames, info.fps, info.duration, info.height, info.width, info.codec
        (5, 25.0, 0.2, 2, 4, 'rawvideo')

    """
    if isinstance(files, Batch):
        return [_info(file, f"sample {i}: ", scan) for i, file in enumerate(files.tensors)]
    return _info(files, "", scan)


def opened(source: Source, operation: str, place: str = "") -> Any:
    """What the core opens: a name, bytes, or a file object."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    if hasattr(source, "read") and hasattr(source, "seek"):
        return source
    array = (
        np.frombuffer(source, np.uint8) if isinstance(source, bytes | bytearray | memoryview) else np.asarray(source)
    )
    if array.dtype != np.uint8 or array.ndim != 1:
        raise TypeError(
            f"{operation}: {place}expected the bytes of a file (uint8, one axis), a path, a URL or a file object, got "
            f"{array.dtype} with {array.ndim} axes"
        )
    return np.ascontiguousarray(array)


def core(name: str, operation: str) -> Any:
    """What only builds with FFmpeg have."""
    if not hasattr(_core, name):
        raise RuntimeError(f"{operation} needs FFmpeg, and this build of avida has none")
    return getattr(_core, name)


def stream_info(found: Mapping[str, Any]) -> StreamInfo:
    is_video, is_sound = found["kind"] == "video", found["kind"] == "audio"

    def fraction(name: str) -> Fraction | None:
        return Fraction(*found[name]) if found[name] else None

    return StreamInfo(
        number=found["number"],
        kind=found["kind"],
        codec=found["codec"],
        profile=found["profile"],
        language=found["language"],
        begin=found["begin"],
        duration=found["duration"],
        bit_rate=found["bit_rate"] or None,
        frames=found["frames"] or None,
        format=found["format"],
        bits=found["bits"] or None,
        height=found["height"] if is_video else None,
        width=found["width"] if is_video else None,
        average_rate=fraction("average_rate"),
        exact_rate=fraction("exact_rate"),
        pixel_aspect=fraction("pixel_aspect"),
        matrix=found["matrix"],
        primaries=found["primaries"],
        transfer=found["transfer"],
        range=found["range"],
        rotation=found["rotation"],
        sample_rate=found["rate"] if is_sound else None,
        channels=found["channels"] if is_sound else None,
        layout=found["layout"],
    )


def _info(file: Source, place: str, scan: bool) -> VideoInfo:
    source = opened(file, "decoders.video_info", place)
    try:
        found = core("media_info", "decoders.video_info")(source)
        video = core("OpenVideo", "decoders.video_info")(source) if scan and found["best_video"] >= 0 else None
    except RuntimeError as error:
        raise RuntimeError(f"decoders.video_info: {place}{error}") from None
    return video_info_of(found, video)


def video_info_of(found: Mapping[str, Any], scanned: Any) -> VideoInfo:
    streams = tuple(stream_info(stream) for stream in found["streams"])
    video = streams[found["best_video"]] if found["best_video"] >= 0 else None
    audio = streams[found["best_sound"]] if found["best_sound"] >= 0 else None
    duration = video.duration if video and video.duration is not None else found["duration"]
    frames = video.frames if video else None
    fps = float(video.average_rate) if video and video.average_rate else None
    times = None
    if scanned is not None:
        ticks, _, _, unit, duration = scanned.index()
        counted = np.frombuffer(ticks, np.int64)
        times, frames = (counted - counted[0]) * unit, len(counted)
        fps = frames / duration if duration > 0 else fps
    return VideoInfo(
        container=found["container"],
        duration=duration,
        fps=fps,
        num_frames=frames,
        height=video.height if video else None,
        width=video.width if video else None,
        rotation=video.rotation if video else 0,
        codec=video.codec if video else "",
        video=video,
        audio=audio,
        streams=streams,
        times=times,
    )
