"""Writes docs/gallery.md and its pictures: every image operator on the same photo, with the line of code that did it.

Which operators there are is taken from the registry; the code is the operator's example, or its line in
docs/gallery/lines.toml. A picture that still shows what its line makes is left as it is.
"""

from __future__ import annotations

import argparse
import ast
import io
import pathlib
import re
import tempfile
import tomllib
from typing import Any, NamedTuple

import numpy as np
from gallery_photo import BALLOON, SUN, landscape
from PIL import Image

import avida
from avida import _core
from avida._values.picture import contact_sheet

ROOT = pathlib.Path(__file__).parent.parent
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
LINES = PICTURES / "lines.toml"
WIDTH = 200  # of a picture on the page
SEED = 12
DECLARATION = re.compile(r"^AVIDA_OP(?:_IN)?\((?:\w+, )?(\w+), \w+\)", re.MULTILINE)
HEAD = """# Gallery

What the image operators do to a picture: before, the line of code, after. `make generate` writes this page by running
these lines; `image` is a picture of 160 x 240 pixels (HWC), `batch` has four of them. `signal` is two seconds of
whistling at 8 kHz; spectrograms have low frequencies at the bottom ([sound](sound.md)).
[Augmentation](augmentation.md) tells more about the last section.
"""


class Row(NamedTuple):
    """One operator in the gallery."""

    name: str
    section: str
    code: str
    before: str = "image"

    @property
    def file(self) -> str:
        return f"{self.name}.jpg"


def takes_images(operator: dict[str, Any]) -> bool:
    """Whether an operator declares that its first input may be an image."""
    inputs = operator["inputs"]
    return bool(inputs) and "HWC" in inputs[0]["layouts"]


def image_operators() -> dict[str, dict[str, Any]]:
    """All that the gallery must show, by name. What `experimental` has under the same name as `avida` is the same."""
    operators = [_core.describe_op(i) for i in range(_core.op_count())]
    names = {operator["name"] for operator in operators}
    return {
        operator["name"]: operator
        for operator in operators
        if not operator["hidden"]
        and takes_images(operator)
        and operator["name"].removeprefix("experimental.") not in names - {operator["name"]}
    }


def rows() -> list[Row]:
    """The rows of the page: first in the order of the folders of operators, then what is written in Python."""
    lines = tomllib.loads(LINES.read_text())
    folders: dict[str, str] = {}
    for file in sorted((ROOT / "native" / "ops").glob("*/*.cpp")):
        folders.update(dict.fromkeys(DECLARATION.findall(file.read_text()), file.parent.name))
    shown = []
    for i in range(_core.op_count()):
        operator = _core.describe_op(i)
        name = operator["name"]
        if name in lines or name in image_operators():
            line = lines.pop(name, operator["example"])
            shown.append(_row(name, folders.get(name.rpartition(".")[2], "other"), line))
    shown.sort(key=lambda row: (row.section, row.name))
    return shown + [_row(name, "augmentation", line) for name, line in lines.items()]


def _row(name: str, section: str, line: Any) -> Row:
    table = line if isinstance(line, dict) else {"code": line}
    return Row(name, section, table["code"].strip(), table.get("before", "image"))


def scope() -> dict[str, Any]:
    """What the lines find defined."""
    image = avida.as_tensor(landscape(), layout="HWC")
    turned = [avida.flip(avida.hue(image, hue=90 * k), horizontal=k % 2) for k in range(4)]
    pixels = np.asarray(image)
    raw = pixels[..., 1].copy()
    raw[0::2, 0::2], raw[1::2, 1::2] = pixels[0::2, 0::2, 2], pixels[1::2, 1::2, 0]
    return {
        "avida": avida,
        "np": np,
        "image": image,
        "batch": avida.as_batch(turned, layout="HWC"),
        "raw": avida.as_tensor(raw, layout="HW"),
        "boxes": avida.as_batch([np.array([[10, 20, 50, 60]], np.float32)] * 4),
        "labels": avida.as_batch([[k] for k in range(4)]),
        "signal": avida.as_tensor(whistling(), layout="t"),
    }


