"""What the reader of TFRecord files does in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from avida import tfrecord
from avida._values.batch import Batch
from avida._values.tensor import Tensor
from avida.readers._declared import DeclaredReader


class TFRecordHooks(DeclaredReader):
    """Checks features, and gives items their names."""

    _names: list[str]

    def _prepare(self, given: dict[str, Any]) -> None:
        if given["use_o_direct"] and not given["dont_use_mmap"]:
            raise RuntimeError("use_o_direct goes only with dont_use_mmap=True")
        features = given["features"].items()
        self._names = [name for name, _ in features]
        given["features"] = [_fields(name, feature) for name, feature in features]
        if not self._names:
            raise RuntimeError("expected at least one feature, got none")

    def _item(self, outputs: tuple) -> dict[str, Any]:
        return dict(zip(self._names, outputs, strict=True))

    if TYPE_CHECKING:  # the same as in all readers, with other items

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


def _fields(name: Any, feature: tfrecord.Feature) -> tuple[bytes, int, bool, list[int], int | float | bytes]:
    """What the native side knows of a feature."""
    if not isinstance(feature, tfrecord.Feature):
        raise TypeError(
            f"expected FixedLenFeature or VarLenFeature of avida.tfrecord for {name!r}, got {type(feature).__name__}"
        )
    default = feature.default_value
    text = default.encode() if isinstance(default, str) else default
    return str(name).encode(), feature.dtype, feature.fixed, list(feature.shape), text
