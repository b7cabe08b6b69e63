"""Features for ``readers.TFRecord``: of fixed or of variable length."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence
from typing import SupportsIndex, overload

from avida._values.integers import LARGEST as _LARGEST
from avida._values.integers import integer_within as _integer_within

int64 = 0
string = 1
float32 = 2

Default = int | float | str | bytes

_TYPES: dict[int, tuple[str, type | tuple[type, ...]]] = {
    int64: ("an int", int),
    string: ("a str", (str, bytes)),
    float32: ("a float", (float, int)),
}


@dataclasses.dataclass(frozen=True)
class Feature:
    """One feature. It is made by ``FixedLenFeature`` or ``VarLenFeature``."""

    dtype: int
    shape: tuple[int, ...]
    fixed: bool
    default_value: Default


def FixedLenFeature(  # noqa: N802
    shape: Sequence[SupportsIndex], dtype: SupportsIndex, default_value: Default, /
) -> Feature:
    """A feature of which every sample has the same shape, or one string.

    Args:
        shape: The shape; ``[]`` for a single number or a string.
        dtype: ``int64``, ``float32`` or ``string``.
        default_value: What fills the place of values that an example does not have.

    Example:
        >>> from avida import tfrecord
        >>> tfrecord.FixedLenFeature([1], tfrecord.int64, -1)
        Feature(dtype=0, shape=(1,), fixed=True, default_value=-1)
    """
    return _feature(shape, dtype, True, default_value)


@overload
def VarLenFeature(dtype: SupportsIndex, default_value: Default, /) -> Feature: ...
@overload
def VarLenFeature(
    partial_shape: Sequence[SupportsIndex], dtype: SupportsIndex, default_value: Default, /
) -> Feature: ...
def VarLenFeature(*arguments) -> Feature:  # noqa: N802
    """A feature with any number of values, none where an example does not have it.

    Args:
        partial_shape: If given, the shape of each entry along the first axis; the extent of that follows from the
            number of values.
        dtype: ``int64`` or ``float32``.
        default_value: Not used; a sample without values is empty.

    Example:
        >>> from avida import tfrecord
        >>> boxes = tfrecord.VarLenFeature([4], tfrecord.float32, 0.0)  # samples have the shape (number of boxes, 4)
    """
    if len(arguments) not in (2, 3):
        raise TypeError(
            f"expected VarLenFeature([partial_shape,] dtype, default_value), got {len(arguments)} arguments"
        )
    partial_shape, dtype, default_value = arguments if len(arguments) == 3 else ((), *arguments)
    return _feature(partial_shape, dtype, False, default_value)


def _feature(shape: Sequence[SupportsIndex], dtype: SupportsIndex, fixed: bool, default: Default) -> Feature:
    kind = operator.index(dtype)
    if kind not in _TYPES:
        raise RuntimeError(f"expected the type int64, float32 or string of avida.tfrecord, got {dtype!r}")
    name, types = _TYPES[kind]
    if not isinstance(default, types):
        raise RuntimeError(f"expected {name} as default value, got {default!r}")
    if kind == int64 and isinstance(default, int):
        _integer_within("the default value", default, -(2**63), 2**63 - 1)
    return Feature(kind, tuple(_integer_within("an extent", extent, -_LARGEST) for extent in shape), fixed, default)
