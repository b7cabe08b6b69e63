import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import avida as ndd
from tests.op_case import op_case
from tests.ops.resample_reference import GAUSSIAN, LINEAR, NEAREST, resample, resize, weights

DTYPES = ["uint8", "int8", "uint16", "int16", "float16", "float32"]
SHAPES = [(15, 27, 3), (11, 4, 3), (6, 22, 3)]


@op_case(
    "resize",
    layout="HWC",
    shapes=SHAPES,
    dtypes=DTYPES,
    rtol=1e-4,
    atol=1,
    size=[[7, 12], [20, 9], [1, 40]],
    interp_type=[0, 1, 2, 3, 4, 5],
    antialias=[True, False],
)
def two_sizes(x, size, interp_type, antialias):
    return resize(x, size, interp_type, antialias)


@op_case("resize", layout="HWC", shapes=SHAPES, dtypes=["uint8", "float32"], rtol=1e-4, atol=1,
         size=[[7, 12], [20, 9]], interp_type=[1, 2], inside_only=[True])  # fmt: skip
def without_what_is_outside(x, size, interp_type, inside_only):
    rows, columns = (weights(n, m, kind=interp_type, inside_only=True) for n, m in zip(x.shape, size, strict=False))
    return resample(x, {0: rows, 1: columns})


@op_case("resize", layout="CHW", shapes=[(3, 15, 27), (1, 11, 4), (2, 6, 22)], dtypes=["uint8", "float32"], rtol=1e-4,
         atol=1, resize_x=[9, 30], resize_y=[8], interp_type=[1, 3])  # fmt: skip
def planes(x, resize_x, resize_y, interp_type):
    return resize(x, [resize_y, resize_x], interp_type, axes=(1, 2))


@op_case("tensor_resize", layout="HW", shapes=[(15, 27), (11, 4), (6, 22)], dtypes=DTYPES, rtol=1e-4, atol=1,
         sizes=[[7, 12], [30, 4]], interp_type=[0, 1, 2], axes=[[0, 1]])  # fmt: skip
def any_rank(x, sizes, interp_type, axes):
    return resize(x, sizes, interp_type, axes=axes)


@op_case("resize_crop_mirror", layout="HWC", shapes=SHAPES, dtypes=["uint8", "float32"], rtol=1e-4, atol=1,
         size=[[9, 12]], crop=[[9, 12], [4, 7]], mirror=[0, 1, 2, 3], crop_pos_x=[0.0, 1.0])  # fmt: skip
def window_of_resized(x, size, crop, mirror, crop_pos_x):
    out = resize(x, size)
    top, left = int(0.5 * (size[0] - crop[0]) + 0.5), int(crop_pos_x * (size[1] - crop[1]) + 0.5)
    out = out[top : top + crop[0], left : left + crop[1]]
    return out[:: -1 if mirror & 2 else 1, :: -1 if mirror & 1 else 1]


def random_image(shape, seed=0, dtype=np.uint8):
    return np.random.default_rng(seed).integers(0, 256, shape).astype(dtype)


def assert_close(got, expected):
    got = np.asarray(got)
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    if got.dtype.kind == "f":
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    else:
        assert np.abs(got.astype(np.int64) - expected.astype(np.int64)).max(initial=0) <= 1


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 60), st.integers(1, 60), st.integers(1, 5), st.integers(1, 60), st.integers(1, 60),
    st.integers(0, 5), st.booleans(), st.sampled_from(["uint8", "float32"]), st.booleans(),
)  # fmt: skip
def test_random_sizes(height, width, channels, out_height, out_width, kind, antialias, dtype, planes):
    x = random_image((height, width, channels), height * 61 + width, dtype)
    expected = resize(x, [out_height, out_width], kind, antialias)
    if planes:
        x, expected = np.ascontiguousarray(x.transpose(2, 0, 1)), expected.transpose(2, 0, 1)
    image = ndd.tensor(x, layout="CHW" if planes else "HWC")
    if kind == GAUSSIAN and not antialias_is_even(height, out_height, width, out_width):
        return  # which of two taps at the very end of the filter is taken is a matter of rounding
    assert_close(ndd.resize(image, size=[out_height, out_width], interp_type=kind, antialias=antialias), expected)


