"""Folders of annotated images, from which a tiny network learns something in a second."""

import wave

import numpy as np

from avida._values.picture import png

SETTINGS = "path: .\ntrain: images/train\nval: images/val\nnames:\n  0: disc\n  1: bar\n"


def write_folders(folder, count=24):
    """shapes/, segments/, rotated/ and poses/, with red discs and green bars, in the forms of YOLO."""
    rng = np.random.default_rng(5)
    for i in range(count):
        height, width = rng.integers(56, 80, 2)
        picture = rng.integers(0, 60, (height, width, 3)).astype(np.uint8)
        rows = {"shapes": [], "segments": [], "rotated": [], "poses": []}
        for label in rng.permutation(2)[: 1 + i % 2]:
            middle = rng.uniform(0.3, 0.7, 2) * (width, height)
            angle = rng.uniform(0, np.pi)
            outline = disc(middle, rng.uniform(8, 14)) if label == 0 else bar(middle, rng.uniform(14, 20), 5, angle)
            picture[inside(outline, height, width)] = (230, 40, 30) if label == 0 else (40, 220, 60)
            low, high = outline.min(axis=0), outline.max(axis=0)
            box = [*(low + high) / 2 / (width, height), *(high - low) / (width, height)]
            rows["shapes"].append([label, *box])
            rows["segments"].append([label, *(outline / (width, height)).ravel()])
            if label == 1:
                rows["rotated"].append([0, *(outline / (width, height)).ravel()])
                ends = np.c_[(outline[[0, 1]] + outline[[3, 2]]) / 2 / (width, height), [2, 2]]
                rows["poses"].append([0, *box, *ends[np.argsort(ends[:, 0])].ravel()])
        part = "val" if i % 6 == 0 else "train"
        for name, objects in rows.items():
            for kind, ending, content in (
                ("images", "png", png(picture)),
                ("labels", "txt", "\n".join(" ".join(f"{each:.6g}" for each in row) for row in objects).encode()),
            ):
                file = folder / name / kind / part / f"{i}.{ending}"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
    for name in rows:
        more = "kpt_shape: [2, 3]\nflip_idx: [1, 0]\n" if name == "poses" else ""
        (folder / name / "data.yaml").write_text(SETTINGS + more)


def disc(middle, radius):
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    return middle + radius * np.c_[np.cos(angles), np.sin(angles)]


def bar(middle, length, thickness, angle):
    right = np.array([np.cos(angle), np.sin(angle)]) * length
    down = np.array([-np.sin(angle), np.cos(angle)]) * thickness
    return np.array([middle - right - down, middle + right - down, middle + right + down, middle - right + down])


def inside(outline, height, width):
    """Pixels within a convex outline."""
    y, x = np.mgrid[:height, :width] + 0.5
    return np.all(
        [
            (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) >= 0
            for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True)
        ],
        axis=0,
    )


def write_patterns(folder):
    """patterns/all/: eight images that differ in all that crops, colours and blur leave."""
    rng = np.random.default_rng(5)
    y, x = np.mgrid[:48, :48]
    ring = np.hypot(x - 24, y - 24)
    kinds = [
        np.sin(x),
        np.sin(y),
        np.sin(x) * np.sin(y),
        np.sin(ring),
        x > 1e3,
        rng.normal(0, 1, (48, 48)),
        x > y,
        ring < 9,
    ]
    for i, kind in enumerate(kinds):
        colors = np.eye(3)[[i % 3, (i + 1) % 3]] * 220 + 20
        picture = colors[(np.asarray(kind) > 0.2).astype(int)]
        file = folder / "patterns" / "all" / f"{i}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(png(picture.astype(np.uint8)))


def write_sounds(folder, count=8):
    """sounds/low/ and sounds/high/: a second of tones."""
    rng = np.random.default_rng(5)
    for i in range(count):
        file = folder / "sounds" / ("high", "low")[i % 2] / f"{i}.wav"
        file.parent.mkdir(parents=True, exist_ok=True)
        tone = np.sin(2 * np.pi * (2000, 300)[i % 2] * np.arange(16000) / 16000) + rng.normal(0, 0.1, 16000)
        with wave.open(str(file), "wb") as sound:
            sound.setparams((1, 2, 16000, 16000, "NONE", ""))
            sound.writeframes((tone * 3000).astype(np.int16).tobytes())
