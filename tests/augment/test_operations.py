"""Each operation against Pillow, whose functions the papers used."""

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

import avida
from avida import augment


def photo(height=141, width=160, seed=0):
    """Smooth colours and a little noise."""
    y, x = np.mgrid[:height, :width]
    waves = np.stack([np.sin(x / 9 + seed), np.cos(y / 7), np.sin((x + y) / 11)], axis=-1)
    noise = np.random.default_rng(seed).normal(0, 6, (height, width, 3))
    return np.clip(120 + 70 * waves + noise, 12, 240).astype(np.uint8)


PHOTOS = [photo(), photo(130, 144, 1), photo(150, 137, 2)]


def transform(image, *matrix):
    return image.transform(image.size, Image.Transform.AFFINE, matrix, fillcolor=(128, 128, 128))


CASES = {
    "shear_x": ([0.213, -0.317, 0.0], lambda i, v: transform(i, 1, v, 0, 0, 1, 0)),
    "shear_y": ([0.213, -0.317, 0.0], lambda i, v: transform(i, 1, 0, 0, v, 1, 0)),
    "translate": ([7, -12, 0], lambda i, v: transform(i, 1, 0, v, 0, 1, 0)),
    "rotate": ([20, -30, 0], lambda i, v: i.rotate(v, fillcolor=(128, 128, 128))),
    "brightness": ([0.1, 1.0, 1.9], lambda i, v: ImageEnhance.Brightness(i).enhance(v)),
    "color": ([0.1, 1.0, 1.9], lambda i, v: ImageEnhance.Color(i).enhance(v)),
    "contrast": ([0.1, 1.0, 1.9], lambda i, v: ImageEnhance.Contrast(i).enhance(v)),
    "sharpness": ([0.1, 1.0, 1.9], lambda i, v: ImageEnhance.Sharpness(i).enhance(v)),
    "posterize": ([4, 8, 1], lambda i, v: ImageOps.posterize(i, int(v))),
    "solarize": ([127.5, 255, 0], lambda i, v: ImageOps.solarize(i, v)),
    "autocontrast": (None, lambda i: ImageOps.autocontrast(i)),
    "equalize": (None, lambda i: ImageOps.equalize(i)),
    "invert": (None, lambda i: ImageOps.invert(i)),
}
EXACT = ["translate", "posterize", "solarize", "invert"]


@pytest.mark.parametrize("name", CASES)
def test_like_pillow(name):
    values, reference = CASES[name]
    parameters = [] if values is None else [avida.as_batch(np.float32(values))]
    changed = getattr(augment, name)(avida.as_batch(PHOTOS, layout="HWC"), *parameters)
    for i, (image, found) in enumerate(zip(PHOTOS, changed, strict=True)):
        arguments = [] if values is None else [values[i]]
        expected = np.asarray(reference(Image.fromarray(image), *arguments)).astype(int)
        difference = np.abs(np.asarray(found).astype(int) - expected)
        if name == "sharpness":  # Pillow leaves the outermost pixels alone
            difference = difference[1:-1, 1:-1]
        if name in ("shear_x", "shear_y", "rotate"):  # places just between two pixels
            assert (difference.max(axis=-1) > 0).mean() < 0.02
        elif name == "equalize":  # Pillow rounds another way
            assert difference.mean() < 4
        else:
            assert difference.max() <= (0 if name in EXACT else 2)


@pytest.mark.parametrize("name", CASES)
def test_videos_are_sequences_of_images(name):
    """Frame by frame the same, but for statistics, which are those of the whole video."""
    values, _ = CASES[name]
    video = np.stack([photo(seed=s) for s in range(3)])
    parameters = [] if values is None else [avida.as_batch(np.float32(values[:1]))]
    function = getattr(augment, name)
    (found,) = function(avida.as_batch([video], layout="FHWC"), *parameters)
    if name in ("contrast", "autocontrast"):
        assert found.shape == video.shape
        return
    for frame, moved in zip(video, np.asarray(found), strict=True):
        (expected,) = function(avida.as_batch([frame], layout="HWC"), *parameters)
        assert np.array_equal(moved, np.asarray(expected))


def test_gray_images_have_no_colours():
    gray = avida.as_batch([photo()[..., :1]], layout="HWC")
    for name, (values, _) in CASES.items():
        parameters = [] if values is None else [avida.as_batch(np.float32(values[:1]))]
        (found,) = getattr(augment, name)(gray, *parameters)
        assert found.shape == (141, 160, 1), name
        if name == "color":
            assert np.array_equal(np.asarray(found), photo()[..., :1])


def test_autocontrast_of_one_colour():
    flat = np.full((4, 5, 3), 77, np.uint8)
    (found,) = augment.autocontrast(avida.as_batch([flat], layout="HWC"))
    assert np.array_equal(np.asarray(found), flat)


def test_relative_translation():
    images = avida.as_batch(PHOTOS, layout="HWC")
    found = augment.translate(images, y=avida.as_batch(np.float32([0.5, -0.5, 0])), relative=True, fill_value=7)
    first, second, third = map(np.asarray, found)
    assert np.array_equal(first[:71], PHOTOS[0][70:])
    assert (first[71:] == 7).all()
    assert np.array_equal(second[65:], PHOTOS[1][:65])
    assert np.array_equal(third, PHOTOS[2])


def test_thresholds_beyond_bytes():
    images = avida.as_batch([PHOTOS[0]] * 3, layout="HWC")
    first, second, third = map(np.asarray, augment.solarize(images, avida.as_batch(np.float32([-5, 256, 1000]))))
    assert np.array_equal(first, 255 - PHOTOS[0])
    assert np.array_equal(second, PHOTOS[0])
    assert np.array_equal(third, PHOTOS[0])


def test_one_number_for_all_samples():
    images = avida.as_batch(PHOTOS, layout="HWC")
    for name, (values, _) in CASES.items():
        if values is not None:
            function = getattr(augment, name)
            each = function(images, avida.as_batch(np.float32([values[0]] * 3)))
            for one, other in zip(function(images, values[0]), each, strict=True):
                assert np.array_equal(np.asarray(one), np.asarray(other)), name
