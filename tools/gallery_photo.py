"""The picture that the gallery shows operators on: a landscape, made by code, so that it belongs to nobody."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

SUN = (0.24, 0.36)  # as shares of width and height
BALLOON = (0.68, 0.30)
HORIZON = 0.62


def _fractal(rng: np.random.Generator, points: int, roughness: float) -> np.ndarray:
    """A jagged line from 0 to 1: waves of doubling frequency and falling height."""
    x = np.linspace(0, 1, points)
    line = np.zeros(points)
    for octave in range(1, 8):
        line += rng.uniform(0.6, 1) * roughness**octave * np.sin(2 * np.pi * (2**octave * x + rng.random()))
    return (line - line.min()) / (line.max() - line.min())


def _blend(picture: np.ndarray, where: np.ndarray, colour: ArrayLike) -> np.ndarray:
    return picture + (np.asarray(colour, float) - picture) * np.clip(where, 0, 1)[..., None]


def landscape(height: int = 160, width: int = 240, seed: int = 7) -> np.ndarray:
    """HWC bytes: sky, sun, mountains, a balloon, and a lake that mirrors them, with flowers in front."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width] + 0.5
    v = y / height
    aspect = width / height
    picture = _blend(np.full((height, width, 3), (52, 106, 190.0)), v / HORIZON, [250, 205, 150])

    def distance(centre: tuple[float, float]) -> np.ndarray:
        return np.hypot((x / width - centre[0]) * aspect, v - centre[1])

    from_sun = distance(SUN)
    picture = _blend(picture, 0.75 * np.exp(-from_sun * 5), [255, 230, 160])
    picture = _blend(picture, (0.07 - from_sun) * height, [255, 246, 214])
    for i, (top, rise, colour) in enumerate(
        [(0.34, 0.22, (124, 134, 176)), (0.42, 0.2, (84, 96, 134)), (0.5, 0.12, (46, 80, 74))]
    ):
        ridge = top + rise * (1 - _fractal(rng, width, 0.58 - 0.06 * i))
        below = (v - ridge[None]) * height
        shade = np.array(colour) * (1 + 0.25 * rng.normal(size=(height, width, 1)) * (0.3 + 0.2 * i))
        picture = _blend(picture, below, shade)
        if i == 0:
            picture = _blend(picture, np.where(ridge < top + 0.35 * rise, below * (7 - below) / 12, 0), [246, 248, 252])

    from_balloon = distance(BALLOON)
    inside = (0.17 - from_balloon) * height
    stripe = ((np.arcsin(np.clip((x / width - BALLOON[0]) * aspect / 0.18, -1, 1)) / np.pi + 0.5) * 7).astype(int)
    stripes = np.array([[214, 40, 40], [250, 250, 240], [247, 127, 0], [252, 191, 73], [0, 119, 182], [90, 60, 160]])
    light = 1.12 - 0.45 * np.clip((x / width - BALLOON[0]) * aspect / 0.17 * 0.5 + 0.5, 0, 1)[..., None]
    picture = _blend(picture, inside, np.clip(stripes[stripe % 6] * light, 0, 255))
    across, down = (x / width - BALLOON[0]) * aspect, v - BALLOON[1]
    ropes = (np.abs(np.abs(across) - (0.05 - (down - 0.15) * 0.3)) < 0.004) & (down > 0.155) & (down < 0.25)
    basket = (np.abs(across) < 0.026) & (down > 0.24) & (down < 0.29)
    picture = _blend(picture, ropes.astype(float), [70, 50, 40])
    picture = _blend(picture, basket.astype(float), [121, 85, 52])

    shore = int(HORIZON * height)
    for row in range(shore, height):  # the lake mirrors what is above it, in waves
        depth = row - shore
        wave = np.round(1.6 * np.sin(row * 0.9 + x[0] / (5 + depth / 6)) * (0.5 + depth / 25)).astype(int)
        mirrored = picture[max(shore - 1 - int(depth * 1.35), 0)]
        picture[row] = 0.72 * mirrored[np.clip(np.arange(width) + wave, 0, width - 1)] + np.array([6, 22, 34])

    grass = height - (0.1 + 0.07 * _fractal(rng, width, 0.75)) * height
    blades = (y - grass[None] + 5 * rng.random((1, width))) / 2
    picture = _blend(picture, blades, np.array([38, 84, 30]) * (0.55 + 0.9 * rng.random((height, width, 1))))
    for _ in range(46):
        column = int(rng.integers(2, width - 2))
        row = rng.uniform(grass[column] - 1, height)
        petals = (1.2 + 2.2 * (row / height - 0.82) * 5 - np.hypot(x - column, y - row)) * 1.2
        colour = [(226, 54, 62), (250, 214, 60), (240, 240, 250), (196, 92, 200)][rng.integers(4)]
        picture = _blend(picture, petals, colour)
    return np.clip(picture + rng.normal(0, 2.0, picture.shape), 0, 255).astype(np.uint8)
