"""Python inside of pipelines: functions of NumPy for samples, of several inputs, and for whole batches."""

import numpy as np
from nvidia.dali import fn, pipeline_def


def edit_images(image1, image2):
    assert image1.shape == image2.shape
    h, w, c = image1.shape
    y, x = np.ogrid[0:h, 0:w]
    mask = (x - w / 2) ** 2 + (y - h / 2) ** 2 > h**2 / 9
    result1 = np.copy(image1)
    result1[mask] = image2[mask]
    result2 = np.copy(image2)
    result2[mask] = image1[mask]
    return result1, result2


def flip_all(batch):
    return [np.flip(sample, 0).copy() for sample in batch]


@pipeline_def(batch_size=2, num_threads=2, device_id=None, exec_async=False, exec_pipelined=False, seed=99)
def python_function_pipeline(folder):
    input1, _ = fn.readers.file(file_root=folder)
    images = fn.decoders.image(input1)
    images1 = fn.resize(images, resize_x=30, resize_y=30)
    images2 = fn.flip(images1)
    out1, out2 = fn.python_function(images1, images2, function=edit_images, num_outputs=2)
    turned = fn.python_function(out1, function=lambda image: np.ascontiguousarray(image[:, ::-1]))
    flipped = fn.python_function(out1, function=flip_all, batch_processing=True)
    return out1, out2, turned, flipped


def main(folder):
    pipe = python_function_pipeline(folder + "/images")
    pipe.build()
    return [output.as_array() for output in pipe.run()]
