"""Dynamic mode itself: only the import changes."""

import numpy as np
import nvidia.dali.experimental.dynamic as ndd
import nvidia.dali.types as types


def augment(images):
    images = ndd.resize(images, size=[16, 16], interp_type=types.INTERP_LINEAR)
    return ndd.flip(images, horizontal=1)


def main(folder):
    reader = ndd.readers.File(file_root=folder + "/images")
    results = []
    for jpegs, labels in reader.next_epoch(batch_size=3):
        images = augment(ndd.decoders.image(jpegs, device="cpu"))
        results += [np.asarray(ndd.as_tensor(images)), np.asarray(ndd.as_tensor(labels))]
        results.append(np.asarray(images.tensors[0]))
    return results
