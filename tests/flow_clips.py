"""Videos in which a pattern moves by a known number of pixels from frame to frame."""

import functools

import numpy as np

MARGIN = 130


@functools.cache
def _pattern(height, width):
    """Smooth noise of several sizes, so that every place looks different."""
    rng = np.random.default_rng(3)
    made = np.zeros((height, width, 3))
    for size in (4, 8, 16, 32):
        noise = rng.random((height // size + 2, width // size + 2, 3))
        y, x = np.arange(height) / size, np.arange(width) / size
        row, column = y.astype(int), x.astype(int)
        v, u = (y - row)[:, None, None], (x - column)[None, :, None]
        top = noise[row][:, column] * (1 - u) + noise[row][:, column + 1] * u
        bottom = noise[row + 1][:, column] * (1 - u) + noise[row + 1][:, column + 1] * u
        made += (top * (1 - v) + bottom * v) * size**0.5
    made -= made.min()
    return (made / made.max() * 255).astype(np.uint8)


def clip(frames, height, width, dx, dy):
    """A video (FHWC) whose pattern moves by `dx` pixels to the right and `dy` down from each frame to the next."""
    whole = _pattern(height + 2 * MARGIN, width + 2 * MARGIN)
    starts = [(MARGIN - dy * i, MARGIN - dx * i) for i in range(frames)]
    return np.stack([whole[y : y + height, x : x + width] for y, x in starts])
