"""Operators on signals in time: preemphasis_filter, nonsilent_region, audio_resample."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import FLOATS, INTEGERS, op_case


@op_case("preemphasis_filter", shapes=[(9000,), (35,), (1,)], dtypes=[*INTEGERS, *FLOATS], rtol=1e-3,
         border=["zero", "clamp", "reflect"], preemph_coeff=[0.97, 0.5, 0.0])  # fmt: skip
def preemphasis(x, border, preemph_coeff):
    flat = x.astype(np.float64).ravel()
    first = {"zero": 0, "clamp": flat[0], "reflect": flat[1] if flat.size > 1 else 0}[border]
    return (flat - preemph_coeff * np.concatenate([[first], flat[:-1]])).reshape(x.shape).astype(np.float32)


@op_case("preemphasis_filter", shapes=[(50,), (9,)], dtypes=["float32", "int16"], atol=1, dtype=[ndd.int16])
def preemphasis_of_integers(x, dtype):
    flat = x.astype(np.float64)
    return np.rint(flat - 0.97 * np.concatenate([flat[:1], flat[:-1]])).astype(np.int16)


def burst(dtype, seed, length=3000):
    """Noise between two silences."""
    rng = np.random.default_rng(seed)
    x = np.zeros(length)
    begin, end = sorted(rng.integers(0, length, 2))
    x[begin:end] = rng.uniform(20, 100, end - begin)
    return x.astype(dtype)


@op_case("nonsilent_region", inputs=[[burst("int16", 0)], [burst("int16", 1)], [burst("int16", 2, 10)]],
         cutoff_db=[-60.0, -3.0], window_length=[64, 1], reset_interval=[-1, 128],
         reference_power=[1.0, 500.0])  # fmt: skip
def nonsilent(x, cutoff_db, window_length, reset_interval, reference_power):
    window = min(window_length, len(x))
    sums = np.concatenate([[0], np.cumsum(x.astype(np.int64) ** 2)])
    powers = (sums[window:] - sums[:-window]) / window
    (loud,) = np.nonzero(powers >= reference_power * 10 ** (cutoff_db / 10))
    if len(loud) == 0:
        return np.int32(0), np.int32(0)
    return np.int32(loud[0]), np.int32(loud[-1] - loud[0] + window)


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32"])
def test_noise_between_silences(dtype):
    x = np.zeros(50_000)
    x[20_000:30_000] = np.random.default_rng(0).integers(1, 100, 10_000)
    begin, length = (int(np.asarray(v)) for v in ndd.nonsilent_region(x.astype(dtype), window_length=256))
    assert 20_000 - 255 <= begin <= 20_000
    # Rounding errors of the moving sum remain up to the next multiple of reset_interval.
    assert 30_000 - begin <= length
    if dtype.endswith("8") or dtype.endswith("16"):
        assert length <= 30_000 + 255 - begin


def test_silence_and_nothing():
    silent = [np.asarray(v) for v in ndd.nonsilent_region(np.zeros(100, np.float32), reference_power=1.0)]
    assert silent[1] == 0
    # Without a reference everything is as loud as the loudest.
    assert [int(np.asarray(v)) for v in ndd.nonsilent_region(np.zeros(100, np.float32))] == [0, 100]
    assert [int(np.asarray(v)) for v in ndd.nonsilent_region(np.zeros(0, np.float32))] == [0, 0]


LOBES = {0.0: 3, 50.0: 16}


def resampled(x, step, length, lobes):
    """The sinc filter under a Hann window, interpolated between 32 steps of an element."""
    if x.ndim == 2:
        return np.stack([resampled(channel, step, length, lobes) for channel in x.T], axis=1)
    grid = np.arange(-lobes * 32, lobes * 32 + 1) / 32
    table = np.sinc(grid) * 0.5 * (1 + np.cos(np.pi * grid / (lobes + 1 / 64)))
    positions = np.arange(length) * step
    distance = np.arange(len(x)) - positions[:, None]
    return np.interp(distance, grid, table, left=0, right=0) @ x.astype(np.float64)


@op_case("audio_resample", shapes=[(900,), (300,), (20,)], dtypes=["float32"], low=0.2, high=1, rtol=2e-3,
         scale=[0.5, 1.3, 1.0], quality=[50.0, 0.0])  # fmt: skip
def audio_resample(x, scale, quality):
    scale = float(np.float32(scale))
    return resampled(x, 1 / scale, int(np.ceil(len(x) * scale)), LOBES[quality]).astype(np.float32)


@op_case(
    "audio_resample", shapes=[(90, 2), (31, 3)], dtypes=["float32"], low=0.2, high=1, rtol=2e-3, out_length=[50, 200]
)
def audio_resample_to_length(x, out_length):
    return resampled(x, len(x) / out_length, out_length, 16).astype(np.float32)


@op_case("audio_resample", shapes=[(90,), (31,)], dtypes=["int16"], low=-30000, high=30000, atol=8,
         in_rate=[3.0], out_rate=[2.0])  # fmt: skip
def audio_resample_integers(x, in_rate, out_rate):
    out = resampled(x, in_rate / out_rate, int(np.ceil(len(x) * out_rate / in_rate)), 16)
    return np.rint(out).clip(-32768, 32767).astype(np.int16)


def test_ranges_of_types():
    """Far from the ends a constant stays as loud, in every type."""
    quiet = np.full(200, 0.5, np.float32)
    for name, expected in [("int8", 64), ("uint8", 191), ("int16", 16384), ("uint16", 49151), ("int32", 2**30)]:
        got = np.asarray(ndd.audio_resample(quiet, scale=1.0, dtype=getattr(ndd, name)))
        assert got.dtype == name
        assert abs(int(got[100]) - expected) <= max(1, expected * 1e-5), name
        back = np.asarray(ndd.audio_resample(got, scale=1.0, dtype=ndd.float32))
        assert abs(back[100] - 0.5) < 0.01


REFUSED = [
    ({}, "one of"),
    ({"in_rate": 1.0}, "together"),
    ({"scale": 1.0, "out_length": 5}, "one of"),
    ({"scale": -1.0}, "scale"),
    ({"out_length": -1}, "out_length"),
    ({"in_rate": 0.0, "out_rate": 1.0}, "in_rate"),
    ({"scale": 1.0, "quality": 101.0}, "quality"),
    ({"scale": 1.0, "dtype": ndd.float64}, "float32"),
    ({"scale": 1e30}, "factor|too long"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_wrong_arguments(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        ndd.audio_resample(np.ones(10, np.float32), **arguments).evaluate()


def test_other_wrong_arguments():
    signal = np.ones(3000, np.float32)
    with pytest.raises(RuntimeError, match="border"):
        ndd.preemphasis_filter(signal, border="wrap").evaluate()
    for arguments in ({"window_length": 0}, {"reset_interval": 5}, {"reset_interval": 0}, {"reference_power": -1.0}):
        with pytest.raises(RuntimeError, match=next(iter(arguments))):
            ndd.nonsilent_region(signal, **arguments)[0].evaluate()
    with pytest.raises(RuntimeError, match="empty"):
        ndd.audio_resample(signal[:0], out_length=5).evaluate()
