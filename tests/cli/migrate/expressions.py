"""Arithmetic: constants, types that grow, blending two images, and masks."""

import numpy as np
from nvidia.dali import fn, math, pipeline_def, types
from nvidia.dali.types import Constant


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def blend(folder):
    files, labels = fn.readers.file(file_root=folder)
    images = fn.resize(fn.decoders.image(files), size=[10, 12], interp_type=types.INTERP_NN)
    other = fn.flip(images, horizontal=1)
    summed = images + other
    halves = images // 2 + other / Constant(2.0).float32()
    weighted = images * Constant(0.25) + other * 0.75
    small = Constant(200).uint8() + images
    clipped = math.clamp(images * Constant(2).int32(), 0, 255)
    is_bright = images > 127
    masked = images * is_bright + 1 - is_bright
    inverted = Constant(255, dtype=types.UINT8) - images
    power = math.sqrt(math.abs(-labels)) ** 2
    row = images + Constant(np.array([1, 2, 3], dtype=np.uint8))
    return summed, halves, weighted, small, clipped, masked, inverted, power, Constant(np.int32([7, 8])), row


def main(folder):
    pipe = blend(folder + "/images")
    pipe.build()
    return [out.as_array() for out in pipe.run()]
