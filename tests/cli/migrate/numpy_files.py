"""Arrays of files, whole and in part."""

import os
from glob import glob

import numpy as np
from nvidia.dali import fn, pipeline_def, types


@pipeline_def(batch_size=2, num_threads=3, device_id=None)
def pipe1(folder):
    return fn.readers.numpy(device="cpu", file_root=folder, files=["1.npy", "0.npy", "2.npy"], name="r")


@pipeline_def(batch_size=2, num_threads=3, device_id=None)
def pipe2(folder):
    data = fn.readers.numpy(file_root=folder, file_filter="*.npy", roi_start=[1, 0], roi_end=[3, 2])
    whole = fn.readers.numpy(file_root=folder, file_filter="*.npy", roi_axes=[1], roi_start=[1], roi_shape=[2])
    return data, whole * types.Constant(np.int32(3)), types.Constant([1, 2, 3])


def run(p):
    p.build()
    outputs = p.run()
    return [out.as_array() for out in outputs]


def main(folder):
    assert len(glob(os.path.join(folder, "arrays", "*.npy"))) == 3
    return run(pipe1(folder + "/arrays")) + run(pipe2(folder + "/arrays"))
