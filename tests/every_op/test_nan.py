"""Numbers that say what to do must be numbers: NaN is refused, by name, at the call."""

import numpy as np
import pytest

import avida as ndd

IMAGE = ndd.tensor(np.zeros((6, 8, 3), np.uint8), layout="HWC")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("brightness", {"brightness": np.nan}),
        ("hue", {"hue": np.nan}),
        ("erase", {"anchor": [np.nan, 0], "shape": [1, 1]}),
        ("grid_mask", {"ratio": np.nan}),
        ("rotate", {"angle": np.nan}),
        ("gaussian_blur", {"sigma": np.nan}),
        ("water", {"ampl_x": np.nan}),
    ],
)
def test_refused(name, arguments):
    with pytest.raises(RuntimeError, match=f"{name}: argument .* expected a number, got NaN"):
        getattr(ndd, name)(IMAGE, **arguments)


def test_refused_for_one_sample():
    factors = ndd.batch([np.float32(1), np.float32(np.nan)])
    with pytest.raises(RuntimeError, match='sample 1: argument "brightness": expected a number, got NaN'):
        ndd.brightness(ndd.batch([np.zeros((2, 2, 3), np.uint8)] * 2, layout="HWC"), brightness=factors).evaluate()


def test_data_may_be_nan():
    x = np.zeros((2, 2, 1), np.float32)
    out = np.asarray(ndd.erase(x, anchor=[0, 0], shape=[1, 1], axes=[0, 1], fill_value=np.nan))
    assert np.isnan(out[0, 0, 0])
    assert not np.isnan(out[1]).any()
