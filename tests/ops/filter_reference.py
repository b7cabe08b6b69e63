"""What the operators on neighbourhoods compute, straight from their definitions, in float64."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

PAD_MODES = {"reflect_101": "reflect", "reflect_1001": "symmetric", "wrap": "wrap", "clamp": "edge"}


def pad(x, before, after, border="reflect_101", fill=0):
    """Padding of any width; np.pad refuses to reflect an axis of one element."""
    for axis, (b, a) in enumerate(zip(before, after, strict=True)):
        width = [(0, 0)] * x.ndim
        width[axis] = (b, a)
        if border == "constant":
            x = np.pad(x, width, constant_values=fill)
        else:
            x = np.pad(x, width, "edge" if x.shape[axis] == 1 else PAD_MODES[border])
    return x


def windows(x, size, axes, anchor=None, border="reflect_101", fill=0):
    """The window around each element, as additional last axes."""
    before, after = [0] * x.ndim, [0] * x.ndim
    for i, axis in enumerate(axes):
        before[axis] = size[i] // 2 if anchor is None else anchor[i]
        after[axis] = size[i] - 1 - before[axis]
    return sliding_window_view(pad(x, before, after, border, fill), size, axes)


def rounded(x, dtype):
    """Half away from zero, saturated."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return x.astype(dtype)
    info = np.iinfo(dtype)
    return np.clip(np.sign(x) * np.floor(np.abs(x) + 0.5), info.min, info.max).astype(dtype)


def convolve(x, weights, axis):
    return windows(x, [len(weights)], [axis]) @ weights


def gaussian(sigma, size):
    radius = size // 2 if size else int(np.ceil(np.float32(3) * np.float32(sigma)))
    sigma = sigma or (radius - 1) * 0.3 + 0.8
    bell = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return bell / bell.sum()


def gaussian_blur(x, sigma=0, window_size=0, axes=(0, 1), dtype=None):
    out = x.astype(np.float64)
    for i, axis in enumerate(axes):
        s, w = (np.broadcast_to(v, len(axes))[i] for v in (sigma, window_size))
        out = convolve(out, gaussian(float(s), int(w)), axis)
    return rounded(out, dtype or x.dtype)


def binomial(size):
    row = np.array([1.0])
    for _ in range(size - 1):
        row = np.convolve(row, [1, 1])
    return row


def laplacian(x, window_size=3, smoothing_size=None, scale=1, normalized=False, axes=(0, 1), dtype=None):
    n = len(axes)
    size, factor = np.broadcast_to(window_size, n), np.broadcast_to(scale, n)
    total = 0
    for i in range(n):
        smooth = np.broadcast_to(size[i] if smoothing_size is None else smoothing_size, n)
        part = x.astype(np.float64)
        for k, axis in enumerate(axes):
            weights = np.convolve([1, -2, 1], binomial(size[k] - 2)) if k == i else binomial(smooth[k])
            part = convolve(part, weights, axis)
        used = size[i] + sum(smooth[k] for k in range(n) if k != i)
        total = total + part * (2.0 ** (n + 2 - used) if normalized else factor[i])
    return rounded(total, dtype or x.dtype)


def correlate(x, weights, anchor=-1, border="reflect_101", fill=0, mode="same", axes=(0, 1), dtype=None):
    size = weights.shape
    given = np.broadcast_to(anchor, len(size))
    anchor = [s // 2 if a == -1 else int(a) for a, s in zip(given, size, strict=True)]
    if mode == "valid":
        found = sliding_window_view(x.astype(np.float64), size, axes)
    else:
        found = windows(x.astype(np.float64), size, axes, anchor, border, fill)
    return rounded(np.tensordot(found, weights.astype(np.float64), len(size)), dtype or x.dtype)
