"""Hue, saturation, value, brightness and contrast, each given as one number or for every sample."""

import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline

folder_of_images = None


def make_pipe(folder):
    pipe = Pipeline(batch_size=2, num_threads=4, device_id=None)
    with pipe:
        files, labels = fn.readers.file(file_root=folder)
        images = fn.decoders.image(files, device="cpu", output_type=types.RGB)
        factor = fn.cast(labels, dtype=types.FLOAT)[0] + 1.5
        converted = fn.hsv(images, hue=fn.random.uniform(values=[40.0]), saturation=0.5, value=1.2)
        twisted = fn.color_twist(images, hue=10.0, saturation=factor, brightness=0.9)
        bright = fn.brightness_contrast(images, brightness=factor, contrast=0.5, contrast_center=100)
        pipe.set_outputs(images, converted, twisted, bright)
    return pipe


def main(folder):
    pipe = make_pipe(folder + "/images")
    pipe.build()
    pipe_out = pipe.run()
    names = ["Original", "HSV", "Twist", "Contrast"]
    result = []
    for name, batch in zip(names, pipe_out):
        print(name, batch.shape())
        result += [batch.at(0), batch.at(1)]
    return result
