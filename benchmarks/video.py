"""Measures decoding of videos: random clips and whole files, compared with torchcodec, decord and the real library.

python benchmarks/video.py [--videos 20] [--frames 150] [--clips 40] [--rounds 3] [--small 10000]

Makes videos of 720p with PyAV, H.264 and VP9, then decodes clips of 16 frames at random positions, in batches of 4, and
whole files, with two threads each. The libraries take turns; the best round counts. Ratios are those of CPU time, which
other programs on the machine disturb less. The real library decodes H.264 on GPUs only: on the CPU it is compared with
VP9. Then: clips that are resized, compared with clips that are not; the time to the first clip of many small videos,
with and without an index on disk; memory over 1,000 clips.
"""

from __future__ import annotations

import argparse
import gc
import pathlib
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import avida

# The other libraries come with extras, or are optional.
# pyright: reportMissingImports=false, reportPrivateImportUsage=false

LENGTH = 16
BATCH = 4
THREADS = 2
CODECS = {
    "h264": ("libx264", {"preset": "veryfast"}),
    "h264_without_b_frames": ("libx264", {"preset": "veryfast", "bf": "0"}),
    "vp9": ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8"}),
}

Clips = list[tuple[int, int]]  # a video, and the first frame


def make_videos(
    folder: pathlib.Path, codec: str, count: int, frames: int, height: int = 720, width: int = 1280
) -> list[pathlib.Path]:
    """Moving noise of low resolution, which compresses about as well as a film."""
    import av

    rng = np.random.default_rng(0)
    paths = []
    name, settings = CODECS[codec]
    for i in range(count):
        paths.append(folder / f"{codec}{i}.mp4")
        ground = rng.integers(0, 255, (90, 160, 3), np.uint8).repeat(16, 0).repeat(16, 1)
        with av.open(str(paths[-1]), "w") as output:
            stream: Any = output.add_stream(name, rate=25, options=settings)
            stream.width, stream.height, stream.pix_fmt, stream.gop_size = width, height, "yuv420p", 50
            for k in range(frames):
                window = np.ascontiguousarray(ground[2 * k : 2 * k + height, 3 * k : 3 * k + width])
                output.mux(stream.encode(av.VideoFrame.from_ndarray(window, format="rgb24")))
            output.mux(stream.encode(None))
    return paths


class Contestant:
    """Decodes clips, and whole files; returns the number of frames."""

    open: Callable[[str], Any]

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
        reader = avida.experimental.readers.Video(filenames=self.paths, sequence_length=frames, last_batch="partial")
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


def staying_open(contestant: Contestant) -> Contestant:
    """The same, with a decoder for each file and thread that is opened once."""
    opened: dict[tuple[int, str], Any] = {}
    open_file = contestant.open

    def open_once(path: str) -> Any:
        key = threading.get_ident(), path
        if key not in opened:
            opened[key] = open_file(path)
        return opened[key]

    contestant.open = open_once
    pool = ThreadPoolExecutor(THREADS)
    contestant.clips = lambda clips: sum(pool.map(lambda clip: contestant.clip(*clip), clips))
    return contestant


