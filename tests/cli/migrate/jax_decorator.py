"""JAX: a decorator makes the iterator of a pipeline function."""

import os

import numpy as np
from nvidia.dali import fn, types
from nvidia.dali.plugin.jax import data_iterator


@data_iterator(output_map=["images", "labels"], reader_name="files", auto_reset=True)
def training(root):
    jpegs, labels = fn.readers.file(file_root=root, name="files", pad_last_batch=True)
    images = fn.decoders.image(jpegs)
    images = fn.resize(images, size=[4, 4], dtype=types.FLOAT)
    return images / 255.0, labels


def main(folder):
    loader = training(os.path.join(folder, "images"), batch_size=3, num_threads=1, device_id=None)
    results = []
    for epoch in range(2):
        for batch in loader:
            results.append(np.asarray(batch["images"]))
            results.append(np.asarray(batch["labels"]))
    return results
