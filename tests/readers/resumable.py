"""A training run that is killed again and again and goes on from its last checkpoint.

Run as a program, which forks a process for each attempt: an attempt has nothing of the one before it but its files.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import signal
import sys
import zlib

import numpy as np

import avida as ndd

EVERY = 2  # steps between checkpoints


def make_file(folder, **options):
    return ndd.readers.File(file_root=folder, **options)


READERS = {"File": make_file}
"""For each format: what makes a reader of the data set in a folder."""


@dataclasses.dataclass
class Run:
    reader: str
    data: str
    folder: str
    batch_size: int
    epochs: int
    kills: int
    shards: list[int]  # of one attempt after another, over and over
    order: dict


class Log:
    """A line for each sample. Its state is its length: what was written after the checkpoint is cut off."""

    def __init__(self, path):
        self._file = open(path, "ab")  # noqa: SIM115

    def write(self, line):
        self._file.write(line)

    def state_dict(self):
        self._file.flush()
        return {"length": self._file.tell()}

    def load_state_dict(self, state):
        self._file.truncate(state["length"])
        self._file.seek(state["length"])


def attempt(run, shards, step_done):
    """Reads all shards in step, from the last checkpoint to the end of the run."""
    make = READERS[run.reader]
    readers = [make(run.data, num_shards=shards, shard_id=i, last_batch="partial", **run.order) for i in range(shards)]
    ndd.random.set_seed(11)
    log = Log(f"{run.folder}/log")
    checkpoint = ndd.checkpoint.Checkpoint()
    with contextlib.suppress(FileNotFoundError):
        checkpoint.load(run.folder + "/{seq:04d}.json")
    if not checkpoint.is_loaded:
        log.load_state_dict({"length": 0})
    checkpoint.register(log, "log")
    checkpoint.register(ndd.random.get_default_rng(), "rng")
    checkpoint.register(readers[-1], "reader")  # any one will do: its state is that of all
    for reader in readers[:-1]:
        reader.set_state(readers[-1].get_state())

    step = 0
    while readers[0].epoch < run.epochs:
        epochs = [reader.next_epoch(run.batch_size) for reader in readers]
        while items := [item for item in (next(epoch, None) for epoch in epochs) if item]:
            for files, _ in items:
                write_samples(log, files)
            step += 1
            if step % EVERY == 0:
                checkpoint.collect()
                checkpoint.save(run.folder + "/{seq:04d}.json")
            step_done()
    log.state_dict()


def write_samples(log, files):
    noise = ndd.random.uniform(batch_size=files.batch_size)
    for sample, source, number in zip(files, files.sources, noise, strict=True):
        augmented = zlib.crc32(np.asarray(number).tobytes(), zlib.crc32(np.asarray(sample).tobytes()))
        log.write(b"%d %d %08x\n" % (source.epoch, source.index, augmented))


def forked_attempt(run, shards, steps):
    """Runs to the end, or is killed some steps after it began; returns whether it was."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(told)
            attempt(run, shards, lambda: os.write(tell, b"."))
            os._exit(0)
        finally:
            os._exit(1)
    os.close(tell)
    try:
        while steps is None or steps > 0:
            count = len(os.read(told, steps or 1000))
            if not count:
                break
            steps = steps and steps - count
        if steps == 0:
            os.kill(child, signal.SIGKILL)
    finally:
        os.close(told)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), f"an attempt failed: {status}"
    return status != 0


def main(run):
    choose = random.Random(run.batch_size)
    killed = 0
    while forked_attempt(
        run, run.shards[killed % len(run.shards)], choose.randint(1, 2 * EVERY + 1) if killed < run.kills else None
    ):
        killed += 1
    print(killed)


if __name__ == "__main__":
    main(Run(**json.loads(pathlib.Path(sys.argv[1]).read_text())))
