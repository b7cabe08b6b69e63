"""The element bodies of moving, converting, normalising and resampling agree with the operators."""

import ctypes

import numpy as np
import pytest

import avida as ndd

from .bodies import C_TYPES, run_body, type_numbers

rng = np.random.default_rng(7)
IMAGE = rng.integers(0, 255, (11, 14, 3), np.uint8)


def longs(*numbers, most=16):
    """An array of fixed size."""
    return tuple([*numbers, *[0] * (most - len(numbers))])


@pytest.mark.parametrize(("to", "source"), [("uint8", "float32"), ("float16", "int32"), ("bool", "float32")])
def test_convert(to, source):
    x = (rng.normal(0, 200, 500) if source == "float32" else rng.integers(-70000, 70000, 500)).astype(source)
    expected = np.asarray(ndd.cast(x, dtype=getattr(ndd, to)))
    types = type_numbers(to, source)
    for pair in (f"{C_TYPES[to]}, {C_TYPES[source]}", "AnyElement, AnyElement"):
        for aligned in (True, False):
            out = np.zeros(504, expected.dtype)
            run_body("op/convert_item.h", f"ConvertItem<true, {pair}>", 125, out, x, *types, aligned, 498)
            np.testing.assert_array_equal(out[:498], expected[:498])
            assert not out[498:].any()


def test_strided():
    expected = np.asarray(ndd.transpose(ndd.as_tensor(IMAGE, layout="HWC"), perm=[2, 0, 1]))
    out = np.zeros_like(expected)
    axes = (ctypes.c_int(3), *(longs(*numbers, most=17) for numbers in ([3, 11, 14], [154, 14, 1], [1, 42, 3])))
    run_body("op/strided_item.h", "StridedItem<unsigned char>", out.size, out, IMAGE, *axes)
    np.testing.assert_array_equal(out, expected)


def test_join():
    expected = np.asarray(ndd.cat(IMAGE, IMAGE[:, :5].copy(), axis=1))
    out = np.zeros_like(expected)
    for array, at in ((IMAGE, 0), (IMAGE[:, :5].copy(), 42)):
        row = array[0].size
        axes = (ctypes.c_int(2), *(longs(*numbers, most=17) for numbers in ([11, row], [57, 1], [row, 1])))
        run_body("op/strided_item.h", "StridedItem<unsigned char>", array.size, out.ravel()[at:], array, *axes)
    np.testing.assert_array_equal(out, expected)


POLICIES = {"pad": 1, "edge": 2, "reflect_1001": 3, "reflect_101": 4, "wrap": 5}


@pytest.mark.parametrize("policy", POLICIES)
def test_window(policy):
    fill = np.float32([1, 2.5, 300])
    expected = ndd.slice(
        ndd.as_tensor(IMAGE, layout="HWC"),
        start=[-15, 4],
        shape=[40, 29],
        axes=[0, 1],
        dtype=ndd.int16,
        fill_values=fill.tolist(),
        out_of_bounds_policy=policy,
    )
    expected = np.asarray(expected)
    places = (longs(40, 29, 3), longs(-15, 4, 0), longs(11, 14, 3))
    numbers = (*type_numbers("int16", "uint8"), *(ctypes.c_int(n) for n in (2, 3, 2, POLICIES[policy])))
    for pair in ("short, unsigned char", "AnyElement, AnyElement"):
        out = np.zeros_like(expected)
        fills = fill.astype(np.int16)
        run_body("op/window_item.h", f"WindowItem<{pair}>", out.size, out, IMAGE, fills, *numbers, False, *places)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("dtype", "output"), [("uint8", "float32"), ("int32", "uint8")])
