"""Augmentations with fixed arguments, in helper functions."""

import nvidia.dali as dali
import nvidia.dali.fn as fn
from nvidia.dali import math, types


def colours(images, strength):
    images = fn.color_twist(images, brightness=1 + strength, contrast=0.8, saturation=1.2, hue=20.0)
    return fn.brightness_contrast(images, brightness=0.9, contrast=1.1)


def geometry(images):
    """Rotates about the centre."""
    matrix = fn.transforms.rotation(angle=30.0, center=[12.0, 12.0])
    zoom = fn.random.uniform(values=[1.5])
    matrix = fn.transforms.scale(matrix, scale=fn.stack(zoom, zoom), center=[12.0, 12.0])
    return fn.warp_affine(images, matrix=matrix, fill_value=0, inverse_map=False)


@dali.pipeline_def
def augment(folder, strength):
    jpegs, _ = fn.readers.file(file_root=folder)
    images = fn.decoders.image(jpegs, output_type=dali.types.RGB)
    images = fn.resize(images, size=[24, 24], interp_type=types.INTERP_LINEAR)
    images = colours(images, strength)
    images = geometry(images)
    blurred = fn.gaussian_blur(images, window_size=5)
    return images, blurred, math.clamp(images * 1.5, 10, 200)


def main(folder):
    pipe = augment(folder + "/images", 0.25, batch_size=3, num_threads=1, device_id=None)
    pipe.build()
    return [out.as_array() for out in pipe.run()]
