"""What reductions, fills and other small operators compute, for the generic suite."""

import numpy as np

import avida as ndd
from tests.op_case import ALL, FLOATS, INTEGERS, op_case

AXES = [None, [0], [1], [0, -1], []]
SHAPES = [(3, 5, 2), (2, 1, 2), (4, 3, 2)]
NUMBERS = [*INTEGERS, *FLOATS]


def axes_of(axes):
    return None if axes is None else tuple(axes)


def float_result(x):
    return np.float64 if x.dtype == np.float64 else np.float32


@op_case("reductions.sum", shapes=SHAPES, axes=AXES, keep_dims=[False, True])
def total(x, axes, keep_dims):
    kind = {"u": np.uint64, "b": np.uint64, "i": np.int64}.get(x.dtype.kind) or float_result(x)
    return np.asarray(x.sum(axes_of(axes), dtype=kind, keepdims=keep_dims))


@op_case("reductions.mean", shapes=SHAPES, axes=AXES, keep_dims=[False, True], dtypes=NUMBERS)
def mean(x, axes, keep_dims):
    return np.asarray(x.mean(axes_of(axes), dtype=np.float64, keepdims=keep_dims)).astype(float_result(x))


@op_case("reductions.mean_square", shapes=SHAPES, axes=AXES, dtypes=NUMBERS)
def mean_square(x, axes):
    return np.asarray((x.astype(np.float64) ** 2).mean(axes_of(axes))).astype(float_result(x))


@op_case("reductions.rms", shapes=SHAPES, axes=AXES, dtypes=NUMBERS)
def root_mean_square(x, axes):
    return np.sqrt(np.asarray((x.astype(np.float64) ** 2).mean(axes_of(axes)))).astype(float_result(x))


@op_case("reductions.max", shapes=SHAPES, axes=AXES, keep_dims=[False, True])
def largest(x, axes, keep_dims):
    return np.asarray(x.max(axes_of(axes), keepdims=keep_dims))


@op_case("reductions.min", shapes=SHAPES, axes=AXES, keep_dims=[False, True])
def smallest(x, axes, keep_dims):
    return np.asarray(x.min(axes_of(axes), keepdims=keep_dims))


@op_case(
    "reductions.variance", shapes=[[(3, 4), (4,)], [(2, 5), (5,)]], dtypes=["float32"], axes=[[0]], ddof=[0, 1], rtol=1e-5
)
def variance(x, mean, axes, ddof):
    return (((x - mean) ** 2).sum(0) / (x.shape[0] - ddof)).astype(np.float32)


@op_case(
    "reductions.std_dev", shapes=[[(3, 4), (4,)], [(2, 5), (5,)]], dtypes=["float32"], axes=[[0]], ddof=[0, 1], rtol=1e-5
)
def deviation(x, mean, axes, ddof):
    return np.sqrt(((x - mean) ** 2).sum(0) / (x.shape[0] - ddof)).astype(np.float32)


@op_case("one_hot", shapes=[(3, 4), (5, 2), (2, 1)], dtypes=INTEGERS, high=7, num_classes=[5], axis=[-1, 0], on_value=[1.0, 3.0])
def one_hot(x, num_classes, axis, on_value):
    hot = np.where(x[..., None] == np.arange(num_classes, dtype=x.dtype), on_value, 0).astype(np.float32)
    return np.moveaxis(hot, -1, axis)


@op_case("lookup_table", dtypes=INTEGERS, high=6, keys=[[1, 3]], values=[[10.0, 30.0]], default_value=[0.0, 7.0])
def lookup_table(x, keys, values, default_value):
    table = dict(zip(keys, values, strict=True))
    return np.vectorize(lambda k: table.get(int(k), default_value), otypes=[np.float32])(x)


@op_case("element_extract", shapes=[(4, 3), (5, 2)], element_map=[[0, 2], [3, 3]])
def element_extract(x, element_map):
    return tuple(x[i] for i in element_map)


@op_case("get_property", layout="HWC", key=["layout"])
def get_property(x, key):
    return np.frombuffer(b"HWC", np.uint8)


@op_case("permute_batch", alone=True, indices=[0])
def permute_batch(x, indices):
    return x


FILL_SHAPES = [[2, 3], [4, 0], [1, 5]]


@op_case("zeros", shapes=[[], [], []], shape=FILL_SHAPES, dtype=[ndd.float32])
def zeros(shape, dtype):
    return np.zeros(shape, np.float32)


@op_case("ones", shapes=[[], [], []], shape=FILL_SHAPES, dtype=[ndd.uint8])
def ones(shape, dtype):
    return np.ones(shape, np.uint8)


@op_case("full", shapes=[[(3,)], [(1,)]], shape=[[2, 3], [1, 3]])
def full(value, shape):
    return np.broadcast_to(value, shape)


@op_case("zeros_like")
def zeros_like(x):
    return np.zeros_like(x)


@op_case("ones_like")
def ones_like(x):
    return np.ones_like(x)


@op_case("full_like", dtypes=ALL, shapes=[[(2, 3), (3,)], [(4, 1), (1,)]])
def full_like(x, value):
    return np.broadcast_to(value, x.shape)
