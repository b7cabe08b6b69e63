"""What the tests of colour operators share."""

import numpy as np


def stored(values, dtype):
    """Rounded half away from zero and saturated, as every operator stores its results."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return values.astype(dtype)
    info = np.iinfo(dtype)
    rounded = np.sign(values) * np.floor(np.abs(values) + 0.5)
    return np.clip(rounded, info.min, info.max).astype(dtype)
