"""The contestants of ray.py: each makes normalized batches of JPEG files, in two actors of Ray Data or two processes.

    python benchmarks/contestants/ray_data.py NAME SETTINGS.json

prints images, seconds and CPU seconds of this process and all that descend from it, Ray's own among them, between two
moments at which all are busy; and the bytes that Ray has spilled from its object store.
"""

import functools
import json
import logging
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# pyright: reportMissingImports=false, reportPrivateImportUsage=false

Settings = dict[str, Any]
Counts = Iterator[int]  # images of each batch that has arrived
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
SHORTER, SIZE = 256, 224
ACTORS = 2


# --- avida ---


def crops(image: Any) -> dict[str, Any]:
    import avida

    images = avida.resize(avida.decoders.image(image), resize_shorter=SHORTER)
    return {"image": avida.crop(images, crop=[SIZE, SIZE])}


def normalized(image: Any) -> dict[str, Any]:
    import avida

    images = avida.resize(avida.decoders.image(image), resize_shorter=SHORTER)
    mean, std = ([255 * value for value in values] for values in (MEAN, STD))
    return {"image": avida.crop_mirror_normalize(images, crop=[SIZE, SIZE], mean=mean, std=std)}


def made_of(settings: Settings) -> Callable[[Any], dict[str, Any]]:
    return normalized if settings["normalize"] else crops


def files_of(settings: Settings, **options: Any) -> Any:
    import avida

    return avida.readers.File(files=settings["files"], labels=[0] * len(settings["files"]), **options)


def avida_in_actors(settings: Settings) -> Counts:
    import avida

    started(settings)
    ds = avida.ray.read(files_of(settings), batch_size=settings["batch"], override_num_blocks=blocks(settings))
    ds = in_actors(ds, settings, avida.ray.Stage, made_of(settings), batch_size=None, batch_format="pyarrow")
    for batch in avida.ray.iterate(ds, settings["batch"], columns=["image"]):
        yield len(batch["image"])


def avida_in_processes(settings: Settings) -> Counts:
    """Two processes, each of which says when it has made a batch."""
    command = [sys.executable, __file__, "a process of avida", sys.argv[2]]
    here, there = os.pipe()
    shards = [[*command, str(shard), str(there)] for shard in range(ACTORS)]
    processes = [subprocess.Popen(shard, pass_fds=[there]) for shard in shards]
    os.close(there)
    while os.read(here, 1):
        yield settings["batch"]
    for process in processes:
        process.wait()


def one_process(settings: Settings, shard: int, says: int) -> None:
    import avida

    avida.set_num_threads(1)
    reader = files_of(settings, num_shards=ACTORS, shard_id=shard)
    for encoded, _ in reader.next_epoch(batch_size=settings["batch"]):
        made_of(settings)(encoded)["image"].evaluate()
        os.write(says, b".")


# --- others ---


class Pillow:
    """One image after another, with the fastest normalization of several in NumPy."""

    def __init__(self, normalizes: bool) -> None:
        self.normalizes = normalizes

    def __call__(self, rows: dict[str, Any]) -> dict[str, Any]:
        import io

        from PIL import Image

        out = empty(len(rows["bytes"]), self.normalizes)
        for file, target in zip(rows["bytes"], out, strict=True):
            with Image.open(io.BytesIO(file)) as opened:
                image = opened.convert("RGB")
            scale = SHORTER / min(image.size)
            width, height = (round(side * scale) for side in image.size)
            image = image.resize((width, height), Image.Resampling.BILINEAR)
            left, top = (width - SIZE) // 2, (height - SIZE) // 2
            image = image.crop((left, top, left + SIZE, top + SIZE))
            if self.normalizes:
                normalize(image.split(), target)
            else:
                target[:] = image
        return {"image": out}


def empty(count: int, normalizes: bool) -> np.ndarray:
    return np.empty((count, 3, SIZE, SIZE), np.float32) if normalizes else np.empty((count, SIZE, SIZE, 3), np.uint8)


def normalize(planes: Any, out: np.ndarray) -> None:
    for plane, mean, std, target in zip(planes, MEAN, STD, out, strict=True):
        np.multiply(np.asarray(plane), np.float32(1 / (255 * std)), out=target)
        target -= np.float32(mean / std)


class Torchvision:
    """Transforms as its examples write them. Their wheel needs two operators of its own, which are not used here."""

    def __init__(self, normalizes: bool) -> None:
        import torch

        self.operators = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            self.operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        from torchvision import transforms

        last = [transforms.ToTensor(), transforms.Normalize(MEAN, STD)] if normalizes else [transforms.PILToTensor()]
        self.transform = transforms.Compose([transforms.Resize(SHORTER), transforms.CenterCrop(SIZE), *last])
        torch.set_num_threads(1)

    def __call__(self, rows: dict[str, Any]) -> dict[str, Any]:
        import io

        import torch
        from PIL import Image

        images = (Image.open(io.BytesIO(file)).convert("RGB") for file in rows["bytes"])
        return {"image": torch.stack([self.transform(image) for image in images]).numpy()}


