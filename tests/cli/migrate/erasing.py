"""Erased regions, one or several, in fractions or pixels, filled with values of each channel."""

from nvidia.dali import fn, pipeline_def


def show(outputs, row):
    row.extend(outputs.at(i) for i in range(len(outputs)))


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def erased(folder, anchor, shape, fill_value=0, axes=(0, 1), normalized=False):
    data, _ = fn.readers.file(file_root=folder)
    images = fn.decoders.image(data)
    return fn.erase(images, anchor=anchor, shape=shape, fill_value=fill_value, axes=axes, normalized=normalized)


def main(folder):
    row = []
    pipes = [
        erased(folder + "/images", (10, 8), (12, 20), fill_value=(120, 0, 0)),
        erased(folder + "/images", anchor=(0.1, 0.2), shape=(0.5, 0.25), normalized=True),
    ]
    pipes.append(erased(folder + "/images", [2, 4, 20, 20], [6, 6, 8, 9], 7))
    for pipe in pipes:
        pipe.build()
        (out,) = pipe.run()
        show(out, row)
    return row
