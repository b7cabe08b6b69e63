"""A training loop whose processes are killed: each rank leaves the samples of its steps in a log of its own.

Ray Train calls it, and torchrun runs it as a program.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import sys
import threading
import time

EVERY = 2  # steps between checkpoints
BATCH = 3
SAMPLES = 31


def write_data(folder):
    for i in range(SAMPLES):
        path = pathlib.Path(folder, "data", "class", f"{i:03}.jpg")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([i]) * (1 + i))


def reader_of(folder, **options):
    import avida as ndd

    return ndd.readers.File(file_root=f"{folder}/data", random_shuffle=True, seed=3, last_batch="partial", **options)


def lines_of(files):
    """A line for each sample: epoch, index, and a draw that belongs to it."""
    import avida as ndd

    drawn = ndd.random.uniform(keyed_by=files).torch().tolist()
    return [f"{s.epoch} {s.index} {number!r}\n" for s, number in zip(files.sources, drawn, strict=True)]


def train(folder, epochs, last_step, kills, load, save, holds=()):
    """Goes on from the last checkpoint.

    ``kills`` says after which steps a rank is killed, each of them once; ``holds`` at which steps that many ranks wait
    for being ended, since their number changes.
    """
    import torch
    import torch.distributed as dist

    import avida as ndd

    reader = reader_of(folder, shards="auto")
    ndd.random.set_seed(7)
    world = ndd.distributed.world()
    assert world == ndd.distributed.World(dist.get_rank(), dist.get_world_size())
    assert world.local_rank + world.node == world.rank, "either all on one node, or each on its own"
    state = load() or {"step": 0, "reader": reader.state_dict()}
    reader.load_state_dict(state["reader"])
    step, log = state["step"], pathlib.Path(folder, "log")
    if dist.get_rank() == 0:
        for written in log.glob("*"):
            if int(written.name) > step:
                shutil.rmtree(written)
    dist.barrier()
    while reader.epoch < epochs and step < last_step:
        epoch = reader.next_epoch(batch_size=BATCH)
        while step < last_step:
            item = next(epoch, None)
            some = torch.tensor([item is not None], dtype=torch.int32)
            dist.all_reduce(some)  # the step that all ranks take together
            if not some.item():
                break
            step += 1
            (log / f"{step:06}").mkdir(parents=True, exist_ok=True)
            if item is not None:
                (log / f"{step:06}" / str(dist.get_rank())).write_text("".join(lines_of(item[0])))
            kill_once(folder, step, kills)
            hold(folder, step, holds)
            if step % EVERY == 0:
                dist.barrier()  # the logs of all ranks are as far as the state
                save({"step": step, "reader": reader.state_dict()})


def kill_once(folder, step, kills):
    """Within a moment, so that it may be in any line."""
    import torch.distributed as dist

    mark = pathlib.Path(folder, f"killed-{step}")
    if step in kills and step % dist.get_world_size() == dist.get_rank() and not mark.exists():
        mark.touch()
        wait = random.Random(step).uniform(0, 0.01)
        threading.Thread(target=lambda: (time.sleep(wait), os.kill(os.getpid(), signal.SIGKILL))).start()


def hold(folder, step, holds):
    import torch.distributed as dist

    if (step, dist.get_world_size()) in map(tuple, holds):
        pathlib.Path(folder, f"held-{step}").touch()
        time.sleep(300)


def merged(folder):
    return sorted(line for file in pathlib.Path(folder, "log").glob("*/*") for line in file.read_text().splitlines())


def expected(folder, epochs):
    """What an undisturbed run of one process leaves."""
    import avida as ndd

    reader = reader_of(folder)
    ndd.random.set_seed(7)
    items = [files for _ in range(epochs) for files, _ in reader.next_epoch(batch_size=BATCH)]
    return sorted(line.rstrip("\n") for files in items for line in lines_of(files))


def main():
    import torch.distributed as dist

    folder, epochs, last_step, kills = json.loads(sys.argv[1])
    dist.init_process_group("gloo")
    saved = pathlib.Path(folder, "state.json")

    def save(state):
        if dist.get_rank() == 0:
            written = saved.with_suffix(".new")
            written.write_text(json.dumps(state))
            written.replace(saved)
        dist.barrier()

    train(folder, epochs, last_step, kills, lambda: json.loads(saved.read_text()) if saved.exists() else None, save)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
