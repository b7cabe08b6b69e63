"""From the items of a Python source to Tensors and Batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from avida import _core
from avida._running.warn import warn
from avida._values.arrow import from_arrow
from avida._values.batch import Batch, as_batch, batch
from avida._values.dtype import dtype as make_dtype
from avida._values.inputs import samples_of
from avida._values.tensor import Tensor, as_tensor, tensor

Outputs = tuple[Tensor | Batch, ...]


Structure = None | tuple | dict
"""What an item looks like: None for an output, tuples and dictionaries of structures."""


class Form:
    """What the outputs are to be: how many, of which types and layouts, or under which names.

    The first item tells the structure of all: tuples are outputs, dictionaries are outputs with names, and both may
    have such parts. A number of outputs tells it before.
    """

    def __init__(
        self, count: int | None, dtype: Any, layout: Any, name: str | Callable[[Any], str] | None = None
    ) -> None:
        for given in (dtype, layout):
            if count is None and isinstance(given, list | tuple):
                count = len(given)
        self._count = count
        self._name = name
        self._dtypes = _per_output(dtype, count, "dtype", lambda t: t if t is None else make_dtype(t))
        self._layouts = _per_output(layout, count, "layout", _layout)
        self._known: dict[str, Structure] = {}  # of the first item
        self._has_warned = False

    @property
    def is_known(self) -> bool:
        """Whether the structure of items is."""
        return self._count is not None or bool(self._known)

    def convert(self, item: Any) -> Outputs:
        if _is_table(item):
            item = from_arrow(item)
        if self._count is not None and self._count > 1:
            if not isinstance(item, tuple | list) or len(item) != self._count:
                raise ValueError(f"expected a tuple of {self._count} outputs from the source, got {_shown(item)}")
            item = tuple(item)
        elif self._count == 1 and isinstance(item, tuple):
            return (_value(item, _of(self._dtypes, (0,)), _of(self._layouts, (0,))),)
        # One step: several threads may bring the first item.
        structure = self._known["item"] if self._known else self._known.setdefault("item", _structure(item))
        if structure is None:
            return (self._output((), item),)
        leaves: list[tuple[tuple, Any]] = []
        _collect(item, structure, (), leaves)
        return tuple([self._output(path, value) for path, value in leaves])

    def _output(self, path: tuple, value: Any) -> Tensor | Batch:
        place = path or (0,)
        if not path and self._count is None and isinstance(value, list) and value:
            self._check_list(value)
        try:
            return _value(value, _of(self._dtypes, place), _of(self._layouts, place))
        except Exception as error:
            if isinstance(place[-1], str):
                error.add_note(f"in {_shown_path(path)}")
            raise

    def _check_list(self, items: list[Any]) -> None:
        """Says once what an item such as ``[image, mask]`` is."""
        if not self._has_warned and getattr(items[0], "ndim", 0) > 1 and samples_of(items) is None:
            self._has_warned = True
            warn(
                f"ExternalSource: an item is a list of {len(items)} arrays of one shape, which is one array with a new "
                "first axis. For several outputs return a tuple; num_outputs=1 says that one array is meant"
            )

    def name_of(self, item: Any) -> str | None:
        """The user's name for an item."""
        if self._name is None:
            return None
        if not isinstance(self._name, str):
            return str(self._name(item))
        if not isinstance(item, Mapping) or self._name not in item:
            got = f"one with {', '.join(map(repr, item))}" if isinstance(item, Mapping) else type(item).__name__
            raise ValueError(
                f"name={self._name!r}: expected items that are dictionaries with this key, whose values name samples, "
                f"got {got}; name= may also be a function of an item"
            )
        return str(item[self._name])

    def result(self, outputs: Outputs) -> Any:
        """What users get: a tuple, or what the source gives with these outputs in place of its data."""
        structure = self._known.get("item")
        return outputs if structure is None else _filled(structure, iter(outputs))

    def joined(self, samples: Iterable[Sequence[Any]]) -> Outputs:
        """Batches of samples that a source gave one by one."""
        columns = list(zip(*samples, strict=True))
        return tuple([self._batched(place, column) for place, column in enumerate(columns)])

    def _batched(self, place: int, samples: Sequence[Tensor]) -> Batch:
        """A type for all is not guessed: it would lose fractions."""
        first = samples[0]
        for other in samples:
            if other.dtype != first.dtype:
                names = " and ".join(sorted(sample.dtype.name for sample in (first, other)))
                column = self._column(place)
                remedy = f"dtype={{{column}: ...}}" if column else "dtype="
                raise TypeError(
                    f"{_heading(column)}expected samples of one element type from the source, got {names}; pass "
                    f"{remedy} (in {_where(first)} and {_where(other)})"
                )
            if other.ndim != first.ndim:
                raise ValueError(
                    f"{_heading(self._column(place))}expected samples with the same number of axes, got the shape "
                    f"{first.shape} in {_where(first)} and {other.shape} in {_where(other)}; "
                    f"{_why_axes_differ([first.shape, other.shape])}"
                )
        return batch(samples)

    def _column(self, place: int) -> str:
        """The keys that lead to an output; empty where an item is one."""
        structure, leaves = self._known.get("item"), []
        _collect(structure, structure, (), leaves)
        path = leaves[place][0]
        return _shown_path(path) if path else ""


