"""A pipeline made by a `with` block, with arithmetic, constants and parts of arrays."""

import numpy as np
import nvidia.dali.fn as fn
from nvidia.dali import Pipeline, types


def main(folder):
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, seed=7)
    with pipe:
        arrays = fn.readers.numpy(file_root=folder + "/arrays")
        zeros = fn.zeros(shape=[2], dtype=types.INT32)
        mask = (arrays > 3) & (arrays < 9)
        text = """a
  b"""
        assert len(text) == 5
        pipe.set_outputs(arrays[0], arrays[:, 1:], -arrays + 10, mask, zeros, fn.reductions.sum(arrays, axes=[0]))
    pipe.build()
    results = []
    for _ in range(3):
        first, *others = pipe.run()
        results += [first.as_array(), *(np.array(other.as_cpu().as_array()) for other in others)]
    return results
