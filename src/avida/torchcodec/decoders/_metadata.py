"""What the decoders know of their streams, with torchcodec's names of fields."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np

from avida.decoders._media_info import StreamInfo, stream_info


@dataclasses.dataclass(repr=False)
class StreamMetadata:
    """What all streams have. Fields that the file does not tell are None.

    Attributes:
        duration_seconds_from_header: How long the stream lasts, as its header says.
        begin_stream_seconds_from_header: When it begins on the clock of the file, as its header says.
        bit_rate: Bits per second.
        codec: The name of the codec.
        stream_index: The number of the stream, among all streams of the file.
        duration_seconds: How long it lasts: as its packets say where they were read.
        begin_stream_seconds: When it begins: as its packets say where they were read.

    """

    duration_seconds_from_header: float | None
    begin_stream_seconds_from_header: float | None
    bit_rate: float | None
    codec: str | None
    stream_index: int
    duration_seconds: float | None
    begin_stream_seconds: float | None

    def __repr__(self) -> str:
        lines = [f"  {field.name}: {getattr(self, field.name)}" for field in dataclasses.fields(self)]
        return "\n".join([f"{type(self).__name__}:", *lines]) + "\n"


@dataclasses.dataclass(repr=False)
class VideoStreamMetadata(StreamMetadata):
    """Of a video.

    Attributes:
        begin_stream_seconds_from_content: When the first frame is shown.
        end_stream_seconds_from_content: When the last frame ends.
        width: Columns of frames, upright.
        height: Rows of frames, upright.
        num_frames_from_header: The number of frames, as the header says.
        num_frames_from_content: The number of frames, as the packets say.
        average_fps_from_header: Frames per second, as the header says.
        pixel_aspect_ratio: The width of a pixel over its height.
        rotation: Degrees counterclockwise by which the file wants frames turned, which they are.
        color_primaries: The primaries of colours.
        color_space: The matrix of colours.
        color_transfer_characteristic: The transfer function.
        pixel_format: The format of pixels, as FFmpeg has it.
        end_stream_seconds: When the last frame ends.
        num_frames: The number of frames.
        average_fps: Frames per second.

    """

    begin_stream_seconds_from_content: float | None
    end_stream_seconds_from_content: float | None
    width: int | None
    height: int | None
    num_frames_from_header: int | None
    num_frames_from_content: int | None
    average_fps_from_header: float | None
    pixel_aspect_ratio: Fraction | None
    rotation: float | None
    color_primaries: str | None
    color_space: str | None
    color_transfer_characteristic: str | None
    pixel_format: str | None
    end_stream_seconds: float | None
    num_frames: int | None
    average_fps: float | None


@dataclasses.dataclass(repr=False)
class AudioStreamMetadata(StreamMetadata):
    """Of sound.

    Attributes:
        sample_rate: Samples per second.
        num_channels: The number of channels.
        sample_format: The format of samples, as FFmpeg has it.

    """

    sample_rate: int | None
    num_channels: int | None
    sample_format: str | None


def _common(info: StreamInfo) -> dict[str, Any]:
    return {
        "duration_seconds_from_header": info.duration,
        "begin_stream_seconds_from_header": info.begin,
        "bit_rate": info.bit_rate,
        "codec": info.codec,
        "stream_index": info.number,
    }


def video_metadata(opened: Any, begins: np.ndarray, durations: np.ndarray) -> VideoStreamMetadata:
    found = opened.info()["streams"][opened.stream]
    info = stream_info(found)
    begin, end = float(begins[0]), float((begins + durations).max())
    height, width = opened.extents(True)
    fps = float(info.average_rate) if info.average_rate else None
    return VideoStreamMetadata(
        **_common(info),
        duration_seconds=end - begin,
        begin_stream_seconds=begin,
        begin_stream_seconds_from_content=begin,
        end_stream_seconds_from_content=end,
        width=width,
        height=height,
        num_frames_from_header=info.frames,
        num_frames_from_content=len(begins),
        average_fps_from_header=fps,
        pixel_aspect_ratio=info.pixel_aspect,
        rotation=found["displayed"],
        color_primaries=info.primaries or None,
        color_space=info.matrix or None,
        color_transfer_characteristic=info.transfer or None,
        pixel_format=info.format or None,
        end_stream_seconds=end,
        num_frames=len(begins),
        average_fps=len(begins) / (end - begin) if end > begin else fps,
    )


def audio_metadata(opened: Any) -> AudioStreamMetadata:
    media = opened.info()
    info = stream_info(media["streams"][opened.stream])
    return AudioStreamMetadata(
        **_common(info),
        duration_seconds=media["duration"] if info.duration is None else info.duration,
        begin_stream_seconds=info.begin or 0.0,
        sample_rate=opened.rate,
        num_channels=opened.channels,
        sample_format=info.format or None,
    )
