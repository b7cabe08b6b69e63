"""What `augment.py` compares avida with: transforms of albumentations, OpenCV, kornia and torchvision.

As a program, it measures albumentations alone and prints the microseconds of each row as JSON: `augment.py
--albumentationsx PYTHON` runs it in the environment of AlbumentationsX, in which avida need not be installed.
"""

import importlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("NO_ALBUMENTATIONS_UPDATE", "1")

import numpy as np

# What is compared with comes with the extra `bench`, or not at all.
# pyright: reportMissingImports=false, reportCallIssue=false

BATCH = 16
SECONDS = 0.05  # of each turn, at least
KEPT: list[Any] = []  # names of operators, which PyTorch forgets with the library that defines them
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

Table = dict[str, Callable[[Any], Any]]


def those_there(library: str, makers: dict[str, Callable[[], Any]]) -> Table:
    """Other versions of a library may lack some, or name arguments otherwise."""
    made: Table = {}
    for row, make in makers.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)  # arguments that are ignored
                made[row] = make()
        except (AttributeError, TypeError, ValueError, UserWarning) as error:
            print(f"{library} has no {row}: {error}", file=sys.stderr)
    return made


def of_albumentations(a: Any) -> Table:
    limit = "limit" if a.__version__.startswith("2.0") else "range"  # as versions name it
    holes = {"num_holes_range": (8, 8), "hole_height_range": (0.1, 0.1), "hole_width_range": (0.1, 0.1)}
    made: dict[str, Callable[[], Any]] = {
        "advanced blur": lambda: a.AdvancedBlur(p=1),
        "affine": lambda: a.Affine(rotate=(15, 15), scale=(1.1, 1.1), shear=(5, 5), p=1),
        "autocontrast": lambda: a.AutoContrast(p=1),
        "box blur 5": lambda: a.Blur(**{f"blur_{limit}": (5, 5)}, p=1),
        "brightness": lambda: a.RandomBrightnessContrast((0.2, 0.2), (0, 0), p=1),
        "brightness, contrast": lambda: a.RandomBrightnessContrast((0.2, 0.2), (0.2, 0.2), p=1),
        "channel dropout": lambda: a.ChannelDropout((1, 1), p=1),
        "channel shuffle": lambda: a.ChannelShuffle(p=1),
        "clahe": lambda: a.CLAHE(**{f"clip_{limit}": (4, 4)}, p=1),
        "coarse dropout": lambda: a.CoarseDropout(**holes, p=1),
        "color jitter": lambda: a.ColorJitter((0.6, 1.4), (0.6, 1.4), (0.6, 1.4), (-0.1, 0.1), p=1),
        "contrast": lambda: a.RandomBrightnessContrast((0, 0), (0.2, 0.2), p=1),
        "corner illumination": lambda: a.Illumination(mode="corner", p=1),
        "crop 128": lambda: a.CenterCrop(128, 128, p=1),
        "defocus 3": lambda: a.Defocus(radius=(3, 3), p=1),
        "downscale": lambda: a.Downscale((0.5, 0.5), p=1),
        "elastic": lambda: a.ElasticTransform(alpha=300, sigma=10, p=1),
        "emboss": lambda: a.Emboss(p=1),
        "equalize": lambda: a.Equalize(p=1),
        "erase": lambda: a.CoarseDropout((1, 1), (80, 80), (80, 80), p=1),
        "flip": lambda: a.HorizontalFlip(p=1),
        "flip, vertical": lambda: a.VerticalFlip(p=1),
        "fog": lambda: a.RandomFog(p=1),
        "gamma": lambda: a.RandomGamma((150, 150), p=1),
        "gaussian blur 5": lambda: a.GaussianBlur(**{f"blur_{limit}": (5, 5), f"sigma_{limit}": (1.5, 1.5)}, p=1),
        "gaussian illumination": lambda: a.Illumination(mode="gaussian", p=1),
        "gaussian noise": lambda: a.GaussNoise(std_range=(0.08, 0.08), per_channel=True, p=1),
        "glass blur": lambda: a.GlassBlur(p=1),
        "gray": lambda: a.ToGray(p=1),
        "grid distortion": lambda: a.GridDistortion(p=1),
        "grid mask": lambda: a.GridDropout(0.5, p=1),
        "hue": lambda: a.HueSaturationValue((10, 10), (0, 0), (0, 0), p=1),
        "hue, saturation, value": lambda: a.HueSaturationValue((10, 10), (20, 20), (20, 20), p=1),
        "invert": lambda: a.InvertImg(p=1),
        "iso noise": lambda: a.ISONoise(p=1),
        "jigsaw": lambda: a.RandomGridShuffle((3, 3), p=1),
        "jpeg": lambda: a.ImageCompression(quality_range=(50, 50), p=1),
        "linear illumination": lambda: a.Illumination(mode="linear", p=1),
        "longest side 256": lambda: a.LongestMaxSize(256, p=1),
        "median blur 5": lambda: a.MedianBlur(**{f"blur_{limit}": (5, 5)}, p=1),
        "motion blur 7": lambda: a.MotionBlur(**{f"blur_{limit}": (7, 7)}, p=1),
        "multiplicative noise": lambda: a.MultiplicativeNoise((0.9, 1.1), per_channel=True, elementwise=True, p=1),
        "normalize": lambda: a.Normalize(MEAN, STD, p=1),
        "optical distortion": lambda: a.OpticalDistortion((0.1, 0.1), p=1),
        "pad": lambda: a.PadIfNeeded(None, None, 64, 64, p=1),
        "pca lighting": lambda: a.FancyPCA(p=1),
        "perspective": lambda: a.Perspective((0.1, 0.1), p=1),
        "pixel dropout": lambda: a.PixelDropout(0.01, p=1),
        "planckian jitter": lambda: a.PlanckianJitter(p=1),
        "plasma brightness": lambda: a.PlasmaBrightnessContrast(contrast_range=(0, 0), p=1),
        "plasma contrast": lambda: a.PlasmaBrightnessContrast(brightness_range=(0, 0), p=1),
        "plasma shadow": lambda: a.PlasmaShadow(p=1),
        "posterize": lambda: a.Posterize((4, 4), p=1),
        "rain": lambda: a.RandomRain(p=1),
        "random crop 128": lambda: a.RandomCrop(128, 128, p=1),
        "random resized crop": lambda: a.RandomResizedCrop((224, 224), p=1),
        "resize 224": lambda: a.Resize(224, 224, p=1),
        "rgb shift": lambda: a.RGBShift((25, 25), (-25, -25), (12, 12), p=1),
        "ringing": lambda: a.RingingOvershoot(p=1),
        "rotate by 90": lambda: a.RandomRotate90(p=1),
        "rotate": lambda: a.Rotate((15, 15), p=1),
        "salt and pepper": lambda: a.SaltAndPepper((0.02, 0.02), p=1),
        "saturation": lambda: a.HueSaturationValue((0, 0), (20, 20), (0, 0), p=1),
        "sepia": lambda: a.ToSepia(p=1),
        "shadow": lambda: a.RandomShadow(p=1),
        "sharpness": lambda: a.Sharpen((0.5, 0.5), (1, 1), p=1),
        "shear": lambda: a.Affine(shear=(10, 10), p=1),
        "shot noise": lambda: a.ShotNoise(p=1),
        "snow": lambda: a.RandomSnow(p=1),
        "solarize": lambda: a.Solarize((0.5, 0.5), p=1),
        "spatter": lambda: a.Spatter(p=1),
        "sun flare": lambda: a.RandomSunFlare(p=1),
        "thin plate spline": lambda: a.ThinPlateSpline(p=1),
        "tone curve": lambda: a.RandomToneCurve(p=1),
        "transpose": lambda: a.Transpose(p=1),
        "unsharp mask": lambda: a.UnsharpMask((7, 7), (1.5, 1.5), (1, 1), 0, p=1),
        "zoom blur": lambda: a.ZoomBlur(p=1),
    }
    # Some make views with other strides, and move nothing.
    return {
        row: lambda image, transform=transform: np.ascontiguousarray(transform(image=image)["image"])
        for row, transform in those_there("albumentations", made).items()
    }


