"""Runs that are killed at random steps and resumed read what an uninterrupted run reads, and augment it alike."""

import dataclasses
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from tests.readers.resumable import FORMATS, Run

CASES = [("File", 1, 17), ("File", 7, 17), ("File", 64, 17)]  # format, batch size, kills
CASES += [(name, batch_size, 2) for name in FORMATS if name != "File" for batch_size in (1, 7, 64)]
SAMPLES = 300


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The same samples in every format."""
    root = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    samples = [rng.bytes(20 + i % 7) for i in range(SAMPLES)]
    for name, (write, _) in FORMATS.items():
        (root / name).mkdir()
        write(root / name, samples)
    return root


def logs_of(runs, folder):
    """The lines that each run leaves."""
    (folder / "runs.json").write_text(json.dumps([dataclasses.asdict(run) for run in runs]))
    for run in runs:
        pathlib.Path(run.folder).mkdir()
    program = [sys.executable, "-m", "tests.readers.resumable", str(folder / "runs.json")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [run.kills for run in runs]
    return [pathlib.Path(run.folder, "log").read_text().splitlines() for run in runs]


def epochs(batch_size, kills):
    """As many as these kills need, and one more."""
    return 1 + kills * batch_size * 15 // SAMPLES


@pytest.mark.parametrize(("reader", "batch_size", "kills"), CASES)
def test_killed(reader, batch_size, kills, data, tmp_path):
    """The same stream as without kills; and the same samples, each once in an epoch, with other shards each time."""
    order = {"random_shuffle": True, "seed": 3}
    length = epochs(batch_size, kills)
    whole = Run(reader, str(data / reader), str(tmp_path / "whole"), batch_size, length, 0, [1], order)
    killed = dataclasses.replace(whole, folder=str(tmp_path / "killed"), kills=kills)
    divided = dataclasses.replace(killed, folder=str(tmp_path / "divided"), shards=[2, 1, 3, 8, 5])
    expected, stitched, from_shards = logs_of([whole, killed, divided], tmp_path)
    assert len(expected) == length * SAMPLES
    assert stitched == expected
    assert sorted(map(without_stream, from_shards)) == sorted(map(without_stream, expected))


def without_stream(line):
    """Epoch, sample and keyed augmentation. The stream of other numbers is dealt out batch by batch."""
    epoch, index, _, keyed = line.split()
    return int(epoch), int(index), keyed
