"""Every image operator of the registry on all common types, layouts and channels that the real library takes."""

import itertools

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.every_op.test_every_op import combinations
from tests.op_case import CASES, OPS
from tests.parity.compare import assert_same, samples_of
from tests.parity.test_surface import THEIRS, find

DTYPES = ["uint8", "int16", "float32", "float16"]
LAYOUTS = ["HWC", "CHW", "FHWC"]
CHANNELS = [3, 1, 4]

# What makes an operator do something; what is required and not named here is taken from the operator's case in
# tests/ops. Of the operators that take any layout, those named here are tried.
ARGUMENTS = {
    "brightness": {"brightness": 1.3, "brightness_shift": 0.1},
    "contrast": {"contrast": 0.6},
    "brightness_contrast": {"brightness": 1.2, "contrast": 0.7},
    "clahe": {"clip_limit": 2.0, "tiles_x": 2, "tiles_y": 3},
    "color_space_conversion": {"image_type": 0, "output_type": 3},
    "hue": {"hue": 33.0},
    "saturation": {"saturation": 1.6},
    "hsv": {"hue": 70.0, "saturation": 0.7, "value": 1.2},
    "color_twist": {"hue": 20.0, "saturation": 1.4, "brightness": 0.9, "contrast": 1.3},
    "debayer": {"blue_position": [0, 1]},
    "lookup_table": {"keys": [1, 2, 3], "values": [10, 20, 30]},
    "gaussian_blur": {"sigma": 1.2},
    "laplacian": {"window_size": 5},
    "filter": {"border": "wrap"},
    "rotate": {"angle": 33.0},
    "warp_affine": {"matrix": [[1.1, 0.2, -2], [-0.1, 0.9, 1]]},
    "experimental.warp_perspective": {"matrix": [[1.1, 0.2, -2], [-0.1, 0.9, 1], [1e-3, 1e-3, 1]]},
    "water": {"ampl_x": 2.0, "ampl_y": 1.5, "freq_x": 0.3, "freq_y": 0.2},
    "crop": {"crop": [7, 9]},
    "crop_mirror_normalize": {"crop": [7, 9], "mean": [0.4], "std": [0.2], "mirror": 1},
    "flip": {"vertical": 1},
    "resize": {"resize_x": 19, "resize_y": 7},
    "resize_crop_mirror": {"resize_x": 19, "resize_y": 17, "crop": [9, 8], "mirror": 1},
    "normalize": {"axes": [0, 1]},
    "pad": {"axes": [0], "shape": [20], "fill_value": 3},
    "transpose": {},
    "sequence_rearrange": {"new_order": [1, 0, 0]},
    "erase": {"anchor": [1, 2], "shape": [3, 4], "axis_names": "HW", "fill_value": 7.0},
    "grid_mask": {"tile": 5},
    "paste": {"ratio": 1.5, "fill_value": [7]},
    "multi_paste": {"in_ids": [0], "output_size": [20, 18]},
}
INPUTS = {"filter": [np.float32([[0.11, 0.2, 0.1], [0.13, 0.27, 0.05], [0.03, 0.05, 0.06]])]}
# Places are computed in float32 on both sides, and the pixels between them rounded.
WARPS = {"rotate", "warp_affine", "experimental.warp_perspective", "sphere", "water"}

# Not compared, as docs/differences.md says: whether, by type, layout and channels; and what the real library does.
DIFFERENT = {
    "hue": (lambda dtype, layout, channels: channels != 3, "reads foreign memory"),
    "saturation": (lambda dtype, layout, channels: channels != 3, "reads foreign memory"),
    "hsv": (lambda dtype, layout, channels: channels != 3, "reads foreign memory"),
    "color_twist": (lambda dtype, layout, channels: channels != 3, "reads foreign memory"),
    "laplacian": (lambda dtype, layout, channels: dtype == "float16", "rounds after every axis"),
    "paste": (lambda dtype, layout, channels: channels != 3, "garbage, or the end of the process"),
    "grid_mask": (lambda dtype, layout, channels: layout != "HWC", "takes the first axes for H and W"),
    "resize_crop_mirror": (lambda dtype, layout, channels: layout != "HWC", "mirrors another axis"),
    "experimental.warp_perspective": (lambda dtype, layout, channels: dtype == "int16", "places in steps of 1/32"),
}
# It runs them on a GPU only, or not on these images.
REFUSED = {"experimental.dilate", "experimental.erode", "experimental.median_blur", "experimental.remap"}


def takes_images(op):
    if op["random"] or not op["inputs"] or op["name"] not in THEIRS:
        return False
    layouts = op["inputs"][0]["layouts"]
    return "HWC" in layouts or (not layouts and op["name"] in ARGUMENTS)


def image(dtype, layout, channels):
    """Integers up to 255, floats up to 1."""
    extents = {"F": 2, "H": 12, "W": 16, "C": channels}
    x = np.random.default_rng(3).integers(0, 256, [extents[axis] for axis in layout])
    return (x / 255 if dtype.startswith("float") else x).astype(dtype)


def arguments_of(name):
    required = {arg["name"] for arg in OPS[name]["args"] if arg["required"]}
    if name in ARGUMENTS or not required:
        return ARGUMENTS.get(name, {})
    return combinations(next(case for case in CASES if case.op == name))[-1]


def run(library, name, x, layout):
    out = find(library, name)(library.tensor(x, layout=layout), *INPUTS.get(name, []), **arguments_of(name))
    return out.evaluate().cpu()  # some run on a GPU only there


def assert_close(name, ours, theirs):
    dtype = np.asarray(theirs).dtype
    if dtype != np.float16:
        atol = 1e-4 if dtype.kind == "f" else 2 if name in WARPS else 1
        assert_same(ours, theirs, rtol=1e-4 if dtype.kind == "f" else 0, atol=atol)
        return
    assert (ours.layout, ours.shape, str(ours.dtype)) == (theirs.layout, theirs.shape, str(theirs.dtype))
    for a, b in zip(samples_of(ours), samples_of(theirs), strict=True):
        off = np.abs(a.astype(np.float64) - b.astype(np.float64))
        assert (off <= np.spacing(np.maximum(np.abs(a), np.abs(b)))).all()  # one unit in the last place


IMAGE_OPS = sorted(name for name, op in OPS.items() if takes_images(op))


def test_tables_name_operators():
    assert set(ARGUMENTS) | set(INPUTS) | WARPS | set(DIFFERENT) <= set(IMAGE_OPS)


@pytest.mark.parametrize("name", IMAGE_OPS)
def test_every_image_op(name):
    compared = 0
    differs, _ = DIFFERENT.get(name, (lambda *_: False, ""))
    for dtype, layout in itertools.product(DTYPES, LAYOUTS):
        for channels in CHANNELS:
            if differs(dtype, layout, channels):
                continue
            x = image(dtype, layout, channels)
            try:
                theirs = run(dali, name, x, layout)
            except Exception:
                continue
            assert_close(name, run(avida, name, x, layout), theirs)
            compared += 1
    assert (compared == 0) == (name in REFUSED)
