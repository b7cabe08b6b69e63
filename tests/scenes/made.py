"""Random scenes: objects that are drawn as masks and as blobs, so that pixels tell where annotations have to be."""

import os

import numpy as np

import avida

SEEDS = range(int(os.environ.get("AVIDA_SCENES", "20")) // 5)
"""Of scenes of five images: AVIDA_SCENES=200 for all, which takes minutes."""
COUNTS = [3, 0, 2, 1, 5]
SIZES = [(60, 80), (40, 40), (71, 53), (33, 90), (64, 64)]
KINDS = 4  # of labels


def boxes_in(rng, count, height, width, least=6):
    """Corners in whole pixels, some at the borders."""
    left, top = rng.integers(0, width - least, count), rng.integers(0, height - least, count)
    right = np.minimum(left + rng.integers(least, width, count), width)
    bottom = np.minimum(top + rng.integers(least, height, count), height)
    return np.stack([left, top, right, bottom], axis=1).astype(np.float32)


def drawn(boxes, height, width):
    """A mask for each box."""
    masks = np.zeros((len(boxes), height, width), np.uint8)
    for mask, (left, top, right, bottom) in zip(masks, boxes.astype(int), strict=True):
        mask[top:bottom, left:right] = 1
    return masks


def scene(seed=0, layout="HWC", dtype=np.uint8, **others):
    """Images that differ in size, with 0 to 5 objects, and all kinds of annotations."""
    rng = np.random.default_rng(seed)
    images, masks, boxes, points, labels = [], [], [], [], []
    for (height, width), count in zip(SIZES, COUNTS, strict=True):
        images.append(rng.integers(0, 255, (height, width, 3)).astype(dtype))
        boxes.append(boxes_in(rng, count, height, width))
        masks.append(drawn(boxes[-1], height, width))
        points.append(np.concatenate([rng.uniform(0, (width, height), (count, 3, 2)), np.full((count, 3, 1), 2)], -1))
        labels.append(rng.integers(0, KINDS, count).astype(np.int32))
    images = [image.transpose(2, 0, 1) if "CHW" in layout else image for image in images]
    images = [np.stack([image, image]) if "F" in layout else image for image in images]
    given = {
        "mask": avida.as_batch([np.minimum(mask.sum(axis=0), 255).astype(np.uint8) for mask in masks], layout="HW"),
        "boxes": [each.astype(np.float32) for each in boxes],
        "masks": masks,
        "keypoints": [each.astype(np.float32) for each in points],
        "labels": labels,
        "rotated": [
            np.float32(np.c_[each[:, :2] + 5, each[:, 2:] - each[:, :2], 9 * np.arange(len(each))]) for each in boxes
        ],
    }
    return avida.Scene(avida.as_batch(images, layout=layout), **{**given, **others})


def arrays(values):
    return [np.asarray(value) for value in values]


def extents(mask):
    """Left, top, right and bottom of what is drawn; None if nothing is."""
    rows, columns = np.nonzero(mask)
    return np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]) if len(rows) else None
