"""Samples of a generator function, one by one, collected to batches."""

import numpy as np
from nvidia.dali import fn, pipeline_def
from nvidia.dali.plugin.pytorch import DALIGenericIterator


def samples():
    for i in range(11):
        yield np.full((4, 5), i, np.float32), np.array([i], np.int64)


@pipeline_def(batch_size=4, num_threads=1, device_id=None)
def scaled():
    arrays, numbers = fn.external_source(source=samples, num_outputs=2, batch=False, cycle="raise")
    return arrays * 0.5 + 1, numbers


def main(folder):
    loader = DALIGenericIterator(scaled(), ["arrays", "numbers"], auto_reset=True)
    results = []
    for _ in range(2):
        for data in loader:
            results += [data[0]["arrays"], data[0]["numbers"]]
    return results
