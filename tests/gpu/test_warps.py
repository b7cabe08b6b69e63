"""Images of one, three and four channels are warped in tiles, others pixel by pixel: the numbers are the same.

Affine maps of bytes are whole numbers where tiles come from small boxes of the input: within one.
"""

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
    most = int(warp in ("rotate", "rotate_all") and linear and images[0].dtype == np.uint8)
    for ours, expected in zip(got.tensors, all_of_them.tensors, strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(expected)[..., :channels], rtol=0, atol=most)


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


# ---- Boxes of the input ----------------------------------------------------------------------------------------------

# Input and output: boxes inside, across the border and without anything inside; rows at any address; edges of tiles.
SIZES = [((160, 240), (33, 65)), ((161, 247), (64, 129)), ((90, 71), (32, 64)), ((5, 9), (70, 5)), ((1, 1), (31, 63))]
SIZES += [((40, 8), (1, 1)), ((3, 200), (2, 130)), ((64, 1), (35, 3))]


def turned(degrees, scale, shape, size, shift=0.0):
    """The matrix that turns and scales about the centres of the input and the output."""
    angle = np.radians(degrees)
    linear = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    moved = np.array(shape[::-1]) / 2 - linear @ (np.array(size[::-1]) / 2) + shift
    return np.float32(np.hstack([linear, moved[:, None]]))


def mixed(image, matrix, size, fill):
    """What linear interpolation gives, not rounded."""
    y, x = np.mgrid[: size[0], : size[1]] + 0.5
    place = np.float64(matrix) @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)]) - 0.5
    first = np.floor(place).astype(int)
    total = np.zeros((x.size, image.shape[2]))
    for step in ((0, 0), (1, 0), (0, 1), (1, 1)):
        at = [first[d] + step[d] for d in (0, 1)]
        inside = [np.clip(at[d], 0, image.shape[1 - d] - 1) for d in (0, 1)]
        pixels = np.float64(image[inside[1], inside[0]])
        if fill is not None:
            pixels[(at[0] != inside[0]) | (at[1] != inside[1])] = fill
        weight = np.prod([1 - np.abs(place[d] - at[d]) for d in (0, 1)], axis=0)
        total += pixels * weight[:, None]
    return total.reshape(*size, -1)


def check_affine(images, matrices, sizes, fill, layout="HWC"):
    def warp(x):
        arguments = {"matrix": ndd.batch(matrices), "size": ndd.batch([np.float32(size) for size in sizes])}
        return ndd.warp_affine(x, fill_value=fill, **arguments).cpu().tensors

    x = ndd.batch(images, layout=layout)
    for k, (ours, on_cpu) in enumerate(zip(warp(x.gpu()), warp(x), strict=True)):
        frames = images[k] if layout == "FHWC" else [images[k]]
        got = np.float64(ours).reshape(len(frames), *sizes[k], -1)
        assert np.abs(got - np.float64(on_cpu).reshape(got.shape)).max() <= 1
        for image, frame in zip(frames, got, strict=True):
            assert np.abs(frame - mixed(image, matrices[k], sizes[k], fill)).max() < 0.55


@pytest.mark.parametrize("fill", [None, 77])
@pytest.mark.parametrize("scale", [0, 0.4, 1, 1.3, 2.5])  # boxes for the last are too large
@pytest.mark.parametrize("degrees", [0, 20, 45, 90, 180, -100])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_turned(channels, degrees, scale, fill):
    images = [rng.integers(0, 256, (*shape, channels)).astype("uint8") for shape, _ in SIZES]
    check_affine(images, [turned(degrees, scale, *each) for each in SIZES], [size for _, size in SIZES], fill)


@pytest.mark.parametrize("shift", [-1000, -20.25, 7.5, 60, 1e6, 1e8])
def test_moved(shift):
    images = [rng.integers(0, 256, (*shape, 3)).astype("uint8") for shape, _ in SIZES]
    matrices = [turned(0, 1, *each, shift=shift) for each in SIZES]
    check_affine(images, matrices, [size for _, size in SIZES], 5)
    check_affine(images, matrices, [size for _, size in SIZES], None)


@pytest.mark.parametrize(
    "matrix", [[[-1, 0.5, 60], [0.25, -1.5, 90]], [[0, 3.9, 0], [0.2, 0, 3]], [[1.9, 0, 1], [0, 0, 2]]]
)
def test_sheared(matrix):
    image = rng.integers(0, 256, (120, 136, 3)).astype("uint8")
    check_affine([image], [np.float32(matrix)], [(97, 139)], None)


def test_frames():
    """They begin anywhere in a word."""
    frames = rng.integers(0, 256, (3, 71, 67, 3)).astype("uint8")
    check_affine([frames], [turned(30, 1, (71, 67), (37, 69))], [(37, 69)], 9, layout="FHWC")


def test_crops():
    x = rng.integers(0, 256, (90, 121, 3)).astype("uint8")
    cropped = ndd.crop(ndd.tensor(x, layout="HWC").gpu(), crop=[50, 77], crop_pos_x=1, crop_pos_y=0)
    matrix = turned(10, 1, (50, 77), (50, 77))
    got = np.float64(ndd.warp_affine(cropped, matrix=matrix, fill_value=0).cpu())
    assert np.abs(got - mixed(x[:50, 44:], matrix, (50, 77), 0)).max() < 0.55


@pytest.mark.parametrize("k", range(6))
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e30, -3e38, 1e9])
def test_numbers_that_fit_no_box(number, k):
    image = rng.integers(0, 256, (40, 70, 3)).astype("uint8")
    matrix = np.float32([1, 0, 0, 0, 1, 0])
    matrix[k] = number
    x = ndd.tensor(image, layout="HWC")
    expected = ndd.warp_affine(x, matrix=matrix, fill_value=3)
    np.testing.assert_array_equal(np.asarray(ndd.warp_affine(x.gpu(), matrix=matrix, fill_value=3).cpu()), expected)


def test_nothing_to_warp():
    empty = [np.zeros(shape, "uint8") for shape in ((0, 5, 3), (5, 0, 3), (0, 0, 3))]
    got = ndd.warp_affine(ndd.batch(empty, layout="HWC").gpu(), matrix=[1, 0, 0, 0, 1, 0], size=[40, 70], fill_value=8)
    for tensor in got.cpu().tensors:
        np.testing.assert_array_equal(np.asarray(tensor), np.full((40, 70, 3), 8))
    some = ndd.tensor(np.ones((9, 9, 3), "uint8"), layout="HWC").gpu()
    assert ndd.warp_affine(some, matrix=[1, 0, 0, 0, 1, 0], size=[0, 7]).cpu().shape == (0, 7, 3)


@pytest.mark.parametrize("shape", [(1, 2**22), (2**22, 1), (1, 2**22 + 8)])
def test_long(shape):
    """The far end, at places that are exact everywhere."""
    image = rng.integers(0, 256, (*shape, 1)).astype("uint8")
    matrix = np.float32([[1, 0, shape[1] - 35.5], [0, 1, shape[0] - 20.5]])
    check_affine([image], [matrix], [(40, 70)], 100)


def test_long_output():
    matrix = np.float32([[2**-17, 0, 0], [0, 0.5, 0.25]])
    check_affine([rng.integers(0, 256, (2, 8, 1)).astype("uint8")], [matrix], [(3, 2**18)], None)
