"""Measures transforms of single images on the CPU: avida, albumentations, OpenCV, kornia and torchvision, in one run.

    python benchmarks/augment.py [--rounds 5] [--only blur jitter] [--sizes 480x640 224x224] [--pipelines]
        [--albumentationsx PYTHON]

The figures are microseconds of CPU time per image, of one thread. All get the same 16 images: avida as a batch, the
others one after the other, which is what they are made for; kornia and torchvision as tensors. Contestants take turns,
and the best of several rounds counts. Libraries that are not installed are named and left out; the extra `bench` has
those that can be. AlbumentationsX runs in the environment of its own that PYTHON belongs to, right after the others.

`--pipelines` measures what is done to an image before it is trained with (contestants/pipelines.py).
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
from contestants.pipelines import PIPELINES
from contestants.transforms import BATCH, MEAN, STD, Table, contestants, inputs, microseconds, photo

import avida as ndd
from avida import augment


def ours() -> Table:
    mean, std = [255 * m for m in MEAN], [255 * s for s in STD]
    made: Table = {
        "affine": lambda x: augment.affine(x, angle=15, scale=1.1, shear=5),
        "autocontrast": lambda x: augment.autocontrast(x),
        "box blur 5": lambda x: augment.box_blur(x, size=5),
        "brightness": lambda x: ndd.brightness(x, brightness=1.2),
        "brightness, contrast": lambda x: ndd.brightness_contrast(x, brightness=1.2, contrast=1.2),
        "channel dropout": lambda x: augment.channel_dropout(x, channels=1),
        "channel shuffle": lambda x: augment.channel_shuffle(x),
        "clahe": lambda x: ndd.clahe(x, tiles_x=8, tiles_y=8, clip_limit=4.0),
        "coarse dropout": lambda x: augment.coarse_dropout(x, holes=8, height=0.1, width=0.1),
        "color jitter": lambda x: augment.color_jitter(x, brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1),
        "contrast": lambda x: ndd.contrast(x, contrast=1.2),
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
        "grid mask": lambda x: ndd.grid_mask(x, ratio=0.5, tile=64),
        "hue": lambda x: augment.adjust_colors(x, hue=0.1),
        "hue, saturation, value": lambda x: augment.adjust_colors(x, hue=0.1, saturation=1.2, brightness=1.1),
        "invert": lambda x: augment.invert(x),
        "jpeg": lambda x: ndd.jpeg_compression_distortion(x, quality=50),
        "longest side 256": lambda x: ndd.resize(x, resize_longer=256, antialias=False),
        "median blur 5": lambda x: ndd.experimental.median_blur(x, window_size=[5, 5]),
        "motion blur 7": lambda x: augment.motion_blur(x, size=7, angle=30),
        "normalize": lambda x: ndd.crop_mirror_normalize(x, output_layout="HWC", mean=mean, std=std),
        "optical distortion": lambda x: augment.optical_distortion(x, k=0.1),
        "pad": lambda x: ndd.pad(x, axis_names="HW", align=[64, 64]),
        "perspective": lambda x: augment.perspective(x, distortion=0.2),
        "posterize": lambda x: augment.posterize(x, bits=4),
        "random crop 128": lambda x: ndd.crop(
            x, crop=[128, 128], crop_pos_x=augment.between(0, 1), crop_pos_y=augment.between(0, 1)
        ),
        "random resized crop": lambda x: ndd.random_resized_crop(x, size=[224, 224], antialias=False),
        "resize 224": lambda x: ndd.resize(x, size=[224, 224], antialias=False),
        "rgb shift": lambda x: augment.rgb_shift(x, shift=[0.1, -0.1, 0.05]),
        "rotate by 90": lambda x: ndd.rotate(x, angle=augment.either(0, 90, 180, 270)),
        "rotate": lambda x: ndd.rotate(x, angle=15, keep_size=True, fill_value=0),
        "salt and pepper": lambda x: ndd.noise.salt_and_pepper(x, prob=0.02),
        "saturation": lambda x: augment.adjust_colors(x, saturation=1.2),
        "sharpness": lambda x: augment.sharpness(x, 1.5),
        "shear": lambda x: augment.affine(x, shear=10),
        "shot noise": lambda x: ndd.noise.shot(x, factor=20),
        "solarize": lambda x: augment.solarize(x, threshold=128),
        "transpose": lambda x: ndd.transpose(x, perm=[1, 0, 2]),
        "unsharp mask": lambda x: augment.unsharp_mask(x, sigma=1.5),
    }
    return made | {row: call for row, name, options in LATER if (call := if_known(name, **options))}


# Functions that may be missing, by their names and arguments.
LATER: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("advanced blur", "advanced_blur", {}),
    ("corner illumination", "illumination", {"kind": "corner"}),
    ("dithering", "dithering", {}),
    ("downscale", "downscale", {}),
    ("emboss", "emboss", {}),
    ("fog", "fog", {}),
    ("gaussian illumination", "illumination", {"kind": "gaussian"}),
    ("glass blur", "glass_blur", {}),
    ("iso noise", "iso_noise", {}),
    ("jigsaw", "jigsaw", {}),
    ("linear illumination", "illumination", {"kind": "linear"}),
    ("multiplicative noise", "multiplicative_noise", {}),
    ("pca lighting", "pca_lighting", {}),
    ("pixel dropout", "pixel_dropout", {}),
    ("planckian jitter", "planckian_jitter", {}),
    ("plasma brightness", "plasma_brightness", {}),
    ("plasma contrast", "plasma_contrast", {}),
    ("plasma shadow", "plasma_shadow", {}),
    ("rain", "rain", {}),
    ("ringing", "ringing_overshoot", {}),
    ("sepia", "to_sepia", {}),
    ("shadow", "shadow", {}),
    ("snow", "snow", {}),
    ("spatter", "spatter", {}),
    ("sun flare", "sun_flare", {}),
    ("thin plate spline", "thin_plate_spline", {}),
    ("tone curve", "random_tone_curve", {}),
    ("zoom blur", "zoom_blur", {}),
)


def if_known(name: str, **options: Any) -> Callable[[Any], Any] | None:
    function = getattr(augment, name, None)
    return None if function is None else lambda x: function(x, **options)


def of_albumentationsx(python: str, height: int, width: int, rounds: int) -> dict[str, float]:
    program = pathlib.Path(__file__).parent / "contestants" / "transforms.py"
    command = [python, str(program), str(height), str(width), str(rounds)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


def best_of(rounds: int, calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """In turns; a contestant that fails is named and left out."""
    best = dict.fromkeys(calls, math.inf)
    for _ in range(rounds):
        for name in list(best):
            try:
                best[name] = min(best[name], microseconds(calls[name]))
            except Exception as error:  # whatever other libraries raise
                print(f"{name} fails: {error}")
                del best[name]
    return best


def line(row: str, columns: list[str], best: dict[str, float]) -> str:
    fastest = min((best[name] for name in best if name != "avida"), default=math.nan)
    cells = [f"{best[name]:,.0f}" if name in best else "" for name in columns]
    ratio = f"{fastest / best['avida']:.2f} x" if "avida" in best else "missing"
    return f"| {row} | {' | '.join(cells)} | {ratio} |"


def head(title: str, columns: list[str]) -> None:
    print(f"\n| {title} | {' | '.join(columns)} | avida is |")
    print("|---" * (len(columns) + 2) + "|")


def measure(height: int, width: int, rounds: int, only: list[str], albumentationsx: str | None) -> None:
    images = [photo(height, width, seed) for seed in range(BATCH)]
    batch = ndd.as_batch(images, layout="HWC")
    rivals, mine = contestants(), ours()
    given = {name: [inputs(name, image) for image in images] for name in rivals}
    other = of_albumentationsx(albumentationsx, height, width, rounds) if albumentationsx else {}
    columns = ["avida", *rivals, *(["albumentationsx"] if albumentationsx else [])]
    head(f"{height} x {width}", columns)
    rows = sorted(set(mine).union(*rivals.values()))
    for row in rows:
        if only and not any(part in row for part in only):
            continue
        calls: dict[str, Callable[[], Any]] = {}
        if row in mine:
            calls["avida"] = lambda call=mine[row]: call(batch).evaluate()
        for name, known in rivals.items():
            if row in known:
                calls[name] = lambda run=known[row], images=given[name]: [run(image) for image in images]
        best = best_of(rounds, calls)
        if row in other:
            best["albumentationsx"] = other[row]
        print(line(row, columns, best), flush=True)
    print(f"\n{len(set(rows) & set(mine))} of {len(rows)} rows; missing: {', '.join(sorted(set(rows) - set(mine)))}")


def measure_pipelines(rounds: int, only: list[str]) -> None:
    columns = ["avida", "albumentations", "cv2", "torchvision"]
    head("pipelines", columns)
    images = [photo(480, 640, seed) for seed in range(BATCH)]
    rng = np.random.default_rng(1)
    corners = [np.sort(rng.uniform(0.02, 0.98, (8, 2, 2)), axis=1) * [640, 480] for _ in images]
    boxes = [each.reshape(8, 4).astype(np.float32) for each in corners]
    masks = [(image[..., :1] // 32).copy() for image in images]
    for row, make in PIPELINES.items():
        if not only or any(part in row for part in only):
            print(line(row, columns, best_of(rounds, make(images, boxes, masks))), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="rows whose names contain it")
    parser.add_argument("--sizes", nargs="*", default=["480x640", "224x224"])
    parser.add_argument("--pipelines", action="store_true")
    parser.add_argument("--albumentationsx", metavar="PYTHON", help="of the environment that has it")
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f}, processors: {os.cpu_count()}")
    with ndd.EvalContext(num_threads=1), ndd.EvalMode.sync_cpu:
        for size in options.sizes:
            height, width = map(int, size.split("x"))
            measure(height, width, options.rounds, options.only, options.albumentationsx)
        if options.pipelines:
            measure_pipelines(options.rounds, options.only)


if __name__ == "__main__":
    main()
