"""Several pipelines under one name, one after another, as in notebooks; and constants of all kinds."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline

batch_size = 4


class Files:
    def __init__(self, folder):
        self.folder = os.path.join(folder, "images")
        self.names = ["cats/0.png 0", "dogs/1.png 1", "cats/2.png 0"]

    def __iter__(self):
        self.i = 0
        return self

    def __next__(self):
        images, labels = [], []
        for _ in range(batch_size):
            name, label = self.names[self.i % len(self.names)].split(" ")
            images.append(np.fromfile(os.path.join(self.folder, name), dtype=np.uint8))
            labels.append(np.array([int(label)], dtype=np.int64))
            self.i += 1
        return images, labels


def main(folder):
    results = []
    files = Files(folder)

    pipe = Pipeline(batch_size=batch_size, num_threads=2, device_id=None)
    with pipe:
        jpegs, labels = fn.external_source(source=files, num_outputs=2)
        images = fn.decoders.image(jpegs, output_type=types.RGB)
        pipe.set_outputs(fn.resize(images, size=[20, 30]), labels)
    pipe.build()
    for output in pipe.run():
        results.append(output.as_array())

    pipe = Pipeline(batch_size=batch_size, num_threads=1, device_id=None)
    with pipe:
        both = fn.external_source(source=files, num_outputs=2, dtype=[types.UINT8, types.INT64])
        gray = fn.resize(fn.decoders.image(both[0], output_type=types.GRAY), size=[8, 8])
        pipe.set_outputs(gray, both[1])
    pipe.build()
    for output in pipe.run():
        results.append(output.as_array())

    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(
            fn.constant(idata=5),
            fn.constant(fdata=[1.5]),
            fn.constant(idata=[7], shape=[2, 2]),
            fn.constant(fdata=(1, 2, 3, 4), shape=(2, 2)),
            fn.constant(idata=[1, -2], dtype=types.FLOAT),
        )
    pipe.build()
    for output in pipe.run():
        results.append(output.as_array())
    return results
