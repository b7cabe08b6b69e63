"""Python functions inside a pipeline, and a source that is a list of batches and begins again."""

import numpy as np
from nvidia.dali import fn, pipeline_def


def spread(array):
    return array - array.min(), array.max(keepdims=True)


SOURCE = [np.arange(12, dtype=np.float32).reshape(3, 4) + i for i in range(2)]


@pipeline_def(batch_size=3, num_threads=1, device_id=None, exec_async=False, exec_pipelined=False)
def python_pipeline():
    x = fn.external_source(source=SOURCE, cycle=True, name="numbers")
    lowered, most = fn.python_function(x, function=spread, num_outputs=2)
    return lowered, most, x


def main(folder):
    pipe = python_pipeline()
    pipe.build()
    results = []
    for _ in range(5):
        lowered, most, x = pipe.run()
        results += [lowered.as_array(), most.as_array(), x.as_array()]
    return results
