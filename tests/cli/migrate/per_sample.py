"""Arguments that differ between samples, computed from other data."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types


@pipeline_def(batch_size=3, num_threads=2, device_id=None)
def per_sample(folder):
    jpegs, labels = fn.readers.file(file_root=folder)
    images = fn.decoders.image(jpegs)
    shapes = fn.cast(images.shape(), dtype=types.FLOAT)
    height, width = shapes[0], shapes[1]
    images = fn.resize(images, resize_x=width * 0.5, resize_y=height * 0.5)
    anchor = fn.cast(fn.stack(labels[0], labels[0]), dtype=types.FLOAT) * types.Constant(2.0)
    shape = fn.stack(height * 0.25, width * 0.25)
    parts = fn.slice(images, anchor, shape, axes=[0, 1], normalized_anchor=False, normalized_shape=False)
    angle = fn.cast(labels, dtype=types.FLOAT)[0] * 45.0
    return parts, fn.rotate(images, angle=angle, keep_size=True, fill_value=7), images[:, :, 0]


def main(folder):
    pipe = per_sample(folder + "/images")
    pipe.build()
    results = []
    for _ in range(2):
        outputs = pipe.run()
        for output in outputs:
            results += [np.array(output[i]) for i in range(len(output))]
    return results
