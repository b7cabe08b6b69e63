import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


def table_of(tile, clip_limit):
    counts = np.bincount(tile.ravel(), minlength=256)
    if clip_limit > 0:
        most = max(int(clip_limit * tile.size / 256), 1)
        surplus = int(np.maximum(counts - most, 0).sum())
        counts = np.minimum(counts, most) + surplus // 256
        rest = surplus % 256
        if rest:
            counts[:: 256 // rest][:rest] += 1
    return np.rint(np.cumsum(counts).astype(np.float32) * (np.float32(255) / np.float32(tile.size)))


def weights(size, tile, count):
    place = np.arange(size, dtype=np.float32) * (np.float32(1) / np.float32(tile)) - np.float32(0.5)
    low = np.floor(place).astype(int)
    return np.maximum(low, 0), np.minimum(low + 1, count - 1), place - low


def spread(x, tiles_x, tiles_y, clip_limit):
    """One channel, by way of all the tables at all the pixels."""
    height, width = x.shape
    padded = x
    if height % tiles_y or width % tiles_x:
        padded = np.pad(x, ((0, tiles_y - height % tiles_y), (0, tiles_x - width % tiles_x)), mode="reflect")
    tile_h, tile_w = padded.shape[0] // tiles_y, padded.shape[1] // tiles_x
    tiles = padded.reshape(tiles_y, tile_h, tiles_x, tile_w).swapaxes(1, 2)
    tables = np.array([[table_of(tile, clip_limit) for tile in row] for row in tiles])
    top, bottom, down = weights(height, tile_h, tiles_y)
    left, right, along = weights(width, tile_w, tiles_x)
    mixed = [
        tables[rows[:, None], left[None], x] * (1 - along) + tables[rows[:, None], right[None], x] * along
        for rows in (top, bottom)
    ]
    return np.rint(mixed[0] * (1 - down)[:, None] + mixed[1] * down[:, None]).astype(np.uint8)


@op_case(
    "clahe",
    layout="HWC",
    shapes=[(24, 32, 1), (25, 31, 3), (16, 37, 3)],
    dtypes=["uint8"],
    atol=1,
    tiles_x=[4, 3],
    tiles_y=[2, 5],
    clip_limit=[2.0, 40.0, 0.0],
    luma_only=[False],
)
def channels_case(x, tiles_x, tiles_y, clip_limit, luma_only):
    return np.stack([spread(x[..., c], tiles_x, tiles_y, clip_limit) for c in range(x.shape[-1])], -1)


def test_lightness_of_grays_alone_changes():
    """Of shades of gray, Lab has the lightness only: they stay gray, and more of them are told apart."""
    gray = (np.indices((64, 64)).sum(0) // 4 + 100).astype(np.uint8)
    made = np.asarray(ndd.clahe(np.repeat(gray[..., None], 3, -1), tiles_x=2, tiles_y=2, clip_limit=4.0)).astype(int)
    assert np.ptp(made, axis=-1).max() <= 1
    assert np.ptp(made) > np.ptp(gray) * 1.5


def test_hue_stays():
    x = np.random.default_rng(0).integers(60, 90, (40, 40, 3)).astype(np.uint8)
    x[..., 0] += 60
    made = np.asarray(ndd.clahe(x, tiles_x=4, tiles_y=4, clip_limit=2.0)).astype(int)
    assert (made[..., 0] > made[..., 1]).mean() > 0.95


@pytest.mark.parametrize("shape", [(0, 4, 1), (4, 0, 3)])
def test_no_pixels(shape):
    assert np.asarray(ndd.clahe(np.zeros(shape, np.uint8), tiles_x=2, tiles_y=2, clip_limit=2.0)).shape == shape


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 1, 3), (2, 3, 3), (1, 9, 1)])
def test_more_tiles_than_pixels(shape):
    x = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    assert np.asarray(ndd.clahe(x, tiles_x=8, tiles_y=5, clip_limit=2.0)).shape == shape


@pytest.mark.parametrize(
    ("x", "arguments", "message"),
    [
        (np.zeros((4, 4, 3), np.float32), {}, "expected uint8, got float32"),
        (np.zeros((4, 4, 2), np.uint8), {}, "expected 1 or 3 channels, got 2"),
        (np.zeros((4, 4, 3), np.uint8), {"tiles_x": 0}, "tiles, got 0 x 2"),
        (np.zeros((4, 4, 3), np.uint8), {"tiles_y": 2**30}, "expected 1 to 16384 tiles"),
    ],
)
def test_errors(x, arguments, message):
    with pytest.raises(ValueError, match=message):
        ndd.clahe(x, **({"tiles_x": 2, "tiles_y": 2, "clip_limit": 2.0} | arguments)).evaluate()
