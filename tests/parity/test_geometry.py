"""Warps, affine matrices and points: both libraries on photo-like and on random images.

Bytes are within 1 of 255, where interpolation meets rounding. Nearest pixels
may be neighbours where a place falls on the border between two, for one pixel in a thousand. Floats are within 1e-4 of
the range of the image.
"""

import numpy as np
import pytest

from tests.parity.compare import avida, both, cases, dali, samples_of

RNG = np.random.default_rng(7)
TYPES = ["uint8", "int16", "int32", "float32"]


def photo(height=97, width=143, channels=3, dtype="uint8"):
    """Gradients, an edge and some noise."""
    y, x = np.mgrid[:height, :width]
    image = np.sin(x / 17)[..., None] * 60 + np.cos(y / 11 + np.arange(channels)[:, None, None]).transpose(1, 2, 0) * 50
    image = image + 120 + 20 * (x + y > height)[..., None] + RNG.normal(0, 3, (height, width, channels))
    return image.clip(0, 255).astype(dtype, order="C")


def noise(*shape, dtype="uint8"):
    return RNG.integers(0, 256, shape).astype(dtype)


def close(run, kind=1):
    """The same form, type and layout, and nearly the same pixels."""
    theirs, ours = run(dali), run(avida)
    theirs.evaluate()
    assert str(ours.dtype) == str(theirs.dtype)
    assert ours.layout == theirs.layout
    assert ours.shape == theirs.shape
    for a, b in zip(samples_of(ours), samples_of(theirs), strict=True):
        off = np.abs(a.astype(np.float64) - b.astype(np.float64))
        if kind == 0:
            assert (off > 0).mean() <= 1e-3
        else:
            assert off.max(initial=0) <= (1 if a.dtype.kind in "iu" else 1e-4 * max(1, np.abs(b).max()))


def matrices(n, count):
    for _ in range(count):
        linear = np.eye(n) + RNG.normal(0, 0.4, (n, n))
        yield np.c_[linear, RNG.normal(0, 5, n)].astype(np.float32)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("dtype", TYPES)
def test_warp_affine(dtype, kind):
    for channels, matrix in zip([1, 3, 4, 2], matrices(2, 4), strict=True):
        for image in (photo(channels=channels, dtype=dtype), noise(60, 40, channels, dtype=dtype)):
            for given in ({}, {"fill_value": 17.3}, {"size": [50.7, 31]}, {"inverse_map": False, "dtype": 9}):
                arguments = {"matrix": matrix, "interp_type": kind, **given}
                if arguments.get("dtype"):
                    arguments["dtype"] = None if dtype == "float32" else "float32"

                def run(lib, image=image, arguments=arguments):
                    wanted = arguments.get("dtype")
                    types = {"dtype": getattr(lib, wanted)} if wanted else {}
                    return lib.warp_affine(lib.tensor(image, layout="HWC"), **arguments | types)

                close(run, kind)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32"])
def test_float_images_become_integers(dtype):
    image = photo(dtype="float32") * 3 - 200
    (matrix,) = matrices(2, 1)
    close(lambda lib: lib.warp_affine(lib.tensor(image, layout="HWC"), matrix=matrix, dtype=getattr(lib, dtype)))


def test_layouts_and_batches():
    frames, volume, clip = noise(3, 20, 30, 3), noise(7, 20, 30, 2), noise(2, 5, 12, 13, 1)
    (flat,), (solid,) = matrices(2, 1), matrices(3, 1)
    for kind in (0, 1):
        for data, layout, matrix in ((frames, "FHWC", flat), (volume, "DHWC", solid), (clip, "FDHWC", solid)):
            given = {"matrix": matrix, "interp_type": kind}
            close(lambda lib: lib.warp_affine(lib.tensor(data, layout=layout), **given), kind)  # noqa: B023
    images = [photo(30 + 9 * i, 40) for i in range(3)]
    each = list(matrices(2, 3))
    close(lambda lib: lib.warp_affine(lib.batch(images, layout="HWC"), lib.batch(each), fill_value=3))
    close(lambda lib: lib.warp_affine(lib.batch(images, layout="HWC"), matrix=lib.batch(each)))
    turns = np.float32([10, 200, -33])
    close(lambda lib: lib.rotate(lib.batch(images, layout="HWC"), angle=lib.batch(list(turns))))


