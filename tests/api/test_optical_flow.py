"""Optical flow where there is no GPU: the error says in a line what is missing."""

import os
import subprocess
import sys

import pytest

import avida as ndd

CALL = "import numpy, avida; avida.optical_flow(numpy.zeros((2, 64, 64, 3), numpy.uint8){}).evaluate()"


def last_line(arguments=""):
    without_gpu = {name: value for name, value in os.environ.items() if name != "AVIDA_FAKE_GPU"}
    run = subprocess.run(
        [sys.executable, "-c", CALL.format(arguments)],
        capture_output=True,
        text=True,
        env=without_gpu | {"CUDA_VISIBLE_DEVICES": ""},
    )
    assert run.returncode == 1
    return run.stderr.splitlines()[-1]


def test_without_a_gpu():
    message = last_line()
    assert message.startswith("RuntimeError: optical_flow: runs on GPUs only, and there is no GPU: ")
    assert "NVIDIA driver" in message


def test_the_cpu_is_refused():
    assert 'optical_flow: runs on GPUs only, got device="cpu"; leave it out' in last_line(', device="cpu"')


@pytest.mark.parametrize("device", ["cpu"])
def test_at_the_call(device):
    with pytest.raises(ValueError, match="runs on GPUs only"):
        ndd.optical_flow([[[[0]]]], device=device)
