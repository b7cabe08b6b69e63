"""Colours, kernels and pieces of avida.augment against NumPy."""

import colorsys

import numpy as np
import pytest

import avida as ndd
from tests.op_case import RANDOM_ARGUMENTS, RANDOM_INPUTS, op_case
from tests.ops.color_reference import stored

A = ndd.augment
COLORS = ["uint8", "uint16", "float32"]
for name in [
    "advanced_blur",
    "fog",
    "illumination",
    "iso_noise",
    "jigsaw",
    "multiplicative_noise",
    "pca_lighting",
    "pixel_dropout",
    "planckian_jitter",
    "plasma_brightness",
    "plasma_contrast",
    "plasma_shadow",
    "rain",
    "random_tone_curve",
    "scatter",
    "shadow",
    "spatter",
    "sun_flare",
    "thin_plate_spline",
]:
    RANDOM_INPUTS[f"augment.{name}"] = lambda: [
        ndd.as_batch((np.arange(2 * 20 * 24 * 3) % 251).astype(np.uint8).reshape(2, 20, 24, 3), layout="HWC")
    ]
RANDOM_ARGUMENTS["augment.advanced_blur"] = {"noise": 0.5}


def photo(height=60, width=90, seed=0):
    y, x = np.mgrid[:height, :width]
    waves = np.stack([np.sin(x / 9 + seed), np.cos(y / 7), np.sin((x + y) / 11)], axis=-1)
    noise = np.random.default_rng(seed).normal(0, 20, (height, width, 3))
    return np.clip(120 + 90 * waves + noise, 0, 255).astype(np.uint8)


def white(x):
    return 1.0 if x.dtype.kind == "f" else float(np.iinfo(x.dtype).max)


def of_colors(name, **arguments):
    return op_case(f"augment.{name}", layout="HWC", dtypes=COLORS, high=250, rtol=1e-4, atol=1, **arguments)


def of_integers(name, **arguments):
    return op_case(f"augment.{name}", layout="HWC", dtypes=["uint8", "uint16"], high=250, atol=1, **arguments)


def of_floats(name, **arguments):
    return op_case(f"augment.{name}", layout="HWC", dtypes=["float32"], high=0.999, rtol=1e-3, **arguments)


@of_colors("to_sepia", amount=[1.0, 0.25, 0.0])
def sepia_case(x, amount):
    matrix = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
    return stored(x.astype(float) @ (float(amount) * matrix + (1 - float(amount)) * np.eye(3)).T, x.dtype)


def each_pixel(x, change):
    pixels = [change(*pixel) for pixel in (x.reshape(-1, 3).astype(float) / white(x)).tolist()]
    return stored(np.array(pixels).reshape(x.shape) * white(x), x.dtype)


HSV = {"hue": [0.0, 40.0, -170.0], "saturation": [0.1, -0.2], "value": [0.0, 0.3]}


@of_integers("hue_saturation_value", **HSV)
@of_floats("hue_saturation_value", **HSV)
def hsv_case(x, hue, saturation, value):
    def change(*rgb):
        h, s, v = colorsys.rgb_to_hsv(*rgb)
        s = min(max(s + float(saturation), 0), 1) if s > 0 else 0
        return colorsys.hsv_to_rgb((h + float(hue) / 360) % 1, s, min(max(v + float(value), 0), 1))

    return each_pixel(x, change)


@of_integers("snow", snow_point=[0.2, 0.9], brightness=[1.5])
@of_floats("snow", snow_point=[0.2, 0.9], brightness=[1.5])
def snow_case(x, snow_point, brightness):
    def change(*rgb):
        h, light, s = colorsys.rgb_to_hls(*rgb)
        if light < float(snow_point) / 2 + 1 / 3:
            light = min(light * float(brightness), 1)
        return colorsys.hls_to_rgb(h, light, s)

    return each_pixel(x, change)


