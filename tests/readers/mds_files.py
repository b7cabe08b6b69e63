"""Data sets in MosaicML Streaming's format, written byte by byte."""

import gzip
import json
import struct

import imagecodecs
import numpy as np

NUMBERS = {"int": "<i8"} | {
    name: np.dtype(name).newbyteorder("<").str
    for name in [
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "float32",
        "float64",
    ]
}
CODES = {"uint8": 8, "int8": 9, "uint16": 16, "int16": 17, "float16": 18, "uint32": 32, "int32": 33, "float32": 34}
CODES |= {"uint64": 64, "int64": 65, "float64": 66}
PACK = {None: bytes, "gz": gzip.compress, "zstd": imagecodecs.zstd_encode}


def size_of(encoding):
    """Bytes of each value; None where they differ."""
    if encoding in NUMBERS:
        return np.dtype(NUMBERS[encoding]).itemsize
    if encoding.count(":") == 2:
        _, dtype, shape = encoding.split(":")
        return np.dtype(dtype).itemsize * int(np.prod([int(extent) for extent in shape.split(",")]))
    return None


def encoded(encoding, value):
    if encoding in NUMBERS:
        return np.array(value, NUMBERS[encoding]).tobytes()
    if not encoding.startswith("ndarray"):
        return value
    dtype, width = np.asarray(value).dtype, 0 if max(value.shape, default=0) < 256 else 1
    front = bytes([CODES[dtype.name]]) if encoding == "ndarray" else b""
    front += bytes([value.ndim << 2 | width]) + b"".join(n.to_bytes(1 << width, "little") for n in value.shape)
    return (front if encoding.count(":") < 2 else b"") + value.tobytes()


def shard_of(columns, samples):
    """The bytes of a shard."""
    rows = []
    for sample in samples:
        values = [encoded(encoding, sample[name]) for name, encoding in columns.items()]
        sizes = [len(v) for v, e in zip(values, columns.values(), strict=True) if size_of(e) is None]
        rows.append(struct.pack(f"<{len(sizes)}I", *sizes) + b"".join(values))
    header = b'{"format": "mds"}'  # which nobody needs
    offsets = np.cumsum([4 * (len(rows) + 2) + len(header), *map(len, rows)])
    return struct.pack(f"<{len(rows) + 2}I", len(rows), *offsets) + header + b"".join(rows)


def write_mds(folder, columns, samples, per_shard=5, compression=None):
    """Returns the index as it is written."""
    folder.mkdir(exist_ok=True, parents=True)
    shards = []
    for number, begin in enumerate(range(0, len(samples), per_shard)):
        some = samples[begin : begin + per_shard]
        data, name = shard_of(columns, some), f"shard.{number:05}.mds"
        packed = PACK[compression](data)
        zipped = None if compression is None else {"basename": f"{name}.{compression}", "bytes": len(packed)}
        (folder / (zipped["basename"] if zipped else name)).write_bytes(packed)
        shards.append(
            {
                "format": "mds",
                "samples": len(some),
                "compression": compression and f"{compression}:3",
                "column_names": list(columns),
                "column_encodings": list(columns.values()),
                "column_sizes": [size_of(encoding) for encoding in columns.values()],
                "hashes": [],
                "raw_data": {"basename": name, "bytes": len(data), "hashes": {}},
                "zip_data": zipped,
            }
        )
    index = {"version": 2, "shards": shards}
    (folder / "index.json").write_text(json.dumps(index))
    return index
