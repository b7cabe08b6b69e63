"""From the items of a Python source to Tensors and Batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from avida._values.batch import Batch, as_batch, batch
from avida._values.dtype import dtype as make_dtype
from avida._values.inputs import samples_of
from avida._values.tensor import Tensor, as_tensor, tensor

Outputs = tuple[Tensor | Batch, ...]


class Form:
    """What the outputs are to be: how many, of which types and layouts, or under which names."""

    def __init__(self, count: int, dtype: Any, layout: Any) -> None:
        self._count = count
        self._dtypes = _per_output(dtype, count, "dtype", lambda t: t if t is None else make_dtype(t))
        self._layouts = _per_output(layout, count, "layout", _layout)
        self._known: dict[str, tuple[str, ...]] = {}  # the keys of items that are dictionaries, once there was one

    def convert(self, item: Any) -> Outputs:
        if self._count == 1:
            if not isinstance(item, np.ndarray) and isinstance(item, Mapping):
                return self._from_dictionary(item)
            return (_value(item, _of(self._dtypes, 0), _of(self._layouts, 0)),)
        if not isinstance(item, tuple | list) or len(item) != self._count:
            raise ValueError(f"expected a tuple of {self._count} outputs from the source, got {_shown(item)}")
        return self._from_values(item, range(self._count))

    def result(self, outputs: Outputs) -> Any:
        """What users get: a tuple, or a dictionary where the source gives dictionaries."""
        keys = self._known.get("keys")
        return outputs if keys is None else dict(zip(keys, outputs, strict=True))

    def _from_dictionary(self, item: Mapping[str, Any]) -> Outputs:
        keys = self._known.setdefault("keys", tuple(item))  # one step: several threads may bring the first item
        if not keys or set(keys) != set(item):
            raise ValueError(f"expected dictionaries with the keys {list(keys)} from the source, got {list(item)}")
        return self._from_values([item[key] for key in keys], keys)

    def _from_values(self, values: Any, names: Any) -> Outputs:
        outputs = []
        for value, name in zip(values, names, strict=True):
            try:
                outputs.append(_value(value, _of(self._dtypes, name), _of(self._layouts, name)))
            except Exception as error:
                if isinstance(name, str):
                    error.add_note(f"in {name!r}")
                raise
        return tuple(outputs)


def batched(samples: Sequence[Tensor]) -> Batch:
    """A Batch of samples that a source gave one by one. A type for all is not guessed: it would lose fractions."""
    types = {sample.dtype for sample in samples}
    if len(types) > 1:
        names = " and ".join(sorted(type_.name for type_ in types))
        raise TypeError(f"expected samples of one element type from the source, got {names}; pass dtype=")
    return batch(samples)


def _per_output(given: Any, outputs: int, name: str, check: Callable[[Any], Any]) -> Any:
    """A value for each output, by index or key; one value for all outputs is kept as it is."""
    if isinstance(given, Mapping):
        return {key: check(value) for key, value in given.items()}
    if not isinstance(given, list | tuple):
        return check(given)
    if len(given) != outputs:
        raise ValueError(f"expected one {name} for each of {outputs} outputs, got {len(given)}")
    return dict(enumerate(map(check, given)))


def _of(given: Any, name: int | str) -> Any:
    return given.get(name) if given.__class__ is dict else given


def _layout(text: Any) -> str | None:
    if text is not None and not isinstance(text, str):
        raise TypeError(f"expected a layout such as 'HWC', got {text!r}")
    return text


def _value(item: Any, dtype: Any, layout: str | None) -> Tensor | Batch:
    if isinstance(item, np.ndarray):  # before all others: by far the most frequent
        return tensor(item, dtype=dtype, layout=layout)  # a copy: the source may use its memory again
    if item is None:
        raise ValueError("expected data from the source, got None")
    if isinstance(item, Batch):
        return as_batch(item, dtype=dtype, layout=layout)
    if hasattr(item, "as_py"):  # a scalar of PyArrow
        item = item.as_py()
    if isinstance(item, str):
        item = item.encode(errors="surrogateescape")
    if isinstance(item, Tensor | bytes):
        return as_tensor(item, dtype=dtype, layout=layout)
    samples = samples_of(item) if isinstance(item, list | tuple) else None
    if samples is not None:
        return batch(samples, dtype=dtype, layout=layout)
    return tensor(item, dtype=dtype, layout=layout)


def _shown(item: Any) -> str:
    return f"{len(item)} of them" if isinstance(item, tuple | list) else type(item).__name__
