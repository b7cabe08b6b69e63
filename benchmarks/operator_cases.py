"""The cases of `operators.py`: for every operator, the calls of avida and the real library, and that of OpenCV.

The first function receives a library and its batches of `inputs`, since both libraries have one API. The second
receives one photo, and the array of its last result to write into, or None. OpenCV does the same work, although not
always with bit-identical results.
"""

# OpenCV's annotations are narrower than what it accepts, and so are NumPy's for lists.
# pyright: reportMissingImports=false, reportArgumentType=false, reportCallIssue=false, reportAssignmentType=false
# pyright: reportReturnType=false

from collections.abc import Callable
from typing import Any, NamedTuple

import cv2
import numpy as np

WIDTH, HEIGHT, BATCH = 640, 480, 32
NEAREST, LINEAR = 0, 1
RGB, GRAY, YCBCR = 0, 2, 3
MATRIX = np.float32([[0.9, 0.2, -30], [-0.2, 0.9, 80]])  # maps output to input, as in the real library
PERSPECTIVE = np.float32([[0.9, 0.2, -30], [-0.2, 0.9, 80], [1e-4, 2e-4, 1]])
GAMMA = (255 * (np.arange(256) / 255) ** 0.8).astype(np.uint8)
COLORS = np.float32([[1.1, -0.2, 0.1, 3], [-0.1, 1.2, -0.1, 3], [0.2, -0.3, 1.1, 3]])
ANCHORS = np.random.default_rng(1).uniform(0, 0.5, (500, 4)).astype(np.float32) + np.float32([0, 0, 0.5, 0.5])
SHAKEN = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)[::-1] + 5 * np.sin(np.arange(WIDTH, dtype=np.float32) / 20)
MAP_X, MAP_Y = np.ascontiguousarray(SHAKEN[0]), np.ascontiguousarray(SHAKEN[1])


class Case(NamedTuple):
    """`takes` names the input of OpenCV's function."""

    run: Callable[[Any, Any], Any]
    opencv: Callable[[Any, Any], Any] | None = None
    takes: str = "photos"
    random: bool = False