def test_look_up(dtype, output):
    x = rng.integers(0, 200, 300).astype(dtype)
    table = np.full(256, 7, output)
    table[10:90] = np.arange(80) * 2
    keys, values = list(range(10, 90)), [float(2 * k) for k in range(80)]
    expected = ndd.lookup_table(x, keys=keys, values=values, default_value=7, dtype=getattr(ndd, output))
    out = np.zeros(300, output)
    otherwise = ctypes.c_float(7) if output == "float32" else ctypes.c_ubyte(7)
    body = f"LookUp<{C_TYPES[dtype]}, {C_TYPES[output]}>"
    run_body("ops/generic/lookup_table.h", body, 300, out, x, table, ctypes.c_ulong(256), otherwise)
    np.testing.assert_array_equal(out, np.asarray(expected))


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_one_hot(dtype):
    x = rng.integers(-3, 9, (4, 6)).astype(dtype)
    expected = np.asarray(ndd.one_hot(x, num_classes=5, axis=1, on_value=3, off_value=-1))
    out = np.zeros_like(expected)
    body = f"OneHot<{C_TYPES[dtype]}, float>"
    run_body("ops/generic/one_hot.h", body, out.size, out, x, 5, 6, ctypes.c_float(3), ctypes.c_float(-1))
    np.testing.assert_array_equal(out, expected)


def test_normalize():
    mean, deviation = rng.normal(100, 9, (1, 1, 3)), rng.uniform(2, 9, (1, 1, 3))
    expected = np.asarray(ndd.normalize(IMAGE, mean=mean, stddev=deviation, shift=3, dtype=ndd.int16))
    out = np.zeros_like(expected)
    factor = np.ascontiguousarray(1 / deviation)
    types = type_numbers("int16", "uint8")
    axes = (ctypes.c_int(3), longs(11, 14, 3), longs(0, 0, 1), longs(0, 0, 1))
    body = "NormalizeItem<float, AnyElement, AnyElement>"
    run_body("ops/generic/normalize.h", body, out.size, out, IMAGE, *types, mean, factor, *axes, 3.0)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("mirror", [False, True])
def test_crop_mirror_normalize(mirror):
    mean, deviation = np.float32([100, 110, 120]), np.float32([3, 7, 9])
    expected = ndd.crop_mirror_normalize(
        ndd.as_tensor(IMAGE, layout="HWC"),
        crop=[9, 20],
        crop_pos_y=1.0,
        mirror=int(mirror),
        mean=mean.tolist(),
        std=deviation.tolist(),
        fill_values=[1, 2, 3],
        out_of_bounds_policy="pad",
        pad_output=True,
    )
    expected = np.asarray(expected)
    out = np.zeros_like(expected)
    by = np.stack([mean, np.float32(1) / deviation, np.zeros(3, np.float32)], 1)
    axes = (*type_numbers("float32", "uint8"), ctypes.c_int(2), ctypes.c_int(1))
    places = [longs(*numbers, most=4) for numbers in ([9, 20], [20, 1], [2, -3], [11, 14], [42, 3])]
    channels = (ctypes.c_int(3), ctypes.c_int(4), 1, 180)
    body = "CropMirrorNormalize<float, unsigned char>"
    fill = np.float32([1, 2, 3, 0])
    run_body("ops/image/crop_mirror_normalize.h", body, 180, out, IMAGE, *axes, mirror, *places, *channels, by, fill)
    np.testing.assert_array_equal(out, expected)


def linear_taps(extent, out_extent):
    """First elements and weights of linear interpolation without antialiasing."""
    place = (np.arange(out_extent) + 0.5) * extent / out_extent - 0.5
    first = np.clip(np.floor(place), 0, extent - 2).astype(np.int32)
    part = np.clip(place - first, 0, 1)
    return first, np.stack([1 - part, part], 1).astype(np.float32)


def test_resample():
    expected = ndd.resize(
        ndd.as_tensor(IMAGE, layout="HWC"), size=[7, 23], antialias=False, dtype=ndd.float32, interp_type=1
    )
    expected = np.asarray(expected)
    wide, out = np.zeros((11, 23, 3), np.float32), np.zeros((7, 23, 3), np.float32)
    columns, rows = linear_taps(14, 23), linear_taps(11, 7)
    to, source = type_numbers("float32", "uint8")
    body = "ResampleItem<float, unsigned char>"
    run_body("op/resample_item.h", body, wide.size, wide, IMAGE, to, source, *columns, 2, 14, 23, 3)
    run_body("op/resample_item.h", "ResampleItem<float, float>", out.size, out, wide, to, to, *rows, 2, 11, 7, 69)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-4)
