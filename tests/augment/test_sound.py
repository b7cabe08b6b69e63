"""Noise at a ratio, speed, and numbers that are drawn for each sample."""

import numpy as np

import avida as ndd

A = ndd.augment


def signals(seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(0, 0.1 + i, 800 + 50 * i).astype(np.float32) for i in range(3)]


def rms(x):
    return np.sqrt(np.mean(np.square(np.asarray(x, np.float64))))


def song(seconds=2, rate=16000):
    t = np.arange(seconds * rate) / rate
    noise = np.random.default_rng(0).normal(0, 0.01, t.size)
    return (np.sin(2 * np.pi * (200 + 30 * t) * t) + 0.3 * np.sin(2 * np.pi * 1700 * t) + noise).astype(np.float32)


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


def test_speed_resamples():
    x = song()
    for factor in (0.9, 1.1, 2):
        expected = ndd.audio_resample(x, in_rate=factor, out_rate=1)
        np.testing.assert_array_equal(np.asarray(A.speed(x, factor)), np.asarray(expected))
    batch = ndd.as_batch(signals())
    for made, x, factor in zip(A.speed(batch, [0.5, 1.0, 2.0]), signals(), (0.5, 1, 2), strict=True):
        assert abs(made.shape[0] - len(x) / factor) <= 1


def test_numbers_are_drawn_for_each_sample():
    x = ndd.as_batch([song()] * 8)
    noise = ndd.as_batch([np.ones(32000, np.float32)] * 8)
    between = A.between
    for made in (
        A.gain(x, between(-6, 6)),
        A.clip(x, level=between(0.1, 0.9)),
        A.biquad(x, frequency=between(100, 4000)),
        A.time_stretch(x, rate=between(0.8, 1.2)),
        A.pitch_shift(x, steps=between(-3, 3)),
        A.speed(x, between(0.8, 1.2)),
        A.add_noise(x, noise, snr=between(0, 30)),
    ):
        assert len({np.asarray(sample).tobytes() for sample in made}) == 8
