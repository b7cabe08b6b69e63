"""Measures transforms of single images on the CPU: avida, albumentations, OpenCV, kornia and torchvision, in one run.

    python benchmarks/augment.py [--rounds 5] [--only blur jitter] [--sizes 480x640 224x224]

The figures are microseconds of CPU time per image, of one thread. All get the same 16 images: avida as a batch, the
others one after the other, which is what they are made for; kornia and torchvision as tensors. Contestants take turns,
and the best of several rounds counts. Libraries that are not installed are named and left out; the extra `bench` has
those that can be.
"""

import argparse
import importlib
import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("NO_ALBUMENTATIONS_UPDATE", "1")

import numpy as np

import avida as ndd
from avida import augment

# What is compared with comes with the extra `bench`, or not at all.
# pyright: reportMissingImports=false

BATCH = 16
SECONDS = 0.05  # of each turn, at least
KEPT: list[Any] = []  # names of operators, which PyTorch forgets with the library that defines them
OTHERS = ("albumentations", "cv2", "kornia", "torchvision")
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
KERNEL = np.ones((5, 5), np.float32) / 25


def ours() -> dict[str, Callable[[Any], Any]]:
    mean, std = [255 * m for m in MEAN], [255 * s for s in STD]
    return {
        "affine": lambda x: augment.affine(x, angle=15, scale=1.1, shear=5),
        "autocontrast": lambda x: augment.autocontrast(x),
        "box blur 5": lambda x: augment.box_blur(x, size=5),
        "brightness, contrast": lambda x: ndd.brightness_contrast(x, brightness=1.2, contrast=1.2),
        "clahe": lambda x: ndd.clahe(x, tiles_x=8, tiles_y=8, clip_limit=4.0),
        "coarse dropout": lambda x: augment.coarse_dropout(x, holes=8, height=0.1, width=0.1),
        "color jitter": lambda x: augment.color_jitter(x, brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1),
        "crop 128": lambda x: ndd.crop(x, crop=[128, 128]),
        "defocus 3": lambda x: augment.defocus(x, radius=3),
        "elastic": lambda x: augment.elastic(x, alpha=300, sigma=10),
        "equalize": lambda x: ndd.equalize(x),
        "erase": lambda x: ndd.erase(x, anchor=[20, 30], shape=[80, 80]),
        "flip": lambda x: ndd.flip(x, horizontal=1),
        "flip, vertical": lambda x: ndd.flip(x, horizontal=0, vertical=1),
        "gamma": lambda x: augment.gamma(x, gamma=1.5),
        "gaussian blur 5": lambda x: ndd.gaussian_blur(x, sigma=1.5, window_size=5),
        "gaussian noise": lambda x: ndd.noise.gaussian(x, stddev=20),
        "gray": lambda x: augment.grayscale(x),
        "grid distortion": lambda x: augment.grid_distortion(x, limit=0.3),
        "hue, saturation, value": lambda x: augment.adjust_colors(x, hue=0.1, saturation=1.2, brightness=1.1),
        "invert": lambda x: augment.invert(x),
        "jpeg": lambda x: ndd.jpeg_compression_distortion(x, quality=50),
        "median blur 5": lambda x: ndd.experimental.median_blur(x, window_size=[5, 5]),
        "motion blur 7": lambda x: augment.motion_blur(x, size=7, angle=30),
        "normalize": lambda x: ndd.crop_mirror_normalize(x, output_layout="HWC", mean=mean, std=std),
        "optical distortion": lambda x: augment.optical_distortion(x, k=0.1),
        "pad": lambda x: ndd.pad(x, axis_names="HW", align=[64, 64]),
        "perspective": lambda x: augment.perspective(x, distortion=0.2),
        "posterize": lambda x: augment.posterize(x, bits=4),
        "random resized crop": lambda x: ndd.random_resized_crop(x, size=[224, 224]),
        "resize 224": lambda x: ndd.resize(x, size=[224, 224], antialias=False),
        "rgb shift": lambda x: augment.rgb_shift(x, shift=[0.1, -0.1, 0.05]),
        "rotate": lambda x: ndd.rotate(x, angle=15, keep_size=True, fill_value=0),
        "salt and pepper": lambda x: ndd.noise.salt_and_pepper(x, prob=0.02),
        "sharpness": lambda x: augment.sharpness(x, 1.5),
        "shear": lambda x: augment.affine(x, shear=10),
        "solarize": lambda x: augment.solarize(x, threshold=128),
        "transpose": lambda x: ndd.transpose(x, perm=[1, 0, 2]),
        "unsharp mask": lambda x: augment.unsharp_mask(x, sigma=1.5),
    }


