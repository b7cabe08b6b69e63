"""JAX in several processes: each finds its place, and reads its own shard."""

import re
import socket
import subprocess
import sys

import numpy as np

from avida._values.picture import png
from tests.clusters import jax_process


def test_two_processes(tmp_path):
    for i in range(12):
        path = tmp_path / "train" / "ab"[i % 2] / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(np.full((40 + i, 50, 3), i, np.uint8)))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, jax_process.__file__, address, "2"]
    processes = [
        subprocess.Popen([*command, str(i)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for i in range(2)
    ]
    outputs = [process.communicate(timeout=600) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    read = [re.findall(r"^read: (\d+) (\d+)$", output, re.MULTILINE) for output, _ in outputs]
    assert [len(batches) for batches in read] == [3, 3]
    assert sorted(int(index) for batches in read for batch in batches for index in batch) == list(range(12))
