"""Batches that a Python object makes; the pipeline is run until the source ends."""

import numpy as np
from nvidia.dali import fn, pipeline_def


class Batches:
    def __init__(self, count, batch_size):
        self.count = count
        self.batch_size = batch_size

    def __iter__(self):
        self.done = 0
        return self

    def __next__(self):
        if self.done == self.count:
            raise StopIteration
        self.done += 1
        images = [np.full((6 + i, 8, 3), 20 * self.done + i, np.uint8) for i in range(self.batch_size)]
        return images, np.arange(self.batch_size, dtype=np.int32) + self.done


@pipeline_def(batch_size=3, num_threads=1, device_id=None, py_num_workers=2)
def enlarge(source):
    # the numbers go along
    images, numbers = fn.external_source(source=source, num_outputs=2, layout=["HWC", None])
    images = fn.resize(images, size=[10, 10])
    return images, numbers * 2


def main(folder):
    pipe = enlarge(Batches(4, 3))
    pipe.build()
    results = []
    while True:
        try:
            images, numbers = pipe.run()
        except StopIteration:
            break
        results += [images.as_array(), numbers.as_array()]
    return results
