"""Operators on pictures whose kernels are made of several steps give the bits of the CPU."""

import itertools

import numpy as np
import pytest

import avida as ndd

from .test_kernels_agree import check, rng


def picture(shape, dtype="uint8"):
    """Shades with some noise: neighbours are alike, and histograms have gaps."""
    grid = np.indices(shape)
    shades = 0.4 * grid[0] + 0.7 * grid[1] + 30 * (grid[2] if len(shape) > 2 else 0)
    top = np.iinfo(dtype).max
    return np.clip((shades + rng.normal(0, 9, shape)) / 255 * top, 0, top).astype(dtype)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 9])
def test_equalize(channels):
    # Smaller than what a block's threads take at once, larger, and of several parts.
    for height, width in ((7, 5), (37, 50), (61, 83), (203, 331)):
        check(ndd.equalize, picture((height, width, channels)), layout="HWC")


def test_equalize_planes():
    check(ndd.equalize, picture((31, 45)), layout="HW")
    check(ndd.equalize, picture((3, 31, 45)), layout="CHW")
    check(ndd.equalize, picture((7, 33, 21, 3)), layout="FHWC")
    check(ndd.equalize, picture((6, 2, 33, 21)), layout="FCHW")
    check(ndd.equalize, np.full((40, 50, 3), 77, np.uint8), layout="HWC")
    check(ndd.equalize, np.where(rng.random((40, 50, 3)) < 0.5, np.uint8(255), np.uint8(254)), layout="HWC")
    check(ndd.equalize, np.zeros((0, 5, 3), np.uint8), layout="HWC")


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("channels", [1, 3, 5])
def test_multi_paste(dtype, channels):
    images = [picture((height, 37, channels)).astype(dtype) for height in (21, 30)]
    regions = {
        "in_anchors": np.int32([[1, 2], [0, 3]]),
        "out_anchors": np.int32([[2, 1], [5, 6]]),
        "shapes": np.int32([[15, 32], [9, 21]]),
    }
    for width, to in itertools.product((41, 64), (dtype, "uint8", "float32")):
        check(ndd.multi_paste, *images, layout="HWC", output_size=[33, width], dtype=getattr(ndd, to), **regions)
    check(ndd.multi_paste, *images, layout="HWC", output_size=[40, 37])


def test_multi_paste_of_a_batch():
    images = [picture((20 + 3 * i, 31 - i, 3)) for i in range(4)]
    ids = [np.int32([0, 3]), np.int32([]), np.int32([2]), np.int32([1, 1, 0])]
    anchors = [np.int32([[0, 0], [7, 9]]), np.zeros((0, 2), np.int32), np.int32([[9, 9]]), np.int32([[0, 0]] * 3)]
    arguments = {"in_ids": ndd.batch(ids), "out_anchors": ndd.batch(anchors), "output_size": [40, 60]}
    batch = ndd.batch(images, layout="HWC")
    expected = ndd.multi_paste(batch, **arguments)
    got = ndd.multi_paste(batch.gpu(), **arguments)
    for ours, theirs in zip(got.tensors, expected.tensors, strict=True):
        np.testing.assert_array_equal(np.asarray(ours.cpu()), np.asarray(theirs))


def test_multi_paste_of_videos():
    videos = [ndd.tensor(picture(shape), layout="FHWC") for shape in ((4, 20, 30, 3), (4, 9, 11, 3))]
    expected = ndd.multi_paste(*videos, output_size=[25, 33])
    got = ndd.multi_paste(*(video.gpu() for video in videos), output_size=[25, 33])
    np.testing.assert_array_equal(np.asarray(got.cpu()), np.asarray(expected))


@pytest.mark.parametrize("algorithm", ["bilinear_ocv", "edgeaware_ocv", "gray_ocv", "vng_ocv"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_debayer(algorithm, dtype):
    if algorithm == "vng_ocv" and dtype == "uint16":
        return
    for blue in itertools.product((0, 1), (0, 1)):
        for height, width in ((2, 6), (4, 4), (6, 8), (10, 14), (32, 64), (38, 66), (50, 130), (34, 640)):
            image = rng.integers(0, np.iinfo(dtype).max + 1, (height, width), dtype)
            check_sensor(image, "HW", algorithm, blue)
    check_sensor(rng.integers(0, 256, (5, 12, 20), np.uint8).astype(dtype), "FHW", algorithm, [0, 1])
    check_sensor(picture((3, 20, 30, 1), dtype), "FHWC", algorithm, [1, 1])
    check_sensor(np.zeros((0, 4), dtype), "HW", algorithm, [0, 0])


def check_sensor(image, layout, algorithm, blue):
    """Alone, and as the second of a batch with another size."""
    sensor = ndd.tensor(image, layout=layout)
    batch = ndd.batch([np.ascontiguousarray(image[..., :2, :]), image], layout=layout) if image.size else sensor
    for samples in (sensor, batch):
        expected = ndd.debayer(samples, algorithm=algorithm, blue_position=list(blue))
        got = ndd.debayer(samples.gpu(), algorithm=algorithm, blue_position=list(blue)).cpu()
        assert got.layout == expected.layout
        for ours, theirs in zip(tensors(got), tensors(expected), strict=True):
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


def tensors(value):
    return value.tensors if isinstance(value, ndd.Batch) else [value]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("luma_only", [True, False])
@pytest.mark.parametrize("tiles", [(1, 1), (2, 3), (8, 8), (13, 5)])
def test_clahe(channels, luma_only, tiles):
    for height, width in ((1, 1), (1, 7), (16, 24), (40, 64), (67, 91), (259, 310)):
        for clip_limit in (0.0, 2.0, 40.0):
            arguments = {"tiles_y": tiles[0], "tiles_x": tiles[1], "clip_limit": clip_limit, "luma_only": luma_only}
            check(ndd.clahe, picture((height, width, channels)), layout="HWC", **arguments)
            check(ndd.clahe, rng.integers(0, 256, (height, width, channels), np.uint8), layout="HWC", **arguments)
    check(ndd.clahe, np.zeros((0, 5, channels), np.uint8), layout="HWC", **arguments)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("quality", [1, 10, 50, 87, 95, 100])
def test_jpeg_compression_distortion(channels, quality):
    shapes = [
        (1, 1),
        (2, 3),
        (5, 4),
        (9, 5),
        (3, 6),
        (8, 8),
        (16, 16),
        (17, 17),
        (33, 64),
        (34, 66),
        (50, 83),
        (15, 132),
        (31, 20),
        (66, 284),
    ]
    for height, width in shapes:
        for image in (picture((height, width, channels)), rng.integers(0, 256, (height, width, channels), np.uint8)):
            check(ndd.jpeg_compression_distortion, image, layout="HWC", quality=quality)
    extremes = rng.choice(np.uint8([0, 255]), (40, 72, channels))
    check(ndd.jpeg_compression_distortion, extremes, layout="HWC", quality=quality)
    check(ndd.jpeg_compression_distortion, picture((7, 21, 30, channels)), layout="FHWC", quality=quality)
    check(ndd.jpeg_compression_distortion, np.zeros((0, 5, channels), np.uint8), layout="HWC", quality=quality)


def test_jpeg_compression_distortion_at_every_quality():
    images = picture((40, 56, 3)), rng.choice(np.uint8([0, 255]), (33, 48, 3))
    for quality in range(1, 101):
        for image in images:
            check(ndd.jpeg_compression_distortion, image, layout="HWC", quality=quality)
