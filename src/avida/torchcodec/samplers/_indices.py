"""Clips that begin at numbers of frames."""

from __future__ import annotations

import torch

from avida.torchcodec._frame import FrameBatch
from avida.torchcodec.decoders import VideoDecoder
from avida.torchcodec.samplers._clips import Policy, check, completed, in_clips


def clips_at_random_indices(
    decoder: VideoDecoder,
    *,
    num_clips: int = 1,
    num_frames_per_clip: int = 1,
    num_indices_between_frames: int = 1,
    sampling_range_start: int = 0,
    sampling_range_end: int | None = None,
    policy: Policy = "repeat_last",
) -> FrameBatch:
    """Clips that begin at random frames, drawn by torch.randint.

    Args:
        decoder: The video.
        num_clips: The number of clips.
        num_frames_per_clip: The frames of a clip.
        num_indices_between_frames: The distance between frames of a clip.
        sampling_range_start: The first frame at which a clip may begin; negative ones count from the end.
        sampling_range_end: The frame before which clips begin. Default: so that none goes beyond the end.
        policy: What stands for frames beyond the end: "repeat_last", "wrap" (the clip again), or "error".

    """
    check(
        policy,
        num_clips=num_clips,
        num_frames_per_clip=num_frames_per_clip,
        num_indices_between_frames=num_indices_between_frames,
    )
    span = (num_frames_per_clip - 1) * num_indices_between_frames + 1
    start, end = _range(decoder, span, sampling_range_start, sampling_range_end)
    starts = torch.randint(start, end, (num_clips,)).tolist()
    return _clips(decoder, starts, num_frames_per_clip, num_indices_between_frames, policy)


def clips_at_regular_indices(
    decoder: VideoDecoder,
    *,
    num_clips: int = 1,
    num_frames_per_clip: int = 1,
    num_indices_between_frames: int = 1,
    sampling_range_start: int = 0,
    sampling_range_end: int | None = None,
    policy: Policy = "repeat_last",
) -> FrameBatch:
    """Clips that begin at equal distances.

    Args:
        decoder: The video.
        num_clips: The number of clips.
        num_frames_per_clip: The frames of a clip.
        num_indices_between_frames: The distance between frames of a clip.
        sampling_range_start: The first frame at which a clip may begin; negative ones count from the end.
        sampling_range_end: The frame before which clips begin. Default: so that none goes beyond the end.
        policy: What stands for frames beyond the end: "repeat_last", "wrap" (the clip again), or "error".

    """
    check(
        policy,
        num_clips=num_clips,
        num_frames_per_clip=num_frames_per_clip,
        num_indices_between_frames=num_indices_between_frames,
    )
    span = (num_frames_per_clip - 1) * num_indices_between_frames + 1
    start, end = _range(decoder, span, sampling_range_start, sampling_range_end)
    starts = torch.linspace(start, end - 1, num_clips).to(torch.int64).tolist()
    return _clips(decoder, starts, num_frames_per_clip, num_indices_between_frames, policy)


def _range(decoder: VideoDecoder, span: int, start: int, end: int | None) -> tuple[int, int]:
    """The frames at which clips may begin."""
    count = len(decoder)
    start += count if start < 0 else 0
    if start >= count:
        raise ValueError(f"sampling_range_start ({start}) must be smaller than the number of frames ({count}).")
    if end is None:
        end = max(count - span + 1, start + 1)
    elif end < 0:
        end += count
    end = min(end, count)
    if start >= end:
        raise ValueError(f"sampling_range_start ({start}) must be smaller than sampling_range_end ({end}).")
    return start, end


def _clips(decoder: VideoDecoder, starts: list[int], frames: int, distance: int, policy: str) -> FrameBatch:
    clips = [completed([start + i * distance for i in range(frames)], len(decoder), policy) for start in starts]
    return in_clips(decoder.get_frames_at([frame for clip in clips for frame in clip]), len(clips))
