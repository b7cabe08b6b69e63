"""Small images in files, some of them broken."""

import io
import pathlib

import numpy as np
from PIL import Image

SAMPLES = 25


def make_files(folder: pathlib.Path) -> dict[str, list[str]]:
    """Lists of files: good ones, few of them, one that is no image, one that is missing."""
    rng = np.random.default_rng(1)
    good = []
    for number in range(SAMPLES):
        height, width = rng.integers(8, 15, 2)
        image = Image.fromarray(rng.integers(0, 256, (height, width, 3), np.uint8))
        kind = ["jpeg", "ppm", "png"][number % 3]
        out = io.BytesIO()
        image.save(out, kind)
        good.append(folder / f"{number:02}.{kind}")
        good[-1].write_bytes(out.getvalue())
    broken, missing = folder / "broken.jpeg", folder / "missing.jpeg"
    broken.write_bytes(b"this is no image")
    lists = {
        "good": good,
        "short": good[:5],
        "broken": [*good[:8], broken, *good[9:]],
        "missing": [*good[:9], missing, *good[10:]],
    }
    return {kind: [str(path) for path in paths] for kind, paths in lists.items()}
