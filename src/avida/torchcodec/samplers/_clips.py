"""What all samplers do: complete clips beyond the end, and decode them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

from avida.torchcodec._frame import FrameBatch

Policy = Literal["repeat_last", "wrap", "error"]
POLICIES = ("repeat_last", "wrap", "error")
Place = TypeVar("Place", int, float)


def check(policy: str, **positive: float) -> None:
    for name, value in positive.items():
        if not value > 0:
            limit = "strictly positive" if name.startswith("num_") and name != "num_clips" else "> 0"  # as torchcodec
            raise ValueError(f"{name} ({value}) must be {limit}")
    if policy not in POLICIES:
        raise ValueError(f"Invalid policy ({policy}). Supported values are {', '.join(POLICIES)}.")


def completed(places: Sequence[Place], end: float, policy: str) -> list[Place]:
    """The places of one clip, numbers or times, with others for those at the end of the video and beyond it."""
    valid = [place for place in places if place < end]
    if len(valid) == len(places):
        return valid
    if policy == "error":
        raise ValueError(
            "a clip has a frame that is beyond the number of frames in the video, and the policy is 'error': the "
            "default of sampling_range_end avoids that"
        )
    if policy == "repeat_last":
        return [*valid, *[valid[-1]] * (len(places) - len(valid))]
    return [valid[i % len(valid)] for i in range(len(places))]


def in_clips(frames: FrameBatch, clips: int) -> FrameBatch:
    return FrameBatch(
        frames.data.reshape(clips, -1, *frames.data.shape[1:]),
        frames.pts_seconds.reshape(clips, -1),
        frames.duration_seconds.reshape(clips, -1),
    )
