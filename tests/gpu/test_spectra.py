"""Fourier transforms in shared memory, in global memory, and by convolution: as on the CPU, bit for bit."""

import numpy as np
import pytest

import avida as ndd

LENGTHS = [1, 2, 7, 16, 31, 100, 127, 128, 256, 512, 1000, 1024, 1154, 2048, 4096, 4098, 8192, 10007, 30000, 66666]


@pytest.mark.parametrize("length", LENGTHS)
def test_every_length(length, is_fake):
    x = np.random.default_rng(length).uniform(-1, 1, (9, length)).astype(np.float32)
    expected = np.asarray(ndd.power_spectrum(x, power=1))
    got = np.asarray(ndd.power_spectrum(ndd.tensor(x).gpu(), power=1).cpu())
    np.testing.assert_allclose(got, expected, rtol=0 if is_fake else 1e-6, atol=0)


@pytest.mark.parametrize("length", [5, 128, 512, 2048, 5000])
def test_every_axis(length, is_fake):
    x = np.random.default_rng(length).uniform(-1, 1, (3, length, 50)).astype(np.float32)
    got = np.asarray(ndd.power_spectrum(ndd.tensor(x).gpu(), axis=1).cpu())
    np.testing.assert_allclose(got, ndd.power_spectrum(x, axis=1), rtol=0 if is_fake else 1e-6, atol=0)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"layout": "tf"},
        {"nfft": 8192, "window_length": 6000},
        {"window_step": 7},
        {"window_length": 400, "nfft": 512, "power": 1},
        {"window_length": 2047, "nfft": 2048, "layout": "tf"},
        {"window_length": 128, "center_windows": False},
        {"window_length": 1024, "reflect_padding": False},
        {"window_fn": list(np.hamming(512))},
    ],
)
def test_spectrograms_of_a_ragged_batch(arguments, is_fake):
    rng = np.random.default_rng(0)
    signals = ndd.batch([rng.uniform(-1, 1, n).astype(np.float32) for n in (9000, 700, 12001)])
    expected, got = ndd.spectrogram(signals, **arguments), ndd.spectrogram(signals.gpu(), **arguments)
    assert got.layout == expected.layout
    for a, b in zip(got.cpu().tensors, expected.tensors, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=0 if is_fake else 1e-6, atol=0)


@pytest.mark.parametrize("count", [1, 4096, 4097, 50000, (4096 * 4096) + 5])
def test_decibels_of_the_greatest_element(count):
    rng = np.random.default_rng(count)
    x = rng.uniform(-1, 1, count).astype(np.float32)
    x[rng.integers(0, count, 3)] = np.nan
    for at in (0, count // 2, count - 1):
        x[at] = 7
        got, expected = ndd.to_decibels(ndd.tensor(x).gpu()), ndd.to_decibels(x)
        np.testing.assert_allclose(np.asarray(got.cpu()), np.asarray(expected), rtol=1e-6)
        x[at] = -7
    negative = ndd.to_decibels(ndd.tensor(np.full(count, -1, np.float32)).gpu(), cutoff_db=-80)
    assert np.all(np.asarray(negative.cpu()) == np.asarray(ndd.to_decibels(np.float32([-1]), cutoff_db=-80)))


def test_from_a_signal_to_coefficients():
    signal = ndd.tensor(np.random.default_rng(0).uniform(-1, 1, 16000).astype(np.float32))

    def coefficients(x):
        x = ndd.spectrogram(ndd.preemphasis_filter(x), window_length=400, window_step=160)
        return ndd.mfcc(ndd.to_decibels(ndd.mel_filter_bank(x, sample_rate=16000, nfilter=40)), n_mfcc=13)

    got = coefficients(signal.gpu())
    assert got.device.device_type == "gpu"
    np.testing.assert_allclose(np.asarray(got.cpu()), np.asarray(coefficients(signal)), rtol=1e-4, atol=1e-3)
