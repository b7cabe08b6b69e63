import numpy as np
import pytest

import avida as ndd
from avida._values.dtype import numpy_dtype
from tests.op_case import FLOATS, op_case
from tests.ops.color_reference import stored

DTYPES = ["uint8", "int8", "uint16", "int16", "int32", *FLOATS]


def adjusted(x, dtype, brightness=1.0, shift=0.0, contrast=1.0, center=None):
    if center is None:
        center = 0.5 if x.dtype.kind == "f" else (float(np.iinfo(x.dtype).max) + 1) / 2
    dtype = x.dtype if dtype is None else numpy_dtype(dtype)
    top = 1.0 if dtype.kind == "f" else float(np.iinfo(dtype).max)
    return stored(shift * top + brightness * (center + contrast * (x.astype(np.float64) - center)), dtype)


@op_case(
    "brightness",
    layout="HWC",
    dtypes=DTYPES,
    rtol=1e-5,
    atol=1,
    brightness=[1.0, 0.5, -2.0],
    brightness_shift=[0.0, 1 / 128],
)
def brightness_case(x, brightness, brightness_shift):
    return adjusted(x, None, brightness, brightness_shift)


@op_case("contrast", layout="HWC", dtypes=DTYPES, rtol=1e-5, atol=64, contrast=[1.0, 0.5, 3.0])
def contrast_case(x, contrast):
    """Products of int32 in float are off by some units."""
    return adjusted(x, None, contrast=contrast)


@op_case("contrast", layout="HWC", dtypes=DTYPES, rtol=1e-5, atol=1, contrast=[0.5, 3.0], contrast_center=[60.0, -1.0])
def center_case(x, contrast, contrast_center):
    return adjusted(x, None, contrast=contrast, center=contrast_center)


@op_case(
    "brightness_contrast",
    layout="CHW",
    shapes=[(3, 5, 7), (1, 4, 2), (4, 2, 3)],
    dtypes=["uint8", "float32"],
    rtol=1e-5,
    atol=1,
    brightness=[1.5, 0.7],
    contrast=[0.5, 2.0],
    brightness_shift=[-0.25],
    dtype=[None, ndd.int16, ndd.float32],
)
def both_case(x, brightness, contrast, brightness_shift, dtype):
    return adjusted(x, dtype, brightness, brightness_shift, contrast)


def test_large_images_are_cut_into_parts():
    x = np.random.default_rng(3).integers(0, 256, (301, 307, 3), np.uint8)
    made = ndd.brightness(ndd.tensor(x, layout="HWC"), brightness=0.3, brightness_shift=0.1)
    np.testing.assert_allclose(np.asarray(made), adjusted(x, None, 0.3, 0.1), atol=1)


def test_bool_is_refused():
    with pytest.raises(RuntimeError, match=r"expected numbers, got bool: convert it by cast"):
        ndd.brightness(np.zeros((2, 2, 3), bool)).evaluate()
    with pytest.raises(RuntimeError, match=r"expected the type of numbers in .dtype., got bool"):
        ndd.contrast(np.zeros((2, 2, 3), np.uint8), dtype=ndd.bool).evaluate()