def of_albumentations(a: Any) -> dict[str, Callable[[Any], Any]]:
    holes = {"num_holes_range": (8, 8), "hole_height_range": (0.1, 0.1), "hole_width_range": (0.1, 0.1)}
    made = {
        "affine": a.Affine(rotate=(15, 15), scale=(1.1, 1.1), shear=(5, 5), p=1),
        "autocontrast": a.AutoContrast(p=1),
        "box blur 5": a.Blur(blur_limit=(5, 5), p=1),
        "brightness, contrast": a.RandomBrightnessContrast((0.2, 0.2), (0.2, 0.2), p=1),
        "clahe": a.CLAHE(clip_limit=(4, 4), p=1),
        "coarse dropout": a.CoarseDropout(**holes, p=1),
        "color jitter": a.ColorJitter(0.4, 0.4, 0.4, 0.1, p=1),
        "crop 128": a.CenterCrop(128, 128, p=1),
        "defocus 3": a.Defocus(radius=(3, 3), p=1),
        "elastic": a.ElasticTransform(alpha=300, sigma=10, p=1),
        "equalize": a.Equalize(p=1),
        "erase": a.CoarseDropout((1, 1), (80, 80), (80, 80), p=1),
        "flip": a.HorizontalFlip(p=1),
        "flip, vertical": a.VerticalFlip(p=1),
        "gamma": a.RandomGamma((150, 150), p=1),
        "gaussian blur 5": a.GaussianBlur(blur_limit=(5, 5), sigma_limit=(1.5, 1.5), p=1),
        "gaussian noise": a.GaussNoise(std_range=(0.08, 0.08), per_channel=True, p=1),
        "gray": a.ToGray(p=1),
        "grid distortion": a.GridDistortion(p=1),
        "hue, saturation, value": a.HueSaturationValue((10, 10), (20, 20), (20, 20), p=1),
        "invert": a.InvertImg(p=1),
        "jpeg": a.ImageCompression(quality_range=(50, 50), p=1),
        "median blur 5": a.MedianBlur(blur_limit=(5, 5), p=1),
        "motion blur 7": a.MotionBlur(blur_limit=(7, 7), p=1),
        "normalize": a.Normalize(MEAN, STD, p=1),
        "optical distortion": a.OpticalDistortion((0.1, 0.1), p=1),
        "pad": a.PadIfNeeded(None, None, 64, 64, p=1),
        "perspective": a.Perspective((0.1, 0.1), p=1),
        "posterize": a.Posterize((4, 4), p=1),
        "random resized crop": a.RandomResizedCrop((224, 224), p=1),
        "resize 224": a.Resize(224, 224, p=1),
        "rgb shift": a.RGBShift((25, 25), (-25, -25), (12, 12), p=1),
        "rotate": a.Rotate((15, 15), p=1),
        "salt and pepper": a.SaltAndPepper((0.02, 0.02), p=1),
        "sharpness": a.Sharpen((0.5, 0.5), (1, 1), p=1),
        "shear": a.Affine(shear=(10, 10), p=1),
        "solarize": a.Solarize((0.5, 0.5), p=1),
        "transpose": a.Transpose(p=1),
        "unsharp mask": a.UnsharpMask((7, 7), (1.5, 1.5), (1, 1), 0, p=1),
    }
    return {
        name: lambda image, transform=transform: transform(image=image)["image"] for name, transform in made.items()
    }


