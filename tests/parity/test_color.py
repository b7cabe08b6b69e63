"""Colour operators: bytes within 1 of the real library's, floats within 1e-4."""

import itertools

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import both

RNG = np.random.default_rng(7)


def photo(height, width, channels=3):
    """Smooth shades with some noise, as a camera has."""
    y, x = np.mgrid[:height, :width]
    planes = [120 + 90 * np.sin(x / (17 + 5 * c) + c) * np.cos(y / (23 - 4 * c)) for c in range(channels)]
    return np.clip(np.stack(planes, -1) + RNG.normal(0, 8, (height, width, channels)), 0, 255).astype(np.uint8)


PHOTO = photo(61, 83)
NOISE = RNG.integers(0, 256, (40, 50, 3), np.uint8)

ARGUMENTS = {
    "brightness": [{"brightness": 1.3}, {"brightness": -0.5, "brightness_shift": 0.4}],
    "contrast": [{"contrast": 0.6}, {"contrast": 1.7, "contrast_center": 90.0}],
    "brightness_contrast": [
        {"brightness": 1.1, "contrast": 0.4, "brightness_shift": -0.1},
        {"contrast": 2.0, "contrast_center": 0.3},
    ],
    "hue": [{"hue": 33.0}, {"hue": -400.0, "image_type": 1}],
    "saturation": [{"saturation": 0.0}, {"saturation": 1.8}],
    "hsv": [{"hue": 70.0, "saturation": 0.7, "value": 1.2}],
    "color_twist": [{"hue": 20.0, "saturation": 1.4, "brightness": 0.9, "contrast": 1.3}, {"contrast": 0.0}],
}
CASES = [(name, arguments) for name, tried in ARGUMENTS.items() for arguments in tried]


def tolerance(out):
    if out == "float16":
        return {"rtol": 1e-3, "atol": 1e-3}  # one unit in the last place
    return {"rtol": 1e-4, "atol": 1e-4 if out == "float32" else 1}


@pytest.mark.parametrize(("name", "arguments"), CASES)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float16"])
@pytest.mark.parametrize("out", ["uint8", "int16", "float32", "float16"])
def test_types(name, arguments, dtype, out):
    scale = 1 / 255 if dtype.startswith("float") and out.startswith("float") else 1
    for x in (PHOTO, NOISE):

        def run(lib, kind=dtype, to=out, x=x):
            image = lib.tensor((x * scale).astype(dtype).astype(kind), layout="HWC")
            return getattr(lib, name)(image, dtype=getattr(lib, to), **arguments)

        if "float16" in (dtype, out) and name in ("brightness", "contrast", "brightness_contrast"):
            # It has no float16 there: its results in float32 are the reference.
            with pytest.raises(RuntimeError):
                np.asarray(run(dali).evaluate())
            wider = "float32" if out == "float16" else out
            theirs = np.asarray(run(dali, "float32" if dtype == "float16" else dtype, wider))
            np.testing.assert_allclose(np.asarray(run(avida)).astype(np.float64), theirs, **tolerance(out))
            continue
        both(run, **tolerance(out))


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_types_by_default(name, arguments):
    for dtype in ("uint8", "int16", "int32", "float32"):
        both(
            lambda lib, dtype=dtype: getattr(lib, name)(lib.tensor(NOISE.astype(dtype), layout="HWC"), **arguments),
            rtol=1e-4,
            atol=1,
        )


@pytest.mark.parametrize(("name", "arguments"), CASES)
@pytest.mark.parametrize("layout", ["FHWC", "DHWC", None])
def test_videos_and_volumes(name, arguments, layout):
    x = np.stack([NOISE, NOISE[::-1]])
    both(lambda lib: getattr(lib, name)(lib.tensor(x, layout=layout), **arguments), atol=1)


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_any_channels(channels):
    x = photo(20, 30, channels)
    both(lambda lib: lib.brightness_contrast(lib.tensor(x, layout="HWC"), brightness=1.4, contrast=0.7), atol=1)


