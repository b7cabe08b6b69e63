"""Measures training of ResNet-50 on a GPU: on synthetic data, with avida and with DALI pipeline mode.

    python benchmarks/training.py [--data DIR] [--batch 256] [--steps 40] [--rounds 5] [--json FILE]

bf16 autocast, channels_last, SGD, random_resized_crop to 224, mirror, normalize. avida decodes on the GPU, and on the
CPU with the results copied in each way that people write. Synthetic data lies on the GPU, and on the CPU in ordinary
and in pinned memory. Every contestant trains twice: with the loss never read, and with `loss.item()` in every step,
which waits for the GPU. Loaders also run alone. The contestants take turns, medians count. Without --data, JPEG files
are made. No round is begun that would end after --limit seconds; --json has what was measured until then.

To try the script without a GPU, in float32: `--device cpu --batch 8 --size 64 --width 8 --steps 3`.
"""

import argparse
import functools
import json
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import torch
from torch import nn

import avida as ndd
from avida._cli.images import make_images

# The real library comes with the extra `parity`, and not all of it has types.
# pyright: reportMissingImports=false, reportPrivateImportUsage=false, reportArgumentType=false, reportCallIssue=false
# pyright: reportAttributeAccessIssue=false

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]
CLASSES = 1000
WARM_UP = 8  # steps before each measurement: pools fill, prefetching begins
SYNTHETIC, DALI = "synthetic data", "DALI pipeline mode"
PINNED = f"{SYNTHETIC} on the CPU, pinned, .cuda()"
ON_GPU, ON_CPU = "avida, decoding on the GPU", "avida, decoding on the CPU"
ALONE, UNREAD, READ = "loader alone", "loss never read", "loss read every step"

BEGAN = time.perf_counter()

Copy = Callable[[Any], torch.Tensor]  # of a batch on the CPU to the GPU
COPIES: dict[str, Copy] = {
    ".torch().cuda()": lambda batch: batch.torch().cuda(),
    ".torch(pin_memory=True).cuda(non_blocking=True)": lambda batch: batch.torch(pin_memory=True).cuda(
        non_blocking=True
    ),
    ".gpu().torch()": lambda batch: batch.gpu().torch(),
}

Batches = Generator[tuple[torch.Tensor, torch.Tensor]]


class Job:
    """What all contestants share."""

    def __init__(self, files: list[str], options: argparse.Namespace) -> None:
        self.batch, self.size, self.device = options.batch, options.size, torch.device(options.device)
        count = (WARM_UP + options.steps + 8) * options.batch  # no epoch ends within a measurement
        self.files = [files[i % len(files)] for i in range(count)]
        self.labels = [i % CLASSES for i in range(count)]


# --- contestants: each prepares once, and returns a function that begins an infinite loop over batches ---


def synthetic(job: Job) -> Callable[[], Batches]:
    images = torch.randn(job.batch, 3, job.size, job.size, device=job.device)
    labels = torch.randint(CLASSES, (job.batch,), device=job.device)

    def batches() -> Batches:
        while True:
            yield images, labels

    return batches


def synthetic_on_cpu(job: Job, pinned: bool) -> Callable[[], Batches]:
    images = torch.randn(job.batch, 3, job.size, job.size, pin_memory=pinned)
    labels = torch.randint(CLASSES, (job.batch,), pin_memory=pinned)

    def batches() -> Batches:
        while True:
            yield images.cuda(), labels.cuda()

    return batches


def avida_on_gpu(job: Job, **mode: Any) -> Callable[[], Batches]:
    reader = ndd.readers.File(files=job.files, labels=job.labels)

    def batches() -> Batches:
        while True:
            for jpegs, labels in reader.next_epoch(batch_size=job.batch, **mode):
                images = ndd.decoders.image(jpegs, device="gpu")
                images = ndd.random_resized_crop(images, size=[job.size, job.size])
                mirror = ndd.random.coin_flip(batch_size=jpegs.batch_size)
                images = ndd.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD)
                yield images.torch(), labels.gpu().torch().flatten().long()

    return batches


def avida_on_cpu(job: Job, copy: Copy, pinned: bool | None = None, **mode: Any) -> Callable[[], Batches]:
    reader = ndd.readers.File(files=job.files, labels=job.labels)

    def batches() -> Batches:
        with ndd.EvalContext(pin_memory=pinned):
            while True:
                for jpegs, labels in reader.next_epoch(batch_size=job.batch, **mode):
                    images = ndd.decoders.image(jpegs)
                    images = ndd.random_resized_crop(images, size=[job.size, job.size])
                    mirror = ndd.random.coin_flip(batch_size=jpegs.batch_size)
                    images = ndd.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD)
                    yield copy(images), copy(labels).flatten().long()

    return batches


