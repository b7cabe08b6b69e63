"""Images in several colour spaces, and how they look when they are converted back."""

import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline

batch_size = 3


def make(folder, colors):
    pipe = Pipeline(batch_size=batch_size, num_threads=2, device_id=None)
    with pipe:
        encoded, _ = fn.readers.file(file_root=folder)
        images = fn.decoders.image(encoded, device="cpu", output_type=colors)
        outputs = [images]
        for target in (types.YCbCr, types.GRAY):
            outputs.append(fn.color_space_conversion(images, image_type=colors, output_type=target))
        pipe.set_outputs(*outputs)
    pipe.build()
    return pipe


def main(folder):
    results = []
    for colors in (types.RGB, types.BGR):
        pipe = make(folder + "/images", colors)
        outputs = pipe.run()
        for i in range(len(outputs)):
            results += [outputs[i].as_cpu().at(j) for j in range(batch_size)]
    return results
