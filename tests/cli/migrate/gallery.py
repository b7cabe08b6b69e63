"""A gallery: a list of functions, each of which a pipeline applies to the same images."""

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def


def brighter(images):
    return fn.brightness_contrast(images, brightness=1.5, contrast=0.75)


def wide(images):
    return fn.resize(images, resize_x=40, resize_y=20, interp_type=types.INTERP_CUBIC)


def waves(images):
    return fn.water(images, ampl_x=3.0, ampl_y=2.0, freq_x=0.1, phase_x=1.0)


def ball(images):
    return fn.sphere(images)


@pipeline_def(batch_size=2, num_threads=2, device_id=None)
def gallery(folder, augment):
    encoded, _ = fn.readers.file(file_root=folder)
    images = fn.decoders.image(encoded, output_type=types.RGB)
    return augment(images)


def display(outputs, index):
    return np.array(outputs[0][index])


def main(folder):
    pictures = []
    for augment in [brighter, wide, waves, ball]:
        pipe = gallery(folder + "/images", augment)
        pipe.build()
        pictures.append(display(pipe.run(), 1))
    return pictures
