"""Runs that are killed at random steps and resumed read what an uninterrupted run reads, and augment it alike."""

import dataclasses
import json
import os
import pathlib
import random
import subprocess
import sys

import numpy as np
import pytest

from tests.readers.resumable import FORMATS, STORED, Run
from tests.storage.http_server import serving
from tests.storage.stores import objects_in

BATCH_SIZES = [1, 7, 64]
KILLS = {"File": 17}  # of each run, where it is not 2
SAMPLES = 300
KILLS_IN_PART = 20  # over S3: a test has at most 20 minutes
RANDOM_KILLS = int(os.environ.get("AVIDA_KILLS", "5"))  # of each order; 200 take some minutes


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The same samples in every format."""
    root = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    samples = [rng.bytes(20 + i % 7) for i in range(SAMPLES)]
    for name, (write, _) in (FORMATS | STORED).items():
        (root / name).mkdir()
        write(root / name, samples)
    return root


def logs_of(runs, folder):
    """The lines that each run leaves."""
    (folder / "runs.json").write_text(json.dumps([dataclasses.asdict(run) for run in runs]))
    for run in runs:
        pathlib.Path(run.folder).mkdir()
    program = [sys.executable, "-m", "tests.readers.resumable", str(folder / "runs.json")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [run.kills for run in runs]
    return [pathlib.Path(run.folder, "log").read_text().splitlines() for run in runs]


def epochs(batch_size, kills):
    """As many as these kills need, and one more."""
    return 1 + kills * batch_size * 15 // SAMPLES


@pytest.mark.parametrize("reader", FORMATS)
def test_killed(reader, data, tmp_path):
    """The same stream as without kills; and the same samples, each once in an epoch, with other shards each time."""
    kills = KILLS.get(reader, 2)
    runs = []
    for size in BATCH_SIZES:
        order = {"random_shuffle": True, "seed": 3}
        folder = str(tmp_path / f"{size}-")
        whole = Run(reader, str(data / reader), folder + "whole", size, epochs(size, kills), 0, [1], order)
        killed = dataclasses.replace(whole, folder=folder + "killed", kills=kills)
        divided = dataclasses.replace(killed, folder=folder + "divided", shards=[2, 1, 3, 8, 5])
        runs += [whole, killed, divided]
    logs = logs_of(runs, tmp_path)
    for i in range(0, len(runs), 3):
        expected, stitched, from_shards = logs[i : i + 3]
        assert len(expected) == runs[i].epochs * SAMPLES
        assert stitched == expected
        assert sorted(map(without_stream, from_shards)) == sorted(map(without_stream, expected))


@pytest.mark.parametrize("order", [{"random_shuffle": True, "seed": 3}, {"shuffle_after_epoch": True}], ids=repr)
def test_random_kills(order, data, tmp_path):
    """Killed in any line, and resumed with another number of shards each time."""
    choose = random.Random(str(order))
    shards = [choose.randint(1, 8) for _ in range(RANDOM_KILLS)]
    folder = str(tmp_path / "run-")
    whole = Run("File", str(data / "File"), folder + "whole", 3, 1 + RANDOM_KILLS * 120 // SAMPLES, 0, [1], order)
    killed = dataclasses.replace(whole, folder=folder + "killed", kills=RANDOM_KILLS, shards=shards, longest_wait=0.003)
    expected, merged = logs_of([whole, killed], tmp_path)
    assert len(expected) == whole.epochs * SAMPLES
    assert sorted(map(without_stream, merged)) == sorted(map(without_stream, expected))


@pytest.mark.parametrize("part", range(-(-RANDOM_KILLS // KILLS_IN_PART)))
@pytest.mark.parametrize("reader", STORED)
def test_random_kills_over_s3(reader, part, data, tmp_path, monkeypatch):
    """The same for data sets in shards, shuffled by blocks, that each attempt reads from a server, through a cache."""
    choose = random.Random(f"{reader} {part}")
    kills = min(KILLS_IN_PART, RANDOM_KILLS - part * KILLS_IN_PART)
    shards = [choose.randint(1, 8) for _ in range(kills)]
    folder = str(tmp_path / "run-")
    whole = Run(reader, str(data / reader), folder + "whole", 3, 1 + kills * 120 // SAMPLES, 0, [1], {"seed": part})
    killed = dataclasses.replace(
        whole,
        data="s3://data",
        folder=folder + "killed",
        kills=kills,
        shards=shards,
        longest_wait=0.003,
        cache=str(tmp_path / "cache"),
    )
    for name in os.environ:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    with serving(objects_in(data / reader)) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        expected, merged = logs_of([whole, killed], tmp_path)
    assert len(expected) == whole.epochs * SAMPLES
    assert sorted(map(without_stream, merged)) == sorted(map(without_stream, expected))


def without_stream(line):
    """Epoch, sample and keyed augmentation. The stream of other numbers is dealt out batch by batch."""
    epoch, index, _, keyed = line.split()
    return int(epoch), int(index), keyed
