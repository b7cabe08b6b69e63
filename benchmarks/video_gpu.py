"""Measures reading of clips of videos on a GPU, compared with the real library and torchcodec.

python benchmarks/video_gpu.py FOLDER --make                       makes the videos with PyAV, on any machine
python benchmarks/video_gpu.py FOLDER [--rounds 3] [--seconds 2]

Clips have 16 frames of 720p, batches 8 clips; they are shuffled, in order, or resized. The libraries take turns, each
for some seconds, and the best round counts. The last lines compare whole files with the rate of the video engines
alone: the same files, of which only every 25th frame is converted. They have no B-frames, since frames that no other
needs are not decoded.
"""

from __future__ import annotations

import argparse
import pathlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from video import make_videos

import avida

# The other libraries are optional.
# pyright: reportMissingImports=false, reportPrivateImportUsage=false

LENGTH, BATCH, SIZE = 16, 8, 224

Batches = Iterator[int]  # runs until it is dropped; gives the number of frames in each batch


def clips_of(library: Any, paths: list[str], shuffled: bool, resized: bool) -> Batches:
    kind = library.readers.VideoResize if resized else library.readers.Video
    arguments: dict[str, Any] = {"size": [SIZE, SIZE]} if resized else {}
    reader = kind(filenames=paths, sequence_length=LENGTH, random_shuffle=shuffled, device="gpu", **arguments)
    while True:
        for item in reader.next_epoch(batch_size=BATCH):
            clips = item[0] if isinstance(item, tuple | list) else item
            clips.evaluate()
            yield LENGTH * clips.batch_size
            del clips, item


def torchcodec_clips(paths: list[str], shuffled: bool, resized: bool) -> Batches:
    import torch
    from torchcodec.decoders import VideoDecoder, set_cuda_backend

    def clip(video: int, first: int) -> Any:
        with set_cuda_backend("beta"):
            decoder = VideoDecoder(paths[video], device="cuda", dimension_order="NCHW")
        frames = decoder.get_frames_in_range(first, first + LENGTH).data
        if not resized:
            return frames
        return torch.nn.functional.interpolate(frames.float(), (SIZE, SIZE), mode="bilinear", antialias=True)

    counts = [len(VideoDecoder(path)) for path in paths]
    every = [(i, first) for i, n in enumerate(counts) for first in range(0, n - LENGTH + 1, LENGTH)]
    rng = np.random.default_rng(0)
    with ThreadPoolExecutor(BATCH) as pool:
        while True:
            order = rng.permutation(len(every)) if shuffled else np.arange(len(every))
            for k in range(0, len(order), BATCH):
                made = list(pool.map(lambda i: clip(*every[i]), order[k : k + BATCH]))
                torch.cuda.synchronize()
                yield LENGTH * len(made)


def whole_files(paths: list[str], arguments: Callable[[int], dict[str, Any]]) -> Batches:
    encoded = avida.as_batch([np.fromfile(path, np.uint8) for path in paths])
    count = avida.decoders.video(encoded.tensors[0]).shape[0]
    while True:
        avida.decoders.video(encoded, device="gpu", **arguments(count)).evaluate()
        yield count * encoded.batch_size


def rate(batches: Batches, seconds: float) -> float:
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:  # for kernels, decoders and queues
        next(batches)
    frames, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        frames += next(batches)
    return frames / (time.perf_counter() - start)


def contestants(paths: list[str], shuffled: bool, resized: bool) -> dict[str, Callable[[], Batches]]:
    def dali() -> Batches:
        import nvidia.dali.experimental.dynamic as library

        return clips_of(library, paths, shuffled, resized)

    return {
        "avida": lambda: clips_of(avida, paths, shuffled, resized),
        "DALI": dali,
        "torchcodec": lambda: torchcodec_clips(paths, shuffled, resized),
    }


def measure(title: str, runs: dict[str, Callable[[], Batches]], rounds: int, seconds: float) -> None:
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, make in list(runs.items()):
            try:
                best[name] = max(best.get(name, 0), rate(make(), seconds))
            except Exception as error:  # a library that is not there, or fails
                print(
                    f"{title:16} {name:12} is left out: {(str(error).splitlines() or [type(error).__name__])[0][:200]}"
                )
                del runs[name]
    for name, frames in best.items():
        print(f"{title:16} {name:12} {frames:8.0f} frames/s   avida is {best['avida'] / frames:.2f} times as fast")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    folders = {codec: options.folder / codec for codec in ("h264", "h264_without_b_frames")}
    if options.make:
        for codec, folder in folders.items():
            folder.mkdir(parents=True)
            make_videos(folder, codec, 20, 150)
        return
    paths, others = (sorted(str(path) for path in folder.iterdir()) for folder in folders.values())
    for title, shuffled, resized in (
        ("shuffled clips", True, False),
        ("clips in order", False, False),
        ("resized clips", True, True),
    ):
        measure(title, contestants(paths, shuffled, resized), options.rounds, options.seconds)
    runs = {"avida": lambda: whole_files(others, lambda n: {})}
    runs["engines alone"] = lambda: whole_files(others, lambda n: {"frames": list(range(24, n, 25))})
    measure("whole files", runs, options.rounds, options.seconds)


if __name__ == "__main__":
    main()
