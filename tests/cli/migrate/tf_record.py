"""Records with named features; the last batch is filled up."""

import nvidia.dali.tfrecord as tfrec
from nvidia.dali import fn, pipeline_def
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy


@pipeline_def(num_threads=1, device_id=None)
def records(path):
    inputs = fn.readers.tfrecord(
        path=path,
        index_path=path + ".idx",
        features={
            "image": tfrec.FixedLenFeature((), tfrec.string, ""),
            "label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
        },
        name="Records",
    )
    images = fn.decoders.image(inputs["image"])
    images = fn.flip(images, vertical=fn.random.coin_flip(probability=1.0), horizontal=0)
    images = fn.resize(images, size=[12, 12])
    return images, inputs["label"]


def main(folder):
    pipe = records(folder + "/records.tfrecord", batch_size=4)
    loader = DALIClassificationIterator(pipe, reader_name="Records", last_batch_policy=LastBatchPolicy.FILL)
    results = []
    for _ in range(2):
        for i, data in enumerate(loader, start=1):
            images, labels = data[0]["data"], data[0]["label"]
            results.append(images // i)
            results.append(labels)
        loader.reset()
    return results
