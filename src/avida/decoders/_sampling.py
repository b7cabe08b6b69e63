"""The frames that well-known networks for videos are given."""

from __future__ import annotations

import math

import numpy as np


def qwen_vl_frames(
    num_frames: int, video_fps: float, *, fps: float = 2.0, min_frames: int = 4, max_frames: int = 768
) -> list[int]:
    """The frames that Qwen2-VL and Qwen2.5-VL see: two a second, an even number.

    Args:
        num_frames: The frames of the video.
        video_fps: Its frames per second.
        fps: The frames that are wanted for a second.
        min_frames: The least number of frames.
        max_frames: The greatest number of frames.

    Example:
        >>> avida.decoders.qwen_vl_frames(100, 25.0)
        [0, 14, 28, 42, 57, 71, 85, 99]

    """
    _check(num_frames, video_fps, fps)
    least, most = math.ceil(min_frames / 2) * 2, min(max_frames, num_frames) // 2 * 2
    wanted = min(max(num_frames / video_fps * fps, least), most, num_frames)
    count = math.floor(wanted / 2) * 2
    if count < 2:
        raise ValueError(f"expected a video with at least 2 frames, got {num_frames}")
    return np.linspace(0, num_frames - 1, count).round().astype(int).tolist()


def internvideo_frames(num_frames: int, count: int = 8) -> list[int]:
    """The frames that InternVideo2 is tested with: the middle ones of equal parts.

    Args:
        num_frames: The frames of the video.
        count: The number of frames; the last one is repeated for a shorter video.

    Example:
        >>> avida.decoders.internvideo_frames(100, 4)
        [12, 37, 62, 87]

    """
    _check(num_frames, count)
    parts = min(count, num_frames)
    edges = np.linspace(0, num_frames, parts + 1).astype(int)
    middles = (edges[:-1] + edges[1:] - 1) // 2
    return [*middles.tolist(), *[int(middles[-1])] * (count - parts)]


def vjepa_frames(
    num_frames: int, *, frames_per_clip: int = 16, frame_step: int = 4, num_clips: int = 1
) -> list[list[int]]:
    """The frames of the clips that V-JEPA is tested with.

    A clip is at the beginning of each of equal parts of a video.

    Args:
        num_frames: The frames of the video.
        frames_per_clip: The frames of a clip.
        frame_step: The distance between them.
        num_clips: The number of clips, and of parts. Clips of a part that is too short repeat its last frame.

    Example:
        >>> avida.decoders.vjepa_frames(40, frames_per_clip=4, frame_step=4, num_clips=2)
        [[0, 5, 10, 15], [20, 25, 30, 35]]

    """
    _check(num_frames, frames_per_clip, frame_step, num_clips)
    part, span = num_frames // num_clips, frames_per_clip * frame_step
    if part < 1:
        raise ValueError(f"expected a video with at least {num_clips} frames, one for each clip, got {num_frames}")
    if part > span:
        frames = np.linspace(0, span, frames_per_clip).clip(0, span - 1)
    else:
        spread = np.linspace(0, part, part // frame_step)
        frames = np.concatenate([spread, np.full(frames_per_clip - len(spread), part)]).clip(0, part - 1)
    return [(frames.astype(int) + i * part).tolist() for i in range(num_clips)]


def _check(*positive: float) -> None:
    if not all(number > 0 for number in positive):
        raise ValueError(f"expected numbers above 0, got {', '.join(map(str, positive))}")
