"""AudioDecoder, with torchcodec's name and arguments."""

from __future__ import annotations

import numpy as np
import torch

import avida
from avida.torchcodec._frame import AudioSamples
from avida.torchcodec.decoders._metadata import audio_metadata
from avida.torchcodec.decoders._source import Source, opened

_ALL = 1 << 60  # samples


class AudioDecoder:
    """Decodes one sound track, of a sound file or of a film.

    Args:
        source: A path or URL, the bytes of a file, also as a uint8 tensor, or a file object with read() and seek().
        stream_index: The number of the stream, among all streams of the file. Default: the best sound.
        sample_rate: The rate to resample to, by avida's filter. Default: that of the file.
        num_channels: 1 for the mean of two channels, 2 for one channel in two, at the same power. Default: those of
            the file.

    Attributes:
        metadata: What is known of the stream: `AudioStreamMetadata`.
        stream_index: The number of the stream.

    Example:
        >>> file = b".snd" + bytes([0, 0, 0, 24, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 31, 64, 0, 0, 0, 1, 64, 0, 192, 0])
        >>> samples = avida.torchcodec.decoders.AudioDecoder(file).get_all_samples()
        >>> samples.data.tolist(), samples.sample_rate
        ([[0.5, -0.5]], 8000)

    """

    def __init__(
        self,
        source: Source,
        *,
        stream_index: int | None = None,
        sample_rate: int | None = None,
        num_channels: int | None = None,
    ) -> None:
        self._file = opened("OpenSound", source, stream_index)
        self.metadata = audio_metadata(self._file)
        self.stream_index: int = self._file.stream
        self._rate = sample_rate or self._file.rate
        self._channels = num_channels or self._file.channels
        if self._channels != self._file.channels and {self._channels, self._file.channels} != {1, 2}:
            raise ValueError(
                f"expected num_channels={self._file.channels}, the channels of the file, or 1 for 2 and 2 for 1, got "
                f"{num_channels}: other mixtures of channels are not there yet"
            )

    def get_all_samples(self) -> AudioSamples:
        """Returns all samples from time 0 on the clock of the file on."""
        return self.get_samples_played_in_range()

    def get_samples_played_in_range(
        self, start_seconds: float = 0.0, stop_seconds: float | None = None
    ) -> AudioSamples:
        """Returns the samples from one time on the clock of the file to before another."""
        if stop_seconds is not None and not start_seconds <= stop_seconds:
            raise ValueError(
                f"Invalid start seconds: {start_seconds}. It must be less than or equal to stop seconds "
                f"({stop_seconds})."
            )
        file = self._file
        begin = max(0, round((start_seconds - file.begin) * file.rate))
        end = _ALL if stop_seconds is None else max(begin, round((stop_seconds - file.begin) * file.rate))
        samples = np.frombuffer(bytearray(file.read(begin, end)), np.float32).reshape(-1, file.channels)
        if not len(samples) and begin < end:
            raise RuntimeError(
                f"No audio frames were decoded: the range from {start_seconds} to {stop_seconds} s has no samples"
            )
        data = self._converted(samples)
        pts = max(start_seconds, file.begin)
        return AudioSamples(data, pts, data.shape[1] / self._rate, self._rate)

    def _converted(self, samples: np.ndarray) -> torch.Tensor:
        if self._channels == 1 < samples.shape[1]:
            samples = samples.mean(1, keepdims=True, dtype=np.float32)
        elif self._channels > samples.shape[1]:
            samples = np.repeat(samples, self._channels, 1) * np.float32(np.sqrt(0.5))
        if self._rate != self._file.rate and len(samples):
            resampled = avida.audio_resample(samples, in_rate=self._file.rate, out_rate=self._rate)
            samples = np.asarray(resampled)
        return torch.from_numpy(np.ascontiguousarray(samples.T))
