"""Stacks of `torchvision.transforms.v2`, and its single transforms, beside those of `avida.torchvision`.

CPU time of one thread for an image, with the same random numbers: the best of some rounds. torchvision is installed
for it as the tests do (`make torchvision`).
"""

from __future__ import annotations

import argparse
import importlib
import pathlib
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import PIL.Image
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import avida
from tests.torchvision.oracle import torchvision

ours: Any = importlib.import_module("avida.torchvision.transforms.v2")  # which looks for torchvision
theirs: Any = torchvision.transforms.v2
tv_tensors: Any = torchvision.tv_tensors
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def picture(height: int, width: int) -> torch.Tensor:
    """Something smooth with some noise."""
    torch.manual_seed(0)
    coarse = torch.rand(1, 3, height // 16, width // 16)
    smooth = torch.nn.functional.interpolate(coarse, size=(height, width), mode="bicubic").clamp(0, 1)[0]
    return ((smooth * 0.9 + torch.rand_like(smooth) * 0.1) * 255).to(torch.uint8)


def with_boxes(image: Any, height: int, width: int) -> Any:
    """A sample of detection: eight boxes, with labels."""
    torch.manual_seed(1)
    first = torch.rand(8, 2) * torch.tensor([width, height]) * 0.6
    ends = torch.cat([first, first + 40 + torch.rand(8, 2) * 100], 1)
    boxes = tv_tensors.BoundingBoxes(ends, format="XYXY", canvas_size=(height, width))
    return image, {"boxes": boxes, "labels": torch.arange(8)}


def stacks(v2: Any) -> dict[str, Callable[[Any], Any]]:
    """The usual stacks."""
    end = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    crop = [v2.RandomResizedCrop(224), v2.RandomHorizontalFlip()]
    detect = [v2.RandomPhotometricDistort(p=1), v2.RandomZoomOut(p=0.5), v2.RandomIoUCrop(), v2.RandomHorizontalFlip()]
    return {
        "classification": v2.Compose([*crop, v2.ColorJitter(0.4, 0.4, 0.4, 0.1), v2.ToImage(), *end]),
        "classification, evaluation": v2.Compose([v2.Resize(256), v2.CenterCrop(224), v2.ToImage(), *end]),
        "classification, TrivialAugment": v2.Compose([*crop, v2.TrivialAugmentWide(), v2.ToImage(), *end]),
        "SSD": v2.Compose([*detect, v2.Resize((300, 300)), v2.SanitizeBoundingBoxes(), v2.ToImage(), *end]),
        "DETR": v2.Compose([v2.RandomHorizontalFlip(), v2.RandomShortestSize([480, 640], 800), v2.ToImage(), *end]),
    }


def singles(v2: Any) -> dict[str, Callable[[Any], Any]]:
    """Single transforms, as they are used."""
    return {
        "Resize(256)": v2.Resize(256),
        "RandomResizedCrop(224)": v2.RandomResizedCrop(224),
        "RandomHorizontalFlip(1)": v2.RandomHorizontalFlip(1.0),
        "ColorJitter(.4, .4, .4, .1)": v2.ColorJitter(0.4, 0.4, 0.4, 0.1),
        "RandomRotation(30, bilinear)": v2.RandomRotation(30, interpolation="bilinear"),
        "RandomAffine(30, nearest)": v2.RandomAffine(30, translate=(0.1, 0.1)),
        "RandomPerspective(p=1)": v2.RandomPerspective(p=1.0),
        "GaussianBlur(9)": v2.GaussianBlur(9),
        "RandomEqualize(1)": v2.RandomEqualize(1.0),
        "RandomAdjustSharpness(2, 1)": v2.RandomAdjustSharpness(2.0, 1.0),
        "RandomSolarize(128, 1)": v2.RandomSolarize(128.0, 1.0),
        "RandomAutocontrast(1)": v2.RandomAutocontrast(1.0),
        "RandomGrayscale(1)": v2.RandomGrayscale(1.0),
        "Pad(16)": v2.Pad(16),
        "ElasticTransform": v2.ElasticTransform(),
    }


def microseconds(function: Callable[[Any], Any], sample: Any, rounds: int, calls: int) -> float:
    """CPU time of a call, with the same random numbers in each round."""
    best = float("inf")
    for _ in range(rounds):
        torch.manual_seed(0)
        start = time.process_time()
        for _ in range(calls):
            function(sample)
        best = min(best, (time.process_time() - start) / calls)
    return best * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--only", default="", help="part of the names of rows")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    avida.set_num_threads(1)
    print(f"{'CPU microseconds of one thread':42}{'torchvision':>12}{'avida':>10}{'times':>8}")
    for height, width in ((480, 640), (224, 224)):
        pixels = picture(height, width)
        kinds = {"PIL": PIL.Image.fromarray(np.asarray(pixels.permute(1, 2, 0))), "tensor": tv_tensors.Image(pixels)}
        for kind, image in kinds.items():
            for make in (stacks, singles):
                for (name, their), our in zip(make(theirs).items(), make(ours).values(), strict=True):
                    if arguments.only not in name:
                        continue
                    sample = with_boxes(image, height, width) if name in ("SSD", "DETR") else image
                    times = [microseconds(each, sample, arguments.rounds, arguments.calls) for each in (their, our)]
                    row = f"{name}, {kind} {height}x{width}"
                    print(f"{row:42}{times[0]:12.0f}{times[1]:10.0f}{times[0] / times[1]:8.2f}", flush=True)


if __name__ == "__main__":
    main()
