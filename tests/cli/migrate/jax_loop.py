"""JAX: an iterator that gives dictionaries of arrays."""

from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.jax import DALIGenericIterator


@pipeline_def(batch_size=3, num_threads=2, device_id=None)
def mnist(folder):
    jpegs, labels = fn.readers.file(file_root=folder, pad_last_batch=True, name="mnist_reader")
    images = fn.decoders.image(jpegs, output_type=types.GRAY)
    images = fn.crop_mirror_normalize(fn.resize(images, size=[8, 8]), dtype=types.FLOAT, output_layout="CHW")
    return fn.reshape(images, shape=[-1]), fn.reshape(fn.one_hot(labels, num_classes=2), shape=[-1])


def main(folder):
    iterator = DALIGenericIterator(
        mnist(folder + "/images"),
        ["images", "labels"],
        reader_name="mnist_reader",
        last_batch_policy=LastBatchPolicy.DROP,
    )
    results = []
    for epoch in range(2):
        for batch in iterator:
            results += [batch["images"], batch["labels"]]
        iterator.reset()
    return results
