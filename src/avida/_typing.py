"""Names for what operators accept."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from avida._batch import Batch
from avida._dtype import DType
from avida._tensor import Tensor
from avida.types import DALIDataType

ArrayLike: TypeAlias = Any
"""A number, a nested list, or anything with a buffer, ``__array__`` or ``__dlpack__``."""
TensorLike: TypeAlias = Tensor | Batch | ArrayLike
IntArg: TypeAlias = int | Tensor | Batch | ArrayLike
"""A number for all samples, or a Batch with one for each."""
FloatArg: TypeAlias = float | Tensor | Batch | ArrayLike
BoolArg: TypeAlias = bool | Tensor | Batch | ArrayLike
IntsArg: TypeAlias = int | Sequence[int] | Tensor | Batch | ArrayLike
FloatsArg: TypeAlias = float | Sequence[float] | Tensor | Batch | ArrayLike
DTypeArg: TypeAlias = DType | DALIDataType | str | Any
KeyedBy: TypeAlias = Batch | Tensor | tuple[Batch | Tensor, str]
"""Samples that came from a reader, perhaps with a name for the draw."""
