"""Random calls of every operator that both libraries have: the same results, or errors from both.

AVIDA_RANDOM_CALLS sets the number of calls, AVIDA_RANDOM_SEED another seed: the search of which this is a sample.
"""

import os
import re

import numpy as np
import pytest

import avida
from tests.parity.oracle import Oracle, outcome
from tests.parity.random_calls import ARITHMETIC, DRAWN, OPS, UNARY, Maker, Value
from tests.parity.test_every_image_op import WARPS
from tests.parity.test_surface import THEIRS

CALLS = int(os.environ.get("AVIDA_RANDOM_CALLS", "300"))
SEED = int(os.environ.get("AVIDA_RANDOM_SEED", "1"))

# The real library runs them on GPUs only.
NEED_A_GPU = {"decoders.inflate", "jitter"}
NEED_A_GPU |= {f"experimental.{name}" for name in ("dilate", "erode", "median_blur", "remap")}
NAMES = sorted(name for name in OPS if name in THEIRS and name not in NEED_A_GPU) + ARITHMETIC + UNARY

# docs/differences.md lists them: calls that are errors there, by operator and a part of the message,
ACCEPTED = [
    (".*", r"(?i)unsupported (input|output|data|type)|not supported|invalid type|unexpected input type"),
    (".*", r"Calling type does not match|accepts the following input types|can return the output as one of"),
    (".*", r"output type must be the same as input|must output original type or float"),
    (".*", r"does not match any of the allowed layouts"),
    ("squeeze", r"Missing argument ``axes``|AddArg failed"),
    ("warp_affine|experimental.warp_perspective", r"Affine mapping parameters|cannot be converted to dimension"),
    ("normalize", r"axis index -|must have extent of 1 or|When providing both `mean` and `stddev`|parameter shape: 1 "),
    ("filter", r"supports only 2-dimensional convolutions"),
    ("slice|decoders.image_slice", r"Unexpected shape for argument"),
    ("decoders.image_slice|decoders.image_crop", r"nvImageCodec failure"),
    ("gaussian_blur", r"shouldn't be 0 at the same time"),
    ("coord_transform", r"translation vectors, got 1-D"),
    ("transforms.*", r"Expected uniform shape for argument"),
    ("transforms.*", r"Unexpected layout of output"),
    ("resize_crop_mirror|resize", r"1-element tensor cannot describe"),
    ("segmentation.random_mask_pixel", r"``value`` and ``threshold``"),
]
# calls that are errors here only, by operator and a part of avida's message,
REFUSED = [
    ("hue|saturation|hsv|color_twist", r"expected the 3 channels of RGB"),
    ("nonsilent_region", r"a multiple of window_length"),
    ("bbox_paste", r'expected a "ratio" of more than 0'),
    ("squeeze", r'expected "axes" or "axis_names", got both'),
    ("peek_image_shape", r'"image_type" must be "rgb"'),
    ("erase", r'in "fill_value"'),
    ("random_resized_crop", r"expected sizes of 0 or more"),
    ("random_crop_generator|random_resized_crop", r"expected positive numbers|expected areas of 0 or more"),
    ("roi_random_crop", r"expected a window of at least 0"),
    ("grid_mask", r'expected "input" with layout'),
    ("segmentation.random_object_bbox", r'expected "class_weights" of 0 or more'),
    ("reductions.*", r"expected a mean of the shape"),
    ("reshape|reinterpret", r'expected "src_dims"'),
    ("full", r"cannot be repeated to the shape"),
]


def is_outside(position):
    """Whether images leave their canvas, where avida keeps them."""
    given = position.arrays if isinstance(position, Value) else [0 if position is None else position]
    return not all(np.asarray(one).min() >= 0 and np.asarray(one).max() <= 1 for one in given)