def test_rotate():
    for height, width in [(7, 9), (8, 9), (33, 32), (1, 5), (48, 64), (1, 1)]:
        image = noise(height, width, 3)
        for angle in [0, 1, 10, 30, 44, 45, 46, 60, 89, 90, 91, 135, 180, 270, 359, 360, -30, 1e-3, 720.5]:
            for given in ({}, {"keep_size": True}, {"size": [9, 12.6]}, {"fill_value": 9}):
                close(lambda lib: lib.rotate(lib.tensor(image, layout="HWC"), angle=angle, **given))  # noqa: B023
    image = noise(40, 31, 3)
    for angle in (33.3, 90, -120):
        close(lambda lib: lib.rotate(lib.tensor(image, layout="HWC"), angle=angle, interp_type=0), 0)  # noqa: B023


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_rotate_types_and_channels(channels, dtype, kind):
    frames = noise(2, 21, 30, channels, dtype=dtype)
    cases = [(photo(51, 70, channels, dtype), "HWC"), (noise(33, 20, channels, dtype=dtype), "HWC"), (frames, "FHWC")]
    for (image, layout), angle in zip(cases, (17.0, -130.0, 250.5), strict=True):
        for given in ({}, {"keep_size": True, "fill_value": 7}, {"size": [40, 37]}):
            for wanted in ({}, {"dtype": "float32"}, {"output_dtype": "float32"}, {"dtype": dtype}):

                def run(lib, image=image, layout=layout, angle=angle, given=given, wanted=wanted):
                    types = {name: getattr(lib, value) for name, value in wanted.items()}
                    return lib.rotate(lib.tensor(image, layout=layout), angle=angle, interp_type=kind, **given, **types)

                close(run, kind)


@pytest.mark.parametrize("out", ["uint8", "int16"])
def test_rotate_float_images_to_integers(out):
    image = photo(dtype="float32") * 3 - 200
    close(lambda lib: lib.rotate(lib.tensor(image, layout="HWC"), angle=25, dtype=getattr(lib, out)))


@pytest.mark.parametrize("kind", [0, 1])
def test_fill_values_between_two_numbers(kind):
    """They become numbers of the image's type; in the real library not where nearest pixels are taken."""

    def corner(lib):
        image = lib.tensor(np.zeros((5, 5, 1), np.uint8), layout="HWC")
        given = {"size": [20, 20], "fill_value": 7.6, "interp_type": kind, "dtype": lib.float32}
        return np.asarray(lib.rotate(image, angle=33, **given))[0, 0, 0]

    assert corner(avida) == 8
    assert corner(dali) == np.float32(8 if kind else 7.6)


def test_rotate_volumes():
    for shape in [(5, 7, 9), (6, 8, 10), (4, 7, 10)]:
        volume = noise(*shape, 2)
        for axis in [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 2, -1]]:
            for angle in [0, 10, 30, 45, 90, 123, 270]:
                close(lambda lib: lib.rotate(lib.tensor(volume, layout="DHWC"), angle=angle, axis=axis))  # noqa: B023


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
def test_warp_perspective(dtype, kind):
    matrix = np.float32([[1.1, 0.2, -5], [-0.1, 0.9, 3], [1e-3, 5e-4, 1]])
    if dtype == "int16" and kind == 1:  # see test_places_in_steps
        matrix = np.float32([[1.125, 0.25, -5], [-0.125, 0.875, 3.0625], [0, 0, 1]])
    for mode in ("constant", "replicate", "reflect", "reflect_101", "wrap"):
        for origin in ("corner", "center"):
            close(
                lambda lib: lib.experimental.warp_perspective(
                    lib.tensor(IMAGES[dtype], layout="HWC"),
                    matrix=matrix, border_mode=mode, pixel_origin=origin, interp_type=kind, size=[50, 80],  # noqa: B023
                    fill_value=[5.0],
                ), kind,
            )  # fmt: skip


IMAGES = {dtype: photo(60, 70, 3, dtype) for dtype in ["uint8", "uint16", "int16", "float32"]}


@pytest.mark.parametrize(("dtype", "channels"), [("int16", 1), ("int16", 3), ("uint8", 2), ("float32", 2)])
def test_places_in_steps(dtype, channels):
    """Of int16 images, and of those of 2 channels, the real library knows places to 1/32 of a pixel; avida exactly."""
    matrix = np.float32([[1.1, 0.2, -5], [-0.1, 0.9, 3], [1e-3, 5e-4, 1]])
    image = noise(60, 70, channels, dtype=dtype)
    theirs = dali.experimental.warp_perspective(dali.tensor(image, layout="HWC"), matrix=matrix, size=[50, 80])
    y, x = np.mgrid[:50, :80] + 0.5
    x, y, scale = (row[0] * x + row[1] * y + row[2] for row in matrix)  # pyright: ignore[reportGeneralTypeIssues]
    places = [np.float32(np.round((place / scale - 0.5) * 32) / 32) for place in (x, y)]
    ours = avida.experimental.remap(avida.tensor(image, layout="HWC"), *places, pixel_origin="center")
    off = np.abs(np.asarray(ours).astype(float) - np.asarray(theirs.evaluate()))
    assert (off > 1).mean() < 1e-3  # places half way between two steps
    exact = np.asarray(avida.experimental.warp_perspective(image, matrix=matrix, size=[50, 80])).astype(float)
    off = np.abs(exact - np.asarray(theirs.evaluate()))
    assert 2 < off.max() <= 1 + 255 / 32  # half a step along both axes


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_sphere_and_water(dtype, kind):
    for image in (photo(dtype=dtype), noise(50, 33, 1, dtype=dtype)):
        for given in ({}, {"fill_value": 9.0}, {"mask": 0}):
            close(lambda lib: lib.sphere(lib.tensor(image, layout="HWC"), interp_type=kind, **given), kind)  # noqa: B023
            waves = {"ampl_x": 3.5, "freq_y": 0.2, "phase_x": 1.0, "phase_y": 0.5}
            for wave in ({}, waves):
                close(
                    lambda lib: lib.water(lib.tensor(image, layout="HWC"), interp_type=kind, **given, **wave),  # noqa: B023
                    kind,
                )


