"""open_media: films and sound that are longer than memory, read in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from avida._values.tensor import Tensor, as_tensor
from avida.decoders._media_info import Source, VideoInfo, core, opened, video_info_of

_END = float(1 << 40)  # seconds


class Window(NamedTuple):
    """A part of a film. What the film does not have is None.

    Attributes:
        start: When it begins, in seconds after the first frame.
        end: When it ends.
        frames: The frames that begin in it: uint8 with the layout FHWC.
        times: Their times, in seconds after the first frame.
        sound: The samples of these seconds, (samples, channels), with silence where the file has none.

    """

    start: float
    end: float
    frames: Tensor | None
    times: npt.NDArray[np.float64] | None
    sound: Tensor | None


class MediaFile:
    """A film or a sound file that stays open, to read parts without the rest.

    Memory holds what is asked for, and the times of the frames. Threads may share it; they take turns.

    Attributes:
        info: What the file says of itself, as `video_info` does with ``scan=True``.
        sample_rate: Samples per second of the best sound track, or None.

    """

    def __init__(self, source: Source) -> None:
        """Opens the best video and the best sound of a file, if it has them."""
        given = opened(source, "decoders.open_media")
        found = core("media_info", "decoders.open_media")(given)
        self._video: Any = core("OpenVideo", "decoders.open_media")(given) if found["best_video"] >= 0 else None
        self._sound: Any = core("OpenSound", "decoders.open_media")(given) if found["best_sound"] >= 0 else None
        self.info: VideoInfo = video_info_of(found, self._video)
        self.sample_rate: int | None = self._sound.rate if self._sound else None
        self._begin: float = self._video.begin if self._video else self._sound.begin

    def frames(
        self,
        start: float | None = None,
        end: float | None = None,
        *,
        fps: float | None = None,
        num_frames: int | None = None,
        stride: int | None = None,
        times: Iterable[float] | None = None,
        adjust_orientation: bool = False,
    ) -> tuple[Tensor, npt.NDArray[np.float64]]:
        """Returns frames as `decoders.video` does, and their times.

        Args:
            start: The time in seconds after the first frame at which to start.
            end: The time at which to stop.
            fps: Frames per second.
            num_frames: So many frames, at equal distances.
            stride: The distance between frames.
            times: Times, of the frames that are shown then.
            adjust_orientation: Turn frames as the file says.

        """
        if self._video is None:
            raise RuntimeError("decoders.open_media: expected a video, the file has none")
        given = None if times is None else [float(time) for time in times]
        numbers, shown = self._video.choose(start, end, fps, num_frames, stride, given)
        return self._decoded(numbers, adjust_orientation), np.asarray(shown)

    def sound(self, start: float = 0.0, end: float | None = None) -> Tensor:
        """Returns the samples between two times, (samples, channels), float32.

        They have the rate of the file. Of a film, times count from its first frame, and there is silence where the
        sound begins later or ends earlier.

        Args:
            start: The time in seconds.
            end: The time at which to stop. Default: the end of the sound.

        """
        if self._sound is None:
            raise RuntimeError("decoders.open_media: expected a sound track, the file has none")
        rate, channels = self._sound.rate, self._sound.channels
        first = round((start + self._begin - self._sound.begin) * rate)
        last = round((min(_END if end is None else end, _END) + self._begin - self._sound.begin) * rate)
        if last < first:
            raise RuntimeError(f"decoders.open_media: expected an end after the start, {start} s, got {end}")
        found = np.frombuffer(self._sound.read(max(first, 0), max(last, 0)), np.float32).reshape(-1, channels)
        before = min(max(-first, 0), last - first)
        after = 0 if end is None else last - first - before - len(found)
        return as_tensor(np.pad(found, ((before, after), (0, 0))))

    def windows(
        self, seconds: float, *, fps: float | None = None, stride: int | None = None, sound: bool = True
    ) -> Iterator[Window]:
        """Goes through the file, one part after the other, each decoded once.

        Args:
            seconds: How long a part is; the last one may be shorter.
            fps: Frames per second. Default: all frames that begin in a part.
            stride: The distance between frames of a part.
            sound: Whether to decode the sound, too.

        """
        if not seconds > 0:
            raise ValueError(f"decoders.open_media: expected windows of more than 0 seconds, got {seconds}")
        duration = self.info.duration if self._video else None
        i = 0
        while duration is None or i * seconds < duration - 1e-9:
            start, end = i * seconds, (i + 1) * seconds
            end = end if duration is None else min(end, duration)
            frames, times = self._begun(start, end, fps, stride)
            samples = self.sound(start, end if self._video else None) if sound and self._video and self._sound else None
            if self._video is None:
                samples = self._stored(start, end)
                if samples.shape[0] == 0:
                    return
            yield Window(start, end, frames, times, samples)
            i += 1

    def _begun(
        self, start: float, end: float, fps: float | None, stride: int | None
    ) -> tuple[Tensor | None, npt.NDArray[np.float64] | None]:
        """The frames that begin between two times; at a rate, those that are shown at its times."""
        if self._video is None:
            return None, None
        numbers, shown = self._video.choose(start, end, fps, None, stride, None)
        kept = [k for k, time in enumerate(shown) if fps is not None or time >= start - 1e-3]
        return self._decoded([numbers[k] for k in kept], False), np.asarray([shown[k] for k in kept])

    def _stored(self, start: float, end: float) -> Tensor:
        rate = self._sound.rate
        samples = self._sound.read(round(start * rate), round(end * rate))
        return as_tensor(np.frombuffer(samples, np.float32).reshape(-1, self._sound.channels))

    def _decoded(self, numbers: list[int], upright: bool) -> Tensor:
        height, width = self._video.extents(upright)
        pixels = np.empty((len(numbers), height, width, 3), np.uint8)
        if numbers:
            self._video.decode(numbers, pixels, 1, False, False, upright)
        return as_tensor(pixels, layout="FHWC")


def open_media(source: Source, /) -> MediaFile:
    """Opens a film or a sound file to read parts of it.

    It may be longer than memory, or stay elsewhere.

    Args:
        source: The path or URL of a file, an open file object, or the bytes.

    Raises:
        RuntimeError: The file is in no known format, is damaged, or has neither video nor sound.

    Example:
        >>> file = b"YUV4MPEG2 W4 H2 F25:1\\n" + (b"FRAME\\n" + bytes(range(16, 28))) * 5
        >>> film = avida.decoders.open_media(file)
        >>> [(window.start, window.frames.shape) for window in film.windows(0.08)]
        [(0.0, (2, 2, 4, 3)), (0.08, (2, 2, 4, 3)), (0.16, (1, 2, 4, 3))]

    """
    return MediaFile(source)
