"""What is said where there is no GPU: tried in a process that sees none, whatever the machine has."""

import os
import subprocess
import sys

import pytest

PROLOGUE = """
import numpy as np
import avida as ndd
image = np.zeros((2, 2, 3), np.uint8)
context = ndd.EvalContext.default()
"""


def run(code: str) -> str:
    """The last line that `code` prints, or its exception."""
    environment = {name: value for name, value in os.environ.items() if name != "AVIDA_FAKE_GPU"}
    environment["CUDA_VISIBLE_DEVICES"] = ""
    done = subprocess.run([sys.executable, "-c", PROLOGUE + code], env=environment, capture_output=True, text=True)
    return (done.stdout or done.stderr).splitlines()[-1]


@pytest.mark.parametrize(
    "call",
    [
        "ndd.tensor([1], device='gpu')",
        "ndd.tensor([1]).gpu()",
        "ndd.batch([1]).gpu()",
        "ndd.flip(image, device='gpu')",
        "ndd.decoders.image(image, device='gpu')",
        "ndd.EvalContext(cuda_stream=5)",
        "ndd.Stream()",
        "ndd.readers.File(files=['a'], device='gpu')",
        "ndd.EvalContext(pin_memory=True)",
        "context.pin_memory = True",
        "ndd.tensor([1]).torch(pin_memory=True)",
        "ndd.batch([1]).torch(pin_memory=True)",
    ],
)
def test_calls_are_refused(call):
    error = run(call)
    assert error.startswith("RuntimeError: ")
    assert "NVIDIA driver" in error


def test_numbers_of_gpus_are_refused():
    assert run("ndd.EvalContext(device_id=0)").startswith("ValueError: GPU 0 is out of range, no GPU is available")


def test_the_default_context_has_no_gpu():
    assert run("print(context.device_id, context.cuda_stream, context.pin_memory)") == "None None False"


def test_what_is_not_pinned_needs_no_gpu():
    assert run("context.pin_memory = False; print(ndd.EvalContext(pin_memory=False).pin_memory)") == "False"
