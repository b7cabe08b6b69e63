"""What the data-movement operators compute, for the generic suite."""

import numpy as np

import avida as ndd
from tests.op_case import ALL, op_case

IMAGES = [(5, 7, 3), (4, 4, 3), (6, 5, 3)]


def to(dtype):
    return {"uint8": ndd.uint8, "int16": ndd.int16, "float32": ndd.float32, "bool": ndd.bool}[dtype]


def convert(x, name):
    """Rounds half away from zero and saturates."""
    if name == "bool":
        return np.abs(x.astype(np.float64)) >= 0.5
    if name == "float32":
        return x.astype(np.float32)
    info = np.iinfo(name)
    wide = x.astype(np.float64)
    return np.clip(np.sign(wide) * np.floor(np.abs(wide) + 0.5), info.min, info.max).astype(name)


@op_case("per_frame", shapes=[(5, 2), (3, 2), (1, 2)], replace=[False, True])
def per_frame(x, replace):
    return x


@op_case("cast", low=-300, high=400, dtype=[ndd.uint8, ndd.int16, ndd.float32, ndd.bool])
def cast(x, dtype):
    return convert(x, {"u8": "uint8", "i16": "int16", "f32": "float32", "bool": "bool"}[str(dtype)])


@op_case("cast_like", shapes=[[(3, 4), (3, 4)], [(2, 1), (1, 1)]])
def cast_like(x, like):
    return x


@op_case("copy")
def copy(x):
    return x


@op_case("reshape", shapes=[(2, 6), (4, 3)], shape=[[3, 4], [-1, 2], [12, 1]])
def reshape(x, shape):
    return x.reshape(shape)


@op_case("reshape", shapes=[(2, 6), (2, 4)], rel_shape=[[0.5, -1.0], [1.0, 1.0]])
def reshape_relative(x, rel_shape):
    return x.reshape(x.shape if rel_shape[0] == 1 else (1, -1))


@op_case("reinterpret", dtypes=["uint8", "int8", "bool"], shapes=[(2, 8), (3, 4)], dtype=[ndd.int32, ndd.uint16])
def reinterpret(x, dtype):
    return x.view(np.int32 if dtype == ndd.int32 else np.uint16)


@op_case("squeeze", shapes=[(2, 1, 3, 1), (4, 1, 1, 1)], axes=[[1], [-1], [1, 3]])
def squeeze(x, axes):
    return x.squeeze(tuple(axes))


@op_case("expand_dims", shapes=[(2, 3), (4, 1)], axes=[[0], [2], [0, 3]])
def expand_dims(x, axes):
    return np.expand_dims(x, tuple(axes))


@op_case("transpose", layout="HWC", perm=[[2, 0, 1], [1, 0, 2], [0, 1, 2], None])
def transpose(x, perm):
    return x.transpose(perm)


@op_case("cat", shapes=[[(2, 3), (2, 3), (2, 3)], [(1, 2), (1, 2), (1, 2)]], axis=[0, 1, -1])
def cat(a, b, c, axis):
    return np.concatenate([a, b, c], axis)


@op_case("stack", shapes=[[(2, 3), (2, 3)], [(1, 2), (1, 2)]], axis=[0, 1, 2])
def stack(a, b, axis):
    return np.stack([a, b], axis)


@op_case("slice", layout="HWC", shapes=IMAGES, start=[[1, 0], [0, 2]], shape=[[2, 2], [1, 2]])
def slice_window(x, start, shape):
    (w, h), (width, height) = start, shape
    return x[h : h + height, w : w + width]


@op_case("slice", layout="HWC", shapes=IMAGES, dtypes=ALL[:8], rel_start=[[0.0, 0.25]], rel_end=[[0.5, 1.0]])
def slice_relative(x, rel_start, rel_end):
    def at(fraction, extent):
        return int(np.floor(np.float32(fraction) * extent + 0.5))

    h, w, _ = x.shape
    return x[at(rel_start[1], h) : at(rel_end[1], h), at(rel_start[0], w) : at(rel_end[0], w)]


@op_case("crop", layout="HWC", shapes=IMAGES, crop=[[2, 3], [4, 4]], crop_pos_x=[0.0, 0.5, 1.0], crop_pos_y=[0.3, 1.0])
def crop(x, crop, crop_pos_x, crop_pos_y):
    def start(extent, size, position):
        return int(np.floor(np.float64(np.float32(position)) * (extent - size) + 0.5))

    (height, width), (h, w, _) = crop, x.shape
    y, x0 = start(h, height, crop_pos_y), start(w, width, crop_pos_x)
    return x[y : y + height, x0 : x0 + width]


@op_case("pad", shapes=[(3, 4), (2, 5)], shape=[[6, 5], [4, 8]], fill_value=[0.0, 1.0])
def pad(x, shape, fill_value):
    extra = [(0, wanted - extent) for extent, wanted in zip(x.shape, shape, strict=True)]
    return np.pad(x, extra, constant_values=np.array(fill_value).astype(x.dtype))
