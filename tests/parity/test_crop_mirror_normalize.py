"""crop_mirror_normalize: the same as the real library, to 1e-5."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parity.compare import both

LAYOUTS = {
    "HWC": ["HWC", "CHW", "WHC"],
    "CHW": ["HWC", "CHW"],
    "FHWC": ["FHWC", "FCHW", "CFHW"],
    "FCHW": ["FHWC", "FCHW"],
    "DHWC": ["DHWC", "CDHW"],
    "CDHW": ["DHWC", "CDHW"],
    "FDHWC": ["FDHWC", "FCDHW"],
}
# Rounding may differ where a result lies halfway, and float16 has few digits. Results near 0 are differences of numbers
# up to 2,000, of which the real library keeps seven digits.
TOLERANCE = {"float32": (1e-5, 3e-4), "float16": (1e-3, 1e-3), "uint8": (0, 1), "int8": (0, 1)}


@st.composite
def calls(draw):
    layout = draw(st.sampled_from(sorted(LAYOUTS)))
    channels = draw(st.integers(1, 4))
    shape = [channels if axis == "C" else draw(st.integers(1, 9)) for axis in layout]
    numbers = st.sampled_from([1, channels]).flatmap(
        lambda n: st.lists(st.floats(0.5, 200, width=16), min_size=n, max_size=n)
    )
    policy = draw(st.sampled_from(["error", "pad", "trim_to_shape"]))
    arguments = {
        "output_layout": draw(st.sampled_from(LAYOUTS[layout])),
        "mean": draw(numbers),
        "std": draw(numbers),
        "mirror": draw(st.integers(0, 1)),
        "scale": draw(st.sampled_from([1.0, 3.5])),
        "shift": draw(st.sampled_from([0.0, -2.25])),
        "pad_output": draw(st.booleans()),
        "out_of_bounds_policy": policy,
    }
    if policy == "pad":
        arguments["fill_values"] = [draw(st.integers(0, 100)) + 0.0]
    if draw(st.booleans()):
        arguments["crop"] = [draw(st.integers(1, 12)) + 0.0, draw(st.integers(1, 12)) + 0.0]
        arguments["crop_pos_x"] = draw(st.floats(0, 1, width=16))
        arguments["crop_pos_y"] = draw(st.floats(0, 1, width=16))
        arguments["rounding"] = draw(st.sampled_from(["round", "truncate"]))
    source = draw(st.sampled_from(["uint8", "int16", "uint16", "int32", "float32", "float16"]))
    target = draw(st.sampled_from(sorted(TOLERANCE)))
    return layout, shape, source, target, arguments


@given(calls(), st.integers(0, 100))
@settings(max_examples=250, deadline=None)
def test_random_calls(call, seed):
    layout, shape, source, target, arguments = call
    x = np.random.default_rng(seed).integers(0, 256, shape).astype(source)
    rtol, atol = TOLERANCE[target]
    extents = [shape[layout.index(axis)] for axis in "HW"]
    beyond = any(size > extent for size, extent in zip(arguments.get("crop", extents), extents, strict=True))
    both(
        lambda lib: lib.crop_mirror_normalize(lib.tensor(x, layout=layout), dtype=getattr(lib, target), **arguments),
        rtol=rtol,
        atol=atol,
        fails=beyond and arguments["out_of_bounds_policy"] == "error" and RuntimeError,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"mean": [1.0, 2.0]},
        {"output_layout": "FCHW"},
        {"output_layout": "HW"},
        {"out_of_bounds_policy": "edge", "crop": [9.0, 9.0]},
        {"crop": [9.0, 9.0]},
        {"crop_h": 2.0},
        {"out_of_bounds_policy": "pad", "crop": [9.0, 9.0], "fill_values": [1.0, 2.0]},
    ],
)
def test_errors(arguments):
    x = np.zeros((4, 5, 3), np.uint8)
    both(lambda lib: lib.crop_mirror_normalize(lib.tensor(x, layout="HWC"), **arguments), fails=RuntimeError)


def test_batches_with_numbers_per_sample():
    xs = [np.random.default_rng(i).integers(0, 256, (4 + i, 9 - i, 3), np.uint8) for i in range(3)]
    both(
        lambda lib: lib.crop_mirror_normalize(
            lib.batch(xs, layout="HWC"),
            mean=lib.batch([np.float32([i, 2 * i, 3]) for i in range(3)]),
            std=lib.batch([np.float32([1 + i, 2, 3]) for i in range(3)]),
            mirror=lib.batch([np.int32(i % 2) for i in range(3)]),
        ),
        rtol=1e-5,
        atol=1e-5,
    )