def dali_pipeline(job: Job) -> Callable[[], Batches]:
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import DALIGenericIterator

    gpu = job.device.type == "cuda"

    @pipeline_def(batch_size=job.batch, num_threads=os.cpu_count(), device_id=0 if gpu else None)
    def pipeline() -> Any:
        jpegs, labels = fn.readers.file(files=job.files, labels=job.labels)
        images = fn.decoders.image(jpegs, device="mixed" if gpu else "cpu")
        images = fn.random_resized_crop(images, size=[job.size, job.size])
        mirror = fn.random.coin_flip()
        images = fn.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD, dtype=types.FLOAT)
        return images, labels.gpu() if gpu else labels

    iterator = DALIGenericIterator([pipeline()], ["images", "labels"])  # without a size: it never ends

    def batches() -> Batches:
        while True:
            (outputs,) = next(iterator)
            yield outputs["images"], outputs["labels"].flatten().long()

    return batches


def contestants(device: torch.device) -> dict[str, Callable[[Job], Callable[[], Batches]]]:
    if device.type == "cpu":
        on_cpu = functools.partial(avida_on_cpu, copy=lambda batch: batch.torch())
        return {SYNTHETIC: synthetic, ON_CPU: on_cpu, DALI: dali_pipeline}
    return {
        SYNTHETIC: synthetic,
        f"{SYNTHETIC} on the CPU, .cuda()": functools.partial(synthetic_on_cpu, pinned=False),
        PINNED: functools.partial(synthetic_on_cpu, pinned=True),
        ON_GPU: avida_on_gpu,
        f"{ON_GPU}, ahead=0": lambda job: avida_on_gpu(job, ahead=0),
        **{f"{ON_CPU}, {name}": functools.partial(avida_on_cpu, copy=copy) for name, copy in COPIES.items()},
        f"{ON_CPU}, ordinary memory, .torch().cuda()": functools.partial(
            avida_on_cpu, copy=COPIES[".torch().cuda()"], pinned=False
        ),
        DALI: dali_pipeline,
    }


# --- the training step ---


def convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> list[nn.Module]:
    layer = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
    return [layer, nn.BatchNorm2d(outputs)]


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * width
        self.body = nn.Sequential(
            *convolution(inputs, width, 1),
            nn.ReLU(inplace=True),
            *convolution(width, width, 3, stride),
            nn.ReLU(inplace=True),
            *convolution(width, outputs, 1),
        )
        same = inputs == outputs and stride == 1
        self.skip = nn.Identity() if same else nn.Sequential(*convolution(inputs, outputs, 1, stride))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu_(self.body(x) + self.skip(x))


def resnet50(width: int = 64) -> nn.Module:
    layers = [*convolution(3, width, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1)]
    inputs = width
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for i in range(blocks):
            layers.append(Bottleneck(inputs, width << stage, 2 if stage > 0 and i == 0 else 1))
            inputs = 4 * (width << stage)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


