"""Sound files for the tests, written by soundfile."""

import io
from functools import cache

import numpy as np
import soundfile


def noise(frames: int, channels: int = 1, seed: int = 0) -> np.ndarray:
    """(frames, channels), loud but never beyond -0.9 to 0.9."""
    return np.random.default_rng(seed).uniform(-0.9, 0.9, (frames, channels))


def encoded(
    sound: np.ndarray, rate: int = 16000, form: str = "WAV", subtype: str | None = None, endian: str | None = None
) -> np.ndarray:
    file = io.BytesIO()
    soundfile.write(file, sound, rate, format=form, subtype=subtype, endian=endian)
    return np.frombuffer(file.getvalue(), np.uint8)


def decoded(file: np.ndarray, dtype: str = "float32") -> np.ndarray:
    """What soundfile makes of it: (frames, channels)."""
    return soundfile.read(io.BytesIO(file.tobytes()), dtype=dtype, always_2d=True)[0]


def resampled(sound: np.ndarray, in_rate: float, out_rate: float, lobes: int) -> np.ndarray:
    """A sinc under a Hann window, tabulated in steps of 1/32; exact positions. (frames, channels) to the same."""
    length = int(np.ceil(len(sound) * out_rate / in_rate))
    position = np.arange(length)[:, None] * in_rate / out_rate
    nearest = np.floor(position).astype(int) + np.arange(-lobes, lobes + 2)
    step = np.floor((nearest - position) * 32)
    blend = (nearest - position) * 32 - step

    def weight(x):
        return np.where(abs(x) < lobes, np.sinc(x) * (0.5 + 0.5 * np.cos(np.pi * x / (lobes + 1 / 64))), 0)

    weights = weight(step / 32) * (1 - blend) + weight((step + 1) / 32) * blend
    padded = np.pad(sound, ((lobes + 2, lobes + 3), (0, 0)))
    return np.einsum("ot,otc->oc", weights, padded[np.clip(nearest + lobes + 2, 0, len(padded) - 1)])


@cache
def all_sounds() -> dict[str, dict[str, bytes]]:
    """Small files by format and variant."""
    sound = {channels: noise(600, channels) * np.linspace(0, 1, 600)[:, None] for channels in (1, 2)}

    def files(form: str, *subtypes: str) -> dict[str, bytes]:
        return {
            f"{subtype}_{channels}": encoded(sound[channels], 16000, form, subtype).tobytes()
            for subtype in subtypes
            for channels in (1, 2)
        }

    return {
        "wav": files("WAV", "PCM_16", "PCM_U8", "PCM_24", "FLOAT", "DOUBLE", "ULAW", "MS_ADPCM", "IMA_ADPCM"),
        "aiff": files("AIFF", "PCM_16", "PCM_S8", "FLOAT"),
        "flac": files("FLAC", "PCM_16", "PCM_S8", "PCM_24"),
        "ogg": files("OGG", "VORBIS", "OPUS"),
        "mp3": files("MP3", "MPEG_LAYER_III"),
    }
