"""Training that is killed and resumed, with one process, two and one again: each sample once, augmented alike."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import pytest
import ray.train
from ray.train import Checkpoint, FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer

from tests.clusters import killed_loop
from tests.clusters.killed_loop import EVERY, SAMPLES, expected, merged, write_data

KILLS = int(os.environ.get("AVIDA_KILLS", 0))
KILLS_IN_PART = 10  # a test has at most 20 minutes
PARTS = range(-(-KILLS // KILLS_IN_PART) or 1)


def parts(part):
    """Epochs; and for each run one after another its number of processes, its last step, and the steps with kills.

    The first run ends within the first epoch, the last one goes to the end.
    """
    killed = min(KILLS_IN_PART, KILLS - part * KILLS_IN_PART) if KILLS else 1
    steps = range(6, 6 + EVERY * 3 * killed)
    kills = sorted(random.Random(part).sample(steps, killed))
    second = steps[-1] + EVERY - steps[-1] % EVERY
    epochs = second * 2 * killed_loop.BATCH // SAMPLES + 2
    return epochs, [(1, 4, []), (2, second, kills), (1, 10**6, [])]


def check(folder, runs, epochs):
    assert len(list(folder.glob("killed-*"))) == sum(len(kills) for _, _, kills in runs)
    assert merged(folder) == expected(folder, epochs)


@pytest.mark.parametrize("part", PARTS)
def test_torchrun(part, tmp_path):
    write_data(tmp_path)
    epochs, runs = parts(part)
    for processes, last_step, kills in runs:
        config = json.dumps([str(tmp_path), epochs, last_step, kills])
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
        command += [f"--max-restarts={len(kills)}", "--monitor-interval=0.1", "-m", "tests.clusters.killed_loop"]
        own_store = os.environ | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}  # else they meet the dead of before
        done = subprocess.run([*command, config], env=own_store, capture_output=True, text=True, timeout=1000)
        assert done.returncode == 0, done.stderr
    check(tmp_path, runs, epochs)


def worker(config):
    """What a worker of Ray Train does."""

    def load():
        given = ray.train.get_checkpoint() or (config["resume"] and Checkpoint(config["resume"]))
        if not given:
            return None
        with given.as_directory() as folder:
            return json.loads(pathlib.Path(folder, "state.json").read_text())

    def save(state):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "state.json").write_text(json.dumps(state))
            first = ray.train.get_context().get_world_rank() == 0
            ray.train.report({}, checkpoint=Checkpoint.from_directory(folder) if first else None)

    killed_loop.train(*config["run"], load, save, config.get("holds", ()))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.usefixtures("nodes")
def test_ray_train(part, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", "600")  # else a loaded machine starts over and over
    write_data(tmp_path)
    epochs, runs = parts(part)
    resume = None
    for number, (workers, last_step, kills) in enumerate(runs):
        trainer = TorchTrainer(
            worker,
            train_loop_config={"run": (str(tmp_path), epochs, last_step, kills), "resume": resume},
            torch_config=TorchConfig(backend="gloo"),
            scaling_config=ScalingConfig(num_workers=workers, resources_per_worker={"CPU": 0.5}),
            run_config=RunConfig(
                name=f"part-{number}",
                storage_path=str(tmp_path / "runs"),
                failure_config=FailureConfig(max_failures=len(kills)),
            ),
        )
        result = trainer.fit()
        resume = result.checkpoint and result.checkpoint.path
    check(tmp_path, runs, epochs)


# By `make kills`; every day the elastic run is the one with a killed worker.
test_ray_train.__test__ = bool(KILLS)  # pyright: ignore[reportFunctionMemberAccess]
