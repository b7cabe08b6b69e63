"""Measures decoding of videos: random clips and whole files, compared with torchcodec, decord and the real library.

python benchmarks/video.py [--videos 20] [--frames 150] [--clips 40] [--rounds 3] [--codec h264]

Makes videos of 720p with PyAV, then decodes clips of 16 frames at random positions, in batches of 4, and whole files,
with two threads each. The libraries take turns; the best round counts. torchcodec and decord are optional. The real
library decodes H.264 on GPUs only: on the CPU it is compared with --codec vp9.
"""

from __future__ import annotations

import argparse
import gc
import pathlib
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import avida

# The other libraries come with extras, or are optional.
# pyright: reportMissingImports=false

LENGTH = 16
BATCH = 4
THREADS = 2
CODECS = {"h264": ("libx264", {"preset": "veryfast"}), "vp9": ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8"})}

Clips = list[tuple[int, int]]  # a video, and the first frame


def make_videos(folder: pathlib.Path, codec: str, count: int, frames: int) -> list[pathlib.Path]:
    """Moving noise of low resolution, which compresses about as well as a film."""
    import av

    rng = np.random.default_rng(0)
    paths = []
    name, settings = CODECS[codec]
    for i in range(count):
        paths.append(folder / f"{i}.mp4")
        ground = rng.integers(0, 255, (90, 160, 3), np.uint8).repeat(16, 0).repeat(16, 1)
        with av.open(str(paths[-1]), "w") as output:
            stream: Any = output.add_stream(name, rate=25, options=settings)
            stream.width, stream.height, stream.pix_fmt, stream.gop_size = 1280, 720, "yuv420p", 50
            for k in range(frames):
                window = np.ascontiguousarray(ground[2 * k : 2 * k + 720, 3 * k : 3 * k + 1280])
                output.mux(stream.encode(av.VideoFrame.from_ndarray(window, format="rgb24")))
            output.mux(stream.encode(None))
    return paths


class Contestant:
    """Decodes clips, and whole files; returns the number of frames."""

    def __init__(self, paths: list[pathlib.Path]) -> None:
        self.paths = [str(path) for path in paths]

    def clips(self, clips: Clips) -> int:
        with ThreadPoolExecutor(THREADS) as pool:
            return sum(pool.map(lambda clip: self.clip(*clip), clips))

    def whole(self) -> int:
        with ThreadPoolExecutor(THREADS) as pool:
            return sum(pool.map(self.file, range(len(self.paths))))

    def clip(self, video: int, first: int) -> int:
        raise NotImplementedError

    def file(self, video: int) -> int:
        raise NotImplementedError


class Avida(Contestant):
    def __init__(self, paths: list[pathlib.Path]) -> None:
        super().__init__(paths)
        self.encoded = [np.fromfile(path, np.uint8) for path in paths]
        self.library: Any = avida

    def clips(self, clips: Clips) -> int:
        done = 0
        for k in range(0, len(clips), BATCH):
            some = clips[k : k + BATCH]
            batch = self.library.as_batch([self.encoded[video] for video, _ in some])
            firsts = self.library.as_batch([np.int32(first) for _, first in some])
            made = self.library.decoders.video(batch, start_frame=firsts, sequence_length=LENGTH).evaluate()
            done += sum(shape[0] for shape in made.shape)
        return done

    def whole(self) -> int:
        done = 0
        for k in range(0, len(self.encoded), THREADS):
            batch = self.library.as_batch(self.encoded[k : k + THREADS])
            done += sum(shape[0] for shape in self.library.decoders.video(batch).evaluate().shape)
        return done


class AvidaReader(Contestant):
    """The same clips, by their numbers; files stay open."""

    def __init__(self, paths: list[pathlib.Path]) -> None:
        super().__init__(paths)
        self.reader = avida.experimental.readers.Video(filenames=self.paths, sequence_length=LENGTH, step=1)
        self.per_file = len(self.reader) // len(paths)

    def clips(self, clips: Clips) -> int:
        numbers = [video * self.per_file + first for video, first in clips]
        epoch = self.reader.next_epoch(batch_size=BATCH, indices=numbers)
        return sum(shape[0] for (made,) in epoch for shape in made.evaluate().shape)

    def whole(self) -> int:
        frames = self.per_file + LENGTH - 1
        reader = avida.experimental.readers.Video(filenames=self.paths, sequence_length=frames)
        return sum(shape[0] for (made,) in reader.next_epoch(batch_size=THREADS) for shape in made.evaluate().shape)


class Dali(Avida):
    def __init__(self, paths: list[pathlib.Path]) -> None:
        import nvidia.dali.experimental.dynamic as dali

        super().__init__(paths)
        self.library = dali
        if hasattr(dali, "set_num_threads"):
            dali.set_num_threads(THREADS)


class TorchCodec(Contestant):
    def __init__(self, paths: list[pathlib.Path]) -> None:
        from torchcodec.decoders import VideoDecoder

        super().__init__(paths)
        self.open = lambda path: VideoDecoder(path, num_ffmpeg_threads=1, dimension_order="NHWC")

    def clip(self, video: int, first: int) -> int:
        return len(self.open(self.paths[video]).get_frames_in_range(first, first + LENGTH).data)

    def file(self, video: int) -> int:
        return len(self.open(self.paths[video])[:])


class Decord(Contestant):
    def __init__(self, paths: list[pathlib.Path]) -> None:
        import decord

        super().__init__(paths)
        self.open = lambda path: decord.VideoReader(path, num_threads=1)

    def clip(self, video: int, first: int) -> int:
        return len(self.open(self.paths[video]).get_batch(range(first, first + LENGTH)).asnumpy())

    def file(self, video: int) -> int:
        reader = self.open(self.paths[video])
        return len(reader.get_batch(range(len(reader))).asnumpy())


def contestants(paths: list[pathlib.Path], codec: str) -> dict[str, Contestant]:
    kinds: dict[str, type[Contestant]] = {
        "avida": Avida,
        "avida reader": AvidaReader,
        "torchcodec": TorchCodec,
        "decord": Decord,
    }
    if codec != "h264":
        kinds["DALI"] = Dali
    found = {}
    for name, kind in kinds.items():
        try:
            found[name] = kind(paths)
        except (ImportError, OSError, RuntimeError) as error:
            print(f"{name} is left out: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
    return found


def measure(title: str, runs: dict[str, Callable[[], int]], rounds: int) -> None:
    best: dict[str, float] = {}
    counts = set()
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            frames = run()
            best[name] = min(best.get(name, np.inf), (time.perf_counter() - start) / frames)
            counts.add(frames)
            gc.collect()
    assert len(counts) == 1, f"not the same work: {counts} frames"
    for name, seconds in best.items():
        print(
            f"{title:12} {name:14} {1 / seconds:8.0f} frames/s   avida is {seconds / best['avida']:.2f} times as fast"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--videos", type=int, default=20)
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--clips", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--codec", choices=CODECS, default="h264")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="avida-videos-") as folder:
        paths = make_videos(pathlib.Path(folder), options.codec, options.videos, options.frames)
        rng = np.random.default_rng(1)
        clips = [
            (int(rng.integers(options.videos)), int(rng.integers(options.frames - LENGTH)))
            for _ in range(options.clips // BATCH * BATCH)
        ]
        every = contestants(paths, options.codec)
        measure(
            "clips of 16", {name: lambda each=each: each.clips(clips) for name, each in every.items()}, options.rounds
        )
        measure("whole files", {name: each.whole for name, each in every.items()}, options.rounds)


if __name__ == "__main__":
    main()
