"""Measures files to training batches on a GPU: read, decode, resize to 224, normalize, pass to PyTorch.

    python benchmarks/gpu/job.py --data FOLDER [--images 8192] [--batch 256] [--rounds 3] [--json FILE]

The JPEG files of the folder are repeated up to the number of images. avida runs in eager mode. The real library runs in
pipeline mode, its fastest, with the settings that it recommends. torchvision decodes on the GPU in batches. Each
contestant runs one epoch to warm up; the best of the other epochs counts. The contestants take turns.
"""

import argparse
import json
import os
import pathlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

# The contestants come with the extra `bench`, and not all have types.
# pyright: reportMissingImports=false, reportPrivateImportUsage=false, reportArgumentType=false, reportCallIssue=false
# pyright: reportAttributeAccessIssue=false

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


def avida_job(files: list[str], batch: int) -> Callable[[], int]:
    import avida as ndd

    reader = ndd.readers.File(files=files, labels=list(range(len(files))))

    def epoch() -> int:
        done = 0
        for jpegs, _ in reader.next_epoch(batch_size=batch):
            images = ndd.decoders.image(jpegs, device="gpu")
            images = ndd.resize(images, size=[224, 224])
            images = ndd.crop_mirror_normalize(images, mean=MEAN, std=STD, dtype=ndd.float32)
            done += images.torch().shape[0]
        return done

    return epoch


def dali_job(files: list[str], batch: int) -> Callable[[], int]:
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import DALIGenericIterator

    @pipeline_def(batch_size=batch, num_threads=os.cpu_count(), device_id=0, prefetch_queue_depth=2)
    def job() -> Any:
        jpegs, _ = fn.readers.file(files=files, name="reader")
        images = fn.decoders.image(jpegs, device="mixed")
        images = fn.resize(images, size=[224, 224])
        return fn.crop_mirror_normalize(images, mean=MEAN, std=STD, dtype=types.FLOAT)

    iterator = DALIGenericIterator([job()], ["images"], reader_name="reader", auto_reset=True)
    return lambda: sum(len(items[0]["images"]) for items in iterator)


def torchvision_job(files: list[str], batch: int) -> Callable[[], int]:
    import torch
    import torchvision

    resize = torchvision.transforms.functional.resize
    mean, std = (torch.tensor(v, device="cuda").view(1, 3, 1, 1) for v in (MEAN, STD))

    def epoch() -> int:
        done = 0
        for first in range(0, len(files), batch):
            data = [torchvision.io.read_file(f) for f in files[first : first + batch]]
            images = torchvision.io.decode_jpeg(data, device="cuda", mode=torchvision.io.ImageReadMode.RGB)
            small = torch.stack([resize(image, [224, 224], antialias=True) for image in images])
            done += len((small.float() - mean) / std)
        return done

    return epoch


JOBS = {"avida": avida_job, "DALI pipeline": dali_job, "torchvision": torchvision_job}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--images", type=int, default=8192)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    import torch

    found = sorted(str(path) for path in options.data.rglob("*.jp*g"))
    files = [found[i % len(found)] for i in range(options.images)]
    jobs: dict[str, Callable[[], int]] = {}
    for name, make in JOBS.items():
        try:
            jobs[name] = make(files, options.batch)
            jobs[name]()
        except Exception as error:  # a contestant that is not installed, or cannot run here
            jobs.pop(name, None)
            print(f"{name} is skipped: {error!r}"[:300])
    rates: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(options.rounds):
        for name, job in jobs.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            done = job()
            torch.cuda.synchronize()
            rates[name].append(done / (time.perf_counter() - start))
    for name, all_rates in rates.items():
        ratio = max(rates["avida"]) / max(all_rates)
        print(f"{name:14} {max(all_rates):8.0f} images/s   avida is {ratio:.2f} times as fast")
    if options.json:
        sizes = [pathlib.Path(f).stat().st_size for f in found]
        figures = {"rates": rates, "files": len(found), "mean_bytes": float(np.mean(sizes)), "cpus": os.cpu_count()}
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