def of_cv2(cv2: Any) -> dict[str, Callable[[Any], Any]]:
    cv2.setNumThreads(1)
    turn = cv2.getRotationMatrix2D((320, 240), 15, 1.1)
    table = (np.linspace(0, 1, 256) ** 1.5 * 255).astype(np.uint8)
    return {
        "affine": lambda x: cv2.warpAffine(x, turn, x.shape[1::-1]),
        "box blur 5": lambda x: cv2.blur(x, (5, 5)),
        "brightness, contrast": lambda x: cv2.convertScaleAbs(x, alpha=1.44, beta=-30),
        "flip": lambda x: cv2.flip(x, 1),
        "flip, vertical": lambda x: cv2.flip(x, 0),
        "gamma": lambda x: cv2.LUT(x, table),
        "gaussian blur 5": lambda x: cv2.GaussianBlur(x, (5, 5), 1.5),
        "gray": lambda x: cv2.cvtColor(cv2.cvtColor(x, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB),
        "invert": cv2.bitwise_not,
        "median blur 5": lambda x: cv2.medianBlur(x, 5),
        "motion blur 7": lambda x: cv2.filter2D(x, -1, np.eye(7, dtype=np.float32) / 7),
        "resize 224": lambda x: cv2.resize(x, (224, 224)),
        "rotate": lambda x: cv2.warpAffine(x, turn, x.shape[1::-1]),
        "transpose": cv2.transpose,
    }


def of_kornia(kornia: Any) -> dict[str, Callable[[Any], Any]]:
    k = kornia.augmentation
    return {
        "affine": k.RandomAffine(15, scale=(1.1, 1.1), shear=5, p=1),
        "autocontrast": k.RandomAutoContrast(p=1),
        "box blur 5": k.RandomBoxBlur((5, 5), p=1),
        "color jitter": k.ColorJitter(0.4, 0.4, 0.4, 0.1, p=1),
        "elastic": k.RandomElasticTransform(p=1),
        "equalize": k.RandomEqualize(p=1),
        "erase": k.RandomErasing(p=1),
        "flip": k.RandomHorizontalFlip(p=1),
        "gamma": k.RandomGamma((1.5, 1.5), p=1),
        "gaussian blur 5": k.RandomGaussianBlur((5, 5), (1.5, 1.5), p=1),
        "gaussian noise": k.RandomGaussianNoise(0, 0.08, p=1),
        "gray": k.RandomGrayscale(p=1),
        "invert": k.RandomInvert(p=1),
        "median blur 5": k.RandomMedianBlur((5, 5), p=1),
        "motion blur 7": k.RandomMotionBlur(7, 30.0, 0.5, p=1),
        "perspective": k.RandomPerspective(0.2, p=1),
        "posterize": k.RandomPosterize(4, p=1),
        "rotate": k.RandomRotation(15, p=1),
        "salt and pepper": k.RandomSaltAndPepperNoise(0.02, p=1),
        "sharpness": k.RandomSharpness(0.5, p=1),
        "solarize": k.RandomSolarize(0.1, 0.0, p=1),
    }


def of_torchvision(torchvision: Any) -> dict[str, Callable[[Any], Any]]:
    v2 = importlib.import_module("torchvision.transforms.v2")
    return {
        "affine": v2.RandomAffine(15, scale=(1.1, 1.1), shear=5),
        "autocontrast": v2.RandomAutocontrast(p=1),
        "color jitter": v2.ColorJitter(0.4, 0.4, 0.4, 0.1),
        "elastic": v2.ElasticTransform(300.0, 10.0),
        "equalize": v2.RandomEqualize(p=1),
        "erase": v2.RandomErasing(p=1),
        "flip": v2.RandomHorizontalFlip(p=1),
        "gaussian blur 5": v2.GaussianBlur(5, 1.5),
        "gray": v2.Grayscale(3),
        "invert": v2.RandomInvert(p=1),
        "perspective": v2.RandomPerspective(0.2, p=1),
        "posterize": v2.RandomPosterize(4, p=1),
        "resize 224": v2.Resize((224, 224), antialias=False),
        "rotate": v2.RandomRotation(15),
        "solarize": v2.RandomSolarize(128, p=1),
    }


def load(name: str) -> Any:
    """A library. torchvision needs the names of two operators where its extension does not fit this PyTorch."""
    if name == "torchvision":
        try:
            return importlib.import_module(name)
        except RuntimeError:
            for module in [known for known in sys.modules if known.startswith("torchvision")]:
                del sys.modules[module]
            names = importlib.import_module("torch").library.Library("torchvision", "DEF")
            for operator in ("nms", "qnms"):
                names.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
            KEPT.append(names)
    return importlib.import_module(name)


def contestants() -> dict[str, dict[str, Callable[[Any], Any]]]:
    found = {}
    makers = (of_albumentations, of_cv2, of_kornia, of_torchvision)
    for name, make in zip(OTHERS, makers, strict=True):
        try:
            found[name] = make(load(name))
        except ImportError:
            print(f"{name} is not installed")
    return found


def inputs(name: str, image: np.ndarray) -> Any:
    if name in ("albumentations", "cv2"):
        return image
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    planes = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)))
    return planes[None].float() / 255 if name == "kornia" else planes


