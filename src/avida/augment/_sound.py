"""Augmentation of sound: noise at a ratio, and other speeds."""

from __future__ import annotations

from typing import Any, TypeVar

from avida import math, reductions
from avida._ops import audio_resample
from avida._scenes.random_arguments import Random
from avida._values.batch import Batch, as_batch
from avida._values.tensor import Tensor
from avida._values.typing import FloatArg

Signal = TypeVar("Signal", Batch, Tensor)


def add_noise(signal: Signal, noise: Signal, snr: FloatArg) -> Signal:
    """Adds noise that is made as loud as a ratio asks for.

    Args:
        signal: Samples of floats.
        noise: As long as the signals. Silence stays silence.
        snr: By how many decibels the signal is louder than the noise: one number, or one for each sample.

    Example:
        >>> hiss = avida.tensor(np.float32([5, 5]))
        >>> np.asarray(avida.augment.add_noise(avida.tensor(np.float32([1, -1])), hiss, snr=20))
        array([ 1.1, -0.9], dtype=float32)
    """
    loudness = reductions.rms(signal) / math.max(reductions.rms(noise), 1e-20)
    return signal + noise * (loudness / _factor(_drawn(snr, signal)))


def speed(signal: Signal, factor: FloatArg) -> Signal:
    """Plays sound faster or slower, which also makes it higher or lower.

    It is resampled.

    Args:
        signal: The signals, with the axes time, or time and channels.
        factor: How many times as fast: one number, or one for each sample.

    Example:
        >>> avida.augment.speed(np.ones(1000, np.float32), 1.25).shape
        (800,)
    """
    drawn = _drawn(factor, signal)
    return audio_resample(signal, in_rate=drawn if isinstance(drawn, int | float) else as_batch(drawn), out_rate=1)


def _drawn(number: Any, signal: Any) -> Any:
    """A number, or the numbers of a random argument, one for each sample."""
    return number.draw(signal, None, None, None, False) if isinstance(number, Random) else number


def _factor(decibels: Any) -> Any:
    if isinstance(decibels, int | float):
        return 10 ** (decibels / 20)
    return math.pow(10.0, as_batch(decibels) * 0.05)