def test_numbers_per_sample():
    def run(lib):
        batch = lib.batch([PHOTO, NOISE], layout="HWC")
        return lib.color_twist(batch, hue=lib.batch([np.float32(10), np.float32(90)]), brightness=1.1)

    both(run, atol=1)


@pytest.mark.parametrize("name", list(ARGUMENTS))
def test_refused_alike(name):
    both(lambda lib: getattr(lib, name)(lib.tensor(np.zeros((4, 4), np.uint8), layout="HW")), fails=ValueError)
    both(lambda lib: getattr(lib, name)(lib.tensor(np.zeros((4, 4, 3), bool), layout="HWC")), fails=RuntimeError)
    both(lambda lib: getattr(lib, name)(lib.tensor(np.zeros((0, 4, 3), np.uint8), layout="HWC")))


@pytest.mark.parametrize("name", ["brightness", "hue"])
@pytest.mark.parametrize("value", [float("inf"), -1e5])
def test_numbers_beyond_reason(name, value):
    both(lambda lib: getattr(lib, name)(lib.tensor(NOISE, layout="HWC"), **{name: value}), atol=1)


SPACES = {"RGB": 0, "BGR": 1, "GRAY": 2, "YCbCr": 3}


@pytest.mark.parametrize("source", SPACES)
@pytest.mark.parametrize("target", SPACES)
def test_color_spaces(source, target):
    for x in (photo(31, 40, 1 if source == "GRAY" else 3), RNG.integers(0, 256, (2, 9, 8, 3), np.uint8)):
        data = np.ascontiguousarray(x[..., : 1 if source == "GRAY" else 3])

        def run(lib, data=data):
            return lib.color_space_conversion(lib.tensor(data), image_type=SPACES[source], output_type=SPACES[target])

        if source == target:  # it refuses to copy
            with pytest.raises(RuntimeError):
                np.asarray(run(dali).evaluate())
            np.testing.assert_array_equal(np.asarray(run(avida)), data)
            continue
        both(run, atol=1)


@pytest.mark.parametrize("arguments", [{"image_type": 0, "output_type": 4}, {"image_type": 2, "output_type": 0}])
def test_color_spaces_refused_alike(arguments):
    both(lambda lib: lib.color_space_conversion(lib.tensor(NOISE, layout="HWC"), **arguments), fails=RuntimeError)
    both(
        lambda lib: lib.color_space_conversion(
            lib.tensor(NOISE.astype(np.float32), layout="HWC"), image_type=0, output_type=1
        ),
        fails=RuntimeError,
    )


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        ("HW", (33, 47)),
        ("HWC", (33, 47, 3)),
        ("HWC", (33, 47, 2)),
        ("CHW", (3, 20, 31)),
        ("FHW", (3, 20, 31)),
        ("FHWC", (2, 20, 31, 3)),
        ("FCHW", (2, 3, 20, 31)),
        ("HW", (0, 5)),
    ],
)
def test_equalize(layout, shape):
    x = np.clip(RNG.normal(90, 25, shape), 0, 255).astype(np.uint8)
    both(lambda lib: lib.equalize(lib.tensor(x, layout=layout)))


def test_equalize_of_one_value_and_of_other_types():
    both(lambda lib: lib.equalize(lib.tensor(np.full((4, 5), 77, np.uint8), layout="HW")))
    both(lambda lib: lib.equalize(lib.tensor(np.ones((4, 5), np.float32), layout="HW")), fails=RuntimeError)


@pytest.mark.parametrize(
    ("tiles_x", "tiles_y", "clip_limit"),
    [(8, 8, 2.0), (4, 2, 3.0), (1, 1, 2.0), (3, 5, 40.0), (7, 3, 0.5), (5, 4, 0.0), (90, 70, 2.0)],
)
def test_clahe(tiles_x, tiles_y, clip_limit):
    arguments = {"tiles_x": tiles_x, "tiles_y": tiles_y, "clip_limit": clip_limit}
    for x in (photo(61, 83, 1), photo(64, 120, 1)):
        both(lambda lib, x=x: lib.clahe(lib.tensor(x, layout="HWC"), **arguments))
    both(lambda lib: lib.clahe(lib.tensor(PHOTO, layout="HWC"), luma_only=False, **arguments))


