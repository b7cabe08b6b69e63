"""Resampling in NumPy: a matrix of weights for each axis, in double precision."""

import numpy as np

NEAREST, LINEAR, CUBIC, LANCZOS3, TRIANGULAR, GAUSSIAN = range(6)
RADIUS = {LINEAR: 1, CUBIC: 2, LANCZOS3: 3, TRIANGULAR: 1, GAUSSIAN: 1}
STEPS = 32  # the filters are tables of so many values per unit


def exact_filter(kind, x):
    x = np.abs(x)
    if kind == CUBIC:
        inner, outer = 1 - 2.5 * x**2 + 1.5 * x**3, 2 - 4 * x + 2.5 * x**2 - 0.5 * x**3
        return np.where(x < 1, inner, outer)
    if kind == LANCZOS3:
        return np.sinc(x) * np.sinc(x / 3)
    if kind == GAUSSIAN:
        return np.exp(-4 * x**2)
    return 1 - x


def table_filter(kind, x):
    places = np.arange(RADIUS[kind] * STEPS + 1) / STEPS
    values = [*exact_filter(kind, places), 0.0]
    return np.interp(np.abs(x), [*places, places[-1] + 1 / STEPS], values)


def weights(extent, size, start=0.0, end=None, kind=LINEAR, antialias=True, last_axis=True, inside_only=False):
    """How each of `size` outputs is made of `extent` inputs, seen between start and end."""
    start, end = np.float32(start), np.float32(extent if end is None else end)
    matrix = np.zeros((size, extent))
    step = (float(end) - float(start)) / size
    if kind == NEAREST:
        places = start + (np.arange(size, dtype=np.float32) + np.float32(0.5)) * np.float32(step)
        if not last_axis and size:  # summed up in floats
            steps = np.full(size, step, np.float32)
            steps[0] = start + np.float32(0.5) * np.float32(step)
            places = np.add.accumulate(steps)
        places = np.floor(places).astype(int)
        matrix[np.arange(size), places.clip(0, extent - 1)] = 1
        return matrix
    scale = max(abs(step), 1) if antialias else 1
    radius = RADIUS[kind] * scale
    for i in range(size):
        center = start + (i + 0.5) * step - 0.5
        first = int(np.ceil(np.float32(center - radius) + np.float32(1e-7)))
        taps = first + np.arange(int(np.ceil(np.float32(2 * radius))))
        shares = table_filter(kind, (taps - center) / scale)
        if inside_only:
            begin, after = np.floor(min(start, end)), np.ceil(max(start, end))
            shares[(taps < begin) | (taps >= max(after, begin + 1))] = 0
        np.add.at(matrix[i], taps.clip(0, extent - 1), shares)
        matrix[i] /= matrix[i].sum()
    return matrix


def resample(x, matrices, dtype=None):
    """`matrices` has one for each axis to resample. The result is rounded half away from zero."""
    out = x.astype(np.float64)
    for axis, matrix in matrices.items():
        out = np.moveaxis(np.tensordot(matrix, out, (1, axis)), 0, axis)
    dtype = np.dtype(dtype or x.dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        out = (np.sign(out) * np.floor(np.abs(out) + 0.5)).clip(info.min, info.max)
    return out.astype(dtype)


def resize(x, size, kind=LINEAR, antialias=True, axes=(0, 1), dtype=None):
    matrices = {
        a: weights(x.shape[a], s, kind=kind, antialias=antialias, last_axis=a == max(axes))
        for a, s in zip(axes, size, strict=True)
    }
    return resample(x, matrices, dtype)
