"""Images of one, three and four channels are warped in tiles, others pixel by pixel: the numbers are the same."""

import numpy as np
import pytest

import avida as ndd

rng = np.random.default_rng(7)
BORDERS = ["constant", "replicate", "reflect", "reflect_101", "wrap"]
MATRIX = [0.9, 0.2, -3, -0.1, 1.1, 2, 0.002, -0.001, 1]


def maps(shape):
    return [np.float32(rng.uniform(-3, shape[k] + 3, shape[:2])) for k in (1, 0)]


WARPS = {
    "rotate": lambda x, _, linear: ndd.rotate(x, angle=20, fill_value=9, keep_size=True, interp_type=linear),
    "rotate_all": lambda x, _, linear: ndd.rotate(x, angle=-100, interp_type=linear),
    "half_a_pixel": lambda x, _, linear: ndd.warp_affine(x, matrix=[1, 0, 0.5, 0, 1, -0.5], interp_type=linear),
    "smaller": lambda x, _, linear: ndd.warp_affine(x, matrix=[3, 0, 0, 0, 3, 0], size=[9, 65], interp_type=linear),
    "no_number": lambda x, _, linear: ndd.warp_affine(x, matrix=[np.nan] * 6, fill_value=3, interp_type=linear),
    "far": lambda x, _, linear: ndd.warp_affine(x, matrix=[1e30, 0, 0, 0, 1e9, -1e9], interp_type=linear),
    "remap": lambda x, maps, linear: ndd.experimental.remap(x, *maps, interp=linear),
    "sphere": lambda x, _, linear: ndd.sphere(x, interp_type=linear),
    "water": lambda x, _, linear: ndd.water(x, interp_type=linear, fill_value=4),
    "jitter": lambda x, _, linear: ndd.jitter(x, interp_type=linear, nDegree=5, rng=ndd.random.RNG(seed=5)),
} | {
    border: lambda x, _, linear, border=border: ndd.experimental.warp_perspective(
        x, matrix=MATRIX, border_mode=border, interp_type=linear
    )
    for border in BORDERS
}


def same(warp, linear, images, channels):
    """`images` have six channels, of which some are warped by themselves."""
    positions = [maps(image.shape) for image in images]
    fields = [ndd.batch([one[k] for one in positions]).gpu() for k in (0, 1)]
    all_of_them = WARPS[warp](ndd.batch(images, layout="HWC").gpu(), fields, linear).cpu()
    some = [np.ascontiguousarray(image[..., :channels]) for image in images]
    got = WARPS[warp](ndd.batch(some, layout="HWC").gpu(), fields, linear).cpu()
    for ours, expected in zip(got.tensors, all_of_them.tensors, strict=True):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(expected)[..., :channels])


@pytest.mark.parametrize("linear", [0, 1])
@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("warp", WARPS)
def test_tiles_and_pixels(warp, dtype, channels, linear):
    shapes = [(37, 50), (33, 65), (1, 1), (64, 128), (5, 131)]
    same(warp, linear, [rng.integers(0, 256, (*shape, 6)).astype(dtype) for shape in shapes], channels)


@pytest.mark.parametrize("width", [1, 2, 5, 20, 63, 66])
def test_images_side_by_side_in_memory(width):
    """They start and end anywhere in a word."""
    images = [rng.integers(0, 256, (7, width, 6)).astype("uint8") for _ in range(5)]
    for channels in (1, 3):
        same("rotate", 1, images, channels)


def test_planes():
    x = rng.integers(0, 256, (2, 3, 21, 70)).astype("uint8")
    arguments = {"matrix": MATRIX, "fill_value": [1, 200, 3]}
    expected = ndd.experimental.warp_perspective(ndd.tensor(x, layout="FCHW"), **arguments)
    got = ndd.experimental.warp_perspective(ndd.tensor(x, layout="FCHW").gpu(), **arguments)
    assert np.abs(np.int32(got.cpu()) - np.int32(expected)).max() <= 1