def photo(height: int, width: int, seed: int) -> np.ndarray:
    """Smooth colours with noise: neither flat nor random."""
    y, x = np.mgrid[:height, :width]
    waves = np.stack([np.sin(x / 29 + seed), np.cos(y / 37), np.sin((x + y) / 51)], axis=-1)
    noise = np.random.default_rng(seed).normal(0, 8, (height, width, 3))
    return np.clip(120 + 80 * waves + noise, 0, 255).astype(np.uint8)


def microseconds(call: Callable[[], Any]) -> float:
    """CPU time per image, of as many calls with all images as take long enough to measure."""
    calls, taken = 0, 0.0
    start = time.process_time()
    while taken < SECONDS:
        call()
        calls += 1
        taken = time.process_time() - start
    return taken / calls / BATCH * 1e6


def measure(height: int, width: int, rounds: int, only: list[str]) -> None:
    images = [photo(height, width, seed) for seed in range(BATCH)]
    batch = ndd.as_batch(images, layout="HWC")
    rivals = contestants()
    given = {name: [inputs(name, image) for image in images] for name in rivals}
    print(f"\n| {height} x {width} | avida | " + " | ".join(rivals) + " | avida is |")
    print("|---" * (len(rivals) + 3) + "|")
    for row, call in ours().items():
        if only and not any(part in row for part in only):
            continue
        calls: dict[str, Callable[[], Any]] = {"avida": lambda call=call: call(batch).evaluate()}
        for name, known in rivals.items():
            if row in known:
                calls[name] = lambda run=known[row], images=given[name]: [run(image) for image in images]
        best = dict.fromkeys(calls, math.inf)
        for _ in range(rounds):
            for name, run in calls.items():
                best[name] = min(best[name], microseconds(run))
        fastest = min((best[name] for name in best if name != "avida"), default=math.nan)
        cells = [f"{best[name]:,.0f}" if name in best else "" for name in ("avida", *rivals)]
        print(f"| {row} | {' | '.join(cells)} | {fastest / best['avida']:.2f} x |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="rows whose names contain it")
    parser.add_argument("--sizes", nargs="+", default=["480x640", "224x224"])
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f}, processors: {os.cpu_count()}")
    with ndd.EvalContext(num_threads=1), ndd.EvalMode.sync_cpu:
        for size in options.sizes:
            height, width = map(int, size.split("x"))
            measure(height, width, options.rounds, options.only)


if __name__ == "__main__":
    main()