@pytest.mark.parametrize(
    ("name", "arguments", "rank"),
    [
        ("translation", {"offset": [1.5, 2]}, 2),
        ("translation", {"offset": [1, 2, 3, 4, 5]}, 5),
        ("translation", {"offset": [0] * 7}, None),
        ("scale", {"scale": [2, 3], "center": [1, 1.5]}, 2),
        ("scale", {"scale": 2, "ndim": 3}, 0),
        ("scale", {"scale": 2}, 0),
        ("scale", {"scale": [2, 3], "center": [1, 2, 3]}, None),
        ("rotation", {"angle": 30, "center": [5, 6]}, 2),
        ("rotation", {"angle": -70, "center": 5}, 2),
        ("rotation", {"angle": 30, "axis": [1, 2, 3], "center": [1, 2, 4]}, 3),
        ("rotation", {"angle": 30, "axis": [1, 2]}, None),
        ("shear", {"shear": [1, 2], "center": [3, 4]}, 2),
        ("shear", {"shear": [[1, 2], [3, 4], [5, 6]], "center": [1, 2, 3]}, 3),
        ("shear", {"angles": [30, 45]}, 2),
        ("shear", {"angles": [30, 91]}, None),
        ("shear", {}, None),
        ("crop", {"from_start": [0, 1], "from_end": [10, 11], "to_start": [1, 2], "to_end": [3, 4]}, 2),
        ("crop", {"from_start": [10, 0], "from_end": [0, 5], "absolute": True}, 2),
        ("crop", {"from_end": [4, 5, 6], "to_start": [1, 2]}, None),
        ("crop", {}, 1),
    ],
)
def test_transforms(name, arguments, rank):
    """A rank of 0 is that of the input; None is refused."""
    both(
        lambda lib: getattr(lib.transforms, name)(**arguments),
        rtol=1e-4,
        atol=1e-5,
        fails=rank is None and RuntimeError,
    )
    flat, solid = np.float32([[2, 0, 1], [0.5, 3, 1]]), np.float32([[2, 0, 1, 3], [0, 3, 1, 2], [1, 1, 0, 1]])
    for matrix in (flat, solid):
        for order in (False, True):
            both(
                lambda lib: getattr(lib.transforms, name)(lib.tensor(matrix), reverse_order=order, **arguments),  # noqa: B023
                rtol=1e-4, atol=1e-4, fails=rank not in (0, len(matrix)) and RuntimeError,
            )  # fmt: skip


def test_combine():
    a, b, c = (RNG.normal(0, 1, (2, 3)).astype(np.float32) for _ in range(3))
    for order in (False, True):
        both(lambda lib: lib.transforms.combine(a, b, c, reverse_order=order), rtol=1e-4, atol=1e-5)  # noqa: B023
    both(lambda lib: lib.transforms.combine(lib.tensor(a), np.zeros((3, 4), np.float32)), fails=RuntimeError)


@pytest.mark.parametrize(
    ("arguments", "fails"),
    cases(
        [
            {},
            {"MT": [[1, 0, 5], [0, 2, 6]]},
            {"M": [[1, 0], [0, 2], [1, 1]]},
            {"M": [[1, 0], [0, 2], [1, 1]], "T": 7},
            {"T": [1, 2]},
            {"T": 3},
            {"M": 3},
        ],
        refused=[
            {"M": [[1, 0, 0]]},
            {"T": [1, 2, 3]},
            {"M": 3, "MT": 3},
        ],
    ),
)
def test_coord_transform(arguments, fails):
    for dtype in ("uint8", "int16", "uint16", "int32", "float32"):
        points = RNG.integers(0, 100, (6, 2)).astype(dtype)
        both(lambda lib: lib.coord_transform(lib.tensor(points), **arguments), rtol=1e-4, atol=1e-4, fails=fails)  # noqa: B023
        both(
            lambda lib: lib.coord_transform(lib.tensor(points), dtype=getattr(lib, dtype), **arguments),  # noqa: B023
            rtol=1e-4, atol=1e-4, fails=fails,
        )  # fmt: skip
