"""x[...] and batch.slice[...]."""

from __future__ import annotations

from typing import Any

import numpy as np

from avida import _core

_NONE, _INPUT = -(2**63), -(2**63) + 1  # "not given" and "the next index input", as the operator reads them
_FULL, _INDEX, _SLICE = 0, 1, 2


def subscript(value: Any, index: Any) -> Any:
    """Applies an index expression to a Tensor, or to every sample of a Batch."""
    items = index if isinstance(index, tuple) else (index,)
    if items and _is_mask(items[0]):
        rows = _selected(value, items[0])
        return subscript(rows, (slice(None), *items[1:])) if items[1:] else rows
    ndim = value.ndim
    given = sum(item is not ... for item in items)
    if sum(item is ... for item in items) > 1:
        raise ValueError("an index can hold only one ellipsis")
    if given > ndim:
        raise ValueError(f"too many indices: {given} for {ndim} axes")
    kinds, starts, stops, steps = [], [], [], []
    inputs: list[Any] = []

    def bound(item: Any) -> int:
        if item is None:
            return _NONE
        if isinstance(item, _core.TensorBase | _core.BatchBase):
            _check_kind(value, item)
            inputs.append(item)
            return _INPUT
        try:
            return max(-(2**62), min(2**62, item.__index__()))  # beyond any extent, and clear of the marks above
        except (AttributeError, TypeError):
            raise ValueError(_refused(item)) from None

    for item in items:
        if item is ...:
            missing = ndim - given
            kinds += [_FULL] * missing
            starts += [_NONE] * missing
            stops += [_NONE] * missing
            steps += [_NONE] * missing
        elif isinstance(item, slice):
            kinds.append(_SLICE)
            starts.append(bound(item.start))
            stops.append(bound(item.stop))
            steps.append(bound(item.step))
            if steps[-1] == 0:
                raise ValueError("the step of a slice cannot be zero")
        elif item is None:
            raise ValueError("an index cannot add axes; use avida.expand_dims")
        else:
            kinds.append(_INDEX)
            starts.append(bound(item))
            stops.append(_NONE)
            steps.append(_NONE)
    if all(
        kind == _FULL or (kind == _SLICE and start == stop == step == _NONE)
        for kind, start, stop, step in zip(kinds, starts, stops, steps, strict=True)
    ):
        return value
    return _SUBSCRIPT(value, *inputs, kinds=kinds, starts=starts, stops=stops, steps=steps)


def _is_mask(item: Any) -> bool:
    """Whether an index is an array of booleans; a single one counts as 0 or 1."""
    if isinstance(item, np.ndarray):
        return item.ndim > 0 and item.dtype.kind == "b"
    return isinstance(item, _core.TensorBase | _core.BatchBase) and item.dtype.name == "bool" and item.ndim > 0  # pyright: ignore[reportAttributeAccessIssue]


def _selected(value: Any, mask: Any) -> Any:
    _check_kind(value, mask)
    if mask.ndim != 1:
        hint = "; avida.as_batch(masks) has one for each sample" if isinstance(mask, np.ndarray) else ""
        raise ValueError(f"expected a mask with one boolean for each row, got {mask.ndim} axes{hint}")
    return _SELECT_ROWS(value, mask)


def _check_kind(value: Any, item: Any) -> None:
    if isinstance(item, _core.BatchBase) and isinstance(value, _core.TensorBase):
        raise ValueError("a Tensor cannot be indexed by a Batch")


def _refused(item: Any) -> str:
    found = f"an array of {item.dtype} with the shape {item.shape}" if isinstance(item, np.ndarray) else repr(item)
    return (
        "expected integers, slices, an ellipsis, tensors of one integer, or a mask with a boolean for each row as "
        "index, "
        f"got {found}"
    )


_SUBSCRIPT, _SELECT_ROWS = _core.op("_subscript"), _core.op("_select_rows")
