"""What the decoders return: tensors of PyTorch with times."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import torch


def _text(value: object) -> str:
    """The fields by name: tensors of pixels and samples by their shapes."""
    lines = [f"{type(value).__name__}:"]
    for field in dataclasses.fields(value):  # pyright: ignore[reportArgumentType]
        content = getattr(value, field.name)
        lines.append(f"  data (shape): {content.shape}" if field.name == "data" else f"  {field.name}: {content}")
    return "\n".join(lines) + "\n"


def _check_axes(data: torch.Tensor, *allowed: int) -> None:
    if data.ndim not in allowed:
        raise ValueError(f"data has {data.ndim} dimensions, expected {' or '.join(map(str, allowed))}")


@dataclasses.dataclass(repr=False)
class Frame:
    """One frame of a video.

    Attributes:
        data: The pixels, uint8: (C, H, W), or (H, W, C) with ``dimension_order="NHWC"``.
        pts_seconds: When it is shown, in seconds on the clock of the file.
        duration_seconds: How long it is shown.

    """

    data: torch.Tensor
    pts_seconds: float
    duration_seconds: float

    def __post_init__(self) -> None:
        _check_axes(self.data, 3)
        self.pts_seconds, self.duration_seconds = float(self.pts_seconds), float(self.duration_seconds)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.data, self.pts_seconds, self.duration_seconds))

    def __repr__(self) -> str:
        return _text(self)


@dataclasses.dataclass(repr=False)
class FrameBatch:
    """Frames of a video, or clips of them.

    Attributes:
        data: The pixels, uint8: (N, C, H, W) or (N, H, W, C); of clips with one axis more in front.
        pts_seconds: When each is shown, in seconds on the clock of the file: float64.
        duration_seconds: How long each is shown: float64.

    """

    data: torch.Tensor
    pts_seconds: torch.Tensor
    duration_seconds: torch.Tensor

    def __post_init__(self) -> None:
        _check_axes(self.data, 3, 4, 5)
        leading = self.data.shape[:-3]
        for name in ("pts_seconds", "duration_seconds"):
            value = torch.as_tensor(getattr(self, name))
            if value.shape != leading:
                raise ValueError(f"{name} has the shape {tuple(value.shape)}, expected {tuple(leading)}")
            setattr(self, name, value)

    def __getitem__(self, key: Any) -> FrameBatch:
        return FrameBatch(self.data[key], self.pts_seconds[key], self.duration_seconds[key])

    def __iter__(self) -> Iterator[FrameBatch]:
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return _text(self)


@dataclasses.dataclass(repr=False)
class AudioSamples:
    """Samples of sound.

    Attributes:
        data: The samples, float32 from -1 to 1: (channels, samples).
        pts_seconds: When the first one is heard, in seconds on the clock of the file.
        duration_seconds: How long they last.
        sample_rate: Samples per second.

    """

    data: torch.Tensor
    pts_seconds: float
    duration_seconds: float
    sample_rate: int

    def __post_init__(self) -> None:
        _check_axes(self.data, 2)
        self.pts_seconds, self.sample_rate = float(self.pts_seconds), int(self.sample_rate)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.data, self.pts_seconds, self.duration_seconds, self.sample_rate))

    def __repr__(self) -> str:
        return _text(self)
