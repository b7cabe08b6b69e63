"""Statistics of images, and images that are normalized by them."""

import numpy as np
import nvidia.dali.fn as fn
from nvidia.dali import pipeline_def


def get_batch():
    return [np.arange(12, dtype=np.float32).reshape((3, 4)) * k for k in (1, 2)]


def run_and_print(pipe):
    pipe.build()
    output = pipe.run()
    kept = []
    for i, out in enumerate(output):
        print("Output ", i)
        for x in out:
            kept.append(np.asarray(x))
    return kept


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def reduce_pipe():
    input = fn.external_source(source=get_batch)
    min = fn.reductions.min(input)
    max = fn.reductions.max(input, axes=(0), keep_dims=True)
    mean = fn.reductions.mean(input, axes=1)
    std = fn.reductions.std_dev(input, fn.reductions.mean(input))
    return min, max, mean, std, input


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def norm_pipe():
    input = fn.external_source(source=get_batch)
    return fn.normalize(input, axes=[0]), fn.normalize(input, batch=True), fn.normalize(input, mean=5.0, stddev=2.0)


def main(folder):
    results = []
    for pipeline in (reduce_pipe(), norm_pipe()):
        results += run_and_print(pipeline)
    return results
