"""Mel spectrograms, their coefficients, and decibels."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


def to_mel(f, formula):
    if formula == "htk":
        return 2595 * np.log10(1 + f / 700)
    return np.where(f < 1000, f * 3 / 200, 15 + np.log(np.maximum(f, 1e-9) / 1000) * 27 / np.log(6.4))


def to_hertz(mel, formula):
    if formula == "htk":
        return 700 * (10 ** (mel / 2595) - 1)
    return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))


def filters(bins, nfilter, rate, low, high, formula, normalize):
    """One row of weights for each filter."""
    edges = to_hertz(np.linspace(to_mel(low, formula), to_mel(high, formula), nfilter + 2), formula)
    f = np.arange(bins) * rate / 2 / (bins - 1)
    left, middle, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    weights = np.maximum(0, np.minimum((f - left) / (middle - left), (right - f) / (right - middle)))
    return weights * 2 / (right - left) if normalize else weights


@op_case("mel_filter_bank", layout="ft", shapes=[(65, 70), (129, 3), (33, 1)], dtypes=["float32"], rtol=1e-4,
         nfilter=[10, 40], sample_rate=[16000.0], freq_low=[0.0, 300.0], freq_high=[0.0, 7000.0],
         mel_formula=["slaney", "htk"], normalize=[True, False])  # fmt: skip
def mel(x, nfilter, sample_rate, freq_low, freq_high, mel_formula, normalize):
    high = freq_high or sample_rate / 2
    weights = filters(len(x), nfilter, sample_rate, freq_low, high, mel_formula, normalize)
    return (weights @ x.astype(np.float64)).astype(np.float32)


@op_case("mel_filter_bank", layout="ctf", shapes=[(2, 5, 65), (1, 3, 40)], dtypes=["float32"], rtol=1e-4, nfilter=[12])
def mel_along_the_last_axis(x, nfilter):
    weights = filters(x.shape[-1], nfilter, 44100, 0, 22050, "slaney", True)
    return (x.astype(np.float64) @ weights.T).astype(np.float32)


def dct(x, kind, normalize=False):
    """The discrete cosine transform along the first axis, by its definition."""
    n = len(x)
    k, i = np.mgrid[:n, :n]
    if kind == 1:
        weights = np.cos(np.pi * i * k / (n - 1)) * np.where((i == 0) | (i == n - 1), 0.5, 1)
    else:
        weights = np.cos(np.pi * (i + (kind in (2, 4)) / 2) * (k + (kind in (3, 4)) / 2) / n)
        first = {2: k == 0, 3: i == 0, 4: k < 0}[kind]
        if normalize:
            weights *= np.where(first, np.sqrt(1 / n), np.sqrt(2 / n))
        elif kind == 3:
            weights *= np.where(first, 0.5, 1)
    return np.tensordot(weights, x.astype(np.float64), 1)


@op_case("mfcc", shapes=[(40, 30), (25, 3), (128, 1)], dtypes=["float32"], low=-80, high=0, rtol=1e-3,
         dct_type=[2, 3, 4], n_mfcc=[13, 200], normalize=[False, True], lifter=[0.0, 22.0])  # fmt: skip
def mfcc(x, dct_type, n_mfcc, normalize, lifter):
    out = dct(x, dct_type, normalize)[:n_mfcc]
    if lifter:
        out *= (1 + lifter / 2 * np.sin(np.pi * (np.arange(len(out)) + 1) / lifter))[:, None]
    return out.astype(np.float32)


@op_case("mfcc", shapes=[(4, 20, 3), (2, 30, 70)], dtypes=["float32"], low=-80, high=0, rtol=1e-3, dct_type=[1],
         axis=[1], n_mfcc=[9])  # fmt: skip
def mfcc_of_the_first_type(x, dct_type, axis, n_mfcc):
    return np.moveaxis(dct(np.moveaxis(x, 1, 0), 1)[:n_mfcc], 0, 1).astype(np.float32)


@op_case("to_decibels", shapes=[(40, 30), (1, 7), (15, 2)], dtypes=["float32"], low=-1, high=100, rtol=1e-4,
         multiplier=[10.0, 20.0], cutoff_db=[-200.0, -30.0], reference=[1.0, 50.0])  # fmt: skip
def decibels(x, multiplier, cutoff_db, reference):
    least = 10 ** (cutoff_db / multiplier)
    return (multiplier * np.log10(np.maximum(least, x.astype(np.float64) / reference))).astype(np.float32)


@op_case("to_decibels", shapes=[(40, 30), (1, 700), (15, 2)], dtypes=["float32"], low=0, high=100, rtol=1e-4)
def decibels_of_the_maximum(x):
    return (10 * np.log10(np.maximum(1e-20, x.astype(np.float64) / x.max()))).astype(np.float32)


def test_decibels_of_extremes():
    x = np.float32([0, -1, np.nan, 1e-40, 1e-30, 1, 3e38, np.inf])
    got = np.asarray(ndd.to_decibels(x, reference=1.0, cutoff_db=-500.0))
    lowest = 10 * np.log10(np.float64(np.float32(1e-45)))
    expected = [lowest] * 3 + [10 * np.log10(np.float64(v)) for v in x[3:]]
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(ndd.to_decibels(np.zeros(3, np.float32))), -200, rtol=1e-5)
    assert np.asarray(ndd.to_decibels(np.zeros((0, 3), np.float32))).shape == (0, 3)


MEL = np.ones((40, 3), np.float32)
REFUSED = [
    ("mel_filter_bank", {"nfilter": 0}, "nfilter"),
    ("mel_filter_bank", {"freq_low": -1.0}, "freq_low"),
    ("mel_filter_bank", {"freq_low": 30000.0}, "freq_high"),
    ("mel_filter_bank", {"sample_rate": 0.0}, "sample_rate"),
    ("mel_filter_bank", {"mel_formula": "x"}, "mel_formula"),
    ("mfcc", {"axis": 2}, "axis"),
    ("mfcc", {"n_mfcc": 0}, "n_mfcc"),
    ("mfcc", {"dct_type": 5}, "dct_type"),
    ("mfcc", {"dct_type": 1, "normalize": True}, "normalize"),
    ("to_decibels", {"reference": 0.0}, "reference"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), REFUSED)
def test_wrong_arguments(name, arguments, message):
    with pytest.raises(RuntimeError, match=message):
        getattr(ndd, name)(MEL, **arguments).evaluate()


def test_wrong_inputs():
    with pytest.raises(RuntimeError, match="layout"):
        ndd.mel_filter_bank(ndd.tensor(MEL, layout="ab")).evaluate()
    with pytest.raises(RuntimeError, match="at least 2"):
        ndd.mfcc(MEL[:1], dct_type=1).evaluate()
    for name in ("mel_filter_bank", "mfcc", "to_decibels"):
        with pytest.raises(RuntimeError, match="float32"):
            getattr(ndd, name)(MEL.astype(np.int16)).evaluate()