# and calls with other results.
DIFFERENT = {
    "segmentation.select_masks": lambda call: True,  # keeps the last polygon of a mask
    "grid_mask": lambda call: call.inputs[0].layout != "HWC",  # takes the first axes for H and W
    "reductions.std_dev": lambda call: len(call.inputs) == 2,  # does not check the shape of the mean
    "reductions.variance": lambda call: len(call.inputs) == 2,
    "gaussian_blur": lambda call: call.inputs[0].arrays[0].dtype == np.float16,  # rounds after every axis
    "laplacian": lambda call: call.inputs[0].arrays[0].dtype == np.float16,
    "bbox_paste": lambda call: any(is_outside(call.arguments.get(name)) for name in ("paste_x", "paste_y")),
    "bbox_rotate": lambda call: "-" in repr(call.arguments.get("input_shape")),  # negative extents
    **{f"reductions.{name}": lambda call: "dtype" in call.arguments for name in ("mean", "mean_square", "rms")},  # wrap
    "crop_mirror_normalize": lambda call: call.arguments.get("scale") == 0,  # NaN
    "decoders.audio": lambda call: "sample_rate" in call.arguments,  # returns a rate below 0
}
PARTLY_BROADCAST = [f"math.{name}" for name in ("atan2", "clamp", "fpow", "max", "min", "pow")] + ARITHMETIC


def is_known(table, call, message):
    return any(re.fullmatch(ops, call.op) and re.search(text, message) for ops, text in table)


def is_different(call):
    """Also where only some samples of a batch are broadcast, for which the real library reads out of bounds."""
    if call.op in PARTLY_BROADCAST:
        pairs = zip(*([array.shape for array in value.arrays] for value in call.inputs if value.is_batch), strict=True)
        return len({len(set(shapes)) for shapes in pairs}) > 1
    return call.op in DIFFERENT and DIFFERENT[call.op](call)


def tolerance(call, dtype):
    """How far numbers may be off: README.md has the reasons."""
    if dtype.kind == "f":
        return 2**-8 if dtype == np.float16 else 1e-4
    return 2 if call.op in WARPS else 1


def assert_alike(call, mine, theirs):
    """Form, type, layout, shapes, and unless they are drawn the numbers."""
    assert mine[:3] == theirs[:3], call
    for a, b in zip(mine[3], theirs[3], strict=True):
        if call.op not in DRAWN:
            assert a.shape == b.shape, call
            assert_close(call, a, b)


def assert_close(call, a, b):
    wide, other = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(wide) & np.isfinite(other)
    np.testing.assert_array_equal(np.isfinite(wide), np.isfinite(other), err_msg=repr(call))
    scale = max(1.0, float(np.abs(other[finite]).max(initial=0))) if a.dtype.kind == "f" else 1
    np.testing.assert_allclose(
        wide[finite], other[finite], rtol=0, atol=tolerance(call, a.dtype) * scale, err_msg=repr(call)
    )


def check(call, ours, theirs):
    """What became of a call, for the count: raises for what is neither the same nor known."""
    if theirs[0] == "ended":
        return "ended the real library"  # and not avida
    if ours[0] == theirs[0] == "results":
        if is_different(call):
            return "known"
        assert len(ours[1]) == len(theirs[1]), call
        for mine, expected in zip(ours[1], theirs[1], strict=True):
            assert_alike(call, mine, expected)
        return "the same"
    if ours[0] == theirs[0]:
        return "both errors"
    if ours[0] == "results":
        assert is_known(ACCEPTED, call, theirs[2]), f"{call}\nis an error there: {theirs[1]}: {theirs[2]}"
        return "accepted here"
    assert is_known(REFUSED, call, ours[2]), f"{call}\nis an error here only: {ours[1]}: {ours[2]}"
    return "refused here"


@pytest.mark.filterwarnings("ignore")
def test_random_calls():
    oracle = Oracle()
    counts: dict[str, int] = {}
    faults = []
    try:
        for number in range(CALLS):
            call = Maker(SEED, number, NAMES).call()
            oracle.start(call)
            ours = outcome(avida, call)
            try:
                found = check(call, ours, oracle.answer())
                counts[found] = counts.get(found, 0) + 1
            except AssertionError as error:
                faults.append(str(error))
    finally:
        oracle.close()
    assert not faults, "\n\n".join(faults)
    # The calls are not all refused, nor all accepted.
    assert counts["the same"] > CALLS / 3
    assert counts["both errors"] > CALLS / 20
