"""Images, masks, boxes and points that transforms are tried with."""

from __future__ import annotations

from typing import Any

import PIL.Image
import torch

from avida.torchvision import tv_tensors

HEIGHT, WIDTH = 47, 61
SIZE = (HEIGHT, WIDTH)
FORMATS = ("XYXY", "XYWH", "CXCYWH")
TURNED = ("XYWHR", "CXCYWHR", "XYXYXYXY")


def smooth() -> torch.Tensor:
    """A float image without sharp edges."""
    coarse = torch.rand(1, 3, 12, 15, generator=torch.Generator().manual_seed(0))
    return torch.nn.functional.interpolate(coarse, size=SIZE, mode="bicubic").clamp(0, 1)[0]


def whole() -> torch.Tensor:
    """The same in bytes."""
    return (smooth() * 255).to(torch.uint8)


def noise() -> torch.Tensor:
    return torch.randint(0, 256, (3, *SIZE), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


def boxes(format: str, *, dtype: torch.dtype = torch.float32, clamping_mode: str | None = "soft") -> Any:
    """Six boxes, of which some reach the border."""
    random = torch.Generator().manual_seed(2)
    numbers = torch.rand(6, 4, generator=random) * 30
    start = numbers[:, :2] if format == "XYXY" else 0
    numbers[:, 2:] = start + torch.rand(6, 2, generator=random) * 25 + 1
    return tv_tensors.BoundingBoxes(numbers.to(dtype), format=format, canvas_size=SIZE, clamping_mode=clamping_mode)


def points(dtype: torch.dtype = torch.float32) -> Any:
    numbers = torch.rand(5, 3, 2, generator=torch.Generator().manual_seed(3)) * 40
    return tv_tensors.KeyPoints(numbers.to(dtype), canvas_size=SIZE)


def pil(mode: str = "RGB") -> PIL.Image.Image:
    return PIL.Image.fromarray(whole().permute(1, 2, 0).numpy()).convert(mode)


def images() -> dict[str, Any]:
    """Images of all kinds."""
    by_pixels = whole().permute(1, 2, 0).contiguous().permute(2, 0, 1)
    return {
        "PIL": pil(),
        "PIL, gray": pil("L"),
        "PIL, RGBA": pil("RGBA"),
        "bytes": whole(),
        "floats": smooth(),
        "doubles": smooth().double(),
        "int16": whole().to(torch.int16),
        "noise": noise(),
        "by pixels": by_pixels,
        "gray": whole()[:1],
        "batch": torch.stack([whole(), noise()]),
        "Image": tv_tensors.Image(whole()),
        "Video": tv_tensors.Video(torch.stack([whole(), noise()])),
    }


def annotated() -> dict[str, Any]:
    """Masks, boxes and points of all kinds."""
    random = torch.Generator().manual_seed(4)
    found: dict[str, Any] = {
        "mask": tv_tensors.Mask(torch.randint(0, 9, SIZE, generator=random)),
        "masks": tv_tensors.Mask(torch.rand(4, *SIZE, generator=random) > 0.5),
        "points": points(),
        "whole points": points(torch.int64),
    }
    for format in FORMATS:
        found[format] = boxes(format)
        found[f"{format}, whole"] = boxes(format, dtype=torch.int64)
        found[f"{format}, not clamped"] = boxes(format, clamping_mode=None)
    return found


def sample(image: Any) -> dict[str, Any]:
    """What data sets for detection give: three objects with boxes, masks, points and labels."""
    corners = [[3.0, 4, 20, 30], [10, 12, 40, 41], [0, 0, 1, 1]]
    random = torch.Generator().manual_seed(5)
    return {
        "image": image,
        "boxes": tv_tensors.BoundingBoxes(corners, format="XYXY", canvas_size=SIZE),
        "masks": tv_tensors.Mask(torch.randint(0, 2, (3, *SIZE), generator=random)),
        "points": tv_tensors.KeyPoints(torch.rand(3, 2, generator=random) * 40, canvas_size=SIZE),
        "labels": torch.tensor([1, 2, 3]),
        "name": "somebody",
        "others": [1, None, (2.0,)],
    }
