"""Every operator gives on the GPU what it gives on the CPU."""

import operator

import numpy as np
import pytest

import avida as ndd
from tests.every_op.test_every_op import combinations, inputs_as_batches, results
from tests.op_case import CASES, OPS, RANDOM_ARGUMENTS, RANDOM_INPUTS


def check(case, got, expected):
    """Integers and what is only moved are equal; floats 1e-5; interpolated bytes within 1."""
    got, expected = np.asarray(got.cpu()), np.asarray(expected)
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    if expected.dtype.kind == "f":
        tolerance = 2e-3 if expected.dtype == np.float16 else max(case.rtol, 1e-5)
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=1e-6 * max(1.0, np.abs(expected).max(initial=0)))
    elif case.atol or case.rtol > 1e-6:
        assert np.abs(got.astype(np.int64) - expected.astype(np.int64)).max(initial=0) <= 1
    else:
        np.testing.assert_array_equal(got, expected)


def evaluated(function, inputs, arguments):
    out = results(function(*inputs, **arguments))
    for value in out:
        value.evaluate()
    return out


@pytest.mark.parametrize("case", CASES, ids=[f"{c.op}-{c.source.rpartition('.')[2]}" for c in CASES])
def test_equals_the_cpu(case):
    for dtype in case.dtypes:
        _, batches = inputs_as_batches(case, dtype)
        if not batches:
            continue
        on_gpu = [batch.gpu() for batch in batches]
        for arguments in combinations(case, 4):
            try:
                expected = evaluated(case.function, batches, arguments)
            except (ValueError, RuntimeError, TypeError) as error:
                with pytest.raises(type(error)):
                    evaluated(case.function, on_gpu, arguments)
                continue
            got = results(case.function(*on_gpu, **arguments))
            for ours, theirs in zip(got, expected, strict=True):
                assert ours.device.device_type == "gpu"
                assert ours.layout == theirs.layout
                for a, b in zip(ours.tensors, theirs.tensors, strict=True):
                    check(case, a, b)


RANDOM = [name for name, op in OPS.items() if op["random"]]


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_are_those_of_the_cpu(name):
    function = operator.attrgetter(name)(ndd)
    needed = sum(not given["optional"] for given in OPS[name]["inputs"])
    inputs = RANDOM_INPUTS[name]() if name in RANDOM_INPUTS else [ndd.tensor(1000)] * needed
    arguments = dict(RANDOM_ARGUMENTS.get(name, {}))
    if name not in RANDOM_INPUTS:
        arguments["batch_size"] = 3
    expected = results(function(*inputs, **arguments, rng=ndd.random.RNG(seed=5)))
    got = results(function(*[i.gpu() for i in inputs], **arguments, device="gpu", rng=ndd.random.RNG(seed=5)))
    for ours, theirs in zip(got, expected, strict=True):
        for a, b in zip(ours.tensors, theirs.tensors, strict=True):
            np.testing.assert_allclose(np.asarray(a.cpu()), np.asarray(b), rtol=1e-5, atol=1e-6)
