"""Loudness and noise at a ratio, against NumPy."""

import numpy as np

import avida as ndd

A = ndd.augment


def signals(seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(0, 0.1 + i, 800 + 50 * i).astype(np.float32) for i in range(3)]


def rms(x):
    return np.sqrt(np.mean(np.square(np.asarray(x, np.float64))))


def test_gain():
    for db, each in ((6, [6] * 3), ([-3.0, 0.0, 20.0], [-3, 0, 20])):
        for made, x, decibels in zip(A.gain(ndd.as_batch(signals()), db), signals(), each, strict=True):
            np.testing.assert_allclose(np.asarray(made), x * 10 ** (decibels / 20), rtol=1e-5)


def test_noise_has_the_ratio():
    ratios = [10.0, 0.0, -5.0]
    made = A.add_noise(ndd.as_batch(signals()), ndd.as_batch(signals(1)), snr=ratios)
    for mixed, x, noise, snr in zip(made, signals(), signals(1), ratios, strict=True):
        added = np.asarray(mixed) - x
        np.testing.assert_allclose(20 * np.log10(rms(x) / rms(added)), snr, atol=0.01)
        np.testing.assert_allclose(added / rms(added), noise / rms(noise), atol=1e-3)


def test_silence_is_no_noise():
    x = signals()[0]
    made = A.add_noise(ndd.tensor(x), ndd.tensor(np.zeros_like(x)), snr=3)
    np.testing.assert_array_equal(np.asarray(made), x)
