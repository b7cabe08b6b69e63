"""Thousands of random calls: each gives a result or a clear Python exception, never a crash. Run by `make asan` too."""

import math
import os

import numpy as np
import pytest

import avida as ndd
from tests.op_case import OPS

CALLS_PER_OP = int(os.environ.get("AVIDA_RANDOM_CALLS", "60"))
EXPECTED = (ValueError, TypeError, RuntimeError, IndexError, OverflowError, MemoryError, KeyError)
DTYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def function(name):
    target = ndd
    for part in name.split("."):
        target = getattr(target, part)
    return target


def random_array(rng):
    ndim = int(rng.choice([0, 1, 2, 3, 3, 3, 4, 5, 16]))
    shape = tuple(int(rng.choice([0, 1, 1, 2, 3, 5])) if ndim > 5 else int(rng.integers(0, 6)) for _ in range(ndim))
    if ndim > 5:
        shape = tuple(min(s, 1 if i else 2) for i, s in enumerate(shape))
    dtype = rng.choice([*DTYPES, "bool"])
    with np.errstate(all="ignore"):
        array = np.asarray(rng.standard_normal(shape) * rng.choice([1, 100, 1e20])).astype(dtype)
    if dtype.startswith("float") and array.size and rng.random() < 0.3:
        array.flat[0] = rng.choice([np.nan, np.inf, -np.inf])
    kind = rng.integers(0, 6)
    if kind == 0:
        return array.T
    if kind == 1 and ndim:
        return array[::-1]
    if kind == 2 and dtype != "bool":
        return array.astype(array.dtype.newbyteorder(">"))
    if kind == 3:
        array.flags.writeable = False
    return array


def random_layout(rng, ndim):
    if rng.random() < 0.5:
        return None
    known = {2: "HW", 3: ["HWC", "CHW"][rng.integers(2)], 4: "FHWC", 5: "FDHWC"}
    return known.get(ndim, "ABCDEFGHIJKLMNOP"[:ndim])


def random_input(rng):
    kind = rng.integers(0, 8)
    if kind == 0:
        return rng.choice([0, 1, -5, 2**30]).item()
    if kind == 1:
        return [1.5, 2.5][: rng.integers(0, 3)]
    if kind == 2:
        return ndd.batch([], dtype=rng.choice(DTYPES))
    array = random_array(rng)
    layout = random_layout(rng, array.ndim)
    if kind in (3, 4):
        return ndd.as_tensor(array, layout=layout) if array.ndim <= 16 else array
    samples = [array] + [array[: rng.integers(0, 3)] if array.ndim else array for _ in range(rng.integers(0, 3))]
    return ndd.as_batch(samples, layout=layout)


NUMBERS = [0, 1, 2, 3, -1, -7, 2**40, 2**62, -(2**63), 2**70, 0.0, 0.5, -0.25, 1e30, math.nan, math.inf, True]


def random_argument(rng, arg):
    if rng.random() < 0.03:
        return ["abc", object, {}, (), b"x", object()][rng.integers(6)]
    number = lambda: NUMBERS[rng.integers(len(NUMBERS) if rng.random() < 0.3 else 4)]  # noqa: E731
    kind = arg["type"]
    if arg["per_sample"] and rng.random() < 0.2:
        return random_input(rng)
    if kind in ("ints", "floats"):
        return [number() for _ in range(rng.integers(0, 20 if rng.random() < 0.1 else 5))]
    if kind == "dtype":
        return ndd.dtype(str(rng.choice([*DTYPES, "bool", "bfloat16"])))
    if kind == "layout":
        return random_layout(rng, int(rng.integers(0, 6))) or ""
    if kind == "choice":
        return str(rng.choice([*arg["choices"], "", "xyz"]))
    if kind == "str":
        return str(rng.choice(["W", "C", "", "xyz"]))
    return number()


@pytest.mark.parametrize("name", sorted(OPS))
def test_random_calls(name):
    op = OPS[name]
    call = function(name)
    counts = {"results": 0, "errors": 0}
    for seed in range(CALLS_PER_OP):
        rng = np.random.default_rng([seed, *map(ord, name)])
        most = 3 if op["inputs"] and op["inputs"][-1]["variadic"] else len(op["inputs"])
        least = sum(not given["optional"] for given in op["inputs"])
        inputs = [random_input(rng) for _ in range(rng.integers(least, most + 1))]
        arguments = {a["name"]: random_argument(rng, a) for a in op["args"] if a["required"] or rng.random() < 0.4}
        if not op["plain"] and rng.random() < 0.2:
            arguments["batch_size"] = int(rng.choice([0, 1, 3]))
        if name.startswith(("zeros", "ones", "full", "random.")) and "shape" in arguments:
            continue_with_small_shapes(arguments, rng)
        try:
            results = call(*inputs, **arguments)
            for result in results if isinstance(results, tuple) else (results,):
                result.evaluate()
                assert repr(result)
            counts["results"] += 1
        except EXPECTED as error:
            assert str(error), "an exception without a message"
            counts["errors"] += 1
    assert counts["errors"] + counts["results"] == CALLS_PER_OP


def continue_with_small_shapes(arguments, rng):
    """A shape of billions of elements is a right request; here it would only fill the memory."""
    arguments["shape"] = [int(rng.integers(-1, 5)) for _ in range(rng.integers(0, 4))]


HOSTILE = [
    lambda: ndd.tensor(np.zeros((1,) * 17)),
    lambda: ndd.zeros(shape=[2**40, 2**40]),
    lambda: ndd.zeros(shape=[2**31 - 1, 2**31 - 1, 2**31 - 1, 8]),
    lambda: ndd.zeros(shape=[-1]),
    lambda: ndd.zeros(shape=[2**62]),
    lambda: ndd.crop(np.zeros((4, 4, 3), np.uint8), crop=[1e9, 1e9], out_of_bounds_policy="pad"),
    lambda: ndd.pad(np.zeros((4, 4), np.uint8), shape=[2**31 - 1, 2**31 - 1]),
    lambda: ndd.flip(np.zeros((4, 4, 3), np.uint8), batch_size=2**40),
    lambda: ndd.reshape(np.zeros(4), shape=[2**40, -1]),
    lambda: ndd.cat(*[np.zeros(2)] * 500, axis=7),
]


@pytest.mark.parametrize("call", HOSTILE)
def test_huge_requests_are_refused(call):
    with pytest.raises(EXPECTED) as raised:
        call().evaluate()
    assert str(raised.value)
