"""Choices for every sample, which the pipeline makes by `if`."""

from nvidia.dali import fn, pipeline_def, types


@pipeline_def(batch_size=4, num_threads=2, device_id=None, enable_conditionals=True)
def choose(folder, is_small):
    jpegs, labels = fn.readers.file(file_root=folder)
    images = fn.decoders.image(jpegs)
    if is_small:
        images = fn.resize(images, size=[16, 16])
    label = labels[0]
    if label == 1:
        # dogs
        images = fn.rotate(images, angle=90, fill_value=0)
        factor = fn.cast(label, dtype=types.FLOAT) * 0.5
    else:
        # cats
        factor = fn.cast(label, dtype=types.FLOAT) + 2
        if factor > 1:
            images = fn.flip(images, horizontal=1)
    images = images * factor
    return images, factor


def main(folder):
    pipe = choose(folder + "/images", True)
    pipe.build()
    results = []
    for _ in range(2):
        images, factor = pipe.run()
        results += [images.as_array(), factor.as_array()]
    return results
