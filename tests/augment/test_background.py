"""The calls return at once: what they work on may still be in the making."""

import threading

import numpy as np

import avida


def test_nothing_waits_for_the_images():
    begin = threading.Event()

    @avida.operator
    def late(image):
        assert begin.wait(timeout=600)
        return image

    images = late(avida.as_batch(np.zeros((4, 12, 16, 3), np.uint8), layout="HWC"))
    boxes = avida.as_batch([np.float32([[1, 1, 9, 9]])] * 4)
    results = [
        avida.auto_augment(images),
        avida.rand_augment(images),
        avida.trivial_augment(images),
        *avida.mixup(images, [0, 1, 2, 3], num_classes=4),
        *avida.cutmix(images, [0, 1, 2, 3], num_classes=4),
        *avida.mosaic(images, boxes, avida.as_batch([[1]] * 4), output_size=20),
    ]
    assert all(result._pending() for result in results)
    assert all(result.batch_size == 4 for result in results)
    begin.set()
    for result in results:
        result.evaluate()
