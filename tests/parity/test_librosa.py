"""Spectrograms, mel spectrograms, decibels and MFCC are librosa's, where both define the term."""

import pathlib
import re

import librosa
import numpy as np
import pytest

import avida as ndd

RATE = 16000
SIGNAL = librosa.chirp(fmin=50, fmax=7000, sr=RATE, duration=1.0).astype(np.float32)
SIGNAL += np.random.default_rng(0).normal(0, 0.01, RATE).astype(np.float32)


def close(got, expected, tolerance=1e-4):
    expected = np.asarray(expected)
    np.testing.assert_allclose(np.asarray(got), expected, rtol=tolerance, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("nfft", [512, 400, 1000])
@pytest.mark.parametrize("power", [1, 2])
def test_spectrogram(nfft, power):
    expected = np.abs(librosa.stft(SIGNAL, n_fft=nfft, hop_length=160, pad_mode="reflect")) ** power
    window = list(librosa.filters.get_window("hann", nfft))
    got = ndd.spectrogram(SIGNAL, nfft=nfft, window_length=nfft, window_step=160, window_fn=window, power=power)
    close(got, expected)


@pytest.mark.parametrize("htk", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_mel(htk, normalize):
    power = np.asarray(ndd.spectrogram(SIGNAL))
    weights = librosa.filters.mel(sr=RATE, n_fft=512, n_mels=40, htk=htk, norm="slaney" if normalize else None)
    got = ndd.mel_filter_bank(
        power, nfilter=40, sample_rate=RATE, mel_formula="htk" if htk else "slaney", normalize=normalize
    )
    close(got, weights @ power)


def test_decibels():
    power = np.asarray(ndd.spectrogram(SIGNAL))
    expected = librosa.power_to_db(power, ref=np.max, amin=1e-30, top_db=None)
    np.testing.assert_allclose(np.asarray(ndd.to_decibels(power, cutoff_db=-300.0)), expected, atol=1e-3)


@pytest.mark.parametrize("kind", [2, 3])
def test_mfcc(kind):
    mel = np.asarray(ndd.to_decibels(ndd.mel_filter_bank(ndd.spectrogram(SIGNAL), nfilter=64, sample_rate=RATE)))
    expected = librosa.feature.mfcc(S=mel, n_mfcc=20, dct_type=kind, norm="ortho")
    np.testing.assert_allclose(
        np.asarray(ndd.mfcc(mel, n_mfcc=20, dct_type=kind, normalize=True)), expected, rtol=1e-4, atol=1e-3
    )


def test_preemphasis():
    expected = librosa.effects.preemphasis(SIGNAL, coef=0.97, zi=[0.0])
    close(ndd.preemphasis_filter(SIGNAL, border="zero"), expected)


def test_features_of_whisper():
    """The recipe of docs/sound.md gives what OpenAI's code computes: their formulas, with librosa's parts."""
    padded = np.pad(SIGNAL, (0, 480_000 - len(SIGNAL)))
    spectrum = np.abs(librosa.stft(padded, n_fft=400, hop_length=160, pad_mode="reflect"))[:, :-1] ** 2
    expected = np.log10(np.maximum(librosa.filters.mel(sr=RATE, n_fft=400, n_mels=80) @ spectrum, 1e-10))
    expected = (np.maximum(expected, expected.max() - 8) + 4) / 4

    page = (pathlib.Path(__file__).parents[2] / "docs" / "sound.md").read_text()
    names = {"ndd": ndd, "periodic": 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)}
    exec(re.search(r"```python\n(def whisper_features.*?\n)\n\n", page, re.DOTALL)[1], names)  # type: ignore[index]
    (got,) = names["whisper_features"](ndd.batch([SIGNAL]))
    assert got.shape == (80, 3000)
    np.testing.assert_allclose(got.numpy(), expected, atol=1e-4)