@pytest.mark.parametrize("x", [PHOTO, NOISE], ids=["photo", "noise"])
def test_clahe_of_colors(x):
    both(lambda lib: lib.clahe(lib.tensor(x, layout="HWC"), tiles_x=4, tiles_y=4, clip_limit=2.0))


@pytest.mark.parametrize("x", [np.zeros((4, 4, 2), np.uint8), np.zeros((4, 4, 3), np.float32)])
def test_clahe_refused_alike(x):
    both(lambda lib: lib.clahe(lib.tensor(x, layout="HWC"), tiles_x=2, tiles_y=2, clip_limit=2.0), fails=ValueError)


POSITIONS = [[0, 0], [0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize("algorithm", ["bilinear_ocv", "edgeaware_ocv", "gray_ocv"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize(
    ("layout", "shape"),
    [("HW", (36, 70)), ("HWC", (4, 6, 1)), ("FHW", (2, 8, 10)), ("FHWC", (2, 8, 4, 1)), (None, (6, 8)), ("HW", (2, 4))],
)
def test_debayer(algorithm, dtype, layout, shape):
    x = RNG.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
    for position in POSITIONS:
        both(
            lambda lib, position=position: lib.debayer(
                lib.tensor(x, layout=layout), blue_position=position, algorithm=algorithm
            )
        )


@pytest.mark.parametrize(
    ("layout", "shape"),
    [("HW", (36, 66)), ("HWC", (8, 8, 1)), ("FHW", (2, 8, 50)), ("FHWC", (2, 10, 18, 1)), (None, (120, 162)),
     ("HW", (2, 2)), ("HW", (6, 40)), ("HW", (40, 4))],
)  # fmt: skip
def test_debayer_by_gradients(layout, shape):
    """The real library rounds in another way in the last columns of a row, which are few."""
    noise = RNG.integers(0, 256, shape, np.uint8)
    edges = (np.indices(shape).sum(0) // 16 % 2 * 100 + noise // 4).astype(np.uint8)
    for position, x in itertools.product(POSITIONS, [noise, edges]):
        both(
            lambda lib, position=position, x=x: lib.debayer(
                lib.tensor(x, layout=layout), blue_position=position, algorithm="vng_ocv"
            ),
            atol=1,
        )


def test_debayer_of_many_sensors():
    x = RNG.integers(0, 256, (6, 8), np.uint8)
    both(lambda lib: lib.debayer(lib.batch([x] * 4, layout="HW"), blue_position=lib.batch(np.int32(POSITIONS))))


@pytest.mark.parametrize(
    ("shape", "dtype", "position", "algorithm"),
    [
        ((5, 6), "uint8", [0, 0], "bilinear_ocv"),
        ((6, 6, 3), "uint8", [0, 0], "bilinear_ocv"),
        ((6, 6), "float32", [0, 0], "bilinear_ocv"),
        ((6, 6), "uint8", [2, 0], "bilinear_ocv"),
        ((6, 6), "uint8", [0], "bilinear_ocv"),
        ((6, 6), "uint8", [0, 0], "nearest"),
        ((6, 6), "uint16", [0, 0], "vng_ocv"),
        ((9, 12), "uint8", [0, 0], "vng_ocv"),
        ((10, 12, 3), "uint8", [0, 0], "vng_ocv"),
        ((6, 6), "uint8", [0, 0], "default_npp"),
    ],
)
def test_debayer_refused_alike(shape, dtype, position, algorithm):
    both(
        lambda lib: lib.debayer(lib.tensor(np.zeros(shape, dtype)), blue_position=position, algorithm=algorithm),
        fails=RuntimeError,
    )
