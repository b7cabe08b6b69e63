"""A training script: arguments, two pipelines, loops over epochs, and the length of the loader."""

import argparse

import torch
from nvidia.dali import fn, types
from nvidia.dali.pipeline import pipeline_def
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy


def parse(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", default=2, type=int)
    parser.add_argument("--batch-size", default=4, type=int)
    parser.add_argument("--dali_cpu", action="store_true")
    parser.add_argument("--local_rank", default=0, type=int)
    return parser.parse_args(arguments)


@pipeline_def(exec_dynamic=True)
def create_dali_pipeline(data_dir, crop, size, shard_id, num_shards, dali_cpu=False, is_training=True):
    images, labels = fn.readers.file(
        file_root=data_dir,
        shard_id=shard_id,
        num_shards=num_shards,
        random_shuffle=False,
        pad_last_batch=True,
        name="Reader",
    )
    dali_device = "cpu" if dali_cpu else "gpu"
    decoder_device = "cpu" if dali_cpu else "mixed"
    # some hints of memory
    preallocate_width_hint = 5980 if decoder_device == "mixed" else 0
    if is_training:
        images = fn.decoders.image(
            images,
            device=decoder_device,
            output_type=types.RGB,
            preallocate_width_hint=preallocate_width_hint,
        )
        images = fn.resize(
            images, device=dali_device, resize_x=crop, resize_y=crop, interp_type=types.INTERP_TRIANGULAR
        )
        mirror = fn.random.coin_flip(probability=0.0)
    else:
        images = fn.decoders.image(images, device=decoder_device, output_type=types.RGB)
        images = fn.resize(
            images, device=dali_device, size=size, mode="not_smaller", interp_type=types.INTERP_TRIANGULAR
        )
        mirror = False
    images = fn.crop_mirror_normalize(
        images if dali_cpu else images.gpu(),
        dtype=types.FLOAT,
        output_layout="CHW",
        crop=(crop, crop),
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        mirror=mirror,
    )
    if not dali_cpu:
        labels = labels.gpu()
    return images, labels


def train(train_loader, epoch, seen):
    for i, data in enumerate(train_loader):
        input = data[0]["data"]
        target = data[0]["label"].squeeze(-1).long()
        train_loader_len = len(train_loader)
        seen += [input, target, torch.tensor([i, train_loader_len])]


def validate(val_loader, seen):
    for i, data in enumerate(val_loader):
        seen += [data[0]["data"], data[0]["label"].squeeze(-1).long()]


def main(folder):
    args = parse(["--dali_cpu"])
    seen = []
    train_pipe = create_dali_pipeline(
        batch_size=args.batch_size,
        num_threads=args.workers,
        device_id=None,
        seed=12 + args.local_rank,
        data_dir=folder + "/images",
        crop=20,
        size=24,
        dali_cpu=args.dali_cpu,
        shard_id=args.local_rank,
        num_shards=1,
        is_training=True,
    )
    train_pipe.build()
    train_loader = DALIClassificationIterator(
        train_pipe, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )
    val_pipe = create_dali_pipeline(
        batch_size=args.batch_size,
        num_threads=args.workers,
        device_id=None,
        seed=12,
        data_dir=folder + "/images",
        crop=20,
        size=24,
        dali_cpu=args.dali_cpu,
        shard_id=args.local_rank,
        num_shards=1,
        is_training=False,
    )
    val_pipe.build()
    val_loader = DALIClassificationIterator(
        val_pipe, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )
    for epoch in range(0, 2):
        train(train_loader, epoch, seen)
        validate(val_loader, seen)
    return seen
