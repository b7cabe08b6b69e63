"""Lightning's Trainer over our data sets: an interrupted and resumed run sees every sample of each epoch once."""

import lightning
import pytest
import torch
from torchdata.stateful_dataloader import StatefulDataLoader

import avida
from tests.readers.numbered import flat, make_files, reader_of

SAMPLES, BATCH, EPOCHS = 30, 4, 3  # eight steps for each epoch


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("numbered"), SAMPLES)


class Model(lightning.LightningModule):
    """Notes what it is trained with."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.seen = []

    def training_step(self, labels, index):
        self.seen.append((self.current_epoch, labels.flatten().tolist()))
        return self.layer(labels.float()).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.0)


def label(file, label):
    return label


def loader(files, workers):
    reader = reader_of(files, random_shuffle=True, seed=3, last_batch="partial")
    dataset = avida.pytorch.IterableDataset(reader, BATCH, label)
    return StatefulDataLoader(dataset, batch_size=None, num_workers=workers)


def train(folder, files, workers, resume=None, **when):
    model = Model()
    trainer = lightning.Trainer(
        default_root_dir=folder,
        max_epochs=EPOCHS,
        accelerator="cpu",
        callbacks=[lightning.pytorch.callbacks.ModelCheckpoint(folder, save_top_k=-1, **when)],  # pyright: ignore[reportAttributeAccessIssue]
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(model, loader(files, workers), ckpt_path=resume)
    return model.seen


def samples_by_epoch(seen):
    return [sorted(flat(labels for at, labels in seen if at == epoch)) for epoch in range(EPOCHS)]


@pytest.mark.filterwarnings("ignore")  # of Lightning, about the number of workers and the like
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stop", [3, 9])
def test_resume_within_an_epoch(files, tmp_path, workers, stop):
    whole = train(tmp_path / "whole", files, workers, every_n_train_steps=3)
    assert samples_by_epoch(whole) == [list(range(SAMPLES))] * EPOCHS
    (saved,) = (tmp_path / "whole").glob(f"*step={stop}.ckpt")
    assert train(tmp_path / "resumed", files, workers, saved) == whole[stop:]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("workers", [0, 2])
def test_resume_between_epochs(files, tmp_path, workers):
    """Lightning then begins with a new loader, and does not give it its state."""
    train(tmp_path / "whole", files, workers)
    (saved,) = (tmp_path / "whole").glob("epoch=0-*.ckpt")
    resumed = train(tmp_path / "resumed", files, workers, saved)
    assert samples_by_epoch(resumed) == [[]] + [list(range(SAMPLES))] * (EPOCHS - 1)