def inputs(photos: list[np.ndarray]) -> dict[str, tuple[list[np.ndarray], str]]:
    """Arrays and layouts of all batches that the cases use."""
    rng = np.random.default_rng(0)
    low = rng.uniform(0, 0.5, (BATCH, 200, 2))
    boxes = np.concatenate([low, low + rng.uniform(0.1, 0.5, low.shape)], 2).astype(np.float32)
    return {
        "photos": (photos, "HWC"),
        "gray": ([photo[:, :, 1:2].copy() for photo in photos], "HWC"),
        "sensor": ([photo[:, :, 1].copy() for photo in photos], "HW"),
        "videos": ([np.stack(photos[i : i + 8]) for i in range(0, BATCH, 8)], "FHWC"),
        "masks": ([(photo[:, :, :1] // 64).astype(np.int32) for photo in photos], "HWC"),
        "boxes": (list(boxes), ""),
        "labels": ([rng.integers(1, 9, 200).astype(np.int32) for _ in photos], ""),
        "points": ([rng.uniform(0, 640, (1000, 2)).astype(np.float32) for _ in photos], ""),
        "map_x": ([MAP_X] * BATCH, "HW"),
        "map_y": ([MAP_Y] * BATCH, "HW"),
        "polygons": ([np.int32([[i % 8, i * 8, i * 8 + 8] for i in range(40)])] * BATCH, ""),
        "vertices": ([rng.uniform(0, 1, (320, 2)).astype(np.float32) for _ in photos], ""),
    }


def scaled(factor: float, addend: float = 0) -> Callable[[Any, Any], Any]:
    return lambda image, out: cv2.convertScaleAbs(image, out, factor, addend)


def recolored(image: Any, out: Any) -> Any:
    return cv2.transform(image, COLORS, out)


def converted(code: int) -> Callable[[Any, Any], Any]:
    return lambda image, out: cv2.cvtColor(image, code, out)


def each_channel(function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda image, out: cv2.merge([function(channel) for channel in cv2.split(image)], out)


def clahe(image: Any, out: Any) -> Any:
    if image.shape[2] == 1:
        return cv2.createCLAHE(2.0, (8, 8)).apply(image[:, :, 0], out)
    lab = cv2.cvtColor(image, cv2.COLOR_RGB2Lab)
    lightness, a, b = cv2.split(lab)
    lightness = cv2.createCLAHE(2.0, (8, 8)).apply(lightness)
    return cv2.cvtColor(cv2.merge([lightness, a, b], lab), cv2.COLOR_Lab2RGB, out)


def warped(matrix: np.ndarray, flags: int = cv2.INTER_LINEAR) -> Callable[[Any, Any], Any]:
    warp = cv2.warpAffine if len(matrix) == 2 else cv2.warpPerspective
    return lambda image, out: warp(image, matrix, (WIDTH, HEIGHT), out, flags | cv2.WARP_INVERSE_MAP)


def noisy(image: Any, out: Any) -> Any:
    noise = cv2.randn(np.empty(image.shape, np.int16), (0, 0, 0), (20, 20, 20))
    return cv2.add(image, noise, out, dtype=cv2.CV_8U)


def erased(image: Any, out: Any) -> Any:
    out = cv2.copyTo(image, None, out)
    return cv2.rectangle(out, (100, 100), (399, 299), (0, 0, 0), -1)


def recompressed(image: Any, out: Any) -> Any:
    return cv2.imdecode(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 50])[1], cv2.IMREAD_COLOR)


def resized(image: Any, out: Any) -> Any:
    return cv2.resize(image, (224, 224), out, interpolation=cv2.INTER_AREA)


def normalized(image: Any, out: Any) -> Any:
    """blobFromImage does it in one call, but with one scale for all channels: not more work than the others."""
    return cv2.dnn.blobFromImage(image[128:352, 208:432], 1 / 58, mean=(124, 116, 104))


def box(size: int) -> np.ndarray:
    return np.full((size, size), 1 / size**2, np.float32)


def window(size: int) -> np.ndarray:
    return np.ones((size, size), np.uint8)


TURN = cv2.invertAffineTransform(cv2.getRotationMatrix2D(((WIDTH - 1) / 2, (HEIGHT - 1) / 2), 30, 1))
TWIST = {"brightness": 1.1, "contrast": 0.9, "hue": 20, "saturation": 1.3}

CASES: dict[str, dict[str, Case]] = {
    "colour": {
        "brightness": Case(lambda lib, x: lib.brightness(x.photos, brightness=1.2), scaled(1.2)),
        "contrast": Case(lambda lib, x: lib.contrast(x.photos, contrast=1.2), scaled(1.2, -25.6)),
        "brightness_contrast": Case(
            lambda lib, x: lib.brightness_contrast(x.photos, brightness=0.9, contrast=1.2), scaled(1.08, -23)
        ),
        "hue": Case(lambda lib, x: lib.hue(x.photos, hue=30), recolored),
        "saturation": Case(lambda lib, x: lib.saturation(x.photos, saturation=1.5), recolored),
        "hsv": Case(lambda lib, x: lib.hsv(x.photos, hue=30, saturation=1.2, value=0.9), recolored),
        "color_twist": Case(lambda lib, x: lib.color_twist(x.photos, **TWIST), recolored),
        "color_space_conversion, RGB to YCbCr": Case(
            lambda lib, x: lib.color_space_conversion(x.photos, image_type=RGB, output_type=YCBCR),
            converted(cv2.COLOR_RGB2YCrCb),
        ),
        "color_space_conversion, YCbCr to RGB": Case(
            lambda lib, x: lib.color_space_conversion(x.photos, image_type=YCBCR, output_type=RGB),
            converted(cv2.COLOR_YCrCb2RGB),
        ),
        "color_space_conversion, RGB to gray": Case(
            lambda lib, x: lib.color_space_conversion(x.photos, image_type=RGB, output_type=GRAY),
            converted(cv2.COLOR_RGB2GRAY),
        ),
        "equalize": Case(lambda lib, x: lib.equalize(x.photos), each_channel(cv2.equalizeHist)),
        "clahe": Case(lambda lib, x: lib.clahe(x.photos, tiles_x=8, tiles_y=8, clip_limit=2.0), clahe),
        "clahe, gray": Case(lambda lib, x: lib.clahe(x.gray, tiles_x=8, tiles_y=8, clip_limit=2.0), clahe, "gray"),
        "lookup_table": Case(
            lambda lib, x: lib.lookup_table(x.photos, keys=list(range(256)), values=GAMMA.tolist(), dtype=lib.uint8),
            lambda image, out: cv2.LUT(image, GAMMA, out),
        ),
        "debayer": Case(
            lambda lib, x: lib.debayer(x.sensor, blue_position=[0, 0]), converted(cv2.COLOR_BayerRG2RGB), "sensor"
        ),
        "debayer, edge aware": Case(
            lambda lib, x: lib.debayer(x.sensor, blue_position=[0, 0], algorithm="edgeaware_ocv"),
            converted(cv2.COLOR_BayerRG2RGB_EA),
            "sensor",
        ),
        "debayer, VNG": Case(
            lambda lib, x: lib.debayer(x.sensor, blue_position=[0, 0], algorithm="vng_ocv"),
            converted(cv2.COLOR_BayerRG2RGB_VNG),
            "sensor",
        ),
        "debayer, gray": Case(
            lambda lib, x: lib.debayer(x.sensor, blue_position=[0, 0], algorithm="gray_ocv"),
            converted(cv2.COLOR_BayerRG2GRAY),
            "sensor",
        ),
    },
    "geometry": {
        "rotate": Case(lambda lib, x: lib.rotate(x.photos, angle=30, keep_size=True, fill_value=0), warped(TURN)),
        "warp_affine": Case(lambda lib, x: lib.warp_affine(x.photos, matrix=MATRIX, fill_value=0), warped(MATRIX)),
        "warp_affine, nearest": Case(
            lambda lib, x: lib.warp_affine(x.photos, matrix=MATRIX, fill_value=0, interp_type=NEAREST),
            warped(MATRIX, cv2.INTER_NEAREST),
        ),
        "experimental.warp_perspective": Case(
            lambda lib, x: lib.experimental.warp_perspective(x.photos, matrix=PERSPECTIVE),
            warped(PERSPECTIVE),
        ),
        "experimental.remap": Case(
            lambda lib, x: lib.experimental.remap(x.photos, x.map_x, x.map_y),
            lambda image, out: cv2.remap(image, MAP_X, MAP_Y, cv2.INTER_LINEAR, out),
        ),
        "sphere": Case(lambda lib, x: lib.sphere(x.photos)),
        "water": Case(lambda lib, x: lib.water(x.photos)),
        "water, linear": Case(lambda lib, x: lib.water(x.photos, interp_type=LINEAR)),
        "jitter": Case(lambda lib, x: lib.jitter(x.photos), random=True),
        "transforms.rotation": Case(lambda lib, x: lib.transforms.rotation(angle=30, batch_size=BATCH)),
        "transforms.translation": Case(lambda lib, x: lib.transforms.translation(offset=[3, 4], batch_size=BATCH)),
        "transforms.scale": Case(lambda lib, x: lib.transforms.scale(scale=[2, 3], batch_size=BATCH)),
        "transforms.shear": Case(lambda lib, x: lib.transforms.shear(shear=[0.5, 0.1], batch_size=BATCH)),
        "transforms.crop": Case(
            lambda lib, x: lib.transforms.crop(from_end=[640, 480], to_end=[1, 1], batch_size=BATCH)
        ),
        "transforms.combine": Case(lambda lib, x: lib.transforms.combine(MATRIX, MATRIX, batch_size=BATCH)),
        "coord_transform": Case(
            lambda lib, x: lib.coord_transform(x.points, MT=MATRIX),
            lambda points, out: cv2.transform(points[None], MATRIX, out),
            "points",
        ),
        "coord_flip": Case(lambda lib, x: lib.coord_flip(x.points)),
        "bb_flip": Case(lambda lib, x: lib.bb_flip(x.boxes, ltrb=True)),
        "bbox_paste": Case(lambda lib, x: lib.bbox_paste(x.boxes, ltrb=True, ratio=1.5)),
        "bbox_rotate": Case(lambda lib, x: lib.bbox_rotate(x.boxes, angle=30, input_shape=[HEIGHT, WIDTH])),
    },
    "pasting": {
        "paste": Case(
            lambda lib, x: lib.paste(x.photos, ratio=1.5, fill_value=[1, 2, 3]),
            lambda image, out: cv2.copyMakeBorder(image, 120, 120, 160, 160, cv2.BORDER_CONSTANT, out, value=(1, 2, 3)),
        ),
        "multi_paste": Case(
            lambda lib, x: lib.multi_paste(
                x.photos, x.photos, output_size=[700, 900], out_anchors=lib.tensor(np.int32([[0, 0], [200, 200]]))
            )
        ),
        "erase": Case(lambda lib, x: lib.erase(x.photos, anchor=[100, 100], shape=[200, 300]), erased),
        "grid_mask": Case(lambda lib, x: lib.grid_mask(x.photos, tile=60, angle=0.3)),
    },
    "neighbourhoods": {
        "gaussian_blur, sigma 0.8": Case(
            lambda lib, x: lib.gaussian_blur(x.photos, sigma=0.8),
            lambda image, out: cv2.GaussianBlur(image, (7, 7), 0.8, out),
        ),
        "gaussian_blur, sigma 2": Case(
            lambda lib, x: lib.gaussian_blur(x.photos, sigma=2),
            lambda image, out: cv2.GaussianBlur(image, (13, 13), 2, out),
        ),
        "filter, 3 x 3": Case(
            lambda lib, x: lib.filter(x.photos, box(3)), lambda image, out: cv2.filter2D(image, -1, box(3), out)
        ),
        "filter, 7 x 7": Case(
            lambda lib, x: lib.filter(x.photos, box(7)), lambda image, out: cv2.filter2D(image, -1, box(7), out)
        ),
        "laplacian": Case(
            lambda lib, x: lib.laplacian(x.photos), lambda image, out: cv2.Laplacian(image, cv2.CV_8U, out, 3)
        ),
        "laplacian, 5 x 5 to float": Case(
            lambda lib, x: lib.laplacian(x.photos, window_size=5, dtype=lib.float32),
            lambda image, out: cv2.Laplacian(image, cv2.CV_32F, out, 5),
        ),
        "experimental.median_blur, 3 x 3": Case(
            lambda lib, x: lib.experimental.median_blur(x.photos), lambda image, out: cv2.medianBlur(image, 3, out)
        ),
        "experimental.median_blur, 5 x 5": Case(
            lambda lib, x: lib.experimental.median_blur(x.photos, window_size=5),
            lambda image, out: cv2.medianBlur(image, 5, out),
        ),
        "experimental.dilate, 3 x 3": Case(
            lambda lib, x: lib.experimental.dilate(x.photos), lambda image, out: cv2.dilate(image, window(3), out)
        ),
        "experimental.erode, 15 x 15": Case(
            lambda lib, x: lib.experimental.erode(x.photos, mask_size=15),
            lambda image, out: cv2.erode(image, window(15), out),
        ),
    },
    "noise and loss": {
        "noise.gaussian": Case(lambda lib, x: lib.noise.gaussian(x.photos, stddev=20), noisy, random=True),
        "noise.salt_and_pepper": Case(lambda lib, x: lib.noise.salt_and_pepper(x.photos), random=True),
        "noise.shot": Case(lambda lib, x: lib.noise.shot(x.photos), random=True),
        "jpeg_compression_distortion": Case(
            lambda lib, x: lib.jpeg_compression_distortion(x.photos, quality=50), recompressed
        ),
    },
    "boxes, masks, sequences": {
        "random_bbox_crop": Case(
            lambda lib, x: lib.random_bbox_crop(x.boxes, thresholds=[0.1, 0.3], num_attempts=10), random=True
        ),
        "box_encoder": Case(lambda lib, x: lib.box_encoder(x.boxes, x.labels, anchors=ANCHORS.ravel().tolist())),
        "roi_random_crop": Case(
            lambda lib, x: lib.roi_random_crop(
                in_shape=[HEIGHT, WIDTH],
                roi_start=[100, 100],
                roi_shape=[90, 90],
                crop_shape=[80, 80],
                batch_size=BATCH,
            ),
            random=True,
        ),
        "segmentation.random_mask_pixel": Case(
            lambda lib, x: lib.segmentation.random_mask_pixel(x.masks, foreground=1), random=True
        ),
        "segmentation.random_object_bbox": Case(
            lambda lib, x: lib.segmentation.random_object_bbox(x.masks, format="box"), random=True
        ),
        "segmentation.select_masks": Case(
            lambda lib, x: lib.segmentation.select_masks(lib.tensor(np.int32([1, 3, 5])), x.polygons, x.vertices)
        ),
        "sequence_rearrange": Case(lambda lib, x: lib.sequence_rearrange(x.videos, new_order=list(range(7, -1, -1)))),
    },
    "size, type and place": {
        "resize to 224 x 224": Case(lambda lib, x: lib.resize(x.photos, size=[224, 224]), resized),
        "random_resized_crop": Case(lambda lib, x: lib.random_resized_crop(x.photos, size=[224, 224]), random=True),
        "crop_mirror_normalize": Case(
            lambda lib, x: lib.crop_mirror_normalize(
                x.photos, crop=[224, 224], mean=[124, 116, 104], std=[58, 58, 58], mirror=0
            ),
            normalized,
        ),
        "flip": Case(lambda lib, x: lib.flip(x.photos), lambda image, out: cv2.flip(image, 1, out)),
        "cast to float32": Case(lambda lib, x: lib.cast(x.photos, dtype=lib.float32)),
        "transpose to CHW": Case(
            lambda lib, x: lib.transpose(x.photos, perm=[2, 0, 1]),
            lambda image, out: cv2.split(image, out),
        ),
    },
}
