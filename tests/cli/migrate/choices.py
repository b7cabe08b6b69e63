"""Conditions of all kinds, with `enable_conditionals`."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types


def rotate(image):
    return fn.rotate(image, angle=90.0, fill_value=0)


@pipeline_def(num_threads=2, device_id=None, enable_conditionals=True)
def conditional(folder):
    encoded, label = fn.readers.file(file_root=folder)
    image = fn.decoders.image(encoded)
    image = fn.resize(image, size=[20, 20], interp_type=types.INTERP_NN)
    kind = label[0]
    mean = fn.reductions.mean(image)
    if kind == 0 and mean > 100.0:
        image = rotate(image)
    elif kind == 1 or mean < 50:
        image = fn.flip(image, horizontal=1)
        mean = mean + 1000
    else:
        image = image // 2
    if not (kind == 1):
        output = fn.brightness(image, brightness=0.5)
    else:
        output = image
    if mean > 90:
        angle = fn.random.uniform(values=[90.0])
    else:
        angle = 0.0
    output = fn.rotate(output, angle=angle, keep_size=True, fill_value=2)
    do_rotate = fn.random.coin_flip(probability=1.0, dtype=types.DALIDataType.BOOL)
    if do_rotate:
        output = fn.rotate(output, angle=fn.random.uniform(values=[180.0]), keep_size=True, fill_value=1)
    return output, mean


def main(folder):
    pipe = conditional(folder + "/images", batch_size=4)
    pipe.build()
    results = []
    for i in range(2):
        out, mean = pipe.run()
        results += [out.as_array(), np.array(mean.as_tensor())]
    return results
