"""Fourier transforms in shared memory, in global memory, and by convolution: as on the CPU, bit for bit."""

import numpy as np
import pytest

import avida as ndd

LENGTHS = [1, 2, 7, 16, 31, 100, 127, 512, 1000, 1154, 2048, 4096, 4098, 8192, 10007, 30000, 66666]


@pytest.mark.parametrize("length", LENGTHS)
def test_every_length(length, is_fake):
    x = np.random.default_rng(length).uniform(-1, 1, (9, length)).astype(np.float32)
    expected = np.asarray(ndd.power_spectrum(x, power=1))
    got = np.asarray(ndd.power_spectrum(ndd.tensor(x).gpu(), power=1).cpu())
    np.testing.assert_allclose(got, expected, rtol=0 if is_fake else 1e-6, atol=0)


@pytest.mark.parametrize("arguments", [{}, {"layout": "tf"}, {"nfft": 8192, "window_length": 6000}, {"window_step": 7}])
def test_spectrograms_of_a_ragged_batch(arguments, is_fake):
    rng = np.random.default_rng(0)
    signals = ndd.batch([rng.uniform(-1, 1, n).astype(np.float32) for n in (9000, 700, 12001)])
    expected, got = ndd.spectrogram(signals, **arguments), ndd.spectrogram(signals.gpu(), **arguments)
    assert got.layout == expected.layout
    for a, b in zip(got.cpu().tensors, expected.tensors, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=0 if is_fake else 1e-6, atol=0)


def test_from_a_signal_to_coefficients():
    signal = ndd.tensor(np.random.default_rng(0).uniform(-1, 1, 16000).astype(np.float32))

    def coefficients(x):
        x = ndd.spectrogram(ndd.preemphasis_filter(x), window_length=400, window_step=160)
        return ndd.mfcc(ndd.to_decibels(ndd.mel_filter_bank(x, sample_rate=16000, nfilter=40)), n_mfcc=13)

    got = coefficients(signal.gpu())
    assert got.device.device_type == "gpu"
    np.testing.assert_allclose(np.asarray(got.cpu()), np.asarray(coefficients(signal)), rtol=1e-4, atol=1e-3)
