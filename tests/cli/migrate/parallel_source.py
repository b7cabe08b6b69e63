"""A callable that gives one sample for its number, run by workers, shuffled by itself in each epoch."""

import math

import numpy as np
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.pytorch import DALIClassificationIterator as PyTorchIterator
from nvidia.dali.plugin.pytorch import LastBatchPolicy


class ExternalInputCallable:
    def __init__(self, batch_size, count):
        self.count = count
        self.full_iterations = count // batch_size
        self.perm = None
        self.last_seen_epoch = None

    def __call__(self, sample_info: types.SampleInfo):
        # sample_info has the number of the sample, of the batch and of the epoch
        if sample_info.iteration >= self.full_iterations:
            raise StopIteration()
        if self.last_seen_epoch != sample_info.epoch_idx:
            self.last_seen_epoch = sample_info.epoch_idx
            self.perm = np.random.default_rng(seed=42 + sample_info.epoch_idx).permutation(self.count)
        sample_idx = self.perm[sample_info.idx_in_epoch]
        return np.full((3, 4, 1), sample_idx, np.uint8), np.int32([sample_idx])


@pipeline_def(batch_size=4, num_threads=2, device_id=None, py_num_workers=1, py_start_method="spawn")
def callable_pipeline(source):
    images, labels = fn.external_source(
        source=source, num_outputs=2, batch=False, parallel=False, dtype=[types.UINT8, types.INT32]
    )
    images = fn.resize(images, size=[6, 6])
    return images, labels


def main(folder):
    pipe = callable_pipeline(ExternalInputCallable(4, 11))
    loader = PyTorchIterator(pipe, last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True)
    results = []
    for epoch in range(2):
        for i, data in enumerate(loader):
            images, labels = data[0]["data"], data[0]["label"]
            results += [images, labels]
    return results + [math.pi]