def antialias_is_even(height, out_height, width, out_width):
    return all((2 * i * n) % m for n, m in ((height, out_height), (width, out_width)) for i in range(1, m))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-0.25, 1.25, width=16), min_size=4, max_size=4), st.sampled_from([1, 2, 3]),
    st.booleans(), st.sampled_from(["uint8", "float32", "int16"]),
)  # fmt: skip
def test_regions(region, kind, relative, dtype):
    x = random_image((23, 31, 3), 1, dtype)
    top, left, bottom, right = region
    start, end = np.float32([top * 23, left * 31]), np.float32([bottom * 23, right * 31])
    expected = resample(x, {0: weights(23, 9, start[0], end[0], kind), 1: weights(31, 40, start[1], end[1], kind)})
    given = (
        {"roi_start": [top, left], "roi_end": [bottom, right], "roi_relative": True}
        if relative
        else {"roi_start": start.tolist(), "roi_end": end.tolist()}
    )
    assert_close(ndd.resize(ndd.tensor(x, layout="HWC"), size=[9, 40], interp_type=kind, **given), expected)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int16"])
@pytest.mark.parametrize("kind", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "region", [(0, 0, 23, 31), (2, 3, 14, 29), (14, 29, 2, 3), (2.5, 3.25, 2.75, 20.5), (4, 4, 4, 4)]
)
def test_what_is_outside_of_a_region_has_no_weight(dtype, kind, region):
    x = random_image((23, 31, 3), 1, dtype)
    top, left, bottom, right = region
    matrices = {
        0: weights(23, 9, top, bottom, kind, inside_only=True),
        1: weights(31, 40, left, right, kind, inside_only=True),
    }
    arguments = {"roi_start": [top, left], "roi_end": [bottom, right], "interp_type": kind, "inside_only": True}
    got = ndd.resize(ndd.tensor(x, layout="HWC"), size=[9, 40], **arguments)
    assert_close(got, resample(x, matrices))


def test_a_region_of_its_own_is_resized_as_if_it_were_cut_out():
    x = random_image((23, 31, 3))
    cut = ndd.resize(np.ascontiguousarray(x[2:14, 3:29]), size=[30, 7], inside_only=True)
    inside = ndd.resize(x, size=[30, 7], roi_start=[2, 3], roi_end=[14, 29], inside_only=True)
    np.testing.assert_array_equal(np.asarray(inside), np.asarray(cut))


def test_the_filter_reads_beyond_the_region_but_not_beyond_the_image():
    x = np.float32([0, 10, 0, 0, 0, 0, 0, 0]).reshape(1, 8, 1)
    out = np.asarray(ndd.resize(x, size=[1, 2], roi_start=[0, 2], roi_end=[1, 6]))
    assert out[0, 0, 0] == 1.25
    outside = np.asarray(ndd.resize(x + 1, size=[1, 3], roi_start=[0, 20], roi_end=[1, 40]))
    np.testing.assert_array_equal(outside, np.ones((1, 3, 1)))


@pytest.mark.parametrize("kind", range(6))
@pytest.mark.parametrize("dtype", ["uint8", "float32", "int16"])
def test_constant_images_stay_constant(kind, dtype):
    for value in (0, 1, 127, 255):
        x = np.full((37, 53, 3), value, dtype)
        for size in ([11, 60], [100, 7], [37, 53], [1, 1]):
            np.testing.assert_allclose(np.asarray(ndd.resize(x, size=size, interp_type=kind)), value, rtol=1e-6)


def test_one_large_image_is_shared_among_threads():
    x = random_image((900, 1200, 3))
    results = []
    for threads in (1, 2, 5):
        with ndd.EvalContext(num_threads=threads):
            results.append(np.asarray(ndd.resize(x, size=[333, 777], interp_type=3)))
    assert_close(results[0], resize(x, [333, 777], 3))
    assert all(r.tobytes() == results[0].tobytes() for r in results)


def shape_of(x, **arguments):
    return ndd.resize(ndd.tensor(x, layout={3: "HWC", 4: "DHWC"}[x.ndim]), **arguments).shape[:-1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"size": [30, 0]}, (30, 50)),
        ({"size": [0, 40]}, (24, 40)),
        ({"size": [0, 0]}, (60, 100)),
        ({"size": 30}, (30, 30)),
        ({"size": [-30, 40]}, (30, 40)),
        ({"size": [30.5, 40.4]}, (31, 40)),
        ({"size": [0.3, 0.3]}, (1, 1)),
        ({"resize_x": 40}, (24, 40)),
        ({"resize_y": 30}, (30, 50)),
        ({"resize_z": 3}, (60, 100)),
        ({"resize_shorter": 30}, (30, 50)),
        ({"resize_longer": 30}, (18, 30)),
        ({"resize_shorter": 33.3}, (33, 56)),
        ({"resize_shorter": 30, "max_size": 33}, (20, 33)),
        ({"resize_shorter": 30, "max_size": [33, 20]}, (12, 20)),
        ({"resize_shorter": 30, "max_size": [33, 0]}, (30, 50)),
        ({"size": [30, 0], "mode": "stretch"}, (30, 100)),
        ({"size": [30, 40], "mode": "not_larger"}, (24, 40)),
        ({"size": [30, 40], "mode": "not_smaller"}, (30, 50)),
        ({"size": [800, 0], "mode": "not_smaller", "max_size": 850}, (510, 850)),
        ({"size": [30, 40], "max_size": 35}, (30, 35)),
        ({"size": [3, 0], "roi_start": [0, 0], "roi_end": [10, 10]}, (3, 3)),
        ({"resize_shorter": 10, "roi_start": [10, 50], "roi_end": [0, 0]}, (10, 50)),
    ],
)
def test_sizes(arguments, expected):
    assert shape_of(np.zeros((60, 100, 1), np.uint8), **arguments) == expected


