"""Writes docs/gallery.md and its pictures: every image operator on the same photo, with the line of code that did it.

Which operators there are is taken from the registry; the code is the operator's example, or its line in
docs/gallery/lines.toml.
"""

from __future__ import annotations

import argparse
import ast
import pathlib
import re
import tomllib
from typing import Any, NamedTuple

import numpy as np
from gallery_photo import landscape

import avida
from avida import _core

ROOT = pathlib.Path(__file__).parent.parent
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
LINES = PICTURES / "lines.toml"
WIDTH = 200  # of a picture on the page
SEED = 12
DECLARATION = re.compile(r"^AVIDA_OP(?:_IN)?\((?:\w+, )?(\w+), \w+\)", re.MULTILINE)
HEAD = """# Gallery

What the image operators do to a picture: before, the line of code, after. `make gallery` writes this page by running
these lines; `image` is a picture of 160 x 240 pixels (HWC), `batch` has four of them.
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
    }


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
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim != 3 or array.shape[-1] not in (1, 3):
        raise ValueError(f"expected a picture, got the shape {array.shape}")
    if array.dtype != np.uint8:  # all of its range becomes visible
        low, high = float(array.min()), float(array.max())
        array = ((array.astype(np.float32) - low) * (255 / max(high - low, 1e-6))).round().astype(np.uint8)
    return np.repeat(array, 3, axis=2) if array.shape[-1] == 1 else array


def page() -> str:
    """The text of docs/gallery.md. It does not depend on pixels."""
    text, section = HEAD, ""
    for row in rows():
        if row.section != section:
            section = row.section
            text += f"\n## {section.capitalize()}\n| | before | code | after |\n|---|---|---|---|\n"
        code = "<br>".join(f"`{line}`" for line in row.code.replace("|", r"\|").splitlines())
        before, after = (f'<img src="gallery/{file}" width="{WIDTH}">' for file in (f"{row.before}.jpg", row.file))
        text += f"| {row.name} | {before} | {code} | {after} |\n"
    return text


def main() -> None:
    from PIL import Image

    argparse.ArgumentParser(description=__doc__).parse_args()
    for old in PICTURES.glob("*.jpg"):
        old.unlink()
    for row in rows():
        before, after = run(row)
        for file, pixels in ((f"{row.before}.jpg", before), (row.file, after)):
            made = Image.fromarray(pixels)
            made.thumbnail((240, 240))
            made.save(PICTURES / file, quality=85)
    PAGE.write_text(page())
    print(f"{PAGE.relative_to(ROOT)}: {len(rows())} operators")


if __name__ == "__main__":
    main()
