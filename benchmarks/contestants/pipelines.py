"""Whole pipelines of `augment.py`: what is done to images, boxes and masks before a network is trained with them.

Each function makes what contestants run on all images: avida on a batch, albumentations, OpenCV (as ultralytics does
it) and torchvision v2 on one after the other. Results are normalised images, with their annotations.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from contestants.transforms import MEAN, STD, inputs, load

import avida as ndd
from avida import augment
from avida.augment import between, chance, maybe

# pyright: reportMissingImports=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false

Images = list[np.ndarray]
Calls = dict[str, Callable[[], Any]]
NORMALIZED = {"mean": [255 * m for m in MEAN], "std": [255 * s for s in STD]}
COLORS = {"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1}
OBJECTS = {"bbox_params": {"format": "pascal_voc", "label_fields": ["labels"]}}


def or_without(name: str, make: Callable[[Any], Callable[[], Any]]) -> Calls:
    try:
        return {name: make(load(name))}
    except ImportError:
        return {}


def finished(x: Any) -> Any:
    """Mirrored or not, normalised, channels first."""
    return ndd.crop_mirror_normalize(x, mirror=chance(0.5), **NORMALIZED)


def simclr(images: Images, _boxes: Images, _masks: Images) -> Calls:
    batch = ndd.as_batch(images, layout="HWC")

    def ours() -> Any:
        x = ndd.random_resized_crop(batch, size=[224, 224], random_area=[0.2, 1], antialias=False)
        x = maybe(x, augment.color_jitter, p=0.8, brightness=0.8, contrast=0.8, saturation=0.8, hue=0.2)
        x = augment.grayscale(x, on=chance(0.2))
        x = maybe(x, ndd.gaussian_blur, p=0.5, sigma=between(0.1, 2), window_size=23)
        return finished(x).evaluate()

    def of_albumentations(a: Any) -> Callable[[], Any]:
        steps = [
            a.RandomResizedCrop((224, 224), (0.2, 1)),
            a.ColorJitter((0.2, 1.8), (0.2, 1.8), (0.2, 1.8), (-0.2, 0.2), p=0.8),
            a.ToGray(p=0.2),
            a.GaussianBlur((23, 23), (0.1, 2), p=0.5),
            a.HorizontalFlip(p=0.5),
            a.Normalize(MEAN, STD),
        ]
        composed = a.Compose(steps)
        return lambda: [composed(image=image)["image"] for image in images]

    def of_torchvision(torchvision: Any) -> Callable[[], Any]:
        v2, torch = torchvision.transforms.v2, load("torch")
        steps = [
            v2.RandomResizedCrop((224, 224), (0.2, 1), antialias=False),
            v2.RandomApply([v2.ColorJitter(0.8, 0.8, 0.8, 0.2)], 0.8),
            v2.RandomGrayscale(0.2),
            v2.RandomApply([v2.GaussianBlur(23, (0.1, 2))], 0.5),
            v2.RandomHorizontalFlip(0.5),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN, STD),
        ]
        composed, planes = v2.Compose(steps), [inputs("torchvision", image) for image in images]
        return lambda: [composed(image) for image in planes]

    return (
        {"avida": ours}
        | or_without("albumentations", of_albumentations)
        | or_without("torchvision", lambda _: of_torchvision(load("torchvision.transforms.v2") and load("torchvision")))
    )


# Views of DINO: how many, of which size and area, how often they are blurred and solarised.
VIEWS = ((1, 224, (0.4, 1.0), 1.0, 0.0), (1, 224, (0.4, 1.0), 0.1, 0.2), (8, 96, (0.05, 0.4), 0.5, 0.0))


def dino(images: Images, _boxes: Images, _masks: Images) -> Calls:
    batch = ndd.as_batch(images, layout="HWC")
    colors = {"brightness": 0.4, "contrast": 0.4, "saturation": 0.2, "hue": 0.1}

    def view(size: int, area: tuple[float, float], blurred: float, solarized: float) -> Any:
        x = ndd.random_resized_crop(batch, size=[size, size], random_area=list(area), antialias=False)
        x = maybe(x, augment.color_jitter, p=0.8, **colors)
        x = augment.grayscale(x, on=chance(0.2))
        x = maybe(x, ndd.gaussian_blur, p=blurred, sigma=between(0.1, 2), window_size=9)
        if solarized:
            x = maybe(x, augment.solarize, p=solarized, threshold=128)
        return finished(x).evaluate()

    def of_albumentations(a: Any) -> Callable[[], Any]:
        composed = []
        for count, size, area, blurred, solarized in VIEWS:
            steps = [
                a.RandomResizedCrop((size, size), area),
                a.ColorJitter((0.6, 1.4), (0.6, 1.4), (0.8, 1.2), (-0.1, 0.1), p=0.8),
                a.ToGray(p=0.2),
                a.GaussianBlur((9, 9), (0.1, 2), p=blurred),
                a.Solarize((0.5, 0.5), p=solarized),
                a.HorizontalFlip(p=0.5),
                a.Normalize(MEAN, STD),
            ]
            composed += [a.Compose(steps)] * count
        return lambda: [made(image=image)["image"] for image in images for made in composed]

    return {"avida": lambda: [view(*options) for count, *options in VIEWS for _ in range(count)]} | or_without(
        "albumentations", of_albumentations
    )


def segmentation(images: Images, _boxes: Images, masks: Images) -> Calls:
    scenes = ndd.Scene(ndd.as_batch(images, layout="HWC"), mask=masks, ignore=255)

    def ours() -> Any:
        scene = ndd.random_resized_crop(scenes, size=[512, 512], random_area=[0.25, 1], antialias=False)
        scene = finished(augment.color_jitter(scene, **COLORS))
        return scene.image.evaluate(), scene.mask.evaluate()

    def of_albumentations(a: Any) -> Callable[[], Any]:
        steps = [
            a.RandomResizedCrop((512, 512), (0.25, 1)),
            a.ColorJitter((0.6, 1.4), (0.6, 1.4), (0.6, 1.4), (-0.1, 0.1), p=1),
            a.HorizontalFlip(p=0.5),
            a.Normalize(MEAN, STD),
        ]
        composed = a.Compose(steps)
        return lambda: [composed(image=image, mask=mask) for image, mask in zip(images, masks, strict=True)]

    return {"avida": ours} | or_without("albumentations", of_albumentations)


def ssd(images: Images, boxes: Images, _masks: Images) -> Calls:
    batch = ndd.as_batch(images, layout="HWC")
    given = [each / np.float32([640, 480, 640, 480]) for each in boxes]
    labels = [np.arange(len(each), dtype=np.int32) for each in boxes]

    def ours() -> Any:
        x = augment.color_jitter(batch, brightness=0.125, contrast=0.5, saturation=0.5, hue=0.05)
        anchor, shape, kept, classes = ndd.random_bbox_crop(
            ndd.as_batch(given),
            ndd.as_batch(labels),
            bbox_layout="xyXY",
            thresholds=[0, 0.1, 0.3, 0.5, 0.7, 0.9],
            aspect_ratio=[0.5, 2.0],
            scaling=[0.3, 1.0],
        )
        x = ndd.resize(ndd.slice(x, anchor, shape, axis_names="WH"), size=[300, 300], antialias=False)
        scene = finished(ndd.Scene(x, boxes=kept, labels=classes, relative=True))
        return scene.image.evaluate(), scene.boxes.evaluate()

    def of_albumentations(a: Any) -> Callable[[], Any]:
        steps = [
            a.ColorJitter((0.875, 1.125), (0.5, 1.5), (0.5, 1.5), (-0.05, 0.05), p=1),
            a.RandomSizedBBoxSafeCrop(300, 300),
            a.HorizontalFlip(p=0.5),
            a.Normalize(MEAN, STD),
        ]
        composed = a.Compose(steps, **OBJECTS)
        return lambda: [
            composed(image=image, bboxes=each, labels=classes)
            for image, each, classes in zip(images, boxes, labels, strict=True)
        ]

    return {"avida": ours} | or_without("albumentations", of_albumentations)


def yolo(images: Images, boxes: Images, _masks: Images) -> Calls:
    batch, rows = ndd.as_batch(images, layout="HWC"), ndd.as_batch(boxes)
    labels = [np.arange(len(each), dtype=np.int32) for each in boxes]
    classes = ndd.as_batch(labels)
    rng = np.random.default_rng(3)

    def ours() -> Any:
        scaled = {"image_size": between(320, 960), "center_range": (0, 1), "min_visible": 0.1}
        joined, moved, kept = augment.mosaic(batch, rows, classes, output_size=640, ltrb=True, **scaled)
        scene = ndd.Scene(joined, boxes=moved, labels=kept)
        scene = augment.adjust_colors(
            scene, hue=between(-0.015, 0.015), saturation=between(0.3, 1.7), brightness=between(0.6, 1.4)
        )
        scene = ndd.flip(scene, horizontal=chance(0.5)).clean(min_size=2)
        return scene.image.evaluate(), scene.boxes.evaluate()

    def of_cv2(cv2: Any) -> Callable[[], Any]:
        cv2.setNumThreads(1)
        return lambda: [yolo_by_cv2(cv2, rng, images, boxes, labels, i) for i in range(len(images))]

    def of_albumentations(a: Any) -> Callable[[], Any]:
        steps = [
            a.Mosaic((2, 2), (640, 640), (640, 640), p=1, metadata_key="others"),
            a.Affine(scale=(0.5, 1.5), translate_percent=(-0.1, 0.1), rotate=(0, 0), fill=114, p=1),
            a.HueSaturationValue((-3, 3), (-70, 70), (-40, 40), p=1),
            a.HorizontalFlip(p=0.5),
        ]
        composed = a.Compose(steps, **OBJECTS)
        entries = [
            {"image": image, "bboxes": each, "labels": names}
            for image, each, names in zip(images, boxes, labels, strict=True)
        ]
        count = len(entries)
        others = [[entries[(i + k) % count] for k in (1, 2, 3)] for i in range(count)]
        return lambda: [composed(**entry, others=more) for entry, more in zip(entries, others, strict=True)]

    return {"avida": ours} | or_without("albumentations", of_albumentations) | or_without("cv2", of_cv2)


def turn_of(rng: np.random.Generator) -> np.ndarray:
    """From a mosaic of 1280 x 1280 to an image of 640 x 640: scaled and moved at random."""
    scale, shift = rng.uniform(0.5, 1.5), rng.uniform(0.4, 0.6, 2) * 640
    return np.float32([[scale, 0, shift[0] - 640 * scale], [0, scale, shift[1] - 640 * scale]])


def yolo_by_cv2(
    cv2: Any, rng: np.random.Generator, images: Images, boxes: Images, labels: Images, first: int
) -> tuple[Any, Any, Any]:
    """As ultralytics does it: a canvas of 1280 x 1280, one warp, look-up tables for HSV."""
    canvas = np.full((1280, 1280, 3), 114, np.uint8)
    xc, yc = rng.integers(320, 960, 2)
    rows = []
    for k in range(4):
        image = images[(first + k) % len(images)]
        height, width = image.shape[:2]
        x, y = (xc - width if k % 2 == 0 else xc), (yc - height if k < 2 else yc)
        left, top = max(x, 0), max(y, 0)
        right, bottom = min(x + width, 1280), min(y + height, 1280)
        canvas[top:bottom, left:right] = image[top - y : bottom - y, left - x : right - x]
        rows.append(boxes[(first + k) % len(images)] + np.float32([x, y, x, y]))
    found, names = np.concatenate(rows), np.concatenate([labels[(first + k) % len(images)] for k in range(4)])
    turn = turn_of(rng)
    made = cv2.warpAffine(canvas, turn, dsize=(640, 640), borderValue=(114, 114, 114))
    corners = np.ones((len(found) * 4, 3), np.float32)
    corners[:, :2] = found[:, [0, 1, 2, 3, 0, 3, 2, 1]].reshape(-1, 2)
    moved = (corners @ turn.T).reshape(-1, 8)
    x, y = moved[:, 0::2], moved[:, 1::2]
    whole = np.stack([x.min(1), y.min(1), x.max(1), y.max(1)], axis=1)
    clipped = whole.clip(0, 640)
    extents, before = clipped[:, 2:] - clipped[:, :2], whole[:, 2:] - whole[:, :2]
    kept = (extents > 2).all(1) & (extents.prod(1) > 0.1 * before.prod(1))
    gains = rng.uniform(-1, 1, 3) * [0.015, 0.7, 0.4] + 1
    steps = np.arange(256, dtype=np.float64)
    hue, saturation, value = cv2.split(cv2.cvtColor(made, cv2.COLOR_RGB2HSV))
    turned = cv2.LUT(hue, ((steps * gains[0]) % 180).astype(np.uint8))
    stretched = [
        cv2.LUT(plane, np.clip(steps * gain, 0, 255).astype(np.uint8))
        for plane, gain in ((saturation, gains[1]), (value, gains[2]))
    ]
    made = cv2.cvtColor(cv2.merge((turned, *stretched)), cv2.COLOR_HSV2RGB)
    clipped = clipped[kept]
    if rng.random() < 0.5:
        made = np.ascontiguousarray(made[:, ::-1])
        clipped[:, [0, 2]] = 640 - clipped[:, [2, 0]]
    return made, clipped, names[kept]


PIPELINES: dict[str, Callable[[Images, Images, Images], Calls]] = {
    "DINO: 2 views of 224, 8 of 96": dino,
    "SSD: jitter, crop around boxes, 300": ssd,
    "SimCLR: one view of 224": simclr,
    "YOLO: mosaic, affine, HSV, flip, boxes": yolo,
    "segmentation: 512, with masks": segmentation,
}
