"""Every instruction set gives the same bits."""

import hashlib

import numpy as np
import pytest

import avida as ndd
from tests.instruction_sets import on_every_instruction_set


def colors() -> bytes:
    rng = np.random.default_rng(3)
    digest = hashlib.sha256()

    def add(result):
        digest.update(np.asarray(result).tobytes())

    for height, width in (1, 1), (3, 5), (5, 16), (48, 64), (37, 61):
        for layout in "HWC", "CHW":
            x = rng.integers(0, 256, (height, width, 3)).astype(np.uint8)
            x = ndd.tensor(x if layout == "HWC" else np.ascontiguousarray(x.transpose(2, 0, 1)), layout=layout)
            for factor in 0.0, 0.3, 1.7, -4.0, 1e30, float("inf"):
                add(ndd.brightness_contrast(x, brightness=factor, contrast=0.7, brightness_shift=0.1))
                add(ndd.color_twist(x, brightness=factor, hue=40, saturation=1.4))
            for order in [0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1]:
                strength = {"brightness": 1.3, "contrast": 0.6, "saturation": 1.7, "hue": 0.2}
                add(ndd.augment.adjust_colors(x, order=order, **strength))
            for stddev in 0.3, 40.0:
                add(ndd.noise.gaussian(x, stddev=stddev, mean=-2, rng=ndd.random.RNG(4)))
            for to in range(4):
                add(ndd.color_space_conversion(x, image_type=0, output_type=to))
                add(ndd.color_space_conversion(x, image_type=3, output_type=to))
        gray = ndd.tensor(rng.integers(0, 256, (height, width, 1)).astype(np.uint8), layout="HWC")
        add(ndd.color_space_conversion(gray, image_type=2, output_type=3))
    for width in 4, 64, 130, 600:
        sensor = rng.integers(0, 65536, (6, width)).astype(np.uint16)
        for algorithm in "bilinear_ocv", "edgeaware_ocv", "gray_ocv":
            for column in 0, 1:
                add(ndd.debayer(sensor, blue_position=[0, column], algorithm=algorithm))
                add(ndd.debayer(sensor.astype(np.uint8), blue_position=[0, column], algorithm=algorithm))
    for n in 1, 63, 64, 1000:
        x = rng.integers(0, 256, (n, 3)).astype(np.uint8)
        add(ndd.lookup_table(x, keys=list(range(256)), values=rng.integers(0, 256, 256).tolist(), dtype=ndd.uint8))
        add(ndd.equalize(ndd.tensor(x, layout="HW")))
    return digest.digest()


def neighbourhoods() -> bytes:
    rng = np.random.default_rng(4)
    digest = hashlib.sha256()
    for height, width, channels in (1, 1, 1), (5, 3, 3), (40, 70, 1), (21, 47, 3), (33, 64, 4):
        x = ndd.tensor(rng.integers(0, 256, (height, width, channels)).astype(np.uint8), layout="HWC")
        for size in 3, 5, 9:
            weights = rng.normal(size=(size, size)).astype(np.float32) / size
            digest.update(np.asarray(ndd.filter(x, weights)).tobytes())
            digest.update(np.asarray(ndd.gaussian_blur(x, window_size=size)).tobytes())
            digest.update(np.asarray(ndd.augment.box_blur(x, size=size)).tobytes())
            digest.update(np.asarray(ndd.augment.motion_blur(x, size=size, angle=30)).tobytes())
            digest.update(np.asarray(ndd.experimental.median_blur(x, window_size=size)).tobytes())
    for width in 16, 32, 36, 300:
        sensor = rng.integers(0, 256, (8, width)).astype(np.uint8)
        digest.update(np.asarray(ndd.debayer(sensor, blue_position=[1, 0], algorithm="vng_ocv")).tobytes())
    return digest.digest()


def moved() -> bytes:
    rng = np.random.default_rng(5)
    digest = hashlib.sha256()
    for width in *range(1, 30), 63, 64, 65, 200:
        x = rng.integers(0, 256, (3, width, 3)).astype(np.uint8)
        for interp_type in 0, 1:
            turned = ndd.rotate(ndd.tensor(x, layout="HWC"), angle=20, interp_type=interp_type, fill_value=9)
            digest.update(np.asarray(turned).tobytes())
        planes = np.ascontiguousarray(x.transpose(2, 0, 1))
        for made, expected in (
            (ndd.flip(ndd.tensor(x, layout="HWC")), x[:, ::-1]),
            (ndd.transpose(x, perm=[2, 0, 1]), planes),
            (ndd.transpose(planes, perm=[1, 2, 0]), x),
            (ndd.transpose(x, perm=[1, 0, 2]), x.transpose(1, 0, 2)),
            (ndd.tensor(x)[1:, : width // 2], x[1:, : width // 2]),
            (ndd.paste(ndd.tensor(x, layout="HWC"), ratio=1, fill_value=7), x),
        ):
            np.testing.assert_array_equal(np.asarray(made), expected)
            digest.update(np.asarray(made).tobytes())
    return digest.digest()


def resized() -> bytes:
    rng = np.random.default_rng(3)
    digest = hashlib.sha256()
    for channels in (1, 2, 3, 4):
        for height, width, *size in (37, 61, 17, 23), (5, 3, 40, 9), (200, 300, 3, 5), (9, 9, 9, 70), (30, 90, 31, 40):
            x = rng.integers(0, 256, (height, width, channels)).astype(np.uint8)
            for kind in range(6):
                digest.update(np.asarray(ndd.resize(x, size=size, interp_type=kind)).tobytes())
                digest.update(np.asarray(ndd.resize(x, size=size, interp_type=kind, dtype=ndd.float32)).tobytes())
    return digest.digest()


@pytest.mark.parametrize("make", [colors, neighbourhoods, moved, resized])
def test_instruction_sets_give_the_same_bits(make):
    assert len(set(on_every_instruction_set(make))) == 1


def test_every_width_is_done_to_its_end():
    for width in range(1, 70):
        x = np.random.default_rng(width).integers(0, 256, (1, width, 3)).astype(np.uint8)
        made = ndd.hue(ndd.tensor(x, layout="HWC"), hue=0)
        np.testing.assert_allclose(np.asarray(made), x, atol=1)
