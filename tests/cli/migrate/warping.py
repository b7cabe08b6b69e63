"""Affine transforms: from arrays of Python, from operators, and one for each sample; points go along."""

import numpy as np
import nvidia.dali as dali
import nvidia.dali.fn as fn
import nvidia.dali.types as types


def random_transform(index):
    angle = 0.1 * index
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s, 2], [-s, c, 1]], dtype=np.float32)


def gen_transforms(n, step):
    a = 0.0
    step = step * (np.pi / 180)
    while True:
        out = np.zeros([n, 2, 3], dtype=np.float32)
        for i in range(n):
            out[i, :, :] = random_transform(i + a)
            a = a + step
        yield out


batch_size = 2


@dali.pipeline_def(batch_size=batch_size, num_threads=1, device_id=None, seed=12345)
def warped(folder):
    jpegs, _ = fn.readers.file(file_root=folder)
    images = fn.decoders.image(jpegs, device="cpu")
    given = fn.external_source(gen_transforms(batch_size, 10))
    made = fn.transforms.rotation(angle=fn.random.uniform(values=[20.0]), center=(20, 20))
    combined = fn.transforms.combine(made, np.array([[1, 0, 5], [0, 1, 3]], dtype=np.float32))
    points = fn.constant(fdata=[0.0, 0.0, 10.0, 20.0], shape=[2, 2])
    moved = fn.coord_transform(points, MT=combined)
    images = fn.resize(images, size=[40, 40])
    w1 = fn.warp_affine(images, given, size=(50, 40), fill_value=42, interp_type=types.INTERP_LINEAR)
    w2 = fn.warp_affine(images, matrix=combined, fill_value=0, interp_type=types.INTERP_NN, inverse_map=False)
    w3 = fn.warp_affine(images, matrix=(0.5, 0.0, 1.0, 0.0, 2.0, 3.0), fill_value=9)
    return w1, w2, w3, moved


def main(folder):
    pipe = warped(folder + "/images")
    pipe.build()
    results = []
    for _ in range(2):
        results += [part.as_array() for part in pipe.run()]
    return results
