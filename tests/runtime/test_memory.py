"""Memory is reused, and goes back to the system when it is no longer needed. Processes of their own, to look at."""

import os
import subprocess
import sys
import textwrap

import pytest

import avida

pytestmark = pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="sanitizers keep freed memory")

HELPERS = """
import random, time, numpy as np, avida as ndd
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20
def ragged(scale, n=16):  # two batches of images of any size, some MiB
    batch = ndd.zeros(shape=ndd.batch([[random.randint(100, 300) * scale, 300, 3] for _ in range(n)]), dtype=ndd.uint8)
    return ndd.flip(ndd.reinterpret(batch, layout="HWC")).evaluate()
random.seed(1)
"""


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", HELPERS + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return [float(number) for number in done.stdout.split()]


def test_ragged_batches_leave_the_resident_size_flat():
    early, late, kept, batch = run("""
        for i in range(1000):
            images = ragged(1)
            if i == 100: early = resident()
        print(early, resident(), ndd.memory_use().kept / 2**20, sum(t.nbytes for t in images) / 2**20)
    """)
    assert late < early + 2 * batch
    assert kept < 6 * batch


def test_sizes_of_the_past_go_back_to_the_system():
    with_large, after = run("""
        ragged(8)
        print(resident())
        for i in range(300):
            ragged(1)
        print(resident())
    """)
    assert after < with_large - 20


def test_budget():
    kept, more, none = run(
        """
        for _ in range(5): ragged(8)
        print(ndd.memory_use().kept)
        ndd.set_memory_budget(1 << 30)
        for _ in range(5): ragged(8)
        deadline = time.monotonic() + 60  # the executor lets go of a block a moment after its result is there
        while ndd.memory_use().kept <= 8 << 20 and time.monotonic() < deadline: time.sleep(0.01)
        print(ndd.memory_use().kept)
        ndd.set_memory_budget(0)
        print(ndd.memory_use().kept)
        """,
        AVIDA_MEMORY_BUDGET="8M",
    )
    assert kept <= 8 << 20
    assert more > 8 << 20
    assert none == 0


def test_blocks_are_found_again():
    addresses = run("""
        import avida as ndd
        for elements in (1 << 20, (1 << 20) - 5000, 3 << 18):  # sizes of one batch and a somewhat smaller one
            x = ndd.zeros(shape=[elements], dtype=ndd.uint8).evaluate()
            print(x._address)
            del x
    """)
    assert len(set(addresses)) == 1


def test_bad_budgets():
    with pytest.raises(ValueError, match="memory budget must be from 0 to"):
        avida.set_memory_budget(-1)
    with pytest.raises(TypeError):
        avida.set_memory_budget("1G")
    done = subprocess.run(
        [sys.executable, "-c", "import avida"],
        capture_output=True,
        text=True,
        env={**os.environ, "AVIDA_MEMORY_BUDGET": "much"},
    )
    assert "AVIDA_MEMORY_BUDGET must be" in done.stderr
