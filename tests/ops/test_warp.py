"""warp_affine, rotate and the other operators that look pixels up elsewhere."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import RANDOM_INPUTS, op_case
from tests.ops.warp_reference import affine, centres, look_up

# Off the borders between pixels, where rounding decides which one is nearest.
SHEARED = [0.85, 0.23, 1.317, -0.31, 1.13, -0.711]
SHRUNK = [[2.13, 0, 0.113], [0, 1.71, -1.237]]
DTYPES = ["uint8", "int16", "int32", "float16", "float32", "uint16", "int8"]
SHAPES = [(9, 13, 3), (5, 4, 3), (6, 17, 3)]


@op_case(
    "warp_affine", layout="HWC", shapes=SHAPES, dtypes=DTYPES, rtol=1e-4, atol=1,
    matrix=[SHRUNK, [[0.85, 0.23, 1.317], [-0.31, 1.13, -0.711]]], size=[[7, 12], [15, 6]], interp_type=[1, 0],
    fill_value=[None, 17.3],
)  # fmt: skip
def warped(x, matrix, size, interp_type, fill_value):
    return look_up(x, affine(matrix, size), interp_type == 1, fill_value)


@op_case("warp_affine", layout="HWC", shapes=[(9, 13, 1), (5, 4, 4), (6, 17, 5)], rtol=1e-4, atol=1,
         dtypes=["uint8", "float32", "float64"], matrix=[SHEARED], interp_type=[0, 1], fill_value=[3])  # fmt: skip
def other_channels(x, matrix, interp_type, fill_value):
    return look_up(x, affine(matrix, x.shape[:2]), interp_type == 1, fill_value)


@op_case("warp_affine", layout="DHWC", shapes=[(4, 5, 6, 2), (3, 7, 2, 1)], dtypes=["uint8", "float32"], rtol=1e-4,
         atol=1, matrix=[[0.9, 0.1, 0.21, 0.3, -0.1, 1.1, 0, 0.2, 0.07, 0.3, 0.8, 0.13]], interp_type=[1, 0],
         fill_value=[None, 9])  # fmt: skip
def volumes(x, matrix, interp_type, fill_value):
    return look_up(x, affine(matrix, x.shape[:3]), interp_type == 1, fill_value)


@op_case("rotate", layout="HWC", shapes=SHAPES, dtypes=["uint8", "float32", "int16"], rtol=1e-4, atol=1,
         angle=[33.0, -120.5, 7.25], size=[[8, 11]], interp_type=[1, 0], fill_value=[None, 5])  # fmt: skip
def rotated(x, angle, size, interp_type, fill_value):
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    turn = np.array([[c, -s], [s, c]])
    shift = np.array([x.shape[1], x.shape[0]]) / 2 - turn @ (np.array(size[::-1]) / 2)
    return look_up(x, affine(np.c_[turn, shift], size), interp_type == 1, fill_value)


@op_case("experimental.warp_perspective", layout="HWC", shapes=SHAPES, dtypes=["uint8", "float32", "uint16"], rtol=1e-4,
         atol=1, matrix=[[0.85, 0.23, 1.317, -0.31, 1.13, 0.711, 0.013, 0.021, 1]], size=[[7, 12]], interp_type=[1, 0],
         pixel_origin=["corner", "center"], border_mode=["constant", "replicate", "reflect", "reflect_101", "wrap"],
         fill_value=[4])  # fmt: skip
def in_perspective(x, matrix, size, interp_type, pixel_origin, border_mode, fill_value):
    shift = np.float32(0.5 if pixel_origin == "center" else 0)
    a, b = (c - shift for c in centres(size))
    m = np.float32(matrix).reshape(3, 3)
    tx, ty, t = (row[0] * a + row[1] * b + row[2] for row in m)
    borders = {
        "reflect": lambda i, n: np.pad(np.arange(n), 60, "symmetric")[i + 60],
        "reflect_101": lambda i, n: np.pad(np.arange(n), 60, "reflect")[i + 60],
        "wrap": lambda i, n: i % n,
    }
    fill = fill_value if border_mode == "constant" else None
    return look_up(x, [tx / t + shift, ty / t + shift], interp_type == 1, fill, borders.get(border_mode))


MAPS = [np.random.default_rng(k).uniform(-1, 9, (2, 6, 5, 1)).astype(np.float32) for k in range(3)]
IMAGES = [np.random.default_rng(k).integers(0, 255, (5 + k, 8, 3)).astype(np.uint8) for k in range(3)]


@op_case("experimental.remap", layout="HWC", inputs=[[i, *m] for i, m in zip(IMAGES, MAPS, strict=True)], atol=1,
         interp=[1, 0], pixel_origin=["corner", "center"])  # fmt: skip
def remapped(x, mapx, mapy, interp, pixel_origin):
    shift = np.float32(0.5 if pixel_origin == "center" else 0)
    return look_up(x, [mapx[..., 0] + shift, mapy[..., 0] + shift], interp == 1, 0)


@op_case("sphere", layout="HWC", shapes=SHAPES, dtypes=["uint8", "float32"], rtol=1e-4, atol=1, mask=[1, 0],
         interp_type=[0, 1], fill_value=[0, 5])  # fmt: skip
def on_a_ball(x, mask, interp_type, fill_value):
    middle = np.float32([x.shape[1], x.shape[0]]) / 2
    a, b = (c - m for c, m in zip(centres(x.shape[:2]), middle, strict=True))
    radius = np.sqrt(a * a + b * b) / np.float32(max(x.shape[:2]) // 2)
    places = [middle[0] + radius * a, middle[1] + radius * b]
    return look_up(x, places, interp_type == 1, fill_value) if mask else x


@op_case("water", layout="HWC", shapes=SHAPES, dtypes=["uint8", "float32"], rtol=1e-4, atol=1, mask=[1, 0],
         interp_type=[1, 0], ampl_x=[2.13], ampl_y=[1.37], freq_x=[0.7], freq_y=[0.31], phase_x=[0.2],
         phase_y=[1.1])  # fmt: skip
def under_water(x, mask, interp_type, ampl_x, ampl_y, freq_x, freq_y, phase_x, phase_y):
    a, b = (c - np.float32(0.5) for c in centres(x.shape[:2]))
    places = [a + ampl_x * np.sin(freq_x * b + phase_x), b + ampl_y * np.cos(freq_y * a + phase_y)]
    return look_up(x, [p.astype(np.float32) for p in places], interp_type == 1, 0) if mask else x


RANDOM_INPUTS["jitter"] = lambda: [ndd.batch([np.arange(600, dtype=np.uint8).reshape(10, 20, 3)] * 3, layout="HWC")]


def pixels(shape=(6, 8, 3), seed=0, dtype=np.uint8):
    return np.random.default_rng(seed).integers(0, 256, shape).astype(dtype)


def test_jitter_moves_pixels_by_at_most_half_of_the_degree():
    y, x = np.mgrid[:50, :60]
    places = np.stack([x, y], 2).astype(np.int16)
    moves = (np.asarray(ndd.jitter(places, nDegree=6, fill_value=-1)) - places)[10:-10, 10:-10]
    assert set(np.unique(moves)) == set(range(-3, 4))
    assert abs(moves.mean()) < 0.15
    counts = np.bincount(moves.ravel() + 3) / moves.size
    np.testing.assert_allclose(counts, np.array([0.5, 1, 1, 1, 1, 1, 0.5]) / 6, atol=0.03)
    np.testing.assert_array_equal(ndd.jitter(places, mask=0), places)
    np.testing.assert_array_equal(ndd.jitter(places, nDegree=0), places)


def test_frames_are_warped_alike():
    x = pixels((3, 6, 8, 3))
    out = np.asarray(ndd.warp_affine(ndd.tensor(x, layout="FHWC"), matrix=SHEARED, size=[5, 4]))
    assert out.shape == (3, 5, 4, 3)
    for frame, image in zip(out, x, strict=True):
        np.testing.assert_array_equal(frame, ndd.warp_affine(image, matrix=SHEARED, size=[5, 4]))


def test_planes_are_filled_with_numbers_of_their_own():
    x = pixels((3, 6, 8))
    moved = [1, 0, 100, 0, 1, 0, 0, 0, 1]
    out = ndd.experimental.warp_perspective(ndd.tensor(x, layout="CHW"), matrix=moved, fill_value=[1, 2, 3])
    np.testing.assert_array_equal(out, np.broadcast_to(np.uint8([1, 2, 3])[:, None, None], x.shape))
    same = np.asarray(ndd.experimental.warp_perspective(ndd.tensor(x, layout="CHW"), matrix=np.eye(3)))
    np.testing.assert_array_equal(same, x)
    gray = np.asarray(ndd.experimental.warp_perspective(ndd.tensor(x[0], layout="HW"), matrix=np.eye(3)))
    np.testing.assert_array_equal(gray, x[0])
    with pytest.raises(RuntimeError, match="one or 3 numbers"):
        ndd.experimental.warp_perspective(ndd.tensor(x, layout="CHW"), matrix=moved, fill_value=[1, 2]).evaluate()


def test_each_frame_can_have_maps_of_its_own():
    x, maps = pixels((2, 6, 8, 3)), np.random.default_rng(0).uniform(0, 6, (2, 2, 4, 5)).astype(np.float32)
    frames = [ndd.tensor(m, layout="FHW") for m in maps]
    out = np.asarray(ndd.experimental.remap(ndd.tensor(x, layout="FHWC"), *frames))
    for k in range(2):
        np.testing.assert_array_equal(out[k], ndd.experimental.remap(x[k], maps[0][k], maps[1][k]))
    three = ndd.tensor(np.zeros((3, 4, 5), np.float32), layout="FHW")
    with pytest.raises(RuntimeError, match="for each of 2 frames"):
        ndd.experimental.remap(ndd.tensor(x, layout="FHWC"), three, three).evaluate()


@pytest.mark.parametrize("angle", [0, 90, 180, 270, -90, 360])
@pytest.mark.parametrize("shape", [(6, 8, 3), (7, 8, 1), (7, 9, 4)])
def test_right_angles_only_move_pixels(shape, angle):
    x = pixels(shape)
    for kind in (0, 1):
        np.testing.assert_array_equal(ndd.rotate(x, angle=angle, interp_type=kind), np.rot90(x, angle // 90))


def test_volumes_turn_around_an_axis():
    x = pixels((3, 5, 7, 1))
    around_z = np.asarray(ndd.rotate(ndd.tensor(x, layout="DHWC"), angle=90, axis=[0, 0, 2]))
    np.testing.assert_array_equal(around_z, np.rot90(x, -1, axes=(1, 2)))
    with pytest.raises(RuntimeError, match="axis"):
        ndd.rotate(ndd.tensor(x, layout="DHWC"), angle=90).evaluate()
    with pytest.raises(ValueError, match="length"):
        ndd.rotate(ndd.tensor(x, layout="DHWC"), angle=90, axis=[0, 0, 0]).evaluate()


def test_matrices_are_inverted():
    x = pixels((20, 30, 3))
    m = np.float32(SHEARED).reshape(2, 3)
    inverse = np.linalg.inv(np.r_[m, [[0, 0, 1]]]).astype(np.float32)
    got = np.asarray(ndd.warp_affine(x, matrix=inverse[:2], inverse_map=False)).astype(int)
    assert np.abs(got - np.asarray(ndd.warp_affine(x, m))).max() <= 2
    got = np.asarray(ndd.experimental.warp_perspective(x, inverse, inverse_map=False, border_mode="replicate")).astype(
        int
    )
    assert np.abs(got - np.asarray(ndd.warp_affine(x, m))).max() <= 2
    for matrix in (np.zeros((2, 3)), [[1, 2, 0], [2, 4, 0]], np.full((2, 3), np.nan)):
        with pytest.raises(ValueError, match="inverted"):
            ndd.warp_affine(x, matrix=matrix, inverse_map=False).evaluate()


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int16"])
@pytest.mark.parametrize("kind", [0, 1])
def test_places_that_are_no_numbers_lie_outside(kind, dtype):
    x = pixels(dtype=dtype)
    for bad, corner in ((np.nan, x[0, 0]), (-np.inf, x[0, 0]), (1e30, x[-1, -1])):
        matrix = [[0, 0, bad], [0, 0, bad]]
        filled = np.asarray(ndd.warp_affine(x, matrix=matrix, fill_value=7, interp_type=kind))
        np.testing.assert_array_equal(filled, np.full_like(x, 7))
        continued = np.asarray(ndd.warp_affine(x, matrix=matrix, interp_type=kind))
        np.testing.assert_array_equal(continued, np.broadcast_to(corner, x.shape))


@pytest.mark.parametrize("kind", [0, 1])
def test_places_are_summed_along_parts_of_rows(kind):
    x = pixels((40, 700, 3), dtype=np.float32)
    for matrix in ([1.0137, 0.02, -300.3], [-0.73, 0.1, 350.1], [0.0301, 7.1, -4.07], [1e-9, 3, 9.7], [0.5, 0, -97.25]):
        rows = np.float32([matrix, [0.003, 0.91, 0.2]])
        places = affine(rows, (40, 640))
        for start in range(0, 640, 256):  # places are computed anew for every 256 pixels
            for place, row in zip(places, rows, strict=True):
                place[:, start + 1 : start + 256] = row[0]
                np.add.accumulate(place[:, start : start + 256], axis=1, out=place[:, start : start + 256])
        got = np.asarray(ndd.warp_affine(x, matrix=rows, size=[40, 640], interp_type=kind, fill_value=3))
        np.testing.assert_allclose(got, look_up(x, places, kind == 1, 3), rtol=0, atol=1e-4 * kind)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float32", "float64"])
@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_images_of_few_pixels(channels, kind, dtype):
    for height, width in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (2, 5), (9, 1)]:
        x = pixels((height, width, channels), dtype=dtype)
        for fill in (None, 7):
            places = affine(SHRUNK, (6, 9))
            got = np.asarray(ndd.warp_affine(x, matrix=SHRUNK, size=[6, 9], interp_type=kind, fill_value=fill))
            np.testing.assert_allclose(
                got, look_up(x, places, kind == 1, fill), rtol=1e-6, atol=kind * (dtype[0] != "f")
            )


BORDERS = ["constant", "replicate", "reflect", "reflect_101", "wrap"]


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("mode", BORDERS)
def test_any_numbers_in_a_perspective(mode, kind):
    x, size = pixels(), [5, 300]
    for bad in (np.nan, np.inf, -np.inf, 3e38, -3e38, 0):
        for row in range(3):
            matrix = np.eye(3)
            matrix[row] = bad
            given = {"interp_type": kind, "border_mode": mode, "size": size}
            out = np.asarray(ndd.experimental.warp_perspective(x, matrix=matrix, **given))
            assert out.shape == (5, 300, 3)
            if mode != "constant":
                assert x.min() <= out.min() <= out.max() <= x.max()
    empty = np.zeros((0, 4, 3), np.uint8)
    out = ndd.experimental.warp_perspective(empty, matrix=np.eye(3), border_mode=mode, fill_value=[9], size=size)
    np.testing.assert_array_equal(out, np.full((5, 300, 3), 9))
    with pytest.raises(ValueError, match="inverted"):
        ndd.experimental.warp_perspective(x, matrix=np.zeros((3, 3)), inverse_map=False).evaluate()


@pytest.mark.parametrize("kind", [0, 1])
def test_any_numbers_in_maps_and_waves(kind):
    x = pixels()
    bad = np.float32([[np.nan, np.inf, -np.inf, 3e38, -3e38, 2.0**31, -(2.0**31), -1]])
    for other in (bad, np.ones_like(bad)):
        np.testing.assert_array_equal(ndd.experimental.remap(x, bad, other, interp=kind), np.zeros((1, 8, 3)))
        np.testing.assert_array_equal(ndd.experimental.remap(x, other, bad, interp=kind), np.zeros((1, 8, 3)))
    for amplitude, frequency in ((1, np.inf), (-np.inf, 1), (3e38, 3e38)):
        waves = dict.fromkeys(["ampl_x", "ampl_y"], amplitude) | dict.fromkeys(["freq_x", "freq_y"], frequency)
        out = np.asarray(ndd.water(x, interp_type=kind, fill_value=6, **waves))
        np.testing.assert_array_equal(out[1:, 1:], np.full((5, 7, 3), 6))
    for degree in (-4, 2**31 - 1, -(2**31)):
        assert np.asarray(ndd.jitter(x, nDegree=degree, interp_type=kind)).shape == x.shape
    for shape in ((0, 4, 3), (4, 0, 3), (4, 4, 0)):
        empty = np.zeros(shape, np.uint8)
        for out in (
            ndd.sphere(empty),
            ndd.water(empty),
            ndd.jitter(empty),
            ndd.rotate(empty, angle=30, keep_size=True),
        ):
            assert np.asarray(out).shape == shape


def test_sizes():
    x = pixels()
    identity = [1, 0, 0, 0, 1, 0]
    assert np.asarray(ndd.warp_affine(x, matrix=identity, size=[0, 5])).shape == (0, 5, 3)
    assert np.asarray(ndd.rotate(x, angle=10, size=[2.9, 5.1])).shape == (2, 5, 3)
    assert np.asarray(ndd.rotate(x, angle=10, keep_size=True)).shape == x.shape
    empty = np.asarray(ndd.warp_affine(np.zeros((0, 4, 3), np.uint8), matrix=identity, size=[2, 2], fill_value=9))
    np.testing.assert_array_equal(empty, np.full((2, 2, 3), 9))
    assert np.asarray(ndd.warp_affine(x, matrix=identity, size=[0, 2.0**31 - 128])).shape == (0, 2**31 - 128, 3)
    for size in ([-1, 5], [np.nan, 5], [np.inf, 5], [2.0**31, 0], [5], [1, 2, 3]):
        with pytest.raises(RuntimeError):
            ndd.warp_affine(x, matrix=identity, size=size).evaluate()
    for angle in (np.nan, np.inf):
        with pytest.raises(RuntimeError, match=r"finite|got NaN"):
            ndd.rotate(x, angle=angle).evaluate()


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_right_angles_move_elements_of_all_layouts(angle, dtype):
    rng = np.random.default_rng(angle)
    for layout, shape in {"CHW": (3, 5, 7), "FHWC": (2, 5, 7, 3), "FCHW": (2, 3, 5, 7)}.items():
        x = rng.uniform(0, 200, shape).astype(dtype)
        found = np.asarray(ndd.rotate(ndd.tensor(x, layout=layout), angle=angle, fill_value=9))
        height = layout.index("H")
        assert np.array_equal(found, np.rot90(x, angle // 90, axes=(height, height + 1)))


def test_wrong_arguments():
    x = pixels()
    with pytest.raises(RuntimeError, match="expected a matrix"):
        ndd.warp_affine(x)
    with pytest.raises(RuntimeError, match="2 by 3"):
        ndd.warp_affine(x, matrix=[1, 2, 3]).evaluate()
    with pytest.raises(RuntimeError, match="interp_type"):
        ndd.warp_affine(x, matrix=SHEARED, interp_type=2)
    with pytest.raises(ValueError, match="layout"):
        ndd.warp_affine(ndd.tensor(x, layout="HCW"), matrix=SHEARED)
    with pytest.raises(RuntimeError, match="border_mode"):
        ndd.experimental.warp_perspective(x, matrix=np.eye(3), border_mode="mirror")
    with pytest.raises(RuntimeError, match="one shape"):
        ndd.experimental.remap(x, np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float32)).evaluate()


def test_one_large_image_is_shared_among_threads():
    x = pixels((700, 900, 3))
    results = []
    for threads in (1, 2, 5):
        with ndd.EvalContext(num_threads=threads):
            results.append(np.asarray(ndd.rotate(x, angle=33, fill_value=0)).tobytes())
    assert results[0] == results[1] == results[2]
