"""Operators on sound of avida.augment, against NumPy, SciPy and librosa."""

import numpy as np
import pytest
import scipy.signal

import avida as ndd
from tests.op_case import op_case

A = ndd.augment
SIGNALS = {"shapes": [(700,), (3001,), (40,)], "dtypes": ["float32"], "low": -1, "high": 1, "rtol": 1e-4}


def rms(x):
    return np.sqrt(np.mean(np.square(np.asarray(x, np.float64))))


@op_case("augment.gain", dtypes=["float32", "float16"], low=-1, high=1, rtol=2e-3, db=[0.0, -6.0, 20.0])
def gain_case(x, db):
    return (x * np.float32(10 ** (float(db) / 20))).astype(x.dtype)


@op_case("augment.clip", dtypes=["float32", "float16"], low=-1, high=1, rtol=1e-3, level=[0.0, 0.3, 5.0])
def clip_case(x, level):
    return np.clip(x, -float(level), float(level)).astype(x.dtype)


def of_responses(*shapes):
    given = {"dtypes": ["float32"], "low": 0.1, "high": 1, "rtol": 1e-2, "tail": [False, True]}
    return op_case("augment.impulse_response", shapes=[list(pair) for pair in shapes], **given)


@of_responses(((700,), (30,)), ((3,), (1,)), ((3001,), (5000,)))
@of_responses(((3001, 2), (5000, 1)), ((40, 2), (400, 2)), ((700, 1), (700, 1)))
def impulse_case(signal, response, tail):
    x, h = (v.reshape(len(v), -1).astype(np.float64) for v in (signal, response))
    made = [np.convolve(x[:, c], h[:, c if h.shape[1] > 1 else 0]) for c in range(x.shape[1])]
    made = np.float32(np.stack(made, axis=1))[: None if tail else len(signal)]
    return made.reshape(-1, *signal.shape[1:])


KINDS = ["low_pass", "high_pass", "band_pass", "band_stop", "all_pass", "peak", "low_shelf", "high_shelf"]


def cookbook(kind, frequency, rate, q, gain):
    turn = 2 * np.pi * frequency / rate
    c, alpha, a = np.cos(turn), np.sin(turn) / 2 / q, 10 ** (gain / 40)
    poles = [1 + alpha, -2 * c, 1 - alpha]
    root, up, down = 2 * a**0.5 * alpha, a + 1, a - 1
    return {
        "low_pass": ([(1 - c) / 2, 1 - c, (1 - c) / 2], poles),
        "high_pass": ([(1 + c) / 2, -1 - c, (1 + c) / 2], poles),
        "band_pass": ([alpha, 0, -alpha], poles),
        "band_stop": ([1, -2 * c, 1], poles),
        "all_pass": ([1 - alpha, -2 * c, 1 + alpha], poles),
        "peak": ([1 + alpha * a, -2 * c, 1 - alpha * a], [1 + alpha / a, -2 * c, 1 - alpha / a]),
        "low_shelf": (
            [a * (up - down * c + root), 2 * a * (down - up * c), a * (up - down * c - root)],
            [up + down * c + root, -2 * (down + up * c), up + down * c - root],
        ),
        "high_shelf": (
            [a * (up + down * c + root), -2 * a * (down + up * c), a * (up + down * c - root)],
            [up - down * c + root, 2 * (down - up * c), up - down * c - root],
        ),
    }[kind]


@op_case(
    "augment.biquad",
    **{**SIGNALS, "rtol": 2e-3},
    kind=KINDS,
    frequency=[300.0, 5000.0],
    q=[0.7, 5.0],
    gain=[0.0, -9.0],
    sample_rate=[16000.0],
)
def biquad_case(x, kind, frequency, q, gain, sample_rate):
    b, a = cookbook(kind, float(frequency), float(sample_rate), float(q), float(gain))
    return np.float32(scipy.signal.lfilter(b, a, x.astype(np.float64)))


@op_case("augment.time_stretch", **{**SIGNALS, "rtol": 1}, rate=[1.0, 0.7, 2.5], n_fft=[256])
def stretch_case(x, rate, n_fft):
    return stretched(x, float(rate), int(n_fft))


@op_case("augment.pitch_shift", **{**SIGNALS, "rtol": 1}, steps=[0.0], n_fft=[256])
def pitch_case(x, steps, n_fft):
    return stretched(x, 1.0, int(n_fft))


def stretched(x, rate, n_fft):
    import librosa  # which machines with a GPU need not have

    made = librosa.effects.time_stretch(x.astype(np.float64), rate=rate, n_fft=n_fft)
    return made.astype(np.float32)


def song(seconds=2, rate=16000):
    t = np.arange(seconds * rate) / rate
    noise = np.random.default_rng(0).normal(0, 0.01, t.size)
    return (np.sin(2 * np.pi * (200 + 30 * t) * t) + 0.3 * np.sin(2 * np.pi * 1700 * t) + noise).astype(np.float32)


@pytest.mark.parametrize("rate", [1.0, 1.25, 0.8, 2.0, 0.5])
def test_stretching_is_that_of_librosa(rate):
    import librosa

    x = song()
    expected = librosa.effects.time_stretch(x.astype(np.float64), rate=rate)
    made = np.asarray(A.time_stretch(x, rate=rate))
    assert made.shape == expected.shape
    assert rms(made - expected) < 1e-3 * rms(expected)


@pytest.mark.parametrize("steps", [-5, 3, 12])
def test_shifted_pitch(steps):
    import librosa

    x = song()
    made = np.asarray(A.pitch_shift(x, steps=steps))
    expected = librosa.effects.pitch_shift(x.astype(np.float64), sr=16000, n_steps=steps)
    assert made.shape == x.shape
    inside = slice(2000, -2000)  # resampling goes on beyond the ends in other ways
    assert rms((made - expected)[inside]) < 0.01 * rms(expected[inside])


def test_what_is_refused():
    x = song()
    for function, arguments, text in (
        (A.biquad, {"frequency": 9000}, "below half of the sample rate, 8000, got 9000"),
        (A.time_stretch, {"rate": 0}, "expected a rate from 0.01 to 100, got 0"),
        (A.time_stretch, {"n_fft": 511}, "expected an even n_fft from 4 to 65536, got 511"),
        (A.pitch_shift, {"steps": 99}, "expected from -48 to 48 steps, got 99"),
        (A.clip, {"level": -1}, "expected a level of at least 0, got -1"),
    ):
        with pytest.raises(RuntimeError, match=text):
            function(x, **arguments).evaluate()
    with pytest.raises(RuntimeError, match="expected a response with one channel or 1, got 2"):
        A.impulse_response(x, np.ones((5, 2), np.float32)).evaluate()
    with pytest.raises(RuntimeError, match="expected float32, got int16"):
        A.impulse_response(x.astype(np.int16), x).evaluate()
