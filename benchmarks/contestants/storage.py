"""The contestants of storage.py: each reads one epoch from an S3 server, in a process of its own.

    python benchmarks/contestants/storage.py NAME SETTINGS.json

prints seconds, CPU seconds (of its children, too), samples and bytes of the epoch, after one to warm up. Each runs
with the Python of an environment that has its library, and imports nothing else.
"""

import importlib.machinery
import json
import os
import pathlib
import resource
import shutil
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

# pyright: reportMissingImports=false, reportPrivateImportUsage=false, reportAttributeAccessIssue=false

Settings = dict[str, Any]
Counts = Iterator[tuple[int, int]]  # samples and bytes, batch by batch
Epoch = Callable[[], Counts]
MEAN, STD = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]
AT_ONCE = 64  # requests under way, of those who can be told


# --- avida ---


def avida(settings: Settings, latency: bool = False) -> Any:
    import avida

    avida.set_num_threads(1)
    endpoint = settings["slow_endpoint" if latency else "endpoint"]
    avida.storage.configure("s3://", endpoint=endpoint, anonymous=True, requests=AT_ONCE)
    return avida


def photos(ndd: Any, settings: Settings, root: str) -> Any:
    files = [f"{root}/photos/{name}" for name in settings["names"]]
    return ndd.readers.File(files=files, labels=[0] * len(files), random_shuffle=True)


def archives(ndd: Any, settings: Settings, root: str) -> Any:
    shards = f"{root}/tars/{{000..{settings['shards'] - 1:03}}}"
    blocks = ndd.readers.Blocks(window=4)
    return ndd.readers.Webdataset(
        paths=f"{shards}.tar", index_paths=f"{shards}.idx", ext="jpg", random_shuffle=blocks, last_batch="partial"
    )


def shards(ndd: Any, settings: Settings, root: str) -> Any:
    blocks = ndd.readers.Blocks(window=4)
    return ndd.readers.MDS(f"{root}/mds", columns=["image"], random_shuffle=blocks, last_batch="partial")


def encoded_batches(settings: Settings, reader: Any) -> Iterator[Any]:
    for item in reader.next_epoch(batch_size=settings["batch"]):
        yield next(iter(item.values())) if isinstance(item, dict) else item[0]


def decoded(ndd: Any, settings: Settings, reader: Any) -> Counts:
    for encoded in encoded_batches(settings, reader):
        images = ndd.resize(ndd.decoders.image(encoded), size=[224, 224])
        images = ndd.as_tensor(ndd.crop_mirror_normalize(images, mean=MEAN, std=STD)).evaluate()
        yield images.shape[0], images.nbytes


def alone(_: Any, settings: Settings, reader: Any) -> Counts:
    for encoded in encoded_batches(settings, reader):
        batch = encoded.evaluate()
        yield batch.batch_size, sum(shape[0] for shape in batch.shape)


def of_avida(make: Callable[..., Any], read: Callable[..., Counts], local: bool = False, latency: bool = False) -> Any:
    def prepare(settings: Settings) -> Epoch:
        ndd = avida(settings, latency)
        reader = make(ndd, settings, settings["folder"] + "/bucket" if local else "s3://bucket")
        return lambda: read(ndd, settings, reader)

    return prepare


# --- others ---


def s3_objects(settings: Settings) -> Any:
    from s3torchconnector import S3ClientConfig, S3MapDataset

    names = [f"s3://bucket/photos/{name}" for name in settings["names"]]
    return S3MapDataset.from_objects(
        names,
        region="us-east-1",
        endpoint=settings["endpoint"],
        transform=S3_BYTES,
        s3client_config=S3ClientConfig(force_path_style=True),
    )


def S3_BYTES(reader: Any) -> int:  # noqa: N802
    return len(reader.read())


def s3torchconnector_threads(settings: Settings) -> Epoch:
    from concurrent.futures import ThreadPoolExecutor

    data = s3_objects(settings)

    def epoch() -> Counts:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for size in pool.map(data.__getitem__, range(len(data))):
                yield 1, size

    return epoch


