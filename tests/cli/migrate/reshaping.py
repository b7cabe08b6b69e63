"""Shapes and types without other data: reshape, reinterpret, squeeze and expand_dims."""

import numpy as np
import nvidia.dali as dali
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def


def show_result(outputs, names=["Input", "Output"], formatter=None):
    if not isinstance(outputs, tuple):
        return show_result((outputs,))
    for i, out in enumerate(outputs):
        print(f"---------------- {names[i % 2]} ----------------")
        for array in out:
            found.append(np.array(array))


found = []


@pipeline_def(device_id=None, num_threads=4, batch_size=3)
def example1(input_data):
    np.random.seed(1234)
    inp = fn.external_source(input_data, batch=False, dtype=types.INT32)
    return inp, fn.reshape(inp, shape=[1, -1])


@pipeline_def(device_id=None, num_threads=4, batch_size=3)
def example2(input_data):
    inp = fn.external_source(input_data, batch=False, dtype=types.INT32)
    turned = fn.reshape(inp, rel_shape=[0.5, 2]), fn.reinterpret(inp, dtype=dali.types.UINT8)
    return inp, *turned, fn.expand_dims(inp, axes=[0]), fn.squeeze(inp[:, 0:1], axes=[1])


def source(sample_info):
    if sample_info.idx_in_epoch >= 9:
        raise StopIteration
    return np.arange(8, dtype=np.int32).reshape(2, 4) + sample_info.idx_in_epoch


def main(folder):
    pipe1 = example1(source)
    pipe1.build()
    show_result(pipe1.run())
    pipe2 = example2(source)
    pipe2.build()
    for _ in range(3):
        show_result(pipe2.run())
    return found
