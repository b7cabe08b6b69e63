"""Color jitter against the formulas of torchvision's documentation, written in NumPy, and what it draws."""

import colorsys

import numpy as np
import pytest

import avida as ndd
from tests.op_case import RANDOM_ARGUMENTS, RANDOM_INPUTS, op_case

A = ndd.augment


def white(x):
    return 1.0 if x.dtype.kind == "f" else float(np.iinfo(x.dtype).max)


def stored(values, dtype, top):
    values = np.clip(values, 0, top)
    return values if np.dtype(dtype).kind == "f" else np.floor(values)


def gray(pixels, dtype):
    if pixels.shape[-1] == 1:
        return pixels
    made = pixels @ np.array([0.2989, 0.587, 0.114])
    return (made if np.dtype(dtype).kind == "f" else np.floor(made))[..., None]


def turned(pixels, turn, dtype, top):
    if pixels.shape[-1] == 1:
        return pixels
    made = np.empty_like(pixels)
    for at in np.ndindex(pixels.shape[:-1]):
        hue, saturation, value = colorsys.rgb_to_hsv(*(pixels[at] / top))
        made[at] = colorsys.hsv_to_rgb((hue + turn) % 1, saturation, value)
    return made if np.dtype(dtype).kind == "f" else np.floor(made * (top + 1 - 1e-3))


def adjusted(x, brightness, contrast, saturation, hue, order):
    """Step by step; integers lose their fractions after each, as they do there."""
    top, pixels = white(x), x.astype(np.float64)
    for step in order:
        if step == 0:
            pixels = stored(pixels * brightness, x.dtype, top)
        elif step == 1:
            mean = gray(pixels, x.dtype).mean()
            pixels = stored(pixels * contrast + mean * (1 - contrast), x.dtype, top)
        elif step == 2:
            pixels = stored(pixels * saturation + gray(pixels, x.dtype) * (1 - saturation), x.dtype, top)
        else:
            pixels = turned(pixels, hue, x.dtype, top)
    return pixels.astype(x.dtype)


FACTORS = {"brightness": [1.0, 1.3], "contrast": [0.6, 1.4], "saturation": [0.0, 1.5], "hue": [0.0, -0.2, 0.5]}


@op_case("augment.adjust_colors", layout="HWC", dtypes=["uint8", "uint16"], high=255, atol=3, **FACTORS)
def bytes_case(x, brightness, contrast, saturation, hue):
    return adjusted(x, brightness, contrast, saturation, hue, range(4))


@op_case("augment.adjust_colors", layout="HWC", dtypes=["uint16"], high=65535, atol=3, contrast=[0.5, 0.0, 1.5])
def bright_case(x, contrast):
    return adjusted(x, 1, contrast, 1, 0, [1])


@op_case(
    "augment.adjust_colors",
    layout="CHW",
    shapes=[(3, 5, 7), (1, 4, 2), (3, 2, 3)],
    dtypes=["float32"],
    high=1,
    rtol=1e-4,
    **FACTORS,
    order=[[3, 2, 1, 0], [2, 1, 0, 3]],
)
def planes_case(x, brightness, contrast, saturation, hue, order):
    made = adjusted(np.moveaxis(x, 0, -1), brightness, contrast, saturation, hue, order)
    return np.moveaxis(made, -1, 0)


@op_case("augment.adjust_colors", layout="FHWC", shapes=[(2, 5, 7, 3)], dtypes=["uint8"], contrast=[0.5], atol=1)
def frames_case(x, contrast):
    return np.stack([adjusted(frame, 1, contrast, 1, 0, [1]) for frame in x])


def photo(height=61, width=83, seed=0):
    y, x = np.mgrid[:height, :width]
    waves = np.stack([np.sin(x / 9 + seed), np.cos(y / 7), np.sin((x + y) / 11)], axis=-1)
    noise = np.random.default_rng(seed).normal(0, 6, (height, width, 3))
    return np.clip(120 + 70 * waves + noise, 0, 255).astype(np.uint8)


