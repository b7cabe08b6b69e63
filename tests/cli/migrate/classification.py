"""Training and validation of a classifier, from one pipeline function."""

import torch
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy


@pipeline_def
def image_pipeline(data_dir, crop, shard_id=0, num_shards=1, is_training=True):
    """Files to normalised images."""
    jpegs, labels = fn.readers.file(
        file_root=data_dir,
        shard_id=shard_id,
        num_shards=num_shards,
        pad_last_batch=True,  # so that all shards have as many batches
        name="Reader",
    )
    images = fn.decoders.image(jpegs, device="cpu", output_type=types.RGB)

    # training looks at another part of the image than validation
    if is_training:
        images = fn.resize(images, resize_x=crop, resize_y=crop, interp_type=types.INTERP_TRIANGULAR)
        mirror = fn.random.coin_flip(probability=1.0)
    else:
        images = fn.resize(images, size=crop + 8, mode="not_smaller", interp_type=types.INTERP_TRIANGULAR)
        mirror = False
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        crop=(crop, crop),
        mirror=mirror,
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
    )
    return images, labels


def make_loader(data_dir, is_training):
    pipe = image_pipeline(
        data_dir,
        24,
        is_training=is_training,
        batch_size=4,
        num_threads=2,
        device_id=None,
        seed=12,
        prefetch_queue_depth=3,
    )
    pipe.build()
    return DALIClassificationIterator(
        pipe, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=False
    )


def run_epoch(loader, results):
    for step, data in enumerate(loader):
        images = data[0]["data"]
        labels = data[0]["label"].squeeze(-1).long()
        assert labels.dtype == torch.int64, step
        results += [images, labels]


def main(folder):
    results = []
    train_loader = make_loader(folder + "/images", True)
    val_loader = make_loader(folder + "/images", False)
    for _ in range(2):
        run_epoch(train_loader, results)
        train_loader.reset()
        run_epoch(val_loader, results)
        val_loader.reset()
    return results
