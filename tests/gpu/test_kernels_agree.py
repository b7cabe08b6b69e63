"""Kernels whose loops differ from those of the CPU give the same results, for many types, shapes and layouts."""

import itertools

import numpy as np
import pytest

import avida as ndd

rng = np.random.default_rng(3)
DTYPES = ["uint8", "int16", "uint64", "int64", "float16", "float32", "float64", "bool"]


def numbers(dtype, shape):
    """Some large, some small, some negative where the type has such."""
    x = rng.normal(0, 1, shape) * rng.choice([1, 300, 1e4 if dtype == "float16" else 1e5], shape)
    return x > 0 if dtype == "bool" else np.abs(x).astype(dtype) if dtype[0] == "u" else x.astype(dtype)


def image(dtype="uint8", shape=(37, 50, 3)):
    return rng.integers(0, 255, shape).astype(dtype)


def check(function, *arrays, layout="", rtol=0.0, atol=0.0, **arguments):
    """For single samples and for batches of samples of different shapes."""
    for cut in (0, 3):
        parts = [np.ascontiguousarray(a[cut:]) if a.ndim and a.shape[0] > 5 else a for a in arrays]
        made = [ndd.tensor(a, layout=layout if i == 0 and layout else None) for i, a in enumerate(parts)]
        expected = function(*made, **arguments)
        got = function(*(tensor.gpu() for tensor in made), **arguments)
        assert got.device.device_type == "gpu"
        assert (got.layout, got.dtype) == (expected.layout, expected.dtype)
        np.testing.assert_allclose(np.asarray(got.cpu()), np.asarray(expected), rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cast(dtype):
    for to in DTYPES:
        for count in (64, 61):
            check(ndd.cast, numbers(dtype, count), dtype=getattr(ndd, to))


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_moving(dtype):
    x = image(dtype)
    for perm in itertools.permutations(range(3)):
        check(ndd.transpose, x, perm=list(perm))
    check(ndd.copy, x)
    for axis in range(3):
        check(ndd.cat, x, x, axis=axis)
        check(ndd.stack, x, x, axis=axis)
    check(lambda t: t[::-2, 5:31:3, 1], x)
    check(lambda t: t[3:, ::-1], x)
    check(lambda t: t[:, 8:24], x)
    check(ndd.crop, x, layout="HWC", crop=[20, 24], crop_pos_x=0.3)


@pytest.mark.parametrize("policy", ["pad", "edge", "reflect", "reflect_101", "wrap", "trim_to_shape"])
@pytest.mark.parametrize(("dtype", "to"), [("uint8", "uint8"), ("uint8", "float32"), ("int16", "bool")])
def test_windows(policy, dtype, to):
    options = {"dtype": getattr(ndd, to), "out_of_bounds_policy": policy, "fill_values": [3, 4, 300]}
    check(ndd.slice, image(dtype), layout="HWC", start=[-9, 31], shape=[25, 60], axes=[0, 1], **options)
    check(ndd.pad, image(dtype), fill_value=7, align=[8, 64, 4])


def test_fills():
    check(ndd.zeros_like, image("float16"))
    check(ndd.ones_like, image("int16"))
    check(ndd.full_like, image(), np.float32([1.5, 2.4, 700]))
    check(ndd.full_like, image("float32"), np.int32(7))
    check(ndd.full, np.float32([[1], [2]]), shape=[3, 2, 5])


@pytest.mark.parametrize("source", ["uint8", "float32", "int16"])
@pytest.mark.parametrize("to", ["float32", "float16", "uint8", "int32"])
def test_crop_mirror_normalize(source, to):
    options = {"mean": [100, 110, 120], "std": [2, 3, 4], "dtype": getattr(ndd, to), "out_of_bounds_policy": "pad"}
    for layout, mirror in itertools.product(["CHW", "HWC"], [0, 1]):
        options |= {"output_layout": layout, "mirror": mirror, "pad_output": mirror == 1}
        check(ndd.crop_mirror_normalize, image(source), layout="HWC", crop=[30, 64], **options)
    check(ndd.crop_mirror_normalize, image(source, (2, 3, 20, 30)), layout="FCHW", output_layout="CFHW", crop=[9, 9])


@pytest.mark.parametrize("filter", range(6))
@pytest.mark.parametrize(("source", "to"), [("uint8", "uint8"), ("uint8", "float32"), ("int16", "int16")])
def test_resize(filter, source, to, is_fake):
    options = {"interp_type": filter, "dtype": getattr(ndd, to)}
    options |= {"atol": 0 if is_fake else 1} if source == to else {"rtol": 1e-5, "atol": 1e-4}
    for size in ([16, 21], [80, 33], [37, 20], [19, 0], [0, -24]):
        check(ndd.resize, image(source), layout="HWC", size=size, mode="stretch", **options)
    check(ndd.resize, image(source, (9, 20, 31, 2)), layout="DHWC", size=[5, 24, 17], **options)
    check(ndd.resize, image(source, (3, 20, 31)), layout="CHW", size=[24, 17], antialias=False, **options)
    check(ndd.resize, image(source, (20, 31, 5)), layout="HWC", size=[24, 17], **options)
    check(ndd.tensor_resize, image(source, (6, 5, 4, 3)), sizes=[4, 8, 3, 5], **options)
    check(ndd.resize_crop_mirror, image(source), layout="HWC", size=[60, 50], crop=[30, 31], mirror=3, **options)


def test_sizes_of_resized_images():
    images, extents = ndd.resize(ndd.tensor(image(), layout="HWC").gpu(), size=[9, 9], save_attrs=True)
    assert images.shape == (9, 9, 3)
    np.testing.assert_array_equal(np.asarray(extents.cpu()), [37, 50])


REDUCTIONS = ["sum", "mean", "mean_square", "rms", "min", "max"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(name, dtype):
    function = getattr(ndd.reductions, name)
    x = numbers(dtype, (6, 40, 50, 3))
    for axes in ([], [0], [1, 2], [3], [0, 1, 2, 3], [0, 2]):
        check(function, x, axes=axes, rtol=1e-5)


def test_deviations():
    x = image("float32")
    mean = x.mean((0, 1))
    for name in ("variance", "std_dev"):
        check(getattr(ndd.reductions, name), x, mean, axes=[0, 1], ddof=1, rtol=1e-5)
        check(getattr(ndd.reductions, name), x, np.float32(3), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((150, 301, 3), [0, 1]),
        ((2, 40, 31, 7), [1, 2]),
        ((3, 70001), [1]),
        ((300, 256), [0]),
        ((90, 257), [0]),
        ((77, 5001), None),
    ],
)
def test_long_rows(shape, axes, dtype):
    """They are folded by blocks of threads. What comes of bytes is exact, and so the same on both devices."""
    x = numbers(dtype, shape)
    rtol = 0 if dtype == "uint8" else 1e-5
    for name in REDUCTIONS:
        check(getattr(ndd.reductions, name), x, axes=axes, rtol=rtol)
    mean = np.asarray(ndd.reductions.mean(x, axes=axes, keep_dims=True))
    check(ndd.reductions.variance, x, mean, axes=axes, rtol=rtol)
    check(ndd.normalize, x, axes=axes, rtol=rtol, atol=0 if dtype == "uint8" else 1e-4)


@pytest.mark.parametrize("mean", [-1e6, -0.5, 0.0, 3.0, 77.4, 77.5, 254.9, 255.0, 1e9, np.inf, np.nan])
def test_variance_of_bytes_around_any_mean(mean):
    x = np.uint8([[0, 3, 77, 78, 255], [255, 255, 255, 255, 255]])
    check(ndd.reductions.variance, x, np.float64(mean), axes=[1], rtol=0)
    expected = ((x - np.float64(mean)) ** 2).mean(1)
    np.testing.assert_allclose(np.asarray(ndd.reductions.variance(x, np.float64(mean), axes=[1])), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int64"])
@pytest.mark.parametrize("batch", [False, True])
def test_normalize(dtype, batch):
    samples = ndd.batch([image(dtype, (20, 30, 3)), image(dtype, (11, 30, 3))], layout="HWC")
    for options in ({}, {"mean": 100.0}, {"stddev": 20.0}, {"mean": 3.0, "stddev": 2.0}, {"epsilon": 1.0, "ddof": 1}):
        for axes in ([0], [0, 1], [0, 1, 2]):
            arguments = {"axes": axes, "batch": batch, "scale": 2.0, "shift": 5.0, **options}
            expected = ndd.normalize(samples, **arguments)
            for ours, theirs in zip(ndd.normalize(samples.gpu(), **arguments).tensors, expected.tensors, strict=True):
                np.testing.assert_allclose(np.asarray(ours.cpu()), np.asarray(theirs), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "float64"])
def test_random(dtype):
    element = getattr(ndd, dtype)
    drawn = {"uniform": {"range": [-5, 90]}, "normal": {"mean": 3, "stddev": 9}, "coin_flip": {}}
    if dtype.startswith("float"):
        drawn["beta"] = {"alpha": 0.7, "beta": 2}
    drawn_from = [(name, options) for name, options in drawn.items()] + [("uniform", {"values": [1, 2, 40]})]
    for name, options in drawn_from:
        made = []
        for device in ("cpu", "gpu"):
            generator = ndd.random.RNG(seed=5)
            function = getattr(ndd.random, name)
            made.append(function(**options, shape=[5001], dtype=element, device=device, rng=generator).cpu())
        np.testing.assert_allclose(np.asarray(made[1]), np.asarray(made[0]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_pieces_of_rows(dtype):
    """What sixteen bytes at once make, and what is made element by element."""
    for shape in ((37, 50, 3), (9, 64, 4), (40, 7, 1), (3, 2, 3)):
        x = image(dtype, shape)
        for fills in ([7], list(range(1, shape[2] + 1))):
            placed = {"ratio": 1.7, "paste_x": 0.3, "paste_y": 0.6, "n_channels": shape[2]}
            check(ndd.paste, x, layout="HWC", fill_value=fills, **placed)
            regions = {"anchor": [2, 1, 20, -3], "shape": [11, 30, 9, 20], "fill_value": fills}
            check(ndd.erase, x, layout="HWC", **regions)
            check(ndd.erase, np.moveaxis(x, 2, 0).copy(), layout="CHW", **regions)
        check(ndd.erase, x, layout="HWC", anchor=[5], shape=[3], axes=[1], fill_value=3)
        check(ndd.grid_mask, x, layout="HWC", tile=9, angle=0.4, ratio=0.6, shift_x=3)
        check(ndd.grid_mask, np.moveaxis(x, 2, 0).copy(), layout="CHW", tile=5)


def test_normalize_without_elements():
    empty = ndd.as_tensor(np.zeros((4, 5, 0), np.uint8))
    assert ndd.normalize(empty.gpu(), axes=[0, 1]).shape == (4, 5, 0)
