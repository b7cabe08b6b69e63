"""Nodes that share one S3 server: each fetches its share of the data once in an epoch, whatever its processes read."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.storage.http_server import serving

OBJECTS = {f"data/{i:03}.jpg": np.random.default_rng(i).bytes(20_000 + 500 * i) for i in range(48)}
BYTES = sum(map(len, OBJECTS.values()))
NODES, PROCESSES, EPOCHS = 2, 2, 2
# A process of a node: it reads its shard of each epoch; processes of a node share its cache.
PROCESS = """
import sys
import numpy as np
import avida as ndd
from tests.clusters.test_nodes import EPOCHS, NODES, OBJECTS, PROCESSES
rank, cache = int(sys.argv[1]), ndd.storage.Cache(sys.argv[2], "100MB")
reader = ndd.readers.File(
    files=[f"s3://{name}" for name in OBJECTS],
    random_shuffle=True,
    last_batch="partial",
    stick_to_shard=sys.argv[3] == "stick",
    shards=ndd.distributed.World(rank, NODES * PROCESSES),
    cache=cache,
)
for epoch in range(EPOCHS):
    for files, labels in reader.next_epoch(batch_size=4):
        for file, label in zip(files, labels, strict=True):
            assert bytes(np.asarray(file)) == list(OBJECTS.values())[label.item()]
            print(epoch, label.item())
"""


@pytest.mark.parametrize("shards", ["stick", "move"])
def test_bytes_fetched(shards, tmp_path, monkeypatch):
    """No byte is fetched twice by a node: neither by two processes, nor in the next epoch where shards stay."""
    for name in os.environ:
        if name.startswith("AWS_") or name.lower() in ("http_proxy", "all_proxy"):
            monkeypatch.delenv(name)
    with serving(OBJECTS) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", PROCESS, str(rank), str(tmp_path / f"node-{rank // PROCESSES}"), shards],
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(NODES * PROCESSES)
        ]
        lines = [line for process in processes for line in process.communicate(timeout=600)[0].splitlines()]
        assert [process.returncode for process in processes] == [0] * len(processes)
        sent = server.sent
    assert sorted(lines) == sorted(f"{epoch} {i}" for epoch in range(EPOCHS) for i in range(len(OBJECTS)))
    assert sent <= 1.05 * BYTES * (1 if shards == "stick" else NODES)
