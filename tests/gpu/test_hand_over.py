"""Results are made in pinned memory, without being asked for, where PyTorch copies them to a GPU.

Each program has a process of its own, since what is known of copies is known for the whole process.
"""

import subprocess
import sys

import pytest

BEGIN = """
import numpy as np, torch
import avida as ndd
x = ndd.batch([np.arange(300, dtype=np.uint8).reshape(10, 10, 3)] * 4, layout="HWC")
def pinned(): return ndd.flip(x)._pinned
def use_gpu(): x.gpu().evaluate(); torch.cuda.is_available() and torch.cuda.init()
"""


def run(program):
    done = subprocess.run([sys.executable, "-c", BEGIN + program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_is_pinned_before_the_process_uses_cuda():
    run("ndd.flip(x).torch(); assert not pinned() and not ndd.EvalContext.default().pin_memory")


def test_nothing_is_pinned_before_another_library_gets_a_result():
    run("use_gpu(); np.asarray(ndd.flip(x)); assert not pinned()")


@pytest.mark.parametrize("hand_over", ["ndd.flip(x).torch()", "torch.from_dlpack(ndd.flip(x))", "x.torch()"])
def test_results_are_pinned_from_the_first_hand_over_on(hand_over):
    run(f"""
use_gpu(); {hand_over}
assert pinned() and ndd.EvalContext().pin_memory and ndd.flip(x).torch().data_ptr()
made = ndd.flip(x)
assert made.torch().data_ptr() == made.tensors[0]._address
np.testing.assert_array_equal(made, np.asarray(x)[:, :, ::-1])
""")


def test_asking_for_pinned_memory_is_enough():
    run("assert not pinned(); ndd.flip(x).torch(pin_memory=True); assert pinned()")


def test_contexts_may_refuse():
    run("""
use_gpu(); x.torch()
with ndd.EvalContext(pin_memory=False) as context:
    assert not pinned() and not context.pin_memory
    context.pin_memory = None
    assert pinned() and context.pin_memory
""")


def test_labels_and_arrays_of_readers_are_pinned_and_files_are_not(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"a file")
    run(f"""
use_gpu(); x.torch()
((files, labels),) = ndd.readers.File(files=[{str(tmp_path / "a.jpg")!r}]).next_epoch(batch_size=1)
assert labels._pinned and not files._pinned
""")


def test_beyond_the_budget_memory_is_ordinary():
    run("""
use_gpu(); x.torch()
ndd.set_memory_budget(1 << 20)
held = [ndd.zeros(shape=[1 << 18], dtype=ndd.uint8).evaluate() for _ in range(8)]
assert held[0]._pinned and not held[-1]._pinned
""")


def test_a_forked_child_computes_in_ordinary_memory():
    run("""
import os
use_gpu(); x.torch()
child = os.fork()
if not child:
    right = np.array_equal(np.asarray(ndd.flip(x)), np.asarray(x)[:, :, ::-1])
    os._exit(0 if right else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and pinned()
""")


def test_a_profile_says_so():
    text = run("""
use_gpu(); x.torch()
with ndd.profile() as seen:
    for _ in range(3): ndd.flip(x).torch()
print(seen)
""")
    assert "results on the CPU lie in pinned memory" in text