def test_sizes_of_volumes():
    x = np.zeros((10, 20, 40, 1), np.uint8)
    assert shape_of(x, size=[10, 40, 0]) == (10, 40, 57)  # the geometric mean of 1 and 2
    assert shape_of(x, resize_z=5) == (5, 10, 20)
    assert shape_of(x, size=[20, 0, 0], mode="stretch") == (20, 20, 40)


@pytest.mark.parametrize("layout", ["HWC", "CHW", "FHWC", "FCHW", "CFHW", "DHWC", "CDHW", "FDHWC", "FCDHW", "CFDHW"])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("kind", [NEAREST, LINEAR])
def test_layouts(layout, dtype, kind):
    extents = {"F": 2, "D": 5, "H": 11, "W": 14, "C": 3}
    x = random_image([extents[name] for name in layout], 2, dtype)
    sizes = {"D": 3, "H": 20, "W": 6}
    names = [name for name in layout if name in sizes]
    out = ndd.resize(ndd.tensor(x, layout=layout), size=[sizes[name] for name in names], interp_type=kind)
    assert out.layout == layout
    assert_close(out, resize(x, [sizes[n] for n in names], kind, axes=[layout.index(n) for n in names]))


def test_mirrored_sizes_and_regions():
    x = random_image((20, 30, 3))
    plain = np.asarray(ndd.resize(x, size=[10, 12]))
    np.testing.assert_array_equal(np.asarray(ndd.resize(x, size=[-10, 12])), plain[::-1])
    flipped = ndd.resize(x, size=[10, 12], roi_start=[0, 30], roi_end=[20, 0])
    np.testing.assert_array_equal(np.asarray(flipped), plain[:, ::-1])


def test_filters_for_larger_and_smaller():
    x = random_image((20, 20, 3))
    out = ndd.resize(x, size=[8, 50], min_filter=0, mag_filter=2)
    assert_close(out, resample(x, {0: weights(20, 8, kind=0), 1: weights(20, 50, kind=2)}))
    assert_close(ndd.resize(x, size=[8, 9], interp_type=2, min_filter=1), resize(x, [8, 9], 1))


def test_arguments_per_sample():
    images = [random_image((20, 30, 3)), random_image((9, 8, 3), 1)]
    out = ndd.resize(ndd.as_batch(images), size=ndd.as_batch([[4, 5], [20, 3]]), interp_type=ndd.as_batch([1, 2]))
    assert_close(out.tensors[0], resize(images[0], [4, 5], 1))
    assert_close(out.tensors[1], resize(images[1], [20, 3], 2))
    shorter = ndd.resize(ndd.as_batch(images), resize_shorter=ndd.as_batch([10.0, 4.0]))
    assert shorter.shape == [(10, 15, 3), (5, 4, 3)]


def test_element_types():
    x = random_image((20, 30, 3))
    assert ndd.resize(x, size=[4, 4], dtype=ndd.float16).dtype == ndd.float16
    assert_close(ndd.resize(x, size=[4, 4], dtype=ndd.float32), resize(x, [4, 4], dtype="float32"))
    large = np.arange(24, dtype=np.int64).reshape(4, 6, 1) + 2**60
    np.testing.assert_array_equal(np.asarray(ndd.resize(large, size=[2, 3], interp_type=0)), large[1::2, 1::2])
    with pytest.raises(RuntimeError, match="dtype"):
        ndd.resize(x, size=[4, 4], dtype=ndd.int16)


def test_save_attrs():
    out, extents = ndd.resize(np.zeros((6, 7, 3), np.uint8), size=[2, 2], save_attrs=True)
    assert out.shape == (2, 2, 3)
    np.testing.assert_array_equal(np.asarray(extents), np.int32([6, 7]))


