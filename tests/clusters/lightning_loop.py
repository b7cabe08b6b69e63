"""Lightning in workers of Ray Train: each reads its own shard; the recipe for Ray shows it."""

import os
import pathlib
import signal

import lightning
import ray.train
import ray.train.lightning
import torch

import avida as ndd


class Model(lightning.LightningModule):
    """Its checkpoints have the state of its reader, which is the same for all workers."""

    def __init__(self, folder):
        super().__init__()
        self.folder = pathlib.Path(folder)
        self.net = torch.nn.Linear(1, 1)
        self.reader = ndd.readers.File(
            file_root=f"{folder}/data", random_shuffle=True, seed=3, last_batch="partial", shards="auto"
        )

    def train_dataloader(self):
        return self.reader.next_epoch(batch_size=2)

    def training_step(self, batch, batch_idx):
        files, _ = batch
        drawn = ndd.random.uniform(keyed_by=files).torch()
        self.tell(files, drawn)
        return self.net(drawn[:, None]).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

    def on_save_checkpoint(self, checkpoint):
        checkpoint["reader"] = self.reader.state_dict()

    def on_load_checkpoint(self, checkpoint):
        self.reader.load_state_dict(checkpoint["reader"])

    def tell(self, files, drawn):
        """What was read in which epoch; and in the second epoch a worker dies, once."""
        log = self.folder / f"{self.current_epoch}-{self.global_rank}"
        with log.open("a") as out:
            out.writelines(f"{s.index} {number!r}\n" for s, number in zip(files.sources, drawn.tolist(), strict=True))
        mark = self.folder / "killed"
        if self.current_epoch == 1 and self.global_rank == 0 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def on_train_epoch_start(self):
        (self.folder / f"{self.current_epoch}-{self.global_rank}").write_text("")


def train(config):
    ndd.random.set_seed(7)
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        devices="auto",
        strategy=ray.train.lightning.RayDDPStrategy(),
        plugins=[ray.train.lightning.RayLightningEnvironment()],
        callbacks=[ray.train.lightning.RayTrainReportCallback()],
        reload_dataloaders_every_n_epochs=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    trainer = ray.train.lightning.prepare_trainer(trainer)
    if given := ray.train.get_checkpoint():
        with given.as_directory() as folder:
            trainer.fit(Model(config["folder"]), ckpt_path=f"{folder}/checkpoint.ckpt", weights_only=False)
    else:
        trainer.fit(Model(config["folder"]))
