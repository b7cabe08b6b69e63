"""Presets for sound: what models of speech take."""

from __future__ import annotations

from typing import Any

import numpy as np

from avida import _ops, math, reductions
from avida._values.batch import Batch
from avida._values.dtype import float32, uint8
from avida._values.tensor import Tensor
from avida.augment._checks import integer, number
from avida.decoders._ops import audio as decode_audio

_RATE = 16000
_WINDOW, _STEP = 400, 160


def whisper(sound: Any, *, mels: int = 80, seconds: float = 30) -> Any:
    """What Whisper takes: logarithms of a mel spectrogram of 30 seconds.

    It follows ``transformers.WhisperFeatureExtractor``: shorter sound is followed by silence, longer sound is cut.

    Args:
        sound: Sound files, or samples of float32 at 16 kHz: a Batch or a Tensor.
        mels: How many bands: 80, or 128 for large-v3.
        seconds: The length.

    Returns:
        float32, bands x times, 100 times for each second.

    Example:
        >>> tone = avida.as_batch([np.sin(np.arange(16000, dtype=np.float32) / 9)])
        >>> avida.augment.presets.whisper(tone, seconds=2).shape
        [(80, 200)]
    """
    bands = integer("whisper", "mels", mels, low=1)
    length = int(number("whisper", "seconds", seconds, low=0.025) * _RATE)
    x = _ops.slice(_samples(sound), start=[0], shape=[length], axes=[0], out_of_bounds_policy="pad")
    hann = np.hanning(_WINDOW + 1)[:-1].astype(np.float32).tolist()
    x = _ops.spectrogram(x, nfft=_WINDOW, window_length=_WINDOW, window_step=_STEP, window_fn=hann)
    x = _ops.mel_filter_bank(x, nfilter=bands, sample_rate=_RATE, freq_high=_RATE / 2)
    x = _ops.slice(x, start=[0], shape=[length // _STEP], axes=[1])  # the last time is left out
    x = math.log10(math.max(x, 1e-10))
    return (math.max(x, reductions.max(x) - 8.0) + 4.0) * 0.25


def wav2vec(sound: Any) -> Any:
    """What wav2vec 2.0 takes: samples of mean 0 and variance 1.

    It follows ``transformers.Wav2Vec2FeatureExtractor``. `Batch.torch(pad=True)` pads.

    Args:
        sound: Sound files, or samples of float32 at 16 kHz: a Batch or a Tensor.

    Example:
        >>> avida.augment.presets.wav2vec(avida.tensor(np.float32([1, 3]))).numpy().round(3)
        array([-1.,  1.], dtype=float32)
    """
    x = _samples(sound)
    return (x - reductions.mean(x)) * math.rsqrt(reductions.variance(x, reductions.mean(x)) + 1e-7)


def _samples(sound: Any) -> Any:
    """Samples at the rate of the models: files are decoded."""
    if isinstance(sound, Batch | Tensor) and sound.dtype == uint8:
        return decode_audio(sound, sample_rate=_RATE, downmix=True, dtype=float32)[0]
    return sound