def whistling(rate: int = 8000, seconds: float = 2.0) -> np.ndarray:
    """A melody that glides from note to note, with an overtone and some noise."""
    t = np.arange(int(rate * seconds)) / rate
    frequency = 900 + 500 * np.sin(2 * np.pi * 0.8 * t) + 60 * np.sin(2 * np.pi * 6 * t)
    phase = 2 * np.pi * np.cumsum(frequency) / rate
    breath = np.clip(1.5 * np.sin(np.pi * 2.5 * t) ** 2, 0, 1)
    noise = np.random.default_rng(SEED).normal(0, 0.002, len(t))
    return (breath * (0.6 * np.sin(phase) + 0.1 * np.sin(2 * phase)) + noise).astype(np.float32)


def waveform(signal: np.ndarray, height: int = 160, width: int = 240) -> np.ndarray:
    """A signal as a curve, white on black."""
    columns = np.array_split(signal, width)
    middle, scale = height / 2, 0.95 * height / 2 / max(float(np.abs(signal).max()), 1e-6)
    rows = np.arange(height)[:, None]
    top, bottom = (np.array([middle - scale * f(part) for part in columns]) for f in (np.max, np.min))
    return np.where((rows >= top - 0.5) & (rows <= bottom + 0.5), 255, 0).astype(np.uint8)[..., None]


def run(row: Row) -> tuple[np.ndarray, np.ndarray]:
    """The pictures before and after."""
    names = scope()
    before = picture(names[row.before])
    avida.random.set_seed(SEED)
    tree = ast.parse(row.code)
    last = tree.body.pop()
    exec(compile(tree, row.name, "exec"), names)
    assert isinstance(last, ast.Assign | ast.Expr), row.code
    value = eval(compile(ast.Expression(last.value), row.name, "eval"), names)
    return before, picture(value[0] if isinstance(value, tuple) else value)


def picture(value: Any) -> np.ndarray:
    """A Tensor as HWC bytes; a Batch with all of its samples side by side, two in a row."""
    if isinstance(value, avida.Batch):
        tiles = [picture(sample) for sample in value]
        if len(tiles) == 1:
            return tiles[0]
        return np.concatenate([np.concatenate(tiles[k : k + 2], axis=1) for k in range(0, len(tiles), 2)])
    array = np.asarray(value)
    if value.layout == "CHW":
        array = array.transpose(1, 2, 0)
    if value.layout == "ft":
        array = array[::-1]
    if value.layout == "t":
        array = waveform(array)
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or array.shape[-1] not in (1, 3):
        raise ValueError(f"expected a picture, got the shape {array.shape}")
    if array.dtype != np.uint8:  # all of its range becomes visible
        low, high = float(array.min()), float(array.max())
        array = ((array.astype(np.float32) - low) * (255 / max(high - low, 1e-6))).round().astype(np.uint8)
    return np.repeat(array, 3, axis=2) if array.shape[-1] == 1 else array