def training_step(device: torch.device, width: int) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    network = resnet50(width).to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4)

    def step(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            outputs = network(images.to(memory_format=torch.channels_last))
            loss = nn.functional.cross_entropy(outputs, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    return step


# --- measuring ---


class Bench:
    def __init__(self, job: Job, step: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
        self.job, self.step = job, step

    def images_per_second(self, batches: Batches, mode: str, steps: int) -> float:
        self.run(batches, mode, WARM_UP)
        start = time.perf_counter()
        self.run(batches, mode, steps)
        seconds = time.perf_counter() - start
        images, _ = next(batches)
        batches.close()  # leaves the loop over the epoch: the next contestant has the machine for itself
        shape = (self.job.batch, 3, self.job.size, self.job.size)
        assert (images.shape, images.dtype, images.device.type) == (shape, torch.float32, self.job.device.type)
        return steps * self.job.batch / seconds

    def run(self, batches: Batches, mode: str, steps: int) -> None:
        for _ in range(steps):
            images, labels = next(batches)
            if mode != ALONE:
                loss = self.step(images, labels)
                if mode == READ:
                    loss.item()
        if self.job.device.type == "cuda":
            torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="a folder of JPEG files; made if omitted")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--width", type=int, default=64, help="channels of the first layer: 64 is ResNet-50")
    parser.add_argument("--steps", type=int, default=40, help="steps of one measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=300, help="seconds of the whole run")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="contestants whose names contain it")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="avida-photos-") as made:
        if options.data is None and make_images(made, 128) != "JPEG":
            sys.exit("making JPEG files needs Pillow; expected --data with a folder of them instead")
        found = sorted(str(path) for path in (options.data or pathlib.Path(made)).rglob("*.jp*g"))
        if not found:
            sys.exit(f"{options.data} has no files that end in .jpg or .jpeg")
        say(f"{len(found)} files of {statistics.mean(map(os.path.getsize, found)):,.0f} bytes on average")
        rates = compare(found, options)
    print("\n" + table(rates))
    if options.device == "cuda":
        print("\n".join(bars(rates)))


def compare(files: list[str], options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Images per second of every contestant and mode, the medians of all rounds."""
    job = Job(files, options)
    if options.device == "cpu":
        torch.set_num_threads(1)  # the loaders need a core, too
    bench = Bench(job, training_step(job.device, options.width))
    loops: dict[str, Callable[[], Batches]] = {}
    skipped: dict[str, str] = {}
    for name, make in contestants(job.device).items():
        if options.only and not any(part in name for part in [*options.only, SYNTHETIC]):
            continue
        try:
            loops[name] = make(job)
            bench.images_per_second(loops[name](), READ, 1)
            say(f"{name}: ready")
        except Exception as error:  # not installed, not supported by this version, or cannot run here
            loops.pop(name, None)
            skipped[name] = repr(error)[:300]
            say(f"{name} is skipped: {skipped[name]}")

    report: dict[str, Any] = {name: getattr(options, name) for name in ("batch", "size", "width", "steps", "device")}
    report |= {"files": len(files), "cpus": os.cpu_count(), "python": platform.python_version()}
    report |= {"torch": torch.__version__, "skipped": skipped}
    if options.device == "cuda":
        report["gpu"] = torch.cuda.get_device_name()
    rounds: dict[str, dict[str, list[float]]] = {
        name: {mode: [] for mode in (ALONE, UNREAD, READ) if mode != ALONE or not name.startswith(SYNTHETIC)}
        for name in loops
    }
    for i in range(options.rounds):
        start = time.perf_counter()
        for name, batches in loops.items():
            for mode, rates in rounds[name].items():
                rates.append(bench.images_per_second(batches(), mode, options.steps))
            figures = ", ".join(f"{mode} {rates[-1]:,.0f}" for mode, rates in rounds[name].items())
            say(f"round {i + 1} of {options.rounds}, {name}: {figures}")
        report |= {"rounds": rounds, "images_per_second": medians(rounds)}
        if options.json:
            options.json.write_text(json.dumps(report, indent=1) + "\n")
        now = time.perf_counter()
        if i + 1 < options.rounds and now - BEGAN + (now - start) > options.limit:
            say(f"another round would end after {options.limit:g} s")
            break
    return report["images_per_second"]


def say(text: str) -> None:
    print(f"{time.perf_counter() - BEGAN:6.1f} s  {text}", flush=True)


def medians(rounds: dict[str, dict[str, list[float]]]) -> dict[str, dict[str, float]]:
    return {name: {mode: statistics.median(r) for mode, r in modes.items()} for name, modes in rounds.items()}


def table(rates: dict[str, dict[str, float]]) -> str:
    """The figures as the README shows them; a share is that of synthetic data with the loss read alike."""
    lines = [f"| images/s | {ALONE} | {UNREAD} | of synthetic | {READ} | of synthetic |", "|---|---|---|---|---|---|"]
    for name, row in rates.items():
        cells = [f"{row[ALONE]:,.0f}" if ALONE in row else ""]
        for mode in (UNREAD, READ):
            cells += [f"{row[mode]:,.0f}", f"{row[mode] / rates[SYNTHETIC][mode]:.3f}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def bars(rates: dict[str, dict[str, float]]) -> Iterator[str]:
    """What must hold, and whether it does."""

    def bar(what: str, share: float, least: float) -> str:
        return f"{what}: {share:.3f}, at least {least:.2f}: {'holds' if share >= least else 'DOES NOT HOLD'}"

    step = rates[SYNTHETIC][READ]
    if ON_GPU in rates:
        yield bar(f"{ON_GPU}, {READ}, of synthetic data", rates[ON_GPU][READ] / step, 0.98)
        if DALI in rates:
            yield bar(f"{ON_GPU}, {READ}, of {DALI}", rates[ON_GPU][READ] / rates[DALI][READ], 1.0)
    for copy, of, least in zip(COPIES, (PINNED, PINNED, SYNTHETIC), (0.95, 0.98, 0.98), strict=True):
        if (name := f"{ON_CPU}, {copy}") in rates and of in rates:
            yield bar(f"{name}, {READ}, of {of}", rates[name][READ] / rates[of][READ], least)


if __name__ == "__main__":
    main()
