"""Spectra: frames, windows, lengths of the Fourier transform, and what is refused."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case


def hann(length):
    return 0.5 * (1 - np.cos(2 * np.pi * (np.arange(length) + 0.5) / length))


def frames(x, length, step, center, reflect):
    """One row for each window of a signal."""
    x = x.astype(np.float64).ravel()
    count = len(x) // step + 1
    if center:
        before, after = length // 2, length
        # NumPy reflects a signal of one element as if it was constant.
        x = np.pad(x, (before, after), mode="reflect" if reflect else "constant")
    else:
        count = (len(x) - length) // step + 1
    return np.stack([x[i * step : i * step + length] for i in range(count)])


def spectrum(x, nfft, power):
    return np.abs(np.fft.rfft(x, nfft, axis=-1)) ** power


@op_case("spectrogram", shapes=[(300,), (333,), (90,)], dtypes=["float32"], low=-1, high=1, rtol=1e-3,
         window_length=[64, 63, 50], window_step=[16, 37], nfft=[64, 100, 74, 65],
         reflect_padding=[True, False], power=[1, 2])  # fmt: skip
def spectrogram(x, window_length, window_step, nfft, reflect_padding, power):
    windows = frames(x, window_length, window_step, True, reflect_padding) * hann(window_length)
    return spectrum(windows, nfft, power).T.astype(np.float32)


@op_case("spectrogram", shapes=[(700,), (600,), (550,)], dtypes=["float32"], low=-1, high=1, rtol=1e-3,
         center_windows=[False], window_step=[50], power=[1])  # fmt: skip
def without_padding(x, center_windows, window_step, power):
    return spectrum(frames(x, 512, window_step, False, False) * hann(512), 512, power).T.astype(np.float32)


@op_case("power_spectrum", shapes=[(17, 34, 20), (24, 8, 40)], dtypes=["float32"], low=-1, high=1, rtol=1e-3,
         axis=[0, 1, 2, -1], power=[1, 2])  # fmt: skip
def power_spectrum(x, axis, power):
    x = np.moveaxis(x.astype(np.float64), axis, -1)
    return np.moveaxis(spectrum(x, None, power), -1, axis).astype(np.float32)


@op_case("power_spectrum", shapes=[(100,), (30,)], dtypes=["float32"], low=-1, high=1, rtol=1e-3, nfft=[50, 64, 101])
def power_spectrum_of_length(x, nfft):
    return spectrum(x.astype(np.float64), nfft, 2).astype(np.float32)


LENGTHS = [*range(1, 50), 64, 77, 91, 100, 121, 127, 128, 143, 169, 211, 512, 997, 1000, 1024, 1154, 2048, 3001, 4096]
LENGTHS += [6144, 8192, 10007, 65536, 66666, 100003]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("lines", [1, 3])
def test_every_length(length, lines):
    x = np.random.default_rng(length).uniform(-1, 1, (lines, length)).astype(np.float32)
    expected = spectrum(x.astype(np.float64), None, 1)
    got = np.asarray(ndd.power_spectrum(x, power=1))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=2e-6 * expected.max())


def test_a_frame_does_not_depend_on_its_neighbours():
    """Silence beside noise stays silent: frames are computed together, and not mixed."""
    x = np.zeros((40, 512), np.float32)
    x[::2] = np.random.default_rng(0).normal(0, 1e6, (20, 512))
    got = np.asarray(ndd.power_spectrum(x))
    assert (got[1::2] == 0).all()
    np.testing.assert_array_equal(got[4], np.asarray(ndd.power_spectrum(x[4])))


@pytest.mark.parametrize("length", [1, 2, 3, 10, 255])
def test_signals_shorter_than_a_window(length):
    x = np.random.default_rng(length).uniform(-1, 1, length).astype(np.float32)
    expected = spectrum(frames(x, 512, 256, True, True) * hann(512), 512, 1).T
    got = np.asarray(ndd.spectrogram(x, power=1))
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4 * expected.max())


@pytest.mark.parametrize("length", [100, 5000])
def test_time_first(length):
    x = np.random.default_rng(1).uniform(-1, 1, length).astype(np.float32)
    by_frequency, by_time = ndd.spectrogram(x), ndd.spectrogram(x, layout="tf")
    assert (by_frequency.layout, by_time.layout) == ("ft", "tf")
    np.testing.assert_array_equal(np.asarray(by_time), np.asarray(by_frequency).T)


def test_shapes_with_one_channel():
    x = np.random.default_rng(1).uniform(-1, 1, 900).astype(np.float32)
    expected = np.asarray(ndd.spectrogram(x))
    for shape in [(900, 1), (1, 900), (1, 1, 900)]:
        np.testing.assert_array_equal(np.asarray(ndd.spectrogram(x.reshape(shape))), expected)


def test_a_window_of_one_s_own():
    x = np.random.default_rng(0).uniform(-1, 1, 1000).astype(np.float32)
    window = np.hamming(100)
    got = np.asarray(ndd.spectrogram(x, window_fn=list(window), window_length=100, window_step=40, power=1))
    expected = spectrum(frames(x, 100, 40, True, True) * window, 100, 1).T
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


SIGNAL = np.ones(1000, np.float32)
REFUSED = [
    ({"window_length": 0}, "window_length"),
    ({"window_step": 0}, "window_step"),
    ({"nfft": 100}, "nfft"),
    ({"power": 3}, "power"),
    ({"layout": "xy"}, "layout"),
    ({"window_fn": [1.0, 2.0]}, "window_fn"),
    ({"center_windows": False, "window_length": 2000}, "center_windows"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_wrong_arguments(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        ndd.spectrogram(SIGNAL, **arguments).evaluate()


def test_wrong_inputs():
    with pytest.raises(RuntimeError, match="one channel"):
        ndd.spectrogram(SIGNAL.reshape(2, 500)).evaluate()
    with pytest.raises(RuntimeError, match="not empty"):
        ndd.spectrogram(SIGNAL[:0]).evaluate()
    with pytest.raises(RuntimeError, match="float32"):
        ndd.spectrogram(SIGNAL.astype(np.int16)).evaluate()
    with pytest.raises(RuntimeError, match="at least one element"):
        ndd.power_spectrum(SIGNAL[:0]).evaluate()
