"""A window of an array that may reach beyond it, the plain way."""

import numpy as np


def source_indices(start, size, extent, policy):
    """For each index of the window along one axis, where it is taken from; -1 for the constant."""
    i = np.arange(start, start + size)
    if policy == "edge":
        return np.clip(i, 0, extent - 1)
    if policy == "reflect":
        i = np.mod(i, 2 * extent)
        return np.where(i < extent, i, 2 * extent - 1 - i)
    if policy == "reflect_101":
        if extent == 1:
            return np.zeros_like(i)
        i = np.mod(i, 2 * extent - 2)
        return np.where(i < extent, i, 2 * extent - 2 - i)
    if policy == "wrap":
        return np.mod(i, extent)
    return np.where((i >= 0) & (i < extent), i, -1)


def window(x, start, size, policy="error", fill=0, channel_axis=None):
    """The window of `x` from `start` with extents `size`; `fill` may hold one number for each channel."""
    if policy == "trim_to_shape":
        end = [min(max(s + n, 0), e) for s, n, e in zip(start, size, x.shape, strict=True)]
        start = [min(max(s, 0), e) for s, e in zip(start, x.shape, strict=True)]
        return x[tuple(slice(s, max(s, e)) for s, e in zip(start, end, strict=True))]
    where = [source_indices(s, n, e, policy) for s, n, e in zip(start, size, x.shape, strict=True)]
    filled = np.zeros([1] * x.ndim, bool)
    for axis, indices in enumerate(where):
        filled = filled | (indices < 0).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
    fill = np.asarray(fill)
    if fill.ndim:
        fill = fill.reshape([-1 if d == channel_axis else 1 for d in range(x.ndim)])
    wrapped = np.trunc(fill).astype(np.int64)
    fill = fill.astype(x.dtype) if x.dtype.kind == "f" else wrapped.astype(x.dtype)
    if x.size == 0:
        return np.broadcast_to(fill, size).copy()
    return np.where(filled, fill, x[np.ix_(*where)])
