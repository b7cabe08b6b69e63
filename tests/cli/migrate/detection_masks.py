"""COCO with random crops that keep boxes, and anchors of SSD to which they are encoded."""

import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def


@pipeline_def(batch_size=2, num_threads=2, device_id=None)
def coco_pipeline(folder, shard_id, num_shards):
    inputs, bboxes, labels, ids = fn.readers.coco(
        file_root=folder + "/images",
        annotations_file=folder + "/annotations.json",
        shard_id=shard_id,
        num_shards=num_shards,
        ratio=True,
        ltrb=True,
        image_ids=True,
        name="Reader",
    )
    images = fn.decoders.image(inputs, output_type=types.RGB)
    coin = fn.random.coin_flip(probability=1.0)
    images = fn.flip(images, horizontal=coin)
    bboxes = fn.bb_flip(bboxes, ltrb=True, horizontal=coin)
    boxes, classes = fn.box_encoder(bboxes, labels, anchors=[0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0], criteria=0.3)
    return images, bboxes, labels, ids, boxes, classes


def main(folder):
    pipe = coco_pipeline(folder + "/coco", 0, 1)
    pipe.build()
    results = []
    for _ in range(3):
        images, bboxes, labels, ids, boxes, classes = pipe.run()
        for i in range(2):
            results += [images.at(i), bboxes.at(i), labels.at(i)]
        results += [ids.as_array(), boxes.as_array(), classes.as_array()]
    return results
