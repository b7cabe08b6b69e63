"""Loops that run ahead, in processes that are killed or forked."""

import dataclasses
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from tests.readers.resumable import FORMATS, Run


def output_of(*arguments):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("ahead", [1, 3])
def test_killed_runs_resume_exactly(tmp_path, ahead):
    rng = np.random.default_rng(0)
    (tmp_path / "data").mkdir()
    FORMATS["File"][0](tmp_path / "data", [rng.bytes(20) for _ in range(100)])
    order = {"random_shuffle": True, "seed": 3}
    whole = Run("File", str(tmp_path / "data"), str(tmp_path / "whole"), 7, 6, 0, [1], order, 0)
    killed = dataclasses.replace(whole, folder=str(tmp_path / "killed"), kills=8, ahead=ahead)
    for run in (whole, killed):
        pathlib.Path(run.folder).mkdir()
    (tmp_path / "runs.json").write_text(json.dumps([dataclasses.asdict(run) for run in (whole, killed)]))
    assert json.loads(output_of("-m", "tests.readers.resumable", str(tmp_path / "runs.json"))) == [0, 8]
    logs = [pathlib.Path(run.folder, "log").read_text() for run in (whole, killed)]
    assert len(logs[0].splitlines()) == 600
    assert logs[0] == logs[1]


FORK = """
import json, os, sys
import avida as ndd
from tests.ahead.running import described

files, ahead = json.loads(sys.argv[1]), int(sys.argv[2])


def results(forks):
    found, children = [], []
    rng = ndd.random.RNG(seed=1)
    for i, (f, l) in enumerate(ndd.readers.File(files=files).next_epoch(1, ahead=ahead if forks else 0)):
        images = ndd.random_resized_crop(ndd.decoders.image(f), size=[6, 6], rng=rng)
        child = os.fork() if i in forks else None
        if child:
            children.append(child)
        elif child == 0:
            children = []
        found.append(described(ndd.flip(images, horizontal=ndd.random.coin_flip(like=f, rng=rng))))
    return found, children


expected, _ = results([])
for _ in range(5):
    main = os.getpid()
    found, children = results([4, 6, 9])
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    right = found == expected and not any(codes)
    if os.getpid() != main:
        os._exit(not right)
    assert right, codes
print("fine")
"""


@pytest.mark.parametrize("ahead", [1, 3])
def test_forks_in_a_loop(data, ahead):
    """Parent and children continue as if each were alone."""
    assert output_of("-c", FORK, json.dumps(data["good"]), str(ahead)) == "fine\n"