def of_cv2(cv2: Any) -> Table:
    cv2.setNumThreads(1)
    turn = cv2.getRotationMatrix2D((320, 240), 15, 1.1)
    table = (np.linspace(0, 1, 256) ** 1.5 * 255).astype(np.uint8)
    return {
        "affine": lambda x: cv2.warpAffine(x, turn, x.shape[1::-1]),
        "box blur 5": lambda x: cv2.blur(x, (5, 5)),
        "brightness": lambda x: cv2.convertScaleAbs(x, alpha=1.2),
        "brightness, contrast": lambda x: cv2.convertScaleAbs(x, alpha=1.44, beta=-30),
        "contrast": lambda x: cv2.convertScaleAbs(x, alpha=1.2, beta=-25),
        "flip": lambda x: cv2.flip(x, 1),
        "flip, vertical": lambda x: cv2.flip(x, 0),
        "channel shuffle": lambda x: cv2.cvtColor(x, cv2.COLOR_RGB2BGR),
        "gamma": lambda x: cv2.LUT(x, table),
        "gaussian blur 5": lambda x: cv2.GaussianBlur(x, (5, 5), 1.5),
        "gray": lambda x: cv2.cvtColor(cv2.cvtColor(x, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB),
        "invert": cv2.bitwise_not,
        "median blur 5": lambda x: cv2.medianBlur(x, 5),
        "motion blur 7": lambda x: cv2.filter2D(x, -1, np.eye(7, dtype=np.float32) / 7),
        "resize 224": lambda x: cv2.resize(x, (224, 224)),
        "rotate by 90": lambda x: cv2.rotate(x, cv2.ROTATE_90_CLOCKWISE),
        "rotate": lambda x: cv2.warpAffine(x, turn, x.shape[1::-1]),
        "transpose": cv2.transpose,
    }


def of_kornia(kornia: Any) -> Table:
    k = kornia.augmentation
    makers: dict[str, Callable[[], Any]] = {
        "brightness": lambda: k.RandomBrightness((1.2, 1.2), p=1),
        "channel dropout": lambda: k.RandomChannelDropout(p=1),
        "channel shuffle": lambda: k.RandomChannelShuffle(p=1),
        "clahe": lambda: k.RandomClahe(p=1),
        "contrast": lambda: k.RandomContrast((1.2, 1.2), p=1),
        "corner illumination": lambda: k.RandomCornerIllumination(p=1),
        "gaussian illumination": lambda: k.RandomGaussianIllumination(p=1),
        "hue": lambda: k.RandomHue((0.1, 0.1), p=1),
        "jigsaw": lambda: k.RandomJigsaw((4, 4), p=1),
        "linear illumination": lambda: k.RandomLinearIllumination(p=1),
        "planckian jitter": lambda: k.RandomPlanckianJitter(p=1),
        "plasma brightness": lambda: k.RandomPlasmaBrightness(p=1),
        "plasma contrast": lambda: k.RandomPlasmaContrast(p=1),
        "plasma shadow": lambda: k.RandomPlasmaShadow(p=1),
        "random crop 128": lambda: k.RandomCrop((128, 128), p=1),
        "random resized crop": lambda: k.RandomResizedCrop((224, 224), p=1),
        "saturation": lambda: k.RandomSaturation((1.2, 1.2), p=1),
        "shear": lambda: k.RandomShear(10, p=1),
        "snow": lambda: k.RandomSnow(p=1),
        "thin plate spline": lambda: k.RandomThinPlateSpline(p=1),
        "flip, vertical": lambda: k.RandomVerticalFlip(p=1),
        "affine": lambda: k.RandomAffine(15, scale=(1.1, 1.1), shear=5, p=1),
        "autocontrast": lambda: k.RandomAutoContrast(p=1),
        "box blur 5": lambda: k.RandomBoxBlur((5, 5), p=1),
        "color jitter": lambda: k.ColorJitter(0.4, 0.4, 0.4, 0.1, p=1),
        "elastic": lambda: k.RandomElasticTransform(p=1),
        "equalize": lambda: k.RandomEqualize(p=1),
        "erase": lambda: k.RandomErasing(p=1),
        "flip": lambda: k.RandomHorizontalFlip(p=1),
        "gamma": lambda: k.RandomGamma((1.5, 1.5), p=1),
        "gaussian blur 5": lambda: k.RandomGaussianBlur((5, 5), (1.5, 1.5), p=1),
        "gaussian noise": lambda: k.RandomGaussianNoise(0, 0.08, p=1),
        "gray": lambda: k.RandomGrayscale(p=1),
        "invert": lambda: k.RandomInvert(p=1),
        "median blur 5": lambda: k.RandomMedianBlur((5, 5), p=1),
        "motion blur 7": lambda: k.RandomMotionBlur(7, 30.0, 0.5, p=1),
        "perspective": lambda: k.RandomPerspective(0.2, p=1),
        "posterize": lambda: k.RandomPosterize(4, p=1),
        "rotate": lambda: k.RandomRotation(15, p=1),
        "salt and pepper": lambda: k.RandomSaltAndPepperNoise(0.02, p=1),
        "sharpness": lambda: k.RandomSharpness(0.5, p=1),
        "solarize": lambda: k.RandomSolarize(0.1, 0.0, p=1),
    }
    return those_there("kornia", makers)


def of_torchvision(torchvision: Any) -> Table:
    torch = importlib.import_module("torch")
    v2 = importlib.import_module("torchvision.transforms.v2")
    makers: dict[str, Callable[[], Any]] = {
        "brightness": lambda: v2.ColorJitter(brightness=(1.2, 1.2)),
        "channel shuffle": lambda: v2.RandomChannelPermutation(),
        "contrast": lambda: v2.ColorJitter(contrast=(1.2, 1.2)),
        "crop 128": lambda: v2.CenterCrop(128),
        "flip, vertical": lambda: v2.RandomVerticalFlip(p=1),
        "normalize": lambda: v2.Compose([v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]),
        "random crop 128": lambda: v2.RandomCrop(128),
        "random resized crop": lambda: v2.RandomResizedCrop((224, 224), antialias=False),
        "sharpness": lambda: v2.RandomAdjustSharpness(1.5, p=1),
        "affine": lambda: v2.RandomAffine(15, scale=(1.1, 1.1), shear=5),
        "autocontrast": lambda: v2.RandomAutocontrast(p=1),
        "color jitter": lambda: v2.ColorJitter(0.4, 0.4, 0.4, 0.1),
        "elastic": lambda: v2.ElasticTransform(300.0, 10.0),
        "equalize": lambda: v2.RandomEqualize(p=1),
        "erase": lambda: v2.RandomErasing(p=1),
        "flip": lambda: v2.RandomHorizontalFlip(p=1),
        "gaussian blur 5": lambda: v2.GaussianBlur(5, 1.5),
        "gray": lambda: v2.Grayscale(3),
        "invert": lambda: v2.RandomInvert(p=1),
        "perspective": lambda: v2.RandomPerspective(0.2, p=1),
        "posterize": lambda: v2.RandomPosterize(4, p=1),
        "resize 224": lambda: v2.Resize((224, 224), antialias=False),
        "rotate": lambda: v2.RandomRotation(15),
        "solarize": lambda: v2.RandomSolarize(128, p=1),
    }
    return those_there("torchvision", makers)


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


OTHERS: dict[str, Callable[[Any], Table]] = {
    "albumentations": of_albumentations,
    "cv2": of_cv2,
    "kornia": of_kornia,
    "torchvision": of_torchvision,
}


def contestants() -> dict[str, Table]:
    found = {}
    for name, make in OTHERS.items():
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


def microseconds(call: Callable[[], Any], images: int = BATCH) -> float:
    """CPU time per image, of as many calls with all images as take long enough to measure."""
    calls, taken = 0, 0.0
    start = time.process_time()
    while taken < SECONDS:
        call()
        calls += 1
        taken = time.process_time() - start
    return taken / calls / images * 1e6


def main() -> None:
    height, width, rounds = map(int, sys.argv[1:])
    images = [photo(height, width, seed) for seed in range(BATCH)]
    load("cv2").setNumThreads(1)
    best: dict[str, float] = {}
    for row, run in of_albumentations(load("albumentations")).items():
        try:
            best[row] = min(microseconds(lambda run=run: [run(image) for image in images]) for _ in range(rounds))
        except Exception as error:  # of another library, of another version
            print(f"{row}: {error}", file=sys.stderr)
    print(json.dumps(best))


if __name__ == "__main__":
    main()
