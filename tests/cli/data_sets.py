"""Small data sets for the commands that write data sets again."""

import numpy as np
from PIL import Image

# Rows that kill a process when they are read for the first time: the command's own (its parent), or the worker.
DEADLY_SOURCE = """
import os, pathlib, signal
import avida

MARKS = pathlib.Path(__file__).parent / "marks"

class Rows:
    def __len__(self):
        return 120

    def __getitem__(self, i):
        victims = {5: os.getppid, 33: os.getppid, 50: os.getpid, 119: os.getppid}
        if i in victims and MARKS.is_dir() and not (MARKS / str(i)).exists():
            (MARKS / str(i)).touch()
            os.kill(victims[i](), signal.SIGKILL)
            signal.pause()
        return {"text": f"row {i}", "label": i, "half": i / 2, "boxes": [[i, 1, 2, 3]] * (i % 3 + 1)}

def make_reader():
    return avida.ExternalSource(Rows(), name=lambda row: row["text"])
"""


def write_images(folder, count=30, classes=("ant", "bee", "cat")):
    """JPEG and PNG files in folders by class."""
    random = np.random.default_rng(0)
    for i in range(count):
        path = folder / classes[i % len(classes)] / f"{i:03}.{'jpg' if i % 5 else 'png'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(random.integers(0, 255, (20 + i, 30, 3), np.uint8)).save(path)
    return folder


def contents(folder):
    """The files in a folder, and what is in them."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
