"""Data from Python: an iterator, a function without arguments, and functions of the batch's number."""

import numpy as np
import nvidia.dali.fn as fn
from nvidia.dali.pipeline import Pipeline, pipeline_def

batch_size = 3


class ExternalInputIterator:
    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.files = [np.full((4, 5, 3), i, np.uint8) for i in range(7)]

    def __iter__(self):
        self.i = 0
        self.n = len(self.files)
        return self

    def __next__(self):
        batch = []
        labels = []
        for _ in range(self.batch_size):
            batch.append(self.files[self.i])
            labels.append(np.array([self.i], dtype=np.uint8))
            self.i = (self.i + 1) % self.n
        return (batch, labels)


eii = ExternalInputIterator(batch_size)
pipe = Pipeline(batch_size=batch_size, num_threads=2, device_id=None)
with pipe:
    jpegs, labels = fn.external_source(source=eii, num_outputs=2, dtype=None, layout=["HWC", ""])
    enhance = fn.brightness_contrast(jpegs, contrast=2)
    pipe.set_outputs(enhance, labels)


def numbers():
    return [np.array([i, 2 * i], np.float32) for i in range(batch_size)]


@pipeline_def(batch_size=batch_size, num_threads=2, device_id=None)
def by_number(step):
    fixed = fn.external_source(source=numbers)
    counted = fn.external_source(source=lambda i: [np.full((2,), i * step, np.float32)] * 3)
    return fixed + counted, counted


def main(folder):
    pipe.build()
    results = []
    for _ in range(3):
        images, label = pipe.run()
        results += [images.as_cpu().as_array(), label.at(2)]
    other = by_number(5)
    other.build()
    for _ in range(3):
        results += [output.as_array() for output in other.run()]
    return results