RANDOM_INPUTS["augment.color_jitter"] = lambda: [ndd.as_batch([photo(9, 8, seed=s) for s in range(5)], layout="HWC")]
RANDOM_ARGUMENTS["augment.color_jitter"] = {"brightness": 0.5, "contrast": 0.5, "saturation": 0.5, "hue": 0.2}


def test_every_order_of_a_photo():
    """All bytes are within 3 of the reference, and most are equal."""
    image = photo()
    rng = np.random.default_rng(5)
    for _ in range(12):
        order = rng.permutation(4).tolist()
        given = [*rng.uniform(0.5, 1.5, 3), rng.uniform(-0.3, 0.3)]
        names = dict(zip(FACTORS, given, strict=True))
        made = np.asarray(A.adjust_colors(ndd.as_tensor(image, layout="HWC"), order=order, **names)).astype(int)
        difference = np.abs(made - adjusted(image, *np.float32(given).astype(float), order).astype(int))
        assert difference.max() <= 3
        assert difference.mean() < 0.1


def test_draws_lie_in_their_ranges():
    white_image = np.full((400, 2, 2, 3), 100, np.uint8)
    made = A.color_jitter(ndd.as_batch(white_image, layout="HWC"), brightness=0.4, rng=ndd.random.RNG(1)).torch()
    levels = made[:, 0, 0, 0].numpy().astype(float)
    assert levels.min() >= 60
    assert levels.max() <= 140
    np.testing.assert_allclose(levels.mean(), 99.5, atol=4)
    np.testing.assert_allclose(levels.std(), 80 / 12**0.5, atol=3)
    made = A.color_jitter(ndd.as_batch(white_image, layout="HWC"), brightness=[0.2, 0.3], rng=ndd.random.RNG(1)).torch()
    assert 20 <= made.min() <= made.max() <= 30


def test_a_draw_is_an_adjustment_in_some_order():
    image = photo(20, 30)
    orders = {}
    for first in range(4):
        for second in {0, 1, 2, 3} - {first}:
            rest = sorted({0, 1, 2, 3} - {first, second})
            orders |= {(first, second, *end): None for end in (rest, rest[::-1])}
    factors = {"brightness": [0.6, 0.6], "contrast": [1.4, 1.4], "saturation": [1.5, 1.5], "hue": [0.2, 0.2]}
    for order in orders:
        given = {name: value[0] for name, value in factors.items()}
        orders[order] = np.asarray(A.adjust_colors(ndd.as_tensor(image, layout="HWC"), order=order, **given)).tobytes()
    seen = set()
    for sample in A.color_jitter(ndd.as_batch([image] * 300, layout="HWC"), rng=ndd.random.RNG(3), **factors):
        seen.add(np.asarray(sample).tobytes())
    assert seen == set(orders.values())


def test_what_is_refused():
    image = ndd.as_tensor(photo(), layout="HWC")
    with pytest.raises(RuntimeError, match=r"expected 3 channels .RGB. or 1 .gray., got 2"):
        A.color_jitter(ndd.as_tensor(np.zeros((2, 3, 2), np.uint8), layout="HWC"), hue=0.1).evaluate()
    with pytest.raises(RuntimeError, match=r"expected a hue from -0.5 to 0.5, got 0.7"):
        A.adjust_colors(image, hue=0.7).evaluate()
    with pytest.raises(RuntimeError, match="expected a factor of at least 0 as contrast, got -1"):
        A.adjust_colors(image, contrast=-1).evaluate()
    with pytest.raises(RuntimeError, match="expected the numbers from 0 to 3 in any order as order"):
        A.adjust_colors(image, order=[0, 1, 1, 2]).evaluate()
    with pytest.raises(RuntimeError, match="expected one number or two as brightness, got 3"):
        A.color_jitter(image, brightness=[1, 2, 3]).evaluate()
