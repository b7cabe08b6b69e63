"""Folders of images: finding the files in one, and making one where none is given."""

from __future__ import annotations

import importlib.util
import pathlib

import numpy as np

from avida import _core
from avida._values.picture import png
from avida.progress import Progress

SUFFIXES = frozenset(_core.image_endings())


class NoImagesError(Exception):
    """There is nothing to work on."""


def find_images(folder: str | pathlib.Path) -> list[pathlib.Path]:
    """The image files under a folder, by their names' endings, in a fixed order."""
    root = pathlib.Path(folder)
    if not root.is_dir():
        raise NoImagesError(f"{root} is not a folder")
    files = sorted(path for path in root.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if not files:
        raise NoImagesError(f"{root} has no images: files that end in {', '.join(sorted(SUFFIXES))}")
    return files


def make_images(folder: str | pathlib.Path, count: int) -> str:
    """Fills a folder with made-up landscapes, JPEG where Pillow can write it and else PNG. Returns the format."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    jpeg = importlib.util.find_spec("PIL") is not None
    random = np.random.default_rng(2)
    with Progress("making images", total=count) as bar:
        for i in range(count):
            height, width = (375, 500) if i % 4 else (500, 375)
            image = landscape(random, height + int(random.integers(-40, 40)), width + int(random.integers(-40, 40)))
            if jpeg:
                from PIL import Image

                Image.fromarray(image).save(folder / f"{i:03}.jpg", quality=90)
            else:
                (folder / f"{i:03}.png").write_bytes(png(image))
            bar.advance()
    return "JPEG" if jpeg else "PNG"


def landscape(random: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Hills under a sky, with grain: HWC uint8."""
    y, x = np.mgrid[0 : 1 : 1j * height, 0 : width / height : 1j * width].astype(np.float32)
    warm, cold, ground = (random.uniform(low, 1, 3).astype(np.float32) for low in (0.5, 0.2, 0.1))
    image = warm + (cold - warm) * (1 - y[..., None])
    sun = np.hypot(x - random.uniform(0.1, 0.9) * width / height, y - random.uniform(0.1, 0.5))
    image += np.clip(0.06 / (sun + 0.05) - 0.1, 0, 1)[..., None]
    ridges = int(random.integers(3, 6))
    for i in range(ridges):
        near = (i + 1) / ridges
        line = 0.3 + 0.5 * near
        for wave in 2.0 ** np.arange(5):
            line = line + random.uniform(0.02, 0.12) / wave * np.sin(
                x[0] * random.uniform(2, 5) * wave + random.uniform(0, 6)
            )
        haze = (1 - near) * 0.7
        color = ground * (0.25 + 0.5 * random.random()) * (1 - haze) + warm * haze
        image = np.where((y > line)[..., None], color * (1.2 - 0.5 * y[..., None]), image)
    image += random.normal(0, 0.02, image.shape).astype(np.float32)
    return (np.clip(image, 0, 1) * 255).astype(np.uint8)
