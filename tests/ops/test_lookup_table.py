import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, INTEGERS, op_case

KEYS, VALUES = [1, 3, 200, 3], [0.5, 7, -2, 9]


@op_case("lookup_table", dtypes=[*INTEGERS, "bool"], high=210, keys=[KEYS], values=[VALUES], default_value=[0, -1.5])
def reference(x, keys, values, default_value):
    table = dict(zip(keys, values, strict=True))
    return np.vectorize(lambda number: table.get(int(number), default_value), otypes=[np.float32])(x)


@pytest.mark.parametrize("dtype", ALL)
def test_values_round_and_saturate(dtype):
    out = ndd.lookup_table([0, 1, 2], keys=[0, 1], values=[10.5, -1], default_value=300, dtype=getattr(ndd, dtype))
    values = np.array([10.5, -1, 300])
    if dtype == "bool":
        expected = values != 0
    elif dtype.startswith("float"):
        expected = values.astype(dtype)
    else:
        info = np.iinfo(dtype)
        expected = np.clip([11, -1, 300], info.min, info.max).astype(dtype)
    assert np.asarray(out).dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(out), expected)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint64", "uint16", "int8"])
def test_numbers_outside_the_table(dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 5], dtype)
    assert np.asarray(ndd.lookup_table(x, keys=[5], values=[2], default_value=9)).tolist() == [9, 9, 2]


def test_forms():
    assert np.asarray(ndd.lookup_table([0, 1], keys=1, values=10)).tolist() == [0, 10]
    assert np.asarray(ndd.lookup_table([0, 1])).tolist() == [0, 0]
    assert np.asarray(ndd.lookup_table([0, 1], keys=[], values=[])).tolist() == [0, 0]
    assert ndd.lookup_table([0, 1], output_dtype=ndd.uint8).dtype == ndd.uint8
    assert ndd.lookup_table(5, keys=[5], values=[2]).item() == 2
    assert np.asarray(ndd.lookup_table([65535], keys=[65535], values=[3])).tolist() == [3]
    x = ndd.as_tensor(np.zeros((2, 3), np.uint8), layout="HW")
    assert ndd.lookup_table(x).layout == "HW"


def test_large_samples():
    x = np.random.default_rng(0).integers(0, 256, (500, 700), np.uint8)
    table = np.random.default_rng(1).random(256, np.float32)
    out = ndd.lookup_table(x, keys=list(range(256)), values=table.tolist())
    np.testing.assert_array_equal(np.asarray(out), table[x])


@pytest.mark.parametrize(
    ("x", "arguments"),
    [
        ([1], {"keys": [1], "values": [1, 2]}),
        ([1], {"values": [1]}),
        ([1], {"keys": [-1], "values": [1]}),
        ([1], {"keys": [65536], "values": [1]}),
        ([1.0], {"keys": [1], "values": [1]}),
        (np.zeros(2, np.float16), {"keys": [1], "values": [1]}),
    ],
)
def test_refused(x, arguments):
    with pytest.raises(RuntimeError, match="lookup_table"):
        ndd.lookup_table(x, **arguments).evaluate()
