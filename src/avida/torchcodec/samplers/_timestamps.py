"""Clips that begin at times."""

from __future__ import annotations

import torch

from avida.torchcodec._frame import FrameBatch
from avida.torchcodec.decoders import VideoDecoder
from avida.torchcodec.samplers._clips import Policy, check, completed, in_clips


def clips_at_random_timestamps(
    decoder: VideoDecoder,
    *,
    num_clips: int = 1,
    num_frames_per_clip: int = 1,
    seconds_between_frames: float | None = None,
    sampling_range_start: float | None = None,
    sampling_range_end: float | None = None,
    policy: Policy = "repeat_last",
) -> FrameBatch:
    """Clips that begin at random times, drawn by torch.rand.

    Args:
        decoder: The video.
        num_clips: The number of clips.
        num_frames_per_clip: The frames of a clip.
        seconds_between_frames: The seconds between the times of a clip's frames. Default: those of a frame.
        sampling_range_start: The first time at which a clip may begin. Default: that of the first frame.
        sampling_range_end: The time before which clips begin. Default: so that none goes beyond the end.
        policy: What stands for times beyond the end: "repeat_last", "wrap" (the clip again), or "error".

    """
    check(policy, num_clips=num_clips, num_frames_per_clip=num_frames_per_clip)
    distance = _distance(decoder, seconds_between_frames)
    start, end = _range(decoder, (num_frames_per_clip - 1) * distance, sampling_range_start, sampling_range_end)
    starts = (torch.rand(num_clips, dtype=torch.float64) * (end - start) + start).tolist()
    return _clips(decoder, starts, num_frames_per_clip, distance, policy)


def clips_at_regular_timestamps(
    decoder: VideoDecoder,
    *,
    seconds_between_clip_starts: float,
    num_frames_per_clip: int = 1,
    seconds_between_frames: float | None = None,
    sampling_range_start: float | None = None,
    sampling_range_end: float | None = None,
    policy: Policy = "repeat_last",
) -> FrameBatch:
    """Clips that begin at equal distances in time.

    Args:
        decoder: The video.
        seconds_between_clip_starts: The seconds between the beginnings of clips.
        num_frames_per_clip: The frames of a clip.
        seconds_between_frames: The seconds between the times of a clip's frames. Default: those of a frame.
        sampling_range_start: The first time at which a clip may begin. Default: that of the first frame.
        sampling_range_end: The time before which clips begin. Default: so that none goes beyond the end.
        policy: What stands for times beyond the end: "repeat_last", "wrap" (the clip again), or "error".

    """
    check(policy, seconds_between_clip_starts=seconds_between_clip_starts, num_frames_per_clip=num_frames_per_clip)
    distance = _distance(decoder, seconds_between_frames)
    start, end = _range(decoder, (num_frames_per_clip - 1) * distance, sampling_range_start, sampling_range_end)
    starts = torch.arange(start, end, seconds_between_clip_starts, dtype=torch.float64)
    starts = starts[starts < end].tolist()  # arange rounds its end
    return _clips(decoder, starts, num_frames_per_clip, distance, policy)


def _distance(decoder: VideoDecoder, seconds: float | None) -> float:
    if seconds is None:
        return 1 / (decoder.metadata.average_fps or 1.0)
    check("error", seconds_between_frames=seconds)
    return seconds


def _range(decoder: VideoDecoder, span: float, start: float | None, end: float | None) -> tuple[float, float]:
    """The times at which clips may begin."""
    first, last = decoder.metadata.begin_stream_seconds or 0.0, decoder.metadata.end_stream_seconds or 0.0
    start = first if start is None else start
    if start < first:
        raise ValueError(f"sampling_range_start ({start}) must be at least {first}")
    if start >= last:
        raise ValueError(f"sampling_range_start ({start}) must be smaller than {last}")
    if end is not None and end <= first:
        raise ValueError(f"sampling_range_end ({end}) must be at least {first}")
    end = last - span if end is None else min(end, last)
    if start >= end:
        raise ValueError(f"sampling_range_start ({start}) must be smaller than sampling_range_end ({end})")
    return start, end


def _clips(decoder: VideoDecoder, starts: list[float], frames: int, distance: float, policy: str) -> FrameBatch:
    last = decoder.metadata.end_stream_seconds or 0.0
    clips = [completed([start + i * distance for i in range(frames)], last, policy) for start in starts]
    return in_clips(decoder.get_frames_played_at([time for clip in clips for time in clip]), len(clips))
