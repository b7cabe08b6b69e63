"""Crops and slices: anchors of the user, of every sample, and windows beyond the image."""

import numpy as np
from nvidia.dali import fn, pipeline_def


@pipeline_def
def crops(folder):
    encoded, _ = fn.readers.file(file_root=folder)
    image = fn.decoders.image(encoded)
    shape = encoded_shape = fn.peek_image_shape(encoded)
    h = shape[0]
    w = encoded_shape[1]
    middle = fn.crop(image, crop=(16, 20))
    corner = fn.crop(image, crop_h=12, crop_w=14, crop_pos_x=0.0, crop_pos_y=1.0)
    beyond = fn.slice(image, start=[-4, -4], shape=[60, 70], axes=[0, 1], out_of_bounds_policy="pad", fill_values=[7])
    half = image[h // 2 :, : w // 2]
    every = image[:, 3:40, 0:2]
    last = image[-1]
    relative = fn.slice(image, rel_start=(0.25, 0.5), rel_end=(0.75, 1.0), axis_names="HW")
    return middle, corner, beyond, half, every, last, relative


def main(folder):
    p = crops(folder + "/images", batch_size=3, num_threads=1, device_id=None)
    p.build()
    outs = p.run()
    result = []
    for out in outs:
        for idx in range(len(out)):
            result.append(np.asarray(out.as_cpu()[idx]))
    return result
