"""What the reader of TFRecord files does in Python."""

from __future__ import annotations

from typing import Any

from avida import tfrecord
from avida.readers._by_column import ByColumn


class TFRecordHooks(ByColumn):
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


def _fields(name: Any, feature: tfrecord.Feature) -> tuple[bytes, int, bool, list[int], int | float | bytes]:
    """What the native side knows of a feature."""
    if not isinstance(feature, tfrecord.Feature):
        raise TypeError(
            f"expected FixedLenFeature or VarLenFeature of avida.tfrecord for {name!r}, got {type(feature).__name__}"
        )
    default = feature.default_value
    text = default.encode() if isinstance(default, str) else default
    return str(name).encode(), feature.dtype, feature.fixed, list(feature.shape), text