def contestants(paths: list[pathlib.Path], codec: str) -> dict[str, Contestant]:
    kinds: dict[str, Callable[[list[pathlib.Path]], Contestant]] = {
        "avida": Avida,
        "avida reader": AvidaReader,
        "torchcodec": TorchCodec,
        "torchcodec, open": lambda paths: staying_open(TorchCodec(paths)),
        "decord": Decord,
        "decord, open": lambda paths: staying_open(Decord(paths)),
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
    """Of each run, which returns the number of frames: the least wall time and the least CPU time of a frame."""
    wall: dict[str, float] = {}
    cpu: dict[str, float] = {}
    counts = set()
    for _ in range(rounds):
        for name, run in runs.items():
            start, start_cpu = time.perf_counter(), time.process_time()
            frames = run()
            wall[name] = min(wall.get(name, np.inf), (time.perf_counter() - start) / frames)
            cpu[name] = min(cpu.get(name, np.inf), (time.process_time() - start_cpu) / frames)
            counts.add(frames)
            gc.collect()
    assert len(counts) == 1, f"not the same work: {counts} frames"
    first = next(iter(runs))
    for name in runs:
        print(
            f"{title:24} {name:18} {1 / wall[name]:6.0f} frames/s  {1000 * cpu[name]:6.2f} ms of CPU time a frame, "
            f"{cpu[name] / cpu[first]:.2f} times that of {first}",
            flush=True,
        )


def measure_codec(paths: list[pathlib.Path], codec: str, options: argparse.Namespace) -> None:
    rng = np.random.default_rng(1)
    clips = [
        (int(rng.integers(options.videos)), int(rng.integers(options.frames - LENGTH)))
        for _ in range(options.clips // BATCH * BATCH)
    ]
    every = contestants(paths, codec)
    once = {name: each for name, each in every.items() if name != "avida reader" and not name.endswith("open")}
    kept = {name: each for name, each in every.items() if name not in once}
    for title, those in ((f"{codec}: clips of {LENGTH}", once), (f"{codec}: files stay open", kept)):
        measure(title, {name: lambda each=each: each.clips(clips) for name, each in those.items()}, options.rounds)
    whole = {name: each.whole for name, each in every.items() if not name.endswith("open")}
    measure(f"{codec}: whole files", whole, options.rounds)


def measure_resizing(paths: list[pathlib.Path], rounds: int) -> None:
    """Clips one after the other, of 720p and of 224 x 224."""

    def run(kind: Any, **arguments: Any) -> int:
        reader = kind(filenames=paths, sequence_length=LENGTH, last_batch="partial", **arguments)
        return sum(shape[0] for (clips,) in reader.next_epoch(batch_size=BATCH) for shape in clips.evaluate().shape)

    runs = {
        "Video": lambda: run(avida.readers.Video),
        "VideoResize": lambda: run(avida.readers.VideoResize, size=[224, 224]),
    }
    measure("h264: resized", runs, rounds)


def measure_start(folder: pathlib.Path, count: int) -> None:
    """The time from making a reader of many small videos to its first clip."""
    (example,) = make_videos(folder, "vp9", 1, 32, 64, 96)
    paths = [folder / f"small{i}.mp4" for i in range(count)]
    for path in paths:
        shutil.copyfile(example, path)
    names = [str(path) for path in paths]

    def first_clip(library: Any, **arguments: Any) -> None:
        reader = library.experimental.readers.Video(
            filenames=names, sequence_length=LENGTH, random_shuffle=True, **arguments
        )
        np.asarray(next(iter(reader.next_epoch(batch_size=1)))[0].tensors[0])

    runs: dict[str, Callable[[], None]] = {
        "avida": lambda: first_clip(avida),
        "avida, makes the index": lambda: first_clip(avida, index_path=folder / "videos.idx"),
        "avida, has the index": lambda: first_clip(avida, index_path=folder / "videos.idx"),
    }
    try:
        import nvidia.dali.experimental.dynamic as dali

        runs["DALI"] = lambda: first_clip(dali)
    except ImportError:
        print("DALI is left out")
    for name, run in runs.items():
        start, start_cpu = time.perf_counter(), time.process_time()
        run()
        print(
            f"first of {count} videos     {name:24} {time.perf_counter() - start:6.2f} s, "
            f"{time.process_time() - start_cpu:6.2f} s of CPU time",
            flush=True,
        )


def measure_memory(paths: list[pathlib.Path]) -> None:
    """Of the process, while it reads clips at random positions."""
    reader = avida.experimental.readers.Video(filenames=paths, sequence_length=LENGTH, step=1, random_shuffle=True)
    page = resource.getpagesize()
    done = 0
    for (clips,) in reader.next_epoch(batch_size=BATCH):
        clips.evaluate()
        done += BATCH
        if done in (100, 200, 400, 600, 800, 1000):
            used = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * page
            print(f"memory after {done:4} clips: {used >> 20} MiB", flush=True)
        if done >= 1000:
            break


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--videos", type=int, default=20)
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--clips", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="avida-videos-") as name:
        folder = pathlib.Path(name)
        paths = make_videos(folder, "h264", options.videos, options.frames)
        measure_memory(paths)  # before the others, which leave memory behind
        measure_codec(paths, "h264", options)
        measure_codec(make_videos(folder, "vp9", options.videos, options.frames), "vp9", options)
        measure_resizing(paths, options.rounds)
        measure_start(folder, options.small)


if __name__ == "__main__":
    main()