def clip_of_photo() -> avida.Tensor:
    """Six frames, evenly spaced, of a video that pans over the photo and was read from a file."""
    photo, count, (height, width) = landscape(), 24, (96, 128)
    down, right = (extent - size for extent, size in zip(photo.shape, (height, width), strict=False))
    windows = [(k * down // count, k * right // count) for k in range(count)]
    frames = np.stack([photo[y : y + height, x : x + width] for y, x in windows])
    codes = avida.color_space_conversion(avida.as_tensor(frames, layout="FHWC"), image_type="rgb", output_type="ycbcr")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.y4m")
        planes = np.asarray(codes).transpose(0, 3, 1, 2)
        head = f"YUV4MPEG2 W{width} H{height} F25:1 C444\n".encode()
        path.write_bytes(head + b"".join(b"FRAME\n" + frame.tobytes() for frame in planes))
        reader = avida.experimental.readers.Video(filenames=path, sequence_length=6, uniform_sample=True)
        return reader[0][0].evaluate()


def video_sheet() -> np.ndarray:
    """A clip, and below it the same with another hue for each frame: the picture of docs/video.md."""
    clip = clip_of_photo()
    turned = avida.hue(clip, hue=avida.per_frame(np.arange(6, dtype=np.float32) * 60))
    return np.concatenate([np.concatenate(list(np.asarray(each)), axis=1) for each in (clip, turned)])


def scene_sheet() -> np.ndarray:
    """A Scene and what functions make of it, as a notebook shows them: the picture of docs/scenes.md."""
    photo = landscape(320, 480)
    height, width = photo.shape[:2]
    y, x = np.mgrid[:height, :width] + 0.5
    discs = [((place[0] * width, place[1] * height), share * height) for place, share in ((BALLOON, 0.17), (SUN, 0.07))]
    masks = np.stack([np.hypot(x - middle[0], y - middle[1]) < radius for middle, radius in discs]).astype(np.uint8)
    boxes = np.asarray([[*np.subtract(middle, radius), *np.add(middle, radius)] for middle, radius in discs])
    (left, top), radius = discs[0]
    basket = np.asarray([[left, top + 0.265 * height, 0.052 * height, 0.05 * height, 0]])
    ropes = np.asarray([[left + side * 0.05 * height, top + radius * 0.9, 2] for side in (-1, 1)])
    scene = avida.Scene(
        avida.as_batch([photo] * 6, layout="HWC"),
        boxes=[np.concatenate([boxes, [[left - 9, basket[0, 1] - 9, left + 9, basket[0, 1] + 9]]])] * 6,
        masks=[np.concatenate([masks, np.zeros_like(masks[:1])])] * 6,
        keypoints=[np.stack([ropes, 0 * ropes, 0 * ropes])] * 6,
        labels=[[0, 1, 2]] * 6,
        names=["balloon", "sun", "basket"],
    )
    avida.random.set_seed(SEED)
    between, chance = avida.augment.between, avida.augment.chance
    changed = avida.rotate(scene, angle=between(-20, 20), fill_value=114)
    changed = avida.random_resized_crop(changed, size=[240, 320], random_area=[0.3, 0.9])
    changed = avida.augment.color_jitter(changed, brightness=0.3, saturation=0.5, hue=0.05)
    changed = avida.flip(changed, horizontal=chance(0.5)).clean(min_visible=0.2)
    tiles = [avida.resize(scene, size=[240, 320]).draw().tensors[0], *list(changed.draw())[1:]]
    return contact_sheet([[np.asarray(tile)] for tile in tiles], 3)


def page() -> str:
    """The text of docs/gallery.md. It does not depend on pixels."""
    text, section = HEAD, ""
    for row in rows():
        if row.section != section:
            section = row.section
            text += f"\n## {section.capitalize()}\n| | before | code | after |\n|---|---|---|---|\n"
        code = "<br>".join(f"`{line}`" for line in row.code.replace("|", r"\|").splitlines())
        shown = ((f"{row.before}.jpg", "before"), (row.file, f"after {row.name}"))
        before, after = (f'<img src="gallery/{file}" width="{WIDTH}" alt="{text}">' for file, text in shown)
        text += f"| {row.name} | {before} | {code} | {after} |\n"
    return text


def pictures() -> dict[pathlib.Path, bytes]:
    """What all pictures of the page, and those of docs/video.md and docs/scenes.md, should be, by file."""
    shown = {}
    for row in rows():
        for file, pixels in zip((f"{row.before}.jpg", row.file), run(row), strict=True):
            image = Image.fromarray(pixels)
            image.thumbnail((240, 240))
            encoded = io.BytesIO()
            image.save(encoded, "jpeg", quality=85)
            shown[PICTURES / file] = encoded.getvalue()
    for name, sheet in (("video", video_sheet()), ("scenes", scene_sheet())):
        encoded = io.BytesIO()
        Image.fromarray(sheet).save(encoded, "jpeg", quality=80)
        shown[PICTURES / f"{name}.jpg"] = encoded.getvalue()
    return shown


def is_current(file: pathlib.Path, encoded: bytes) -> bool:
    """Whether a file shows that picture: its bytes may be those of another version of the encoder."""
    if not file.exists():
        return False
    stored, made = (np.asarray(Image.open(source)).astype(np.int16) for source in (file, io.BytesIO(encoded)))
    return stored.shape == made.shape and bool(np.abs(stored - made).mean() < 1)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    shown = pictures()
    for old in set(PICTURES.glob("*.jpg")) - set(shown):
        old.unlink()
    for file, encoded in shown.items():
        if not is_current(file, encoded):
            file.write_bytes(encoded)
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
