"""Lightning on Ray Train: a killed worker resumes at the last checkpoint, with the state of the reader in it."""

import pathlib

import pytest
from ray.train import FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer

import avida as ndd
from tests.clusters.lightning_loop import train
from tests.clusters.test_kills import KILLS

SAMPLES = 12
WORKERS = 2 if KILLS else 1  # by `make kills` two; every day the elastic run has two


@pytest.mark.usefixtures("nodes")
def test_a_killed_worker(tmp_path):
    for i in range(SAMPLES):
        path = pathlib.Path(tmp_path, "data", "class", f"{i:03}.jpg")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([i]) * (1 + i))
    TorchTrainer(
        train,
        train_loop_config={"folder": str(tmp_path)},
        torch_config=TorchConfig(backend="gloo"),
        scaling_config=ScalingConfig(num_workers=WORKERS, resources_per_worker={"CPU": 0.5}),
        run_config=RunConfig(
            name="lightning",
            storage_path=str(tmp_path / "runs"),
            failure_config=FailureConfig(max_failures=1),
        ),
    ).fit()
    assert (tmp_path / "killed").exists()
    reader = ndd.readers.File(file_root=tmp_path / "data", random_shuffle=True, seed=3, last_batch="partial")
    ndd.random.set_seed(7)
    for epoch in range(2):
        read = [(tmp_path / f"{epoch}-{rank}").read_text().splitlines() for rank in range(WORKERS)]
        assert [len(lines) for lines in read] == [SAMPLES // WORKERS] * WORKERS
        ((files, _),) = reader.next_epoch(batch_size=SAMPLES)
        drawn = ndd.random.uniform(keyed_by=files).torch().tolist()
        alone = [f"{source.index} {number!r}" for source, number in zip(files.sources, drawn, strict=True)]
        assert sorted(line for lines in read for line in lines) == sorted(alone)
