"""Pixels that are made several at a time: images of all sizes, at all alignments, in all orders of their axes."""

import itertools

import numpy as np
import pytest

import avida as ndd

rng = np.random.default_rng(6)
WIDTHS = [1, 2, 3, 4, 5, 7, 16, 17, 33, 13]


def images(channels, layout, height):
    made = [rng.integers(0, 256, (height, width, channels)).astype(np.uint8) for width in WIDTHS]
    return [np.ascontiguousarray(x.transpose(2, 0, 1)) if layout == "CHW" else x for x in made]


def check(function, arrays, layout, **arguments):
    for batch in (ndd.batch(arrays, layout=layout), ndd.batch([arrays[-1]] * 5, layout=layout)):
        got, expected = function(batch.gpu(), **arguments), function(batch, **arguments)
        for ours, theirs in zip(got.cpu().tensors, expected.tensors, strict=True):
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
@pytest.mark.parametrize("dtype", [ndd.uint8, ndd.float32, ndd.int16])
def test_colors(layout, dtype):
    for height in (1, 3):
        rgb = images(3, layout, height)
        check(ndd.color_twist, rgb, layout, hue=70, saturation=1.7, brightness=1.3, contrast=1.4, dtype=dtype)
        check(ndd.brightness_contrast, rgb, layout, brightness=1.5, contrast=1.7, dtype=dtype)
        check(ndd.brightness_contrast, images(1, layout, height), layout, brightness=-1.5, dtype=dtype)


def test_numbers_out_of_range():
    rgb = images(3, "HWC", 3)
    for number in (1e38, -1e38, 1e30):
        check(ndd.brightness_contrast, rgb, "HWC", brightness_shift=number)
        check(ndd.color_twist, rgb, "HWC", brightness=number)


@pytest.mark.parametrize("height", [1, 4])
def test_color_spaces(height):
    spaces = {ndd.types.RGB: 3, ndd.types.BGR: 3, ndd.types.GRAY: 1, ndd.types.YCbCr: 3}
    for source, target in itertools.permutations(spaces, 2):
        arguments = {"image_type": source, "output_type": target}
        check(ndd.color_space_conversion, images(spaces[source], "HWC", height), "HWC", **arguments)


@pytest.mark.parametrize("source", ["uint8", "float32"])
@pytest.mark.parametrize("dtype", [ndd.float32, ndd.float16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_normalized_crops(source, dtype, channels):
    arrays = [rng.integers(0, 256, (9, 40 + k, channels)).astype(source) for k in range(4)]
    options = {"mean": [100.0 + c for c in range(channels)], "std": [7.0 + c for c in range(channels)], "dtype": dtype}
    padded = {"out_of_bounds_policy": "pad", "fill_values": [3.0 + c for c in range(channels)], "crop_pos_x": 0.5}
    for layout, mirror, pad_output in itertools.product(["CHW", "HWC"], [0, 1], [False, True]):
        options |= {"output_layout": layout, "mirror": mirror, "pad_output": pad_output}
        for x, width in itertools.product([0, 0.3, 0.41, 1], [1, 4, 6, 15, 32]):
            check(ndd.crop_mirror_normalize, arrays, "HWC", crop=[5, width], crop_pos_x=x, **options)
        check(ndd.crop_mirror_normalize, arrays, "HWC", crop=[13, 61], **options, **padded)


def test_normalized_videos():
    arrays = [rng.integers(0, 256, (2, 5, 6, 7 + k, 3)).astype(np.uint8) for k in range(5)]
    for layout in ("CFDHW", "FCDHW", "FDHWC", "DFCHW", "CWHDF"):
        check(ndd.crop_mirror_normalize, arrays, "FDHWC", crop=[3, 4, 5], output_layout=layout, mirror=1)
