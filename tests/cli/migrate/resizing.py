"""All ways to say the size of an image, in one pipeline with a list of outputs."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types

MODES = ["default", "stretch", "not_larger", "not_smaller"]


@pipeline_def(num_threads=2, device_id=None)
def resize_pipeline(folder, device="cpu"):
    files, labels = fn.readers.file(file_root=folder, name="Reader")
    images = fn.decoders.image(files, device=device)
    outputs = [fn.resize(images, resize_x=30, resize_y=50, mode=mode) for mode in MODES]
    outputs.append(fn.resize(images, resize_shorter=20))
    outputs.append(fn.resize(images, resize_longer=20, interp_type=types.DALIInterpType.INTERP_LANCZOS3))
    outputs.append(fn.resize(images, size=[25, 0], max_size=[30, 28], mode="not_smaller"))
    part = fn.resize(images, roi_start=[0.25, 0.75], roi_end=[0.75, 0.25], roi_relative=True, size=[16, 16])
    return tuple(outputs) + (part, labels)


def main(folder):
    pipe = resize_pipeline(folder + "/images", batch_size=3)
    results = []
    out = pipe.run()
    for i, tensors in enumerate(out):
        print(i, tensors.layout())
        for j in range(3):
            results.append(np.array(tensors[j]))
    results.append([list(tensor.shape()) for tensor in out[0]])
    return results
