"""States of readers beside those of PyTorch: one for all ranks, gathered by others or from any one of them."""

import socket
import subprocess
import sys

import pytest

import avida as ndd

SAMPLES = list(range(20))


def make(**options):
    return ndd.ExternalSource(SAMPLES, last_batch="partial", random_shuffle=True, seed=3, **options)


def numbers(epoch):
    return [sample.item() for (batch,) in epoch for sample in batch]


STEPS = """
import sys
rank, size, port, here, there = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5]
import torch, torch.distributed
import torch.distributed.checkpoint as dcp
import avida as ndd
from tests.clusters.test_checkpoints import make, numbers
torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
state = {"reader": make(shards="auto"), "weights": torch.full([3], float(rank == 0))}
if here != "nothing":
    dcp.load(state, checkpoint_id=here)
epoch = state["reader"].next_epoch(batch_size=2)
begun = [sample.item() for _ in range(2) for sample in next(epoch)[0]]
dcp.save(state, checkpoint_id=there)
print(begun, numbers(epoch))
torch.distributed.destroy_process_group()
"""


def run_ranks(size, here, there):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-c", STEPS]
    processes = [
        subprocess.Popen([*command, *map(str, (rank, size, port, here, there))], stdout=subprocess.PIPE, text=True)
        for rank in range(size)
    ]
    outputs = [process.communicate(timeout=600)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * size
    return [eval(output.replace("] [", "], [")) for output in outputs]


@pytest.mark.filterwarnings("ignore:torch.distributed")
def test_distributed_checkpoints(tmp_path):
    """Readers are what torch.distributed.checkpoint calls stateful; the run goes on with another number of ranks."""
    import torch.distributed.checkpoint as dcp

    two = run_ranks(2, "nothing", tmp_path / "two")
    seen = [number for begun, _ in two for number in begun]
    ((begun, rest),) = run_ranks(1, tmp_path / "two", tmp_path / "one")
    assert sorted(seen + begun + rest) == SAMPLES
    reader = make()
    dcp.load({"reader": reader}, checkpoint_id=tmp_path / "one")
    assert numbers(reader.next_epoch(batch_size=2)) == rest


def test_lightning(tmp_path):
    """A module that reads by itself keeps the state in the checkpoint of its trainer."""
    import lightning
    import torch

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.reader = make()
            self.seen: list[int] = []

        def train_dataloader(self):
            return self.reader.next_epoch(batch_size=2)

        def training_step(self, batch, index):
            self.seen += [sample.item() for sample in batch[0]]
            return self.layer(torch.ones(1)).sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.0)

        def on_save_checkpoint(self, checkpoint):
            checkpoint["reader"] = self.reader.state_dict()

        def on_load_checkpoint(self, checkpoint):
            self.reader.load_state_dict(checkpoint["reader"])

    def trainer(steps):
        return lightning.Trainer(
            max_steps=steps, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
        )

    first, resumed = Model(), Model()
    begun = trainer(4)
    begun.fit(first)
    begun.save_checkpoint(tmp_path / "4.ckpt")
    trainer(10).fit(resumed, ckpt_path=tmp_path / "4.ckpt", weights_only=False)
    assert len(first.seen) == 8
    assert sorted(first.seen + resumed.seen) == SAMPLES
