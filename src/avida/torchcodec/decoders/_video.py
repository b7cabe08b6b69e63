"""VideoDecoder, with torchcodec's name and arguments."""

from __future__ import annotations

import dataclasses
import json
import numbers
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import torch

from avida.torchcodec._frame import Frame, FrameBatch
from avida.torchcodec.decoders._metadata import video_metadata
from avida.torchcodec.decoders._source import Source, opened


@dataclasses.dataclass
class CpuFallbackStatus:
    """Whether the CPU decodes where a GPU was asked to.

    Attributes:
        status_known: Whether that is known.

    """

    status_known: bool = False
    _is_fallback: bool = False

    def __bool__(self) -> bool:
        return self.status_known and self._is_fallback

    def __str__(self) -> str:
        if not self._is_fallback:
            return "[CPU] Fallback status: No fallback required"
        return "[CUDA] Fallback status: Falling back: avida.torchcodec decodes on the CPU and copies frames to the GPU"


class VideoDecoder:
    """Decodes one video stream.

    It has the colours of torchcodec, by the matrix of the file, and turns frames upright. It keeps the file and its
    decoder open. Threads may share it.

    Args:
        source: A path or URL, the bytes of a file, also as a uint8 tensor, or a file object with read() and seek().
        stream_index: The number of the stream, among all streams of the file. Default: the best video.
        dimension_order: "NCHW", or "NHWC", which is how frames are decoded; the other is a view.
        num_ffmpeg_threads: So many threads decode; 0: as many as there are CPUs.
        device: Where frames are returned. They are decoded on the CPU; `cpu_fallback` says so.
        seek_mode: "exact", or "approximate", which is the same here: the packets of the file are read in both.
        transforms: Functions of frames (N, C, H, W), such as modules of torchvision.transforms.v2, in this order.
        custom_frame_mappings: A table of frames as JSON. It is checked, and not needed: the packets are read.

    Attributes:
        metadata: What is known of the stream: `VideoStreamMetadata`.
        stream_index: The number of the stream.

    Example:
        >>> file = b"YUV4MPEG2 W4 H2 F25:1\\n" + (b"FRAME\\n" + bytes(range(16, 28))) * 5
        >>> decoder = avida.torchcodec.decoders.VideoDecoder(file)
        >>> len(decoder), decoder[0].shape, decoder.get_frames_played_at([0.1]).pts_seconds.tolist()
        (5, torch.Size([3, 2, 4]), [0.08])

    """

    def __init__(
        self,
        source: Source,
        *,
        stream_index: int | None = None,
        dimension_order: Literal["NCHW", "NHWC"] = "NCHW",
        num_ffmpeg_threads: int = 1,
        device: str | torch.device | None = None,
        seek_mode: Literal["exact", "approximate"] = "exact",
        transforms: Sequence[Callable[[torch.Tensor], torch.Tensor]] | None = None,
        custom_frame_mappings: Any = None,
    ) -> None:
        if seek_mode not in ("exact", "approximate"):
            raise ValueError(f"Invalid seek mode ({seek_mode}). Supported values are exact, approximate.")
        if dimension_order not in ("NCHW", "NHWC"):
            raise ValueError(f"Invalid dimension order ({dimension_order}). Supported values are NCHW, NHWC.")
        if num_ffmpeg_threads is None:
            raise ValueError("num_ffmpeg_threads should be an int, got None")
        if custom_frame_mappings is not None:
            _check_mappings(custom_frame_mappings, seek_mode)
        self._device = torch.device(device) if device is not None else torch.get_default_device()
        self._transforms = list(transforms or [])
        self._channels_first = dimension_order == "NCHW"
        self._file = opened("OpenVideo", source, stream_index, num_ffmpeg_threads)
        times, durations, _, unit, _ = self._file.index()
        self._begins = _seconds(times, unit)
        self._durations = _durations(_seconds(durations, unit), self._begins)
        self.metadata = video_metadata(self._file, self._begins, self._durations)
        self.stream_index: int = self._file.stream

    @property
    def cpu_fallback(self) -> CpuFallbackStatus:
        """Whether the CPU decodes, although a GPU was asked to."""
        return CpuFallbackStatus(status_known=True, _is_fallback=self._device.type != "cpu")

    def __len__(self) -> int:
        return len(self._begins)

    def __getitem__(self, key: numbers.Integral | slice) -> torch.Tensor:
        """Returns the frame with a number, or frames of a slice."""
        if isinstance(key, slice):
            return self._pixels(range(*key.indices(len(self))))
        if isinstance(key, numbers.Integral):
            return self.get_frame_at(int(key)).data
        raise TypeError(f"Unsupported key type: {type(key)}. Supported types are int and slice.")

    def get_frame_at(self, index: int) -> Frame:
        """Returns the frame with a number; negative ones count from the end."""
        number = self._number(index)
        return Frame(self._pixels([number])[0], self._begins[number], self._durations[number])

    def get_frames_at(self, indices: torch.Tensor | Sequence[int]) -> FrameBatch:
        """Returns the frames with these numbers, in any order; they may repeat."""
        listed = indices.tolist() if isinstance(indices, torch.Tensor | np.ndarray) else list(indices)
        return self._batch([self._number(index) for index in listed])

    def get_frames_in_range(self, start: int, stop: int, step: int = 1) -> FrameBatch:
        """Returns the frames from ``start`` to before ``stop``, ``step`` apart."""
        return self._batch(list(range(*slice(start, stop, step).indices(len(self)))))

    def get_frame_played_at(self, seconds: float) -> Frame:
        """Returns the frame that is shown at a time: the last one that has begun."""
        return self.get_frame_at(self._played_at(seconds))

    def get_frames_played_at(self, seconds: torch.Tensor | Sequence[float]) -> FrameBatch:
        """Returns the frames that are shown at these times, in any order."""
        try:
            listed = torch.as_tensor(seconds, dtype=torch.float64).tolist()
        except (TypeError, ValueError) as error:
            raise ValueError(f"Couldn't convert timestamps input to a tensor: {error}") from None
        return self._batch([self._played_at(each) for each in listed])

    def get_frames_played_in_range(
        self, start_seconds: float, stop_seconds: float, fps: float | None = None
    ) -> FrameBatch:
        """Returns the frames that are shown between two times, or at a rate there.

        Args:
            start_seconds: The time on the clock of the file: the frame that is shown then is the first.
            stop_seconds: The time before which frames begin.
            fps: Frames per second: those that are shown at these times, with these times.

        """
        begin, end = self._begins[0], self.metadata.end_stream_seconds or 0.0
        if not start_seconds <= stop_seconds:
            raise ValueError(
                f"Invalid start seconds: {start_seconds}. It must be less than or equal to stop seconds "
                f"({stop_seconds})."
            )
        if not begin <= start_seconds < end:
            raise ValueError(
                f"Invalid start seconds: {start_seconds}. It must be greater than or equal to {begin} and less than or "
                f"equal to {end}."
            )
        if not stop_seconds <= end:
            raise ValueError(f"Invalid stop seconds: {stop_seconds}. It must be less than or equal to {end}.")
        if fps is not None:
            return self._at_rate(start_seconds, stop_seconds, fps)
        if start_seconds == stop_seconds:
            return self._batch([])
        stop = int(np.searchsorted(self._begins, stop_seconds, side="left"))
        return self._batch(list(range(self._played_at(start_seconds), stop)))

    def get_all_frames(self, fps: float | None = None) -> FrameBatch:
        """Returns all frames; at a rate, those that are shown at its times."""
        if fps is None:
            return self._batch(list(range(len(self))))
        return self._at_rate(self._begins[0], self.metadata.end_stream_seconds or 0.0, fps)

    def _at_rate(self, start: float, stop: float, fps: float) -> FrameBatch:
        if not fps > 0:
            raise RuntimeError(f"fps must be positive, got {fps}")
        times = start + np.arange(round((stop - start) * fps)) / fps
        numbers = np.clip(np.searchsorted(self._begins, times, side="right") - 1, 0, len(self) - 1)
        lasts = torch.full((len(times),), 1 / fps, dtype=torch.float64)
        return FrameBatch(self._pixels(numbers.tolist()), torch.from_numpy(times), lasts)

    def _number(self, index: int) -> int:
        count = len(self)
        number = operator.index(index)
        number += count if number < 0 else 0
        if number < 0:
            raise IndexError(
                f"Invalid frame index={number} for streamIndex={self.stream_index}; negative indices must have an "
                f"absolute value less than the number of frames, {count}"
            )
        if number >= count:
            raise IndexError(
                f"Invalid frame index={number} for streamIndex={self.stream_index}; must be less than {count}"
            )
        return number

    def _played_at(self, seconds: float) -> int:
        begin, end = self._begins[0], self.metadata.end_stream_seconds or 0.0
        if not begin <= seconds < end:
            raise IndexError(
                f"Invalid pts in seconds: {seconds}. It must be greater than or equal to {begin} and less than {end}."
            )
        return int(np.searchsorted(self._begins, seconds, side="right")) - 1

    def _batch(self, frames: list[int]) -> FrameBatch:
        begins, durations = self._begins[frames], self._durations[frames]
        return FrameBatch(self._pixels(frames), torch.from_numpy(begins), torch.from_numpy(durations))

    def _pixels(self, frames: Sequence[int]) -> torch.Tensor:
        height, width = self._file.extents(True)
        out = np.empty((len(frames), height, width, 3), np.uint8)
        if len(frames):
            self._file.decode(list(frames), out, 1, True, False, True)
        data = torch.from_numpy(out).permute(0, 3, 1, 2)
        for transform in self._transforms:
            data = transform(data)
        return (data if self._channels_first else data.permute(0, 2, 3, 1)).to(self._device)


def _seconds(ticks: bytes, unit: float) -> np.ndarray:
    """As the nearest floats: the unit is a fraction that none is."""
    fraction = Fraction(unit).limit_denominator(1 << 30)
    return np.frombuffer(ticks, np.int64) * fraction.numerator / fraction.denominator


def _durations(told: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """How long frames last: what packets say, or else until the next one."""
    gaps = np.diff(begins, append=begins[-1])
    if len(gaps) > 1:
        gaps[-1] = gaps[:-1].mean()
    return np.where(told > 0, told, gaps) if len(told) == len(begins) else gaps


def _check_mappings(mappings: Any, seek_mode: str) -> None:
    if seek_mode != "exact":
        raise ValueError("custom_frame_mappings and seek_mode='approximate' are incompatible")
    content = mappings.read() if hasattr(mappings, "read") else mappings
    try:
        frames = json.loads(content)["frames"]
        keys = [{"pts", "pkt_pts"} & set(frame) and "key_frame" in frame for frame in frames]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"Invalid custom frame mappings: {error}. It should be a valid JSON string.") from None
    if not frames or not all(keys):
        raise ValueError("Invalid custom frame mappings: expected 'pts' and 'key_frame' of each frame")
