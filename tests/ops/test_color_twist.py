import numpy as np
import pytest

import avida as ndd
from avida._values.dtype import numpy_dtype
from tests.op_case import op_case
from tests.ops.color_reference import stored

TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])


def twisted(x, dtype, hue=0.0, saturation=1.0, brightness=1.0, contrast=1.0, axis=-1):
    angle = np.deg2rad(hue)
    cos, sin = saturation * np.cos(angle), saturation * np.sin(angle)
    matrix = np.linalg.inv(TO_YIQ) @ [[1, 0, 0], [0, cos, sin], [0, -sin, cos]] @ TO_YIQ
    gray = 0.5 if x.dtype.kind == "f" else 128
    turned = np.moveaxis(np.moveaxis(x.astype(np.float64), axis, -1) @ matrix.T, -1, axis)
    return stored(brightness * (gray + contrast * (turned - gray)), dtype)


@op_case(
    "hue", layout="HWC", dtypes=["uint8", "int16", "float32", "float16"], atol=1, rtol=1e-4, hue=[0.0, 45.0, -500.0]
)
def hue_case(x, hue):
    return twisted(x, x.dtype, hue)


@op_case(
    "saturation",
    layout="FHWC",
    shapes=[(2, 5, 7, 3), (1, 4, 6, 3)],
    dtypes=["uint8", "uint16", "float32", "float64"],
    atol=1,
    rtol=1e-4,
    saturation=[1.0, 0.0, 2.5],
)
def saturation_case(x, saturation):
    return twisted(x, x.dtype, saturation=saturation)


@op_case(
    "hsv",
    layout="HWC",
    dtypes=["uint8", "int32", "float32"],
    atol=1,
    hue=[0.0, 77.0],
    saturation=[1.0, 0.5],
    value=[1.0, 1.4],
)
def hsv_case(x, hue, saturation, value):
    return twisted(x, np.uint8, hue, saturation, value)


@op_case(
    "color_twist",
    layout="CHW",
    shapes=[(3, 5, 7), (3, 1, 1), (3, 40, 41)],
    dtypes=["uint8", "int16", "float32"],
    atol=1,
    rtol=1e-3,
    hue=[10.0],
    saturation=[1.3, 0.4],
    brightness=[1.0, 0.8],
    contrast=[1.0, 1.6],
    dtype=[ndd.uint8, ndd.float32],
)
def twist_case(x, hue, saturation, brightness, contrast, dtype):
    return twisted(x, numpy_dtype(dtype), hue, saturation, brightness, contrast, axis=0)


def test_planes_and_pixels_give_the_same():
    x = np.random.default_rng(1).integers(0, 256, (2, 77, 65, 3), np.uint8)
    pixels = ndd.hue(ndd.tensor(x, layout="FHWC"), hue=100)
    planes = ndd.hue(ndd.tensor(x.transpose(0, 3, 1, 2).copy(), layout="FCHW"), hue=100)
    np.testing.assert_array_equal(np.asarray(planes).transpose(0, 2, 3, 1), np.asarray(pixels))


@pytest.mark.parametrize("channels", [0, 1, 2, 4])
def test_other_channels_are_refused(channels):
    with pytest.raises(RuntimeError, match=f"3 channels of RGB, got {channels}"):
        ndd.saturation(np.zeros((2, 2, channels), np.uint8)).evaluate()


def test_nothing_changes_by_default():
    x = np.random.default_rng(2).integers(0, 256, (50, 60, 3), np.uint8)
    np.testing.assert_array_equal(np.asarray(ndd.color_twist(x)), x)


def test_what_is_no_number_gives_zeros():
    x = np.full((2, 2, 3), 100, np.uint8)
    assert not np.asarray(ndd.hue(x, hue=float("inf"))).any()
    assert np.isnan(np.asarray(ndd.hue(x, hue=float("inf"), dtype=ndd.float32))).all()