def test_empty_images_stay_empty():
    assert ndd.resize(np.zeros((0, 5, 3), np.uint8), size=[3, 3]).shape == (0, 3, 3)
    assert ndd.resize(np.zeros((5, 5, 0), np.uint8), size=[3, 3]).shape == (3, 3, 0)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"size": [3, 3], "resize_x": 3},
        {"resize_shorter": 3, "resize_longer": 3},
        {"resize_shorter": 3, "mode": "not_smaller"},
        {"size": [3]* 3},
        {"size": [3, 3], "mode": "fit"},
        {"size": [3, 3], "interp_type": 6},
        {"size": [3, 3], "interp_type": -1},
        {"size": [3, 3], "roi_start": [1, 1]},
        {"size": [3, 3], "roi_start": [1, 1, 1], "roi_end": [2, 2, 2]},
        {"size": [3, 3], "max_size": [1, 2, 3]},
        {"size": [float("nan"), 3]},
        {"size": [float("inf"), 3]},
        {"size": [1e12, 3]},
        {"size": [3, 0], "roi_start": [2, 1], "roi_end": [2, 4]},
        {"size": [3, 3], "roi_start": [0, float("nan")], "roi_end": [4, 4]},
        {"size": [3, 3], "roi_start": [0, 0], "roi_end": [4, float("inf")]},
        {"size": [3, 3], "roi_start": [0, 0], "roi_end": [4, 1e30]},
        {"size": [3, 3], "roi_start": [0, 0], "roi_end": [4, 1e9]},
    ],
)  # fmt: skip
def test_refused(arguments):
    with pytest.raises(RuntimeError, match=r"^resize: "):
        ndd.resize(np.zeros((5, 6, 3), np.uint8), **arguments).evaluate()


def test_absurd_sizes_are_refused():
    for size in ([2e9, 2e9], [2e9, 2]):
        with pytest.raises((RuntimeError, ValueError, MemoryError)):
            ndd.resize(np.zeros((5, 6, 3), np.uint8), size=size).evaluate()


def test_tensor_resize_of_any_axes():
    x = random_image((4, 6, 5, 3), 5, "float32")
    assert_close(ndd.tensor_resize(x, sizes=[7, 2], axes=[0, 2]), resize(x, [7, 2], axes=(0, 2)))
    assert_close(ndd.tensor_resize(x, sizes=[3, 9, 2, 5]), resize(x, [3, 9, 2, 5], axes=(0, 1, 2, 3)))
    assert_close(ndd.tensor_resize(x, sizes=[5], axes=[-1]), resize(x, [5], axes=(3,)))
    line = random_image((17,), 6)
    assert_close(ndd.tensor_resize(line, sizes=[5]), resize(line, [5], axes=(0,)))
    named = ndd.tensor_resize(ndd.tensor(x, layout="ABCD"), sizes=[3, 8], axis_names="DB")
    assert_close(named, resize(x, [3, 8], axes=(3, 1)))


def test_scales_and_their_rounding():
    x = np.zeros((10, 20, 3), np.uint8)
    shape = lambda **arguments: ndd.tensor_resize(x, axes=[0, 1], **arguments).shape  # noqa: E731
    assert shape(scales=[0.55, 0.5]) == (6, 10, 3)
    assert shape(scales=[0.55, 0.53], size_rounding="truncate") == (5, 10, 3)
    assert shape(scales=[0.51, 0.51], size_rounding="ceil") == (6, 11, 3)
    for arguments, kind in (
        ({}, RuntimeError), ({"scales": [1, 1], "sizes": [2, 2]}, RuntimeError),
        ({"scales": [1, 1], "size_rounding": "floor"}, RuntimeError),
        ({"scales": [1, 1], "mode": "not_larger"}, RuntimeError),
        ({"sizes": [2, 2], "alignment": [0, 0, 0]}, RuntimeError),
    ):  # fmt: skip
        with pytest.raises(kind):
            ndd.tensor_resize(x, axes=[0, 1], **arguments).evaluate()
    with pytest.raises(IndexError):
        ndd.tensor_resize(x, sizes=[1], axes=[3])
    with pytest.raises(ValueError, match="twice"):
        ndd.tensor_resize(x, sizes=[1, 1], axes=[0, -3])


def test_alignment():
    x = random_image((1, 20), 7, "float32")
    for alignment, start in ((0.0, 0.0), (1.0, 20 - 6 * 20 / 6.4), (0.5, 10 - 3 * 20 / 6.4)):
        out = ndd.tensor_resize(x, sizes=[6.4], axes=[1], alignment=alignment)
        assert_close(out, resample(x, {1: weights(20, 6, start, start + 6 * 20 / 6.4)}))


