"""One pipeline for each shard, in a list, and their readers' sizes."""

from nvidia.dali import fn, pipeline_def


@pipeline_def(batch_size=2, num_threads=1)
def shard(folder, shard_id, num_shards):
    files, labels = fn.readers.file(file_root=folder, shard_id=shard_id, num_shards=num_shards, name="Reader")
    return fn.resize(fn.decoders.image(files), size=[6, 6]), labels


def main(folder):
    pipes = [shard(folder + "/images", i, 2, device_id=None) for i in range(2)]
    for pipe in pipes:
        pipe.build()
    results = []
    for _ in range(2):
        outputs = [pipe.run() for pipe in pipes]
        for images, labels in outputs:
            results += [images.as_array(), labels.as_array()]
    return results
