"""Geometry by lookup, in NumPy: `places` has the x, y (and z) that each output pixel is taken from."""

import numpy as np


def centres(size):
    """x, y (and z) of the centres of an output's pixels."""
    return [axis.astype(np.float32) + np.float32(0.5) for axis in np.indices(size)[::-1]]


def affine(matrix, size):
    x = centres(size)
    rows = np.float32(matrix).reshape(len(size), -1)
    return [sum(row[k] * x[k] for k in range(len(x))) + row[-1] for row in rows]


def look_up(image, places, linear=True, fill=None, border=None):
    """Fills with a number, or asks border(index, extent); by default the border is continued."""
    extents = image.shape[: len(places)][::-1]
    if fill is not None:
        fill = rounded(np.float32(fill), image.dtype)

    def elements(index):
        inside = np.all([(i >= 0) & (i < n) for i, n in zip(index, extents, strict=True)], axis=0)
        continued = border or (lambda i, n: np.clip(i, 0, n - 1))
        found = image[tuple(continued(i, n) for i, n in zip(index, extents, strict=True))[::-1]]
        return found if fill is None else np.where(inside[..., None], found, fill)

    if not linear:
        return elements([np.floor(p).astype(int) for p in places])
    first = [np.floor(p - np.float32(0.5)).astype(int) for p in places]
    part = [(p - np.float32(0.5) - i).astype(np.float32)[..., None] for p, i in zip(places, first, strict=True)]

    def mixed(axis, index):
        if axis < 0:
            return elements(index).astype(np.float32)
        after = [i + 1 if k == axis else i for k, i in enumerate(index)]
        return mixed(axis - 1, index) * (1 - part[axis]) + mixed(axis - 1, after) * part[axis]

    return rounded(mixed(len(places) - 1, first), image.dtype)


def rounded(values, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return values.astype(dtype)
    if dtype.kind == "b":
        return np.abs(values) >= 0.5
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return np.clip(np.trunc(values + np.copysign(0.5, values)), low, high).astype(dtype)
