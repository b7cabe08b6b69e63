"""From what users give an operator in place of a Tensor or Batch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from avida._running.warn import warn
from avida._values.arrays import listed
from avida._values.batch import Batch, as_batch, batch
from avida._values.tensor import Tensor, as_tensor, tensor

Kind = Literal["data", "files", "paths"]
"""What an operator takes. A list of files has the bytes of one in each item, also where they are equally long."""


def operator_input(data: Any, operator: str, kind: Kind) -> Tensor | Batch:
    """The Tensor or Batch that `data` stands for, in memory that the caller cannot change afterwards."""
    if isinstance(data, bytes):
        return as_tensor(data)  # nobody can change them
    if isinstance(data, str | os.PathLike):
        return as_tensor(_path(data, operator, kind))
    items = listed(data)
    return tensor(data) if items is None else _of_list(items, operator, kind)


def samples_of(items: Sequence[Any]) -> Sequence[Any] | None:
    """The samples of the Batch that a list stands for; None when it stands for one Tensor."""
    if not items or isinstance(items[0], int | float):
        return None
    if all(isinstance(item, bytes | bytearray | memoryview) for item in items):
        return [bytes(item) for item in items]
    if any(isinstance(item, bytes) or item is None for item in items):
        return items
    return items if len({_shape(item) for item in items}) > 1 else None


def _of_list(items: Sequence[Any], operator: str, kind: Kind) -> Tensor | Batch:
    if not items and kind != "data":
        return batch(np.zeros((0, 0), np.uint8))  # no files
    if items and all(isinstance(item, str | os.PathLike) for item in items):
        return as_batch([_path(item, operator, kind) for item in items])
    samples = samples_of(items)
    if samples is None and kind == "files" and items and len(_shape(items[0])) == 1:
        return batch(items)
    if samples is not None:
        return as_batch(samples) if all(isinstance(sample, bytes) for sample in samples) else batch(samples)
    made = tensor(items)
    if made.ndim > 2 and not isinstance(items[0], list | tuple):
        warn(
            f"{operator}: a list of arrays of one shape is one Tensor with a new first axis, such as the frames of a "
            "video. avida.batch(list) makes a Batch of them; if one Tensor is meant, pass np.stack(list)"
        )
    return made


def _path(path: str | os.PathLike[str], operator: str, kind: Kind) -> bytes:
    if kind == "paths":
        return os.fsencode(path)
    raise RuntimeError(
        f"{operator}: expected data, got the string {os.fspath(path)!r:.80}. avida.imread(path) reads and decodes an "
        "image file, avida.io.file.read(path) gives the bytes of any file"
    )


def _shape(item: Any) -> tuple[int, ...]:
    return tuple(item.shape) if hasattr(item, "shape") else np.shape(item)
