"""Images with boxes: resizing, mirrored boxes, and boxes of different numbers padded to one shape."""

import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import pipeline_def
from nvidia.dali.plugin.pytorch import DALIGenericIterator


@pipeline_def(batch_size=2, num_threads=2, device_id=None)
def detection(root):
    inputs, boxes, labels = fn.readers.coco(
        file_root=root + "/images",
        annotations_file=root + "/annotations.json",
        ratio=True,
        ltrb=True,
        skip_empty=True,
        name="coco",
    )
    images = fn.decoders.image(inputs)
    flip = fn.random.coin_flip(probability=1.0)
    images = fn.flip(images, horizontal=flip)
    boxes = fn.bb_flip(boxes, ltrb=True, horizontal=flip)
    images = fn.resize(images, size=[32, 40])
    images = fn.transpose(fn.cast(images, dtype=types.FLOAT) / 255.0, perm=[2, 0, 1])
    return images, fn.pad(boxes, fill_value=-1), fn.pad(labels, fill_value=0)


def main(folder):
    loader = DALIGenericIterator([detection(folder + "/coco")], ["images", "boxes", "labels"], reader_name="coco")
    results = []
    for batch in loader:
        row = batch[0]
        results.extend([row["images"], row["boxes"], row["labels"]])
    return results
