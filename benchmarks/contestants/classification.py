"""The contestants of classification.py: each is an infinite generator of batches, NCHW float32.

    python benchmarks/contestants/classification.py NAME SETTINGS.json

runs one of them in its own process: one epoch to warm up, then one epoch whose seconds it prints. Both belong to one
infinite loop, so that batches prefetched before the measured epoch are balanced by those prefetched at its end.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# The contestants come with the extra `bench`, and not all have types.
# pyright: reportMissingImports=false, reportPrivateImportUsage=false, reportArgumentType=false, reportCallIssue=false

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]
AHEAD = 2  # batches that hand-written loaders prefetch, as pipeline mode does


@dataclasses.dataclass
class Settings:
    """Settings that all contestants share."""

    files: list[str]
    job: str  # "resize", or "random_crop": decode a random crop of each image and resize it
    threads: int
    batch: int
    size: int


Batches = Iterator[np.ndarray]


def avida(settings: Settings) -> Batches:
    import avida

    avida.set_num_threads(settings.threads)
    return dynamic(avida, settings)


def dali_eager(settings: Settings) -> Batches:
    import nvidia.dali.experimental.dynamic as ndd

    ndd.set_num_threads(settings.threads)
    return dynamic(ndd, settings)


def dali_capture(settings: Settings) -> Batches:
    import nvidia.dali.experimental.dynamic as ndd

    ndd.set_num_threads(settings.threads)
    return dynamic(ndd, settings, capture=True)


def dynamic(ndd: Any, settings: Settings, **mode: bool) -> Batches:
    """The same lines for both libraries."""
    reader = ndd.readers.File(files=settings.files, labels=[0] * len(settings.files))
    while True:
        for encoded, _ in reader.next_epoch(batch_size=settings.batch, **mode):
            if settings.job == "random_crop":
                images = ndd.decoders.image_random_crop(encoded)
            else:
                images = ndd.decoders.image(encoded)
            images = ndd.resize(images, size=[settings.size, settings.size])
            images = ndd.crop_mirror_normalize(images, mean=MEAN, std=STD)
            yield np.asarray(ndd.as_tensor(images))


def dali_pipeline(settings: Settings) -> Batches:
    from nvidia.dali import fn, pipeline_def

    @pipeline_def(batch_size=settings.batch, num_threads=settings.threads, device_id=None, prefetch_queue_depth=AHEAD)
    def job() -> Any:
        encoded, _ = fn.readers.file(files=settings.files, labels=[0] * len(settings.files))
        decode = fn.decoders.image_random_crop if settings.job == "random_crop" else fn.decoders.image
        images = fn.resize(decode(encoded), size=[settings.size, settings.size])
        return fn.crop_mirror_normalize(images, mean=MEAN, std=STD)

    pipeline = job()
    pipeline.build()
    while True:
        (images,) = pipeline.run()
        yield np.asarray(images.as_tensor())


def opencv(settings: Settings) -> Batches:
    import cv2

    cv2.setNumThreads(1)

    def load(file: str, out: np.ndarray) -> None:
        image = cv2.imdecode(np.fromfile(file, np.uint8), cv2.IMREAD_COLOR_RGB)
        image = cv2.resize(image, (settings.size, settings.size), interpolation=cv2.INTER_LINEAR)
        normalize(cv2.split(image), out)

    return on_threads(settings, load)


def pillow(settings: Settings) -> Batches:
    from PIL import Image

    def load(file: str, out: np.ndarray) -> None:
        with Image.open(file) as opened:
            image = opened.convert("RGB").resize((settings.size, settings.size), Image.Resampling.BILINEAR)
        normalize([np.asarray(channel) for channel in image.split()], out)

    return on_threads(settings, load)


def normalize(planes: Any, out: np.ndarray) -> None:
    """The fastest of several ways to write it in NumPy: twice as fast as on pixels, ten times as fast as naively."""
    for plane, mean, std, target in zip(planes, MEAN, STD, out, strict=True):
        np.multiply(plane, np.float32(1 / std), out=target)
        target -= np.float32(mean / std)


def on_threads(settings: Settings, load: Callable[[str, np.ndarray], None]) -> Batches:
    """One task per image on a thread pool, some batches ahead."""
    started: deque[tuple[np.ndarray, list[concurrent.futures.Future]]] = deque()
    with concurrent.futures.ThreadPoolExecutor(settings.threads) as pool:
        while True:
            for first in range(0, len(settings.files), settings.batch):
                files = settings.files[first : first + settings.batch]
                batch = np.empty((len(files), 3, settings.size, settings.size), np.float32)
                started.append((batch, [pool.submit(load, *pair) for pair in zip(files, batch, strict=True)]))
                if len(started) > AHEAD:
                    done, tasks = started.popleft()
                    for task in tasks:
                        task.result()
                    yield done


CONTESTANTS = {
    "avida": avida,
    "DALI dynamic, eager": dali_eager,
    "DALI dynamic, capture": dali_capture,
    "DALI pipeline": dali_pipeline,
    "OpenCV on threads": opencv,
    "Pillow on threads": pillow,
}
JOBS = {
    "resize": list(CONTESTANTS),
    "random_crop": ["avida", "DALI dynamic, eager", "DALI dynamic, capture", "DALI pipeline"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=CONTESTANTS)
    parser.add_argument("settings", type=pathlib.Path)
    parser.add_argument("--save", type=pathlib.Path, help="where to put the first batch")
    options = parser.parse_args()
    settings = Settings(**json.loads(options.settings.read_text()))
    epoch = -(-len(settings.files) // settings.batch)
    batches = CONTESTANTS[options.name](settings)
    for i in range(epoch):
        batch = next(batches)
        if i == 0 and options.save:
            np.save(options.save, batch)
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(epoch - 1):
        next(batches)
    batch = next(batches)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    assert batch.shape[1:] == (3, settings.size, settings.size), batch.shape
    # Not ru_maxrss, which includes the memory of the parent process at the fork.
    status = dict(line.split(":\t", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) * 1024
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu, "peak_bytes": peak}))


if __name__ == "__main__":
    main()