@op_case("augment.downscale", layout="HWC", scale=[1.0, 0.5, 0.3])
def downscale_case(x, scale):
    def places(n):
        few = max(1, int(np.rint(n * np.float32(scale))))
        return np.minimum((np.arange(n) * few // n).astype(np.float32) / np.float32(scale), n - 1).astype(int)

    return x[places(x.shape[0])][:, places(x.shape[1])]


@of_integers("dithering", bits=[1, 2, 5])
@of_floats("dithering", bits=[1, 2, 5])
def dithering_case(x, bits):
    square = np.array([[0]])
    for _ in range(3):
        square = np.block([[4 * square, 4 * square + 2], [4 * square + 3, 4 * square + 1]])
    rows, columns = np.indices(x.shape[:2]) % 8
    thresholds = (square[rows, columns, None] + 0.5) / 64
    most = 2 ** int(bits) - 1
    level = np.clip(np.floor(x.astype(np.float32) * np.float32(most / white(x)) + thresholds), 0, most)
    return stored(level * (white(x) / most), x.dtype)


@op_case("augment.zoom_blur", layout="HWC", dtypes=COLORS, rtol=1e-3, atol=1, zoom=[1.0, 1.5], steps=[3])
def zoom_case(x, zoom, steps):
    def zoomed(values, factor, axis):
        n = values.shape[axis]
        at = np.clip((np.arange(n) + 0.5 - n / 2) / factor + n / 2 - 0.5, 0, n - 1)
        first = np.minimum(at.astype(int), max(n - 2, 0))
        share = (at - first).reshape([-1 if d == axis else 1 for d in range(3)])
        behind = np.take(values, np.minimum(first + 1, n - 1), axis)
        return np.take(values, first, axis) * (1 - share) + behind * share

    factors = 1 + (float(zoom) - 1) * np.arange(int(steps) + 1) / int(steps)
    return stored(np.mean([zoomed(zoomed(x.astype(float), f, 0), f, 1) for f in factors], axis=0), x.dtype)


def filtered(x, kernel):
    reach = len(kernel) // 2
    padded = np.pad(x.astype(float), ((reach, reach), (reach, reach), (0, 0)), mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel.shape, axis=(0, 1))
    return stored((windows * kernel).sum(axis=(-1, -2)), x.dtype)


KERNELS = {"layout": "HWC", "shapes": [(20, 18, 3), (17, 30, 1)], "dtypes": COLORS, "rtol": 1e-3, "atol": 1}


@op_case("augment.emboss", **KERNELS, alpha=[0.0, 0.6], strength=[0.5, 1.5])
def emboss_case(x, alpha, strength):
    a, s = float(alpha), float(strength)
    return filtered(x, np.array([[a * (-1 - s), -a * s, 0], [-a * s, 1, a * s], [0, a * s, a * (1 + s)]]))


@op_case("augment.ringing_overshoot", **KERNELS, cutoff=[0.8, 2.0], size=[1, 9])
def ringing_case(x, cutoff, size):
    from scipy.special import j1

    r = np.hypot(*np.mgrid[: int(size), : int(size)] - int(size) // 2)
    c = float(cutoff)
    kernel = np.where(r == 0, c**2 / (4 * np.pi), c * j1(c * r) / np.maximum(2 * np.pi * r, 1e-9))
    return filtered(x, kernel / kernel.sum())


@op_case("augment.histogram_matching", layout="HWC", dtypes=["uint8"], atol=1, blend=[1.0, 0.3, 0.0])
def matching_case(x, reference, blend):
    made = np.empty(x.shape)
    for c in range(x.shape[-1]):
        _, index, counts = np.unique(x[..., c], return_inverse=True, return_counts=True)
        known, numbers = np.unique(reference[..., c], return_counts=True)
        ranks, places = np.cumsum(counts) / counts.sum(), np.cumsum(numbers) / numbers.sum()
        made[..., c] = np.interp(ranks, places, known)[index].reshape(x.shape[:2]).astype(np.uint8)
    return stored(made * float(blend) + x * (1 - float(blend)), x.dtype)


@op_case(
    "augment.fda", layout="HWC", shapes=[(16, 20, 3), (15, 9, 1)], dtypes=COLORS, rtol=1e-3, atol=1, beta=[0.0, 0.3]
)
def fda_case(x, reference, beta):
    height, width = x.shape[:2]
    most = int(np.float32(beta) * min(height, width))
    low = (np.abs(np.fft.fftfreq(height) * height)[:, None] <= most) & (np.abs(np.fft.fftfreq(width) * width) <= most)
    own, other = (np.fft.fft2(each.astype(float), axes=(0, 1)) for each in (x, reference))
    strength = np.where(low[..., None], np.abs(other), np.abs(own))
    return stored(np.fft.ifft2(strength * np.exp(1j * np.angle(own)), axes=(0, 1)).real, x.dtype)


def made(function, image, **arguments):
    return np.asarray(function(ndd.as_tensor(image, layout="HWC"), **arguments))


def test_tone_curves():
    image, t = photo(), np.arange(256) / 255
    for low, high in ((0.25, 0.75), (0.0, 1.0), (0.6, 0.3)):
        curve = (3 * (1 - t) ** 2 * t * low + 3 * (1 - t) * t**2 * high + t**3) * 255
        close = np.abs(made(A.random_tone_curve, image, low=low, high=high) - curve[image])
        assert close.max() <= 0.51
        floats = made(A.random_tone_curve, image.astype(np.float32) / 255, low=low, high=high)
        np.testing.assert_allclose(floats, curve[image] / 255, atol=1e-5)
    batch = ndd.as_batch([image] * 20, layout="HWC")
    assert len({np.asarray(x).tobytes() for x in A.random_tone_curve(batch)}) == 20


def test_lamps():
    image = photo() // 2
    warm, cold = (made(A.planckian_jitter, image, temperature=t).astype(int) for t in (3000, 15000))
    np.testing.assert_array_equal(warm[..., 1], image[..., 1])
    np.testing.assert_allclose(warm[..., 0], np.minimum(image[..., 0] * 0.6743 / 0.4029, 255), atol=0.51)
    np.testing.assert_allclose(cold[..., 2], np.minimum(image[..., 2] * 0.6933 / 0.4653, 255), atol=0.51)
    between = made(A.planckian_jitter, image, temperature=4250, mode="daylight")
    factor = (0.5829 + 0.5510) / (0.4421 + 0.4514)
    np.testing.assert_allclose(between[..., 0], image[..., 0] * factor, atol=0.51)


def test_lighting():
    gray = np.full((4, 5, 3), 0.5, np.float32)
    shift = made(A.pca_lighting, gray, alpha=[1, 0, 0])[0, 0] - 0.5
    np.testing.assert_allclose(shift, 0.2175 * np.array([-0.5675, -0.5808, -0.5836]), rtol=1e-4)
    batch = ndd.as_batch([gray] * 2000, layout="HWC")
    drawn = np.asarray(A.pca_lighting(batch, std=0.1, rng=ndd.random.RNG(1)).torch())[:, 0, 0, 0] - 0.5
    np.testing.assert_allclose(drawn.std(), 0.1 * np.hypot(0.2175 * 0.5675, 0.0188 * 0.7192), rtol=0.1)


def test_advanced_blur():
    image = photo()
    across = made(A.advanced_blur, image, sigma_x=2, sigma_y=1, angle=90, size=9)
    down = made(A.advanced_blur, image.transpose(1, 0, 2).copy(), sigma_x=2, sigma_y=1, size=9).transpose(1, 0, 2)
    assert np.abs(across.astype(int) - down).max() <= 1
    plain = made(ndd.gaussian_blur, image, sigma=1.5, window_size=9).astype(int)
    assert np.abs(made(A.advanced_blur, image, sigma_x=1.5, sigma_y=1.5, size=9) - plain).max() <= 1
    noisy = A.advanced_blur(ndd.as_batch([image] * 9, layout="HWC"), noise=0.3, sigma_x=2, sigma_y=2)
    assert len({np.asarray(x).tobytes() for x in noisy}) == 9


def test_jigsaw():
    image = photo(60, 90)
    order = [3, 0, 5, 2, 1, 4]
    pieces = [image[r : r + 30, c : c + 30] for r in (0, 30) for c in (0, 30, 60)]
    moved = [pieces[k] for k in order]
    expected = np.vstack([np.hstack(moved[:3]), np.hstack(moved[3:])])
    np.testing.assert_array_equal(made(A.jigsaw, image, rows=2, columns=3, order=order), expected)
    odd = photo(61, 92)  # pieces of several sizes, which stay among their like
    drawn = made(A.jigsaw, odd, rows=4, columns=5)
    assert not np.array_equal(drawn, odd)
    np.testing.assert_array_equal(np.sort(drawn.ravel()), np.sort(odd.ravel()))
    planes = A.jigsaw(ndd.as_tensor(odd.transpose(2, 0, 1).copy(), layout="CHW"), rng=ndd.random.RNG(3))
    same = A.jigsaw(ndd.as_tensor(odd, layout="HWC"), rng=ndd.random.RNG(3))
    np.testing.assert_array_equal(np.asarray(planes).transpose(1, 2, 0), np.asarray(same))
    with pytest.raises(RuntimeError, match="the pieces 0 and 1 are not of one size"):
        made(A.jigsaw, photo(10, 11), rows=1, columns=2, order=[1, 0])


def test_scattered_pixels_come_from_near():
    y, x = np.mgrid[:40, :50]
    places = np.stack([y, x], axis=-1).astype(np.uint8)
    moves = made(A.scatter, places, reach=3).astype(int) - places
    inside = moves[3:-3, 3:-3]
    assert (inside.min(), inside.max()) == (-3, 3)
    np.testing.assert_allclose(inside.std(axis=(0, 1)), 2, atol=0.1)
    assert abs(np.corrcoef(inside[..., 0].ravel(), inside[..., 1].ravel())[0, 1]) < 0.06
    assert np.abs(moves).max() <= 3
    glass = made(A.glass_blur, photo(), sigma=0.7, reach=2)
    assert glass.shape == (60, 90, 3)
    assert 5 < np.abs(glass.astype(int) - photo()).mean() < 40


def test_thin_plates_go_through_their_points():
    rng = np.random.default_rng(4)
    moves_x, moves_y = rng.uniform(-0.05, 0.05, (2, 4, 4))
    y, x = np.mgrid[:96, :128].astype(np.float32) + 0.5
    places = np.stack([x, y], axis=-1)
    got = made(A.thin_plate_spline, places, moves_x=moves_x.ravel(), moves_y=moves_y.ravel(), border="clamp")
    for row in (1, 2):
        for column in (1, 2):
            at_y, at_x = 96 * row / 3, 128 * column / 3  # between the centres of pixels
            r, c = int(at_y - 0.5), int(at_x - 0.5)
            wx, wy = at_x - 0.5 - c, at_y - 0.5 - r
            near = got[r : r + 2, c : c + 2] * np.outer([1 - wy, wy], [1 - wx, wx])[..., None]
            expected = [at_x + 128 * moves_x[row, column], at_y + 96 * moves_y[row, column]]
            np.testing.assert_allclose(near.sum(axis=(0, 1)), expected, atol=0.1)
    # Affine moves bend nothing.
    points = np.linspace(0, 1, 4)
    shear = made(A.thin_plate_spline, places, moves_x=np.repeat(points * 0.1, 4), border="clamp")
    expected = np.clip(x + 128 * 0.1 * y / 96, 0.5, 127.5)
    np.testing.assert_allclose(shear[..., 0], expected, atol=2e-2)
    np.testing.assert_allclose(shear[..., 1], y, atol=2e-2)


def test_multiplied_and_dropped_pixels():
    flat = np.full((90, 110, 3), 100, np.uint8)
    pixels = made(A.multiplicative_noise, flat, low=0.5, high=1.5).astype(float)
    assert (pixels == pixels[..., :1]).all()
    np.testing.assert_allclose([pixels.mean(), pixels.std()], [100, 100 / 12**0.5], rtol=0.02)
    channels = made(A.multiplicative_noise, flat, low=0.5, high=1.5, per_channel=True)
    assert (channels != channels[..., :1]).mean() > 0.6
    assert np.unique(made(A.multiplicative_noise, flat, per_pixel=False)).size == 1
    dropped = made(A.pixel_dropout, flat, prob=0.2, fill_value=7)
    assert set(np.unique(dropped)) == {7, 100}
    assert (dropped == dropped[..., :1]).all()
    np.testing.assert_allclose((dropped == 7).mean(), 0.2, atol=0.02)
    assert set(np.unique(made(A.salt_and_pepper, flat, prob=0.2))) == {0, 100, 255}


def test_iso_noise():
    gray = np.full((200, 200, 3), 0.25, np.float32)
    noisy = made(A.iso_noise, gray, intensity=0.1)
    np.testing.assert_allclose(noisy, noisy[..., :1].repeat(3, axis=-1), atol=1e-6)  # grays have no hue
    np.testing.assert_allclose([noisy.mean(), noisy.std()], [0.25, 0.1 * 0.75], rtol=0.03)
    red = np.tile(np.float32([0.8, 0.2, 0.2]), (100, 100, 1))
    turned = made(A.iso_noise, red, intensity=0, color_shift=0.02)
    hues = [((colorsys.rgb_to_hsv(*p)[0] + 0.5) % 1) - 0.5 for p in turned.reshape(-1, 3).tolist()]
    np.testing.assert_allclose(np.std(hues), 0.02, rtol=0.05)
    np.testing.assert_array_equal(made(A.iso_noise, photo(), intensity=0, color_shift=0), photo())
