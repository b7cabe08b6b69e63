"""Arguments for each frame of videos, on both libraries."""

import numpy as np
import pytest

from tests.parity.compare import both

FRAMES = (3, 2)
RNG = np.random.default_rng(7)
VIDEOS = [RNG.integers(0, 255, (n, 20, 24, 3), np.uint8) for n in FRAMES]
EYES = [np.tile(np.float32([[1, 0.1, 2], [0, 0.9, 1]]), (n, 1, 1)) * RNG.uniform(0.9, 1.1, (n, 1, 1)) for n in FRAMES]
MATRICES = [matrix.astype(np.float32) for matrix in EYES]


def videos(ndd):
    return ndd.batch(VIDEOS, layout="FHWC")


def numbers(ndd, low=0.5, high=2.0, shape=(), dtype=np.float32):
    rng = np.random.default_rng(3)
    return ndd.per_frame(ndd.batch([rng.uniform(low, high, (n, *shape)).astype(dtype) for n in FRAMES]))


def matrices(ndd):
    return ndd.per_frame(ndd.batch(MATRICES))


def projections():
    return [np.concatenate([m, np.tile(np.float32([[0.001, 0.002, 1]]), (len(m), 1, 1))], 1) for m in MATRICES]


CASES = {
    "contrast": lambda ndd: ndd.contrast(videos(ndd), contrast=numbers(ndd), contrast_center=90.0),
    "brightness_contrast": lambda ndd: ndd.brightness_contrast(
        videos(ndd), brightness=numbers(ndd), contrast=numbers(ndd, 0.2, 3), brightness_shift=numbers(ndd, -0.2, 0.2)
    ),
    "hue": lambda ndd: ndd.hue(videos(ndd), hue=numbers(ndd, -180, 180)),
    "saturation": lambda ndd: ndd.saturation(videos(ndd), saturation=numbers(ndd)),
    "hsv": lambda ndd: ndd.hsv(videos(ndd), hue=numbers(ndd, 0, 90), saturation=0.7, value=numbers(ndd)),
    "warp_perspective": lambda ndd: ndd.experimental.warp_perspective(
        videos(ndd), matrix=ndd.per_frame(ndd.batch(projections())), fill_value=[3.0]
    ),
    "warp_perspective, second input": lambda ndd: ndd.experimental.warp_perspective(
        videos(ndd), ndd.per_frame(ndd.batch(projections()))
    ),
    "scale": lambda ndd: ndd.transforms.scale(scale=numbers(ndd, shape=(2,)), center=[1.0, 2.0]),
    "scale after": lambda ndd: ndd.transforms.scale(matrices(ndd), scale=numbers(ndd, shape=(2,))),
    "shear": lambda ndd: ndd.transforms.shear(shear=numbers(ndd, shape=(2,)), center=[1.0, 2.0]),
    "shear by angles": lambda ndd: ndd.transforms.shear(angles=numbers(ndd, -50, 50, (2,))),
    "crop": lambda ndd: ndd.transforms.crop(from_start=numbers(ndd, 0, 1, (2,)), from_end=numbers(ndd, 2, 5, (2,))),
    "crop to one end": lambda ndd: ndd.transforms.crop(from_start=numbers(ndd, 0, 1, (2,)), from_end=[6.0, 7.0]),
    "brightness": lambda ndd: ndd.brightness(videos(ndd), brightness=numbers(ndd)),
    "color_twist": lambda ndd: ndd.color_twist(
        videos(ndd), hue=numbers(ndd, 0, 90), saturation=ndd.batch([np.float32(0.5), np.float32(1.5)])
    ),
    "rotate": lambda ndd: ndd.rotate(videos(ndd), angle=numbers(ndd, 0, 90), keep_size=True, fill_value=0),
    "rotate to one canvas": lambda ndd: ndd.rotate(videos(ndd), angle=numbers(ndd, 0, 90), fill_value=0),
    "one angle": lambda ndd: ndd.rotate(
        videos(ndd), angle=ndd.per_frame(ndd.batch([np.float32([9]), np.float32([20])])), keep_size=True, fill_value=1
    ),
    "gaussian_blur": lambda ndd: ndd.gaussian_blur(videos(ndd), sigma=numbers(ndd)),
    "gaussian_blur, two numbers": lambda ndd: ndd.gaussian_blur(videos(ndd), sigma=numbers(ndd, shape=(2,))),
    "gaussian_blur, windows": lambda ndd: ndd.gaussian_blur(
        videos(ndd), window_size=ndd.per_frame(ndd.batch([np.int32([3, 5, 7]), np.int32([1, 9])]))
    ),
    "warp_affine": lambda ndd: ndd.warp_affine(videos(ndd), matrix=matrices(ndd), fill_value=3),
    "warp_affine, second input": lambda ndd: ndd.warp_affine(videos(ndd), matrices(ndd), fill_value=3),
    "rotation": lambda ndd: ndd.transforms.rotation(angle=numbers(ndd, 0, 90)),
    "translation": lambda ndd: ndd.transforms.translation(offset=numbers(ndd, shape=(2,))),
    "rotation after": lambda ndd: ndd.transforms.rotation(matrices(ndd), angle=numbers(ndd, 0, 90)),
    "rotation after, one angle": lambda ndd: ndd.transforms.rotation(
        matrices(ndd), angle=ndd.batch([np.float32(1), np.float32(2)])
    ),
    "combine": lambda ndd: ndd.transforms.combine(matrices(ndd), np.float32([[1, 0, 1], [0, 1, 0]])),
    "coord_transform": lambda ndd: ndd.coord_transform(numbers(ndd, shape=(7, 2)), MT=matrices(ndd)),
    "filter": lambda ndd: ndd.filter(videos(ndd), numbers(ndd, -0.3, 0.3, (3, 3))),
    "laplacian": lambda ndd: ndd.laplacian(videos(ndd), scale=numbers(ndd)),
    "debayer": lambda ndd: ndd.debayer(
        ndd.batch([np.arange(3 * 8 * 8, dtype=np.uint8).reshape(3, 8, 8)] * 2, layout="FHW"),
        blue_position=ndd.per_frame(ndd.batch([np.int32([[0, 0], [0, 1], [1, 1]])] * 2)),
    ),
    "replaced letter": lambda ndd: ndd.per_frame(
        ndd.batch([np.ones((3, 2), np.float32)] * 2, layout="HW"), replace=True
    ),
    "a tensor": lambda ndd: ndd.brightness(
        ndd.tensor(VIDEOS[0], layout="FHWC"), brightness=ndd.per_frame(np.float32([1, 2, 3]))
    ),
    "an image": lambda ndd: ndd.brightness(
        ndd.tensor(VIDEOS[0][0], layout="HWC"), brightness=ndd.per_frame(np.float32([2]))
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_per_frame(name):
    floats = name.startswith(("rotation", "translation", "combine", "coord", "scale", "shear", "crop"))
    both(CASES[name], atol=1e-4 if floats else 2 if name.startswith(("rotate", "warp")) else 1)
