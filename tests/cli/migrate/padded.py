"""Shards of a folder, each padded to whole batches; the reader is inside of an expression."""

from nvidia.dali import fn, pipeline_def
from nvidia.dali.plugin.pytorch import DALIGenericIterator


@pipeline_def(batch_size=2, num_threads=1)
def shard(folder, rank, size):
    images = fn.decoders.image(
        fn.readers.file(
            file_root=folder, shard_id=rank, num_shards=2, stick_to_shard=True, pad_last_batch=True, name="R"
        )[0]
    )
    return fn.resize(images, size=[size, size])


def main(folder):
    results = []
    for rank in range(2):
        loader = DALIGenericIterator(shard(folder + "/images", rank, 8, device_id=None), ["image"], reader_name="R")
        for _ in range(2):
            for data in loader:
                results += [data[0]["image"]]
            loader.reset()
    return results