class Normalized:
    """What read_images has decoded and scaled, cropped and normalized."""

    def __init__(self, normalizes: bool) -> None:
        self.normalizes = normalizes

    def __call__(self, rows: dict[str, Any]) -> dict[str, Any]:
        first = (SHORTER - SIZE) // 2
        images = rows["image"][:, first : first + SIZE, first : first + SIZE]
        if not self.normalizes:
            return {"image": np.ascontiguousarray(images)}
        out = empty(len(images), True)
        for image, target in zip(images, out, strict=True):
            normalize(image.transpose(2, 0, 1), target)
        return {"image": out}


def of_bytes(settings: Settings, kind: type) -> Counts:
    import ray.data

    started(settings)
    ds = ray.data.read_binary_files(settings["files"], override_num_blocks=blocks(settings))
    return counted(in_actors(ds, settings, kind, settings["normalize"]), settings)


def images_of(settings: Settings) -> Any:
    import ray.data

    size = (SHORTER, SHORTER)
    return ray.data.read_images(settings["files"], size=size, mode="RGB", override_num_blocks=blocks(settings))


def read_images(settings: Settings) -> Counts:
    started(settings)
    return counted(images_of(settings), settings)


def read_images_normalized(settings: Settings) -> Counts:
    started(settings)
    ds = images_of(settings)
    return counted(in_actors(ds, settings, Normalized, settings["normalize"]), settings)


# --- Ray ---


def started(settings: Settings) -> None:
    import ray
    import ray.data

    ray.init(
        address="local",
        num_cpus=ACTORS + 1,  # actors hold theirs, so that one is for the tasks that read
        include_dashboard=False,
        object_store_memory=settings["store"],
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    # Else the store has room for two blocks, and Ray writes others to the disk.
    context.target_max_block_size = settings["store"] // (16 if settings["normalize"] else 8)


def blocks(settings: Settings) -> int:
    return len(settings["files"]) // 256


def in_actors(ds: Any, settings: Settings, kind: type, *arguments: Any, **options: Any) -> Any:
    import ray.data

    pool = ray.data.ActorPoolStrategy(size=ACTORS)
    options = {"batch_size": settings["batch"]} | options
    return ds.map_batches(kind, fn_constructor_args=arguments, compute=pool, **options)


def counted(ds: Any, settings: Settings) -> Counts:
    for rows in ds.iter_batches(batch_size=settings["batch"], batch_format="numpy"):
        yield len(rows["image"])


def spilled() -> int:
    """Bytes, as Ray counts them."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return 0
    from ray._private.internal_api import get_memory_info_reply, get_state_from_address

    state = get_state_from_address(ray.get_runtime_context().gcs_address)
    return get_memory_info_reply(state).store_stats.spilled_bytes_total


# --- measuring ---

CONTESTANTS: dict[str, Callable[[Settings], Counts]] = {
    "avida in two actors": avida_in_actors,
    "avida in two processes": avida_in_processes,
    "torchvision in two actors": functools.partial(of_bytes, kind=Torchvision),
    "Pillow in two actors": functools.partial(of_bytes, kind=Pillow),
    "read_images, normalized in actors": read_images_normalized,
    "read_images alone": read_images,
}


def cpu_seconds() -> dict[int, float]:
    """Of this process and all that descend from it."""
    parents, used = {}, {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        process = int(stat.parent.name)
        parents[process] = int(fields[1])
        used[process] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    family = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in family} - family:
        family |= more
    return {process: used[process] for process in family}


def main(name: str, settings: Settings) -> None:
    first, last = settings["between"]  # images that have arrived
    images = begun = 0
    before: dict[int, float] = {}
    start = 0.0
    for count in CONTESTANTS[name](settings):
        images += count
        if not before and images >= first:
            begun, before, start = images, cpu_seconds(), time.perf_counter()
        if images >= last:
            break
    seconds, after = time.perf_counter() - start, cpu_seconds()
    cpu = sum(after.values()) - sum(before.get(process, 0) for process in after)
    measured = {"images": images - begun, "seconds": seconds, "cpu": cpu, "spilled": spilled()}
    print(json.dumps(measured), flush=True)


if __name__ == "__main__":
    chosen, given = sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text())
    if chosen == "a process of avida":
        one_process(given, int(sys.argv[3]), int(sys.argv[4]))
    else:
        main(chosen, given)