def _heading(column: str) -> str:
    return f"{column}: " if column else ""


def _why_axes_differ(shapes: list[tuple[int, ...]]) -> str:
    if (0,) in shapes:
        return "an empty list has one axis: for no boxes give an array such as np.zeros((0, 4), np.float32)"
    return 'gray images have no axis of channels, and image.convert("RGB") of Pillow gives them one'


def _where(sample: Any) -> str:
    return sample.source.name


def _structure(item: Any) -> Structure:
    if isinstance(item, np.ndarray) or _is_file(item):
        return None
    if isinstance(item, Mapping):
        if not item:
            raise ValueError("expected outputs from the source, got an empty dictionary")
        return {key: _structure(value) for key, value in item.items()}
    if isinstance(item, tuple) and item:
        return tuple(map(_structure, item))
    return None


def _collect(item: Any, structure: Structure, path: tuple, leaves: list[tuple[tuple, Any]]) -> None:
    """Adds what stands at the places of outputs, in the order of the structure."""
    if structure is None:
        leaves.append((path, item))
        return
    keys = list(structure) if isinstance(structure, dict) else range(len(structure))
    if isinstance(structure, dict):
        if not isinstance(item, Mapping) or set(item) != set(keys):
            found = list(item) if isinstance(item, Mapping) else _shown(item)
            raise ValueError(f"expected dictionaries with the keys {keys} from the source, got {found}")
    elif not isinstance(item, tuple | list) or len(item) != len(keys):
        raise ValueError(f"expected a tuple of {len(keys)} outputs from the source, got {_shown(item)}")
    for key in keys:
        _collect(item[key], structure[key], (*path, key), leaves)


def _filled(structure: Structure, outputs: Iterator[Any]) -> Any:
    if structure is None:
        return next(outputs)
    if isinstance(structure, dict):
        return {key: _filled(part, outputs) for key, part in structure.items()}
    return tuple([_filled(part, outputs) for part in structure])


def _shown_path(path: tuple) -> str:
    return repr(".".join(map(str, path)))


def _is_table(item: Any) -> bool:
    return hasattr(item, "columns") and (hasattr(item, "__arrow_c_stream__") or hasattr(item, "__arrow_c_array__"))


def _is_file(item: Any) -> bool:
    """What data sets of Hugging Face have in place of a file."""
    return isinstance(item, dict) and item.keys() == {"bytes", "path"}


def _per_output(given: Any, outputs: int | None, name: str, check: Callable[[Any], Any]) -> Any:
    """A value for each output, by index or key; one value for all outputs is kept as it is."""
    if isinstance(given, Mapping):
        return {key: check(value) for key, value in given.items()}
    if not isinstance(given, list | tuple):
        return check(given)
    if len(given) != outputs:
        raise ValueError(f"expected one {name} for each of {outputs} outputs, got {len(given)}")
    return dict(enumerate(map(check, given)))


def _of(given: Any, path: tuple[Any, ...]) -> Any:
    """What is given for an output: under its key, or under all keys on the way to it, with dots."""
    if given.__class__ is not dict:
        return given
    return given.get(".".join(map(str, path)), given.get(path[-1]))


def _layout(text: Any) -> str | None:
    if text is not None and not isinstance(text, str):
        raise TypeError(f"expected a layout such as 'HWC', got {text!r}")
    return text


def _value(item: Any, dtype: Any, layout: str | None) -> Tensor | Batch:
    if isinstance(item, np.ndarray):  # before all others: by far the most frequent
        return tensor(item, dtype=dtype, layout=layout)  # a copy: the source may use its memory again
    if item is None:
        raise ValueError("expected data from the source, got None")
    if _is_file(item):
        item = _core.read_object(item["path"]) if item["bytes"] is None else item["bytes"]
    if getattr(item, "mode", None) == "P" and hasattr(item, "getpalette") and layout != "HW":
        item = item.convert("RGBA" if "transparency" in item.info else "RGB")  # "HW" asks for the indices of colours
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
