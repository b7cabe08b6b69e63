"""Gamma, invert, posterize and solarize against NumPy, and what they refuse."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case
from tests.ops.color_reference import stored

COLORS = ["uint8", "uint16", "float16", "float32"]


def white(x):
    return 1.0 if x.dtype.kind == "f" else float(np.iinfo(x.dtype).max)


def of_colors(name, **arguments):
    return op_case(f"augment.{name}", layout="HWC", dtypes=COLORS, high=1.2, rtol=1e-5, atol=1, **arguments)


def of_numbers(name, **arguments):
    high = 65000
    shapes = [(5, 7, 4), (1, 4, 4), (6, 2, 4)]
    return op_case(f"augment.{name}", layout="HWC", dtypes=COLORS[:2], high=high, shapes=shapes, atol=1, **arguments)


@of_numbers("gamma", gamma=[0.0, 0.5, 1.0, 2.2])
@of_colors("gamma", gamma=[1.0, 0.45, 3.0])
def gamma_case(x, gamma):
    return stored(np.clip(x.astype(np.float64) / white(x), 0, 1) ** float(gamma) * white(x), x.dtype)


@of_numbers("invert")
@of_colors("invert")
def invert_case(x):
    return (np.float32(white(x)) - x).astype(x.dtype)


@of_numbers("solarize", threshold=[-5.0, 127.5, 128.0, 300.0, 70000.0])
@of_colors("solarize", threshold=[0.5, 0.25])
def solarize_case(x, threshold):
    return np.where(x < threshold, x, (np.float32(white(x)) - x).astype(x.dtype))


@of_numbers("posterize", bits=[0, 1, 4, 8])
@of_colors("posterize", bits=[3, 7])
def posterize_case(x, bits):
    if x.dtype.kind == "f":
        return (np.clip(np.floor(x.astype(np.float32) * 2**bits), 0, 2**bits - 1) / 2**bits).astype(x.dtype)
    low = 8 * x.itemsize - int(bits)
    return (x >> low << low).astype(x.dtype) if bits else np.zeros_like(x)


def test_the_strength_may_be_given_by_position():
    image = ndd.as_tensor(np.arange(60, dtype=np.uint8).reshape(4, 5, 3) * 4, layout="HWC")
    np.testing.assert_array_equal(ndd.augment.solarize(image, 100), ndd.augment.solarize(image, threshold=100))
    np.testing.assert_array_equal(np.asarray(ndd.augment.posterize(image, 1)), np.asarray(image) & 128)


def test_solarize_starts_in_the_middle():
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16)
    np.testing.assert_array_equal(ndd.augment.solarize(ramp), np.minimum(ramp, 255 - ramp))
    np.testing.assert_array_equal(ndd.augment.solarize(np.float32([[0.25, 0.75]])), [[0.25, 0.25]])


def test_what_is_refused():
    image = ndd.as_tensor(np.zeros((2, 5, 3), np.uint8), layout="HWC")
    with pytest.raises(RuntimeError, match="expected from 0 to 8 bits, got 9"):
        ndd.augment.posterize(image, bits=9).evaluate()
    with pytest.raises(RuntimeError, match="expected a gamma of at least 0, got -1"):
        ndd.augment.gamma(image, gamma=-1).evaluate()
    with pytest.raises(RuntimeError, match="expected uint8, uint16, or floats of 16 or 32 bits, got int32"):
        ndd.augment.invert(ndd.as_tensor(np.zeros((2, 5, 3), np.int32), layout="HWC")).evaluate()
