"""Says what a data set has, from its headers and its first samples."""

from __future__ import annotations

import collections
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import avida
from avida import _core
from avida._cli.rewriting.rows import Data, From, Rows
from avida._cli.rewriting.sources import TITLES, DataSet, find
from avida._shards.columns import MEDIA, column_of, ending_of

_FIRST = 4  # samples that are looked at
_MOST_SIZES = 1000  # files whose sizes are asked for
_AT_ONCE = 32
_INDEXED = ("Webdataset", "TFRecord", "MXNet")


def facts_of(source: str) -> dict[str, str]:
    """What there is to know, one line each."""
    found = find(source)
    needs_index = found.reader in _INDEXED and len(found.indexes) < len(found.files)
    # Without an index a whole archive has to be read to count its samples.
    part = found.files[0] if needs_index and len(found.files) > 1 else source
    data = Data(From(part))
    keys, batch = data.read(range(min(_FIRST, len(data))))
    rows = data.rows(keys, batch)
    shards = _shards_of(found)
    facts = {"format": TITLES[found.reader], "samples": f"{len(data):,}"}
    if part is not source:
        facts["samples"] += f" in the first of {shards:,} shards"
    elif shards:
        facts["samples"] += f" in {shards:,} shard{'s' * (shards > 1)}"
    facts["bytes"] = _bytes(found, data, rows)
    facts["columns"] = "; ".join(_column_text(name, values) for name, values in rows.columns.items())
    if data.classes:
        names = data.classes if isinstance(data.classes, list) else list(data.classes.values())
        facts["classes"] = f"{len(names):,}: {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}"
    facts["first"] = ", ".join(rows.keys)
    if sizes := _image_sizes(rows):
        facts["image sizes"] = f"{sizes} (of the first)"
    if found.reader in _INDEXED:
        some = f"{len(found.indexes):,} of {len(found.files):,} archives have one"
        missing = f"{some}; `avida index` writes them" if needs_index else some
        facts["index"] = missing
    return facts


def _shards_of(found: DataSet) -> int:
    if found.reader == "MDS":
        return sum(len(index["shards"]) for index in _mds_indexes(found))
    return len(found.files) if found.reader not in ("File", "Numpy", "COCO") else 0


def _mds_indexes(found: DataSet) -> list[dict]:
    names = []
    for place in found.files:
        if place.endswith(".json"):
            names.append(place)
        elif avida.storage.exists(f"{place}/index.json"):
            names.append(f"{place}/index.json")
        else:
            names += [f"{place}/{name}index.json" for name in avida.storage.ls(place) if name.endswith("/")]
    return [json.loads(avida.storage.read(name)) for name in names if avida.storage.exists(name)]


def _bytes(found: DataSet, data: Data, rows: Rows) -> str:
    if found.reader == "MDS":
        shards = [shard for index in _mds_indexes(found) for shard in index["shards"]]
        packed = {shard["compression"] for shard in shards if shard.get("compression")}
        total = sum((shard.get("zip_data") or shard["raw_data"])["bytes"] for shard in shards)
        return size_text(total) + (f", compressed by {', '.join(packed)}" if packed else "")
    if found.reader in ("File", "Numpy", "COCO"):
        return f"about {size_text(round(rows.bytes() / len(rows.keys) * len(data)))}, as the first samples have"
    files = found.files[:_MOST_SIZES]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        total = sum(pool.map(_core.object_size, files))
    if len(files) == len(found.files):
        return size_text(total)
    return f"about {size_text(total * len(found.files) // len(files))}, as the first {len(files):,} shards have"


def _column_text(name: str, values: Sequence[object]) -> str:
    column = column_of(name, list(values))
    if column.kind not in MEDIA:
        return str(column)
    endings = collections.Counter(ending_of(value) or "?" for value in values if isinstance(value, bytes))
    return f"{column} ({', '.join(endings)})"


def _image_sizes(rows: Rows) -> str:
    """Height and width of images, from their headers."""
    sizes = []
    for values in rows.columns.values():
        for value in values:
            if isinstance(value, bytes) and f".{ending_of(value)}" in _core.image_endings():
                height, width, *_ = np.asarray(avida.peek_image_shape(np.frombuffer(value, np.uint8))).tolist()
                sizes.append(f"{height} x {width}")
    return ", ".join(dict.fromkeys(sizes))


def size_text(count: int) -> str:
    """Bytes, in words."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count} bytes"