def s3torchconnector_workers(settings: Settings) -> Epoch:
    import torch

    data = s3_objects(settings)

    def epoch() -> Counts:
        for sizes in torch.utils.data.DataLoader(data, batch_size=settings["batch"], num_workers=4):
            yield len(sizes), int(sizes.sum())

    return epoch


class Unused(types.ModuleType):
    """torchvision, which Streaming imports for data sets that are not used here: its wheels need CUDA."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def imported_streaming() -> Any:
    for part in ("", ".datasets", ".transforms", ".transforms.functional"):
        name = f"torchvision{part}"
        sys.modules[name] = Unused(name)
        sys.modules[name].__path__ = []
        sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)
    import streaming

    return streaming


def streaming(settings: Settings) -> Epoch:
    library = imported_streaming()
    os.environ["S3_ENDPOINT_URL"] = settings["endpoint"]
    data = library.StreamingDataset(
        remote="s3://bucket/mds", local=settings["cache"], shuffle=True, batch_size=settings["batch"], predownload=2048
    )
    return lambda: ((1, len(sample["image"])) for sample in data)


def litdata(settings: Settings) -> Epoch:
    from litdata import StreamingDataset
    from litdata.streaming import downloader

    downloader._OBSTORE_CLIENT_OPTIONS = {**downloader._OBSTORE_CLIENT_OPTIONS, "allow_http": True}
    data = StreamingDataset(
        "s3://bucket/lit",
        cache_dir=settings["cache"],
        shuffle=True,
        storage_options={"endpoint_url": settings["endpoint"], "region_name": "us-east-1"},
        max_pre_download=4,
    )
    return lambda: ((1, len(sample["image"])) for sample in data)


def stored_photos(settings: Settings) -> Iterator[bytes]:
    for name in settings["names"]:
        yield pathlib.Path(settings["folder"], "bucket", "photos", name).read_bytes()


def write_mds(settings: Settings) -> None:
    write = imported_streaming().MDSWriter
    with write(out=settings["folder"] + "/bucket/mds", columns={"image": "bytes"}) as out:
        for photo in stored_photos(settings):
            out.write({"image": photo})


def write_lit(settings: Settings) -> None:
    from litdata.streaming.cache import Cache

    cache = Cache(settings["folder"] + "/bucket/lit", chunk_bytes="64MB")
    for i, photo in enumerate(stored_photos(settings)):
        cache[i] = {"image": photo}
    cache.done()
    cache.merge()


CONTESTANTS: dict[str, Callable[[Settings], Epoch]] = {
    "photos, local files": of_avida(photos, decoded, local=True),
    "photos from S3": of_avida(photos, decoded),
    "tars, local, decoded": of_avida(archives, decoded, local=True),
    "tars from S3, decoded": of_avida(archives, decoded),
    "avida, objects": of_avida(photos, alone),
    "avida, tars in blocks": of_avida(archives, alone),
    "avida, MDS in blocks": of_avida(shards, alone),
    "avida, objects, 30 ms": of_avida(photos, alone, latency=True),
    "s3torchconnector, 64 threads": s3torchconnector_threads,
    "s3torchconnector, 4 workers": s3torchconnector_workers,
    "MosaicML Streaming": streaming,
    "LitData": litdata,
}
FROM_AN_EMPTY_CACHE = ["MosaicML Streaming", "LitData"]
WRITERS = {"write MDS": write_mds, "write LitData": write_lit}


def cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main(name: str, settings: Settings) -> None:
    os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_REGION="us-east-1")
    if name in WRITERS:
        return WRITERS[name](settings)
    shutil.rmtree(settings["cache"], ignore_errors=True)
    epoch = CONTESTANTS[name](settings)  # which imports the library
    if name not in FROM_AN_EMPTY_CACHE:
        for _ in epoch():  # what is read ahead before the measured epoch is balanced by what is read at its end
            pass
    samples = size = 0
    started, cpu = time.perf_counter(), cpu_seconds()
    for more, more_bytes in epoch():
        samples += more
        size += more_bytes
    seconds = time.perf_counter() - started
    measured = {"seconds": seconds, "cpu": cpu_seconds() - cpu, "samples": samples, "bytes": size}
    print(json.dumps(measured), flush=True)
    os._exit(0)  # without waiting for what was read ahead


if __name__ == "__main__":
    main(sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text()))
