"""Lists of inputs, to each of which an operator is applied."""

from nvidia.dali import fn, pipeline_def


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def pairs(folder):
    jpegs, _ = fn.readers.file(file_root=folder)
    images = fn.resize(fn.decoders.image(jpegs), size=[12, 14])
    blurred = fn.gaussian_blur(images, window_size=3)
    both = fn.flip([images, blurred], horizontal=1)
    first, second = fn.crop(both, crop=(8, 8))
    sums = fn.cat([images, first], [blurred, second], axis=0)
    return both[0], both[1], first, second, *sums


def main(folder):
    pipe = pairs(folder + "/images")
    pipe.build()
    return [out.as_array() for out in pipe.run()]