@pytest.mark.parametrize("shape", [(0, 0, 3), (0, 5, 3), (5, 0, 3), (4, 5, 0)])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_nothing_to_resize(shape, dtype):
    image = ndd.tensor(np.zeros(shape, dtype), layout="HWC")
    wanted = [7 if extent else 0 for extent in shape[:2]]
    made = ndd.resize(image, size=wanted, roi_start=[0, 0], roi_end=[1, 1], mode="stretch")
    assert 0 in made.shape
    assert 0 in ndd.random_resized_crop(image, size=[5, 0]).shape


def test_a_video_without_frames():
    video = ndd.tensor(np.zeros((0, 40, 50, 3), np.uint8), layout="FHWC")
    assert ndd.resize(video, size=[7, 8]).shape == (0, 7, 8, 3)


def test_far_out():
    made = ndd.resize(
        np.full((8, 8, 1), 3, np.float32), size=[4, 4], roi_start=[1e8, 1e8], roi_end=[1e8 + 64, 1e8 + 64]
    )
    np.testing.assert_array_equal(np.asarray(made), 3)


def size_of_torchvision(shorter, longer, size, limit):
    other = int(size * longer / shorter)
    return (int(limit * size / other), limit) if limit and other > limit else (size, other)


def size_of_detr(shorter, longer, size, limit):
    if limit and float(longer) / float(shorter) * size > limit:
        size = round(limit * float(shorter) / float(longer))
    return (shorter, longer) if shorter == size else (size, int(size * longer / shorter))


def size_of_transformers(shorter, longer, size, limit):
    exact = size
    if limit and float(longer) / float(shorter) * size > limit:
        exact = limit * float(shorter) / float(longer)
        size = round(exact)
    return (shorter, longer) if shorter == size else (size, int(exact * longer / shorter))


ROUNDINGS = {"torchvision": size_of_torchvision, "detr": size_of_detr, "transformers": size_of_transformers}


@pytest.mark.parametrize("limit", [None, 50, 97])
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_sizes_of_other_libraries(rounding, limit):
    rng = np.random.default_rng(3)
    images = [np.zeros((*rng.integers(1, 60, 2), 1), np.uint8) for _ in range(60)]
    images += [np.zeros(shape, np.uint8) for shape in ((37, 37, 1), (40, 41, 1), (41, 40, 1), (37, 59, 1))]
    options = {} if limit is None else {"max_size": limit}
    for size in (1, 37, 41):
        out = ndd.resize(ndd.batch(images, layout="HWC"), resize_shorter=size, size_rounding=rounding, **options)
        for image, (height, width, _) in zip(images, out.shape, strict=True):
            expected = [max(1, side) for side in ROUNDINGS[rounding](*sorted(image.shape[:2]), size, limit)]
            assert [height, width] == (expected if image.shape[0] <= image.shape[1] else expected[::-1])


def test_sizes_of_detr_show_the_whole_image():
    x = np.random.default_rng(0).integers(0, 256, (33, 50, 3), dtype=np.uint8)
    out = ndd.resize(x, resize_shorter=20, max_size=29, size_rounding="detr")
    assert out.shape == (19, 28, 3)
    np.testing.assert_array_equal(np.asarray(out), np.asarray(ndd.resize(x, size=[19, 28])))


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": [3, 4]},
        {"resize_longer": 4},
        {"resize_shorter": 4.5},
        {"resize_shorter": 4, "max_size": [5, 6]},
        {"resize_shorter": 4, "roi_start": [0, 0], "roi_end": [1, 1]},
    ],
)
def test_sizes_of_other_libraries_are_of_the_shorter_side(arguments):
    with pytest.raises(RuntimeError, match="size_rounding"):
        ndd.resize(np.zeros((4, 5, 3), np.uint8), size_rounding="detr", **arguments).evaluate()


@pytest.mark.parametrize(
    ("other", "name"), [("nearest", "nn"), ("bilinear", "linear"), ("BICUBIC", "cubic"), ("lanczos", "lanczos3")]
)
def test_names_that_other_libraries_have(other, name):
    x = np.random.default_rng(0).integers(0, 256, (33, 50, 3), dtype=np.uint8)
    np.testing.assert_array_equal(
        np.asarray(ndd.resize(x, size=[20, 70], interp_type=other)),
        np.asarray(ndd.resize(x, size=[20, 70], interp_type=name)),
    )
    if name in ("nn", "linear"):
        assert ndd.rotate(x, angle=3, interp_type=other).shape == ndd.rotate(x, angle=3).shape
        assert ndd.augment.rand_augment(ndd.batch([x]), interp_type=other).shape == [x.shape]
