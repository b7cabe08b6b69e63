"""Light, weather and noise of avida.augment have the same bits on both devices, in all types and layouts."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import OPS

A = ndd.augment
CALLS = {
    "downscale": {"scale": 0.4},
    "fog": {},
    "illumination": {},
    "illumination corner": {"kind": "corner"},
    "illumination gaussian": {"kind": "gaussian"},
    "jigsaw": {},
    "multiplicative_noise": {"low": 0.3, "high": 2},
    "pixel_dropout": {"prob": 0.3},
    "plasma_contrast": {"contrast": 1.5},
    "rain": {"drops": 40, "slant": 7},
    "scatter": {},
    "shadow": {"shadows": 3, "corners": 7},
    "spatter": {},
    "sun_flare": {"circles": 9},
    "thin_plate_spline": {},
    "zoom_blur": {"steps": 4},
    "dithering": {"bits": 2},
}
RGB = {"hue_saturation_value": {"hue": 50, "value": 0.1}, "iso_noise": {"intensity": 0.4}, "snow": {"snow_point": 0.4}}


@pytest.mark.parametrize("layout", ["HWC", "CHW", "FHWC"])
@pytest.mark.parametrize("name", [*CALLS, *RGB])
def test_same_bits(name, layout):
    arguments = {**CALLS, **RGB}[name]
    function = getattr(A, name.split()[0])
    shapes = {"HWC": [(37, 53, 3), (16, 9, 3)], "CHW": [(3, 37, 53), (3, 16, 9)], "FHWC": [(2, 19, 23, 3)]}[layout]
    for dtype in ("uint8", "float32", "uint16"):
        high = 1 if dtype == "float32" else np.iinfo(dtype).max
        arrays = [(np.random.default_rng(3).random(shape) * high).astype(dtype) for shape in shapes]
        batch = ndd.as_batch(arrays, layout=layout)
        drawn = OPS[f"augment.{name.split()[0]}"]["random"]
        expected = function(batch, **arguments, **({"rng": ndd.random.RNG(4)} if drawn else {}))
        random = {"rng": ndd.random.RNG(4)} if drawn else {}
        got = function(batch.gpu(), **arguments, **random)
        assert got.device.device_type == "gpu"
        for ours, theirs in zip(got.cpu().tensors, expected.tensors, strict=True):
            a, b = np.asarray(ours), np.asarray(theirs)
            if "thin" in name:  # interpolated
                np.testing.assert_allclose(a.astype(float), b.astype(float), atol=1e-4 * high)
            else:
                np.testing.assert_array_equal(a, b)
