"""x[...] and batch.slice[...]."""

from __future__ import annotations

from typing import Any

from avida import _core

_NONE, _INPUT = -(2**63), -(2**63) + 1  # "not given" and "the next index input", as the operator reads them
_FULL, _INDEX, _SLICE = 0, 1, 2


def subscript(value: Any, index: Any) -> Any:
    """Applies an index expression to a Tensor, or to every sample of a Batch."""
    items = index if isinstance(index, tuple) else (index,)
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
            if isinstance(item, _core.BatchBase) and isinstance(value, _core.TensorBase):
                raise ValueError("a Tensor cannot be indexed by a Batch")
            inputs.append(item)
            return _INPUT
        try:
            return max(-(2**62), min(2**62, item.__index__()))  # beyond any extent, and clear of the marks above
        except AttributeError:
            raise ValueError(
                f"expected integers, slices, an ellipsis or tensors of one integer as index, got {item!r}"
            ) from None

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


_SUBSCRIPT = _core.op("_subscript")
