"""Augmentation of sound: louder or quieter, with noise at a ratio."""

from __future__ import annotations

from typing import Any, TypeVar

from avida import math, reductions
from avida._values.batch import Batch, as_batch
from avida._values.tensor import Tensor
from avida._values.typing import FloatArg

Signal = TypeVar("Signal", Batch, Tensor)


def gain(signal: Signal, db: FloatArg) -> Signal:
    """Makes sound louder (above 0) or quieter (below 0), by decibels.

    Args:
        signal: Samples of floats.
        db: One number, or one for each sample.

    Example:
        >>> np.asarray(avida.augment.gain(avida.tensor(np.float32([0.5, -0.25])), -20))
        array([ 0.05 , -0.025], dtype=float32)
    """
    return signal * _factor(db)


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
    return signal + noise * (loudness / _factor(snr))


def _factor(decibels: FloatArg) -> Any:
    if isinstance(decibels, int | float):
        return 10 ** (decibels / 20)
    return math.pow(10.0, as_batch(decibels) * 0.05)
