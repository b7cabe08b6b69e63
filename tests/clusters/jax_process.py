"""One of several processes of JAX, which reads its own shard; the recipe for JAX shows it."""

import sys

import jax
import numpy as np

import avida as ndd


def main(address, processes, process):
    jax.distributed.initialize(address, num_processes=processes, process_id=process)
    reader = ndd.readers.File(file_root="train", random_shuffle=True, seed=1, last_batch="drop", shards="auto")
    sharding = jax.sharding.NamedSharding(jax.make_mesh((jax.device_count(),), ("batch",)), jax.P("batch"))
    ndd.random.set_seed(7)
    mean = jax.jit(lambda images: images.mean())  # over the samples of all processes
    for jpegs, _ in reader.next_epoch(batch_size=2):
        images = ndd.random_resized_crop(ndd.decoders.image(jpegs), size=[32, 32], keyed_by=jpegs)
        images = ndd.crop_mirror_normalize(images, mean=[127.0], std=[64.0], output_layout="HWC")
        array = jax.make_array_from_process_local_data(sharding, images.numpy())
        assert array.shape == (2 * processes, 32, 32, 3)
        assert np.isfinite(mean(array))
        print("read:", *[source.index for source in images.sources], flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
