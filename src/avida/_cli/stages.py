"""The main job, from files to training batches, measured stage by stage."""

from __future__ import annotations

import dataclasses
import importlib.util
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import avida
from avida._cli.images import NoImagesError
from avida.progress import Progress

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


@dataclasses.dataclass
class Job:
    """What is done to the images."""

    batch_size: int = 64
    size: int = 224

    def stages(self) -> dict[str, Callable[[avida.Batch], Any]]:
        """What comes after reading, in order."""
        return {
            "resize": lambda images: avida.resize(images, size=[self.size, self.size]),
            "normalise": lambda images: avida.crop_mirror_normalize(images, mean=MEAN, std=STD),
            "hand over": hand_over,
        }


def hand_over(images: avida.Batch) -> Any:
    """What a training loop takes: a PyTorch tensor, or a NumPy array where there is no PyTorch."""
    if importlib.util.find_spec("torch"):
        return images.torch()
    return np.asarray(avida.as_tensor(images))


@dataclasses.dataclass
class Measured:
    """Images per second of each stage, of all together, and what could not be decoded."""

    rates: dict[str, float]
    together: float
    images: int
    errors: list[str]

    def table(self) -> str:
        """As text. A stage's share is that of its time when the stages run one after another."""
        seconds = {name: 1 / rate for name, rate in self.rates.items()}
        total = sum(seconds.values())
        lines = [f"{'stage':<14} {'images/s':>10} {'us/image':>10} {'share':>7}"]
        for name, each in seconds.items():
            share = each / total
            bar = "█" * round(share * 30)
            lines.append(f"{name:<14} {1 / each:>10,.0f} {each * 1e6:>10,.0f} {share:>7.1%}  {bar}".rstrip())
        lines.append(f"{'all together':<14} {self.together:>10,.0f} {1e6 / self.together:>10,.0f}")
        return "\n".join(lines)


def measure(files: Sequence[pathlib.Path], job: Job, repeat: int = 1) -> Measured:
    """Runs the job over the files three times: reading only, stage after stage, and as a training loop runs it."""
    names = [str(file) for file in files] * repeat
    failed: dict[str, str] = {}
    hand_over(avida.zeros(shape=[1], batch_size=1))  # imports PyTorch
    rates = {"read": _read(names, job)}
    rates |= _stage_by_stage(names, job, failed)
    good = [name for name in names if name not in failed]
    together = _together(good, job)
    return Measured(rates, together, len(good), [f"{name}: {message}" for name, message in failed.items()])


def _batches(names: list[str], job: Job) -> Any:
    reader = avida.readers.File(files=names, labels=[0] * len(names))
    return reader.next_epoch(batch_size=job.batch_size)


def _read(names: list[str], job: Job) -> float:
    batches = _batches(names, job)
    with Progress("reading", total=len(batches) * job.batch_size) as bar:
        for encoded, _ in batches:
            bar.advance(encoded.evaluate().batch_size)
    return bar.rate


def _stage_by_stage(names: list[str], job: Job, failed: dict[str, str]) -> dict[str, float]:
    stages = job.stages()
    seconds = dict.fromkeys(["decode", *stages], 0.0)
    done = 0
    batches = _batches(names, job)
    with Progress("stage by stage", total=len(batches) * job.batch_size) as bar:
        for encoded, _ in batches:
            encoded.evaluate()
            start = time.perf_counter()
            value = avida.decoders.image(encoded, on_error="placeholder").evaluate()
            seconds["decode"] += time.perf_counter() - start
            failed |= {error.source or f"sample {error.sample}": error.message for error in value.errors}
            value = avida.drop_failed(value)
            done += value.batch_size
            if value.batch_size:
                for name, stage in stages.items():
                    start = time.perf_counter()
                    value = stage(value)
                    if isinstance(value, avida.Batch):
                        value.evaluate()
                    seconds[name] += time.perf_counter() - start
            bar.advance(encoded.batch_size)
    if not done:
        name, message = next(iter(failed.items()))
        raise NoImagesError(f"none of the files could be decoded; the first, {name}: {message}")
    return {name: done / time for name, time in seconds.items()}


def _together(names: list[str], job: Job) -> float:
    stages = job.stages().values()
    batches = _batches(names, job)
    with Progress("all together", total=len(batches) * job.batch_size) as bar:
        for encoded, _ in batches:
            value = avida.decoders.image(encoded)
            for stage in stages:
                value = stage(value)
            bar.advance(encoded.batch_size)
    return bar.rate
