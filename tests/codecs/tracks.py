"""Sound tracks for the tests, written by PyAV, and what PyAV makes of them."""

import io
from fractions import Fraction
from functools import cache
from typing import Any

import av
import numpy as np

CODECS = {
    "aac.mp4": ("aac", "mp4", 44100),
    "aac.m4a": ("aac", "ipod", 44100),
    "aac.mov": ("aac", "mov", 48000),
    "aac.mkv": ("aac", "matroska", 44100),
    "aac.ts": ("aac", "mpegts", 44100),
    "aac.aac": ("aac", "adts", 44100),
    "alac.m4a": ("alac", "ipod", 44100),
    "opus.webm": ("libopus", "webm", 48000),
    "opus.mkv": ("libopus", "matroska", 48000),
    "opus.mp4": ("libopus", "mp4", 48000),
    "opus.ogg": ("libopus", "ogg", 48000),
    "ac3.ac3": ("ac3", "ac3", 48000),
    "ac3.ts": ("ac3", "mpegts", 48000),
    "ac3.mkv": ("ac3", "matroska", 48000),
    "eac3.mp4": ("eac3", "mp4", 48000),
    "mp3.mp3": ("libmp3lame", "mp3", 44100),
    "mp3.mp4": ("libmp3lame", "mp4", 44100),
    "mp3.avi": ("libmp3lame", "avi", 44100),
    "mp3.mkv": ("libmp3lame", "matroska", 44100),
    "mp2.ts": ("mp2", "mpegts", 48000),
    "flac.flac": ("flac", "flac", 44100),
    "pcm.mov": ("pcm_s16le", "mov", 44100),
    "pcm.avi": ("pcm_s16le", "avi", 44100),
    "pcm24.mkv": ("pcm_s24le", "matroska", 44100),
    "pcm_floats.mov": ("pcm_f32le", "mov", 44100),
}
INTEGERS = {"int16": 2.0**15, "int32": 2.0**31}


def tones(rate: int, seconds: float) -> np.ndarray:
    """Two channels, float32."""
    at = np.arange(int(rate * seconds)) / rate
    return np.stack([0.5 * np.sin(2 * np.pi * 440 * at), 0.3 * np.sin(2 * np.pi * 1000 * at)], 1).astype(np.float32)


def encoded_track(codec: str, container: str, rate: int, seconds: float = 0.5) -> np.ndarray:
    file = io.BytesIO()
    with av.open(file, "w", format=container) as output:
        stream: Any = output.add_stream(codec, rate=rate)
        stream.layout = "stereo"
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(tones(rate, seconds).T), format="fltp", layout="stereo")
        frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
        output.mux([*stream.encode(frame), *stream.encode(None)])
    return np.frombuffer(file.getvalue(), np.uint8)


def decoded_track(file: np.ndarray) -> np.ndarray:
    """(frames, channels), float64 from -1 to 1."""
    with av.open(io.BytesIO(file.tobytes()), "r") as opened:
        pieces = []
        for frame in opened.decode(audio=0):
            piece = frame.to_ndarray()
            if frame.format.is_packed:
                piece = piece.reshape(-1, len(frame.layout.channels)).T
            pieces.append(piece / INTEGERS.get(str(piece.dtype), 1.0))
        return np.concatenate(pieces, 1).T


@cache
def all_tracks() -> dict[str, np.ndarray]:
    return {name: encoded_track(*what) for name, what in CODECS.items()}
