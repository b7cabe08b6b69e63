"""Functions that are called with the numbers of the batch and of the epoch."""

import numpy as np
from nvidia.dali import fn, pipeline_def
from nvidia.dali.types import BatchInfo


def ramps(info: BatchInfo):
    return [np.full((3, 4, 4, 3), 10 * info.iteration + i, np.uint8) for i in range(2)]


class Numbers:
    def __init__(self, count):
        self.count = count

    def __call__(self, info):
        return np.arange(2 * self.count, dtype=np.int32).reshape(2, self.count) + 100 * info.iteration + info.epoch_idx


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def numbered():
    videos = fn.external_source(source=ramps, batch_info=True, layout="FHWC")
    numbers = fn.external_source(source=Numbers(3), batch_info=True)
    again = fn.external_source(source=[[np.float32([1, 2])] * 2, [np.float32([3, 4])] * 2], cycle=True)
    return fn.resize(videos, size=[2, 2]), numbers, again


def main(folder):
    pipe = numbered()
    pipe.build()
    results = []
    for _ in range(3):
        for output in pipe.run():
            results.append(output.as_array())
    return results
