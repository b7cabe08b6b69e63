"""Noise is the same on both devices: what an element gets follows from its index alone."""

import numpy as np
import pytest

import avida as ndd

TYPES = ["uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]


def check(function, dtype, exact, **arguments):
    rng = np.random.default_rng(3)
    samples = [rng.integers(0, 120, shape).astype(dtype) for shape in ((31, 45, 3), (64, 70, 3), (1, 1, 3))]
    batch = ndd.batch(samples, layout="HWC")
    on_cpu = function(batch, rng=ndd.random.RNG(5), **arguments)
    on_gpu = function(batch.gpu(), rng=ndd.random.RNG(5), **arguments)
    for got, wanted in zip(on_gpu.tensors, on_cpu.tensors, strict=True):
        got, wanted = np.asarray(got.cpu()), np.asarray(wanted)
        assert got.dtype == dtype
        if exact:
            np.testing.assert_array_equal(got, wanted)
        else:  # a sum may be rounded to either side
            np.testing.assert_allclose(
                got.astype(float), wanted.astype(float), rtol=1e-3, atol=np.dtype(dtype).kind != "f"
            )
    return samples, on_gpu


@pytest.mark.parametrize("dtype", TYPES)
def test_gaussian(dtype):
    check(ndd.noise.gaussian, dtype, False, mean=3.0, stddev=20.0)


@pytest.mark.parametrize("dtype", TYPES)
def test_salt_and_pepper(dtype):
    check(ndd.noise.salt_and_pepper, dtype, True, prob=0.3)


@pytest.mark.parametrize("dtype", TYPES)
def test_shot(dtype):
    for factor in (2.0, 20.0):  # bytes of few events are made in another way
        check(ndd.noise.shot, dtype, True, factor=factor)


@pytest.mark.parametrize("dtype", TYPES)
def test_no_shot(dtype):
    samples, made = check(ndd.noise.shot, dtype, True, factor=0.0)
    for sample, tensor in zip(samples, made.tensors, strict=True):
        np.testing.assert_array_equal(np.asarray(tensor.cpu()), sample)
