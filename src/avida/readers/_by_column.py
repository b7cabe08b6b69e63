"""Readers whose items are dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida.readers._declared import DeclaredReader


class ByColumn(DeclaredReader):
    """The same as in all readers, with other items."""

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: SupportsIndex) -> dict[str, Tensor]: ...
        @overload
        def __getitem__(self, index: slice | Sequence[SupportsIndex]) -> dict[str, Batch]: ...
        def __getitem__(self, index: Any) -> dict: ...  # pyright: ignore[reportIncompatibleMethodOverride]
        @overload  # type: ignore[override]
        def next_epoch(self, batch_size: None = None, *args: Any, **kwargs: Any) -> Iterator[dict[str, Tensor]]: ...
        @overload
        def next_epoch(self, batch_size: int, *args: Any, **kwargs: Any) -> Iterator[dict[str, Batch]]: ...
        def next_epoch(self, batch_size: int | None = None, *args: Any, **kwargs: Any) -> Iterator[dict]: ...  # pyright: ignore[reportIncompatibleMethodOverride]
