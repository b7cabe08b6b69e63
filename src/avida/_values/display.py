"""How tensors and batches show themselves: as text, and as pictures in a notebook."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from typing import Any

import numpy as np

from avida._values.dtype import enum_of
from avida._values.picture import numbers, pixels, png

_MAX_SAMPLES = 8


def shapes_text(shapes: list[tuple[int, ...]]) -> str:
    """A list of shapes, shortened in the middle when long."""
    if len(shapes) <= 16:
        return str(shapes)
    return "[" + ", ".join(map(str, shapes[:3])) + ", ..., " + ", ".join(map(str, shapes[-3:])) + "]"


def _array_text(tensor: Any, indent: str) -> str:
    names = {int(member): member.name for member in enum_of(tensor.dtype) or ()}
    formats: Any = {"int": lambda number: names.get(int(number), str(number))} if names else None
    text = np.array2string(numbers(tensor), threshold=64, edgeitems=2, formatter=formats)
    return text.replace("\n", "\n" + indent)


def _fields(value: Any, extra: Iterable[str]) -> str:
    fields = [f"dtype={value.dtype}"]
    if value.layout:
        fields.append(f'layout="{value.layout}"')
    fields.append(f'device="{value.device}"')
    return ",\n    ".join([*fields, *extra])


def tensor_text(tensor: Any) -> str:
    """The repr of a Tensor."""
    return f"Tensor(\n    {_array_text(tensor, '    ')},\n    {_fields(tensor, [f'shape={tensor.shape}'])})"


def batch_text(batch: Any) -> str:
    """The repr of a Batch."""
    n = batch.batch_size
    shown = list(range(n)) if n <= _MAX_SAMPLES else [*range(4), *range(n - 2, n)]
    texts = [_array_text(batch.tensors[i], "     ") for i in shown]
    if n > _MAX_SAMPLES:
        texts.insert(4, "...")
    between = ", " if batch.ndim == 0 else ",\n     " if batch.ndim == 1 else ",\n\n     "
    fields = _fields(batch, [f"num_samples={n}", f"shape={shapes_text(batch.shape)}"])
    return f"Batch(\n    [{between.join(texts)}],\n    {fields})"


def _picture(tensor: Any, most: int = 512) -> bytes | None:
    """The tensor as PNG when it is an image, else None."""
    image = pixels(tensor)
    if image is None:
        return None
    step = max(1, -(-max(image.shape[:2]) // most))
    return png(image[::step, ::step])


def _figure(tensor: Any, caption: str, style: str) -> str | None:
    png = _picture(tensor)
    if png is None:
        return None
    source = "data:image/png;base64," + base64.b64encode(png).decode()
    return (
        f'<figure style="display:inline-block;margin:4px"><img src="{source}" style="{style};image-rendering:auto">'
        f'<figcaption style="font:11px monospace">{html.escape(caption)}</figcaption></figure>'
    )


def _about(value: Any) -> str:
    return f"{value.dtype} {value.layout or ''} {value.device}"


def tensor_html(tensor: Any) -> str | None:
    """An image as a picture; None otherwise, so that the notebook shows the text."""
    return _figure(tensor, f"{tensor.shape} {_about(tensor)}", "max-width:512px")


def batch_html(batch: Any, most: int = 32) -> str | None:
    """A batch of images as a grid; None otherwise, so that the notebook shows the text."""
    figures = []
    for i, sample in enumerate(batch):
        if i == most:
            break
        if 0 in sample.shape:
            continue
        figure = _figure(sample, f"{i}: {sample.shape}", "max-width:160px;max-height:160px")
        if figure is None:
            return None
        figures.append(figure)
    if not figures:
        return None
    more = f" (first {most})" if batch.batch_size > most else ""
    return f"<div><div>Batch of {batch.batch_size}{more}: {_about(batch)}</div>{''.join(figures)}</div>"
