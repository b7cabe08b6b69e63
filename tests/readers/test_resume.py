"""Runs that are killed at random steps and resumed read what an uninterrupted run reads, and augment it alike."""

import collections
import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest

from tests.readers.resumable import READERS, Run

KILLS = 17  # in each run; three batch sizes make more than 50
EPOCHS = {1: 2, 7: 8, 64: 40}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The same samples in every format."""
    root = tmp_path_factory.mktemp("data")
    folder = root / "File" / "a"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for i in range(300):
        (folder / f"{i:04d}.jpg").write_bytes(rng.bytes(20 + i % 7))
    return root


def log_of(run, folder):
    """The lines that a run leaves, and how often it was killed."""
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(dataclasses.asdict(dataclasses.replace(run, folder=str(folder)))))
    program = [sys.executable, "-m", "tests.readers.resumable", str(folder / "run.json")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return (folder / "log").read_text().splitlines(), int(done.stdout)


@pytest.mark.parametrize("batch_size", EPOCHS)
@pytest.mark.parametrize("reader", READERS)
def test_same_stream(reader, batch_size, data, tmp_path):
    run = Run(reader, str(data / reader), "", batch_size, EPOCHS[batch_size], 0, [1], {"random_shuffle": True})
    whole, _ = log_of(run, tmp_path / "whole")
    stitched, killed = log_of(dataclasses.replace(run, kills=KILLS), tmp_path / "killed")
    assert killed == KILLS
    assert stitched == whole


@pytest.mark.parametrize("batch_size", EPOCHS)
@pytest.mark.parametrize("reader", READERS)
def test_other_shards_after_each_kill(reader, batch_size, data, tmp_path):
    order = {"random_shuffle": True, "seed": 3}
    run = Run(reader, str(data / reader), "", batch_size, EPOCHS[batch_size], KILLS, [2, 1, 3, 8, 5], order)
    lines, killed = log_of(run, tmp_path / "killed")
    assert killed == KILLS
    seen = collections.Counter(tuple(line.split()[:2]) for line in lines)
    assert seen == {(str(epoch), str(index)): 1 for epoch in range(run.epochs) for index in range(300)}
