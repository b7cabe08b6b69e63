"""Light, shadows, rain and fog of avida.augment, against NumPy and by their statistics."""

import numpy as np
import pytest

import avida as ndd

A = ndd.augment
RANDOM = [
    A.fog, A.illumination, A.plasma_brightness, A.plasma_contrast, A.plasma_shadow, A.rain, A.shadow, A.spatter,
    A.sun_flare,
]  # fmt: skip


def flat(value=0.5, height=60, width=80, channels=3):
    return ndd.as_tensor(np.full((height, width, channels), value, np.float32), layout="HWC")


def lit(function, image=None, **arguments):
    return np.asarray(function(flat() if image is None else image, **arguments))


def test_gradients():
    y, x = np.mgrid[:60, :80]
    right = lit(A.illumination, angle=0, intensity=0.4)
    np.testing.assert_allclose(right[..., 1], 0.5 * (0.6 + 0.8 * x / 79), rtol=1e-5)
    down = lit(A.illumination, angle=90, intensity=-0.4)
    np.testing.assert_allclose(down[..., 2], 0.5 * (1.4 - 0.8 * y / 59), rtol=1e-5)
    corner = lit(A.illumination, kind="corner", corner=2, intensity=0.3)
    np.testing.assert_allclose(corner[..., 0], 0.5 * (1 - 0.3 * np.hypot(x - 79, y - 59) / 100), rtol=1e-5)
    bell = lit(A.illumination, kind="gaussian", center=[0.25, 0.5], sigma=0.2, intensity=0.6)
    distance = (x - 20) ** 2 + (y - 30) ** 2
    np.testing.assert_allclose(bell[..., 0], 0.5 * (1 + 0.6 * np.exp(-distance / (2 * 16**2))), rtol=1e-5)


def test_shadows_are_polygons():
    made = lit(A.shadow, corners_x=[0.25, 0.75, 0.75, 0.25], corners_y=[0.5, 0.5, 1, 1], darkness=0.4)
    expected = np.full((60, 80, 3), 0.5)
    expected[30:, 20:60] *= 0.6
    np.testing.assert_allclose(made, expected, rtol=1e-6)
    arrow = lit(A.shadow, corners_x=[0, 1, 0, 0.5], corners_y=[0, 0.5, 1, 0.5], darkness=1)[..., 0] == 0
    assert not arrow[30, 30]  # between its barbs
    assert arrow[30, 50]
    np.testing.assert_allclose(arrow.mean(), 0.25, atol=0.02)


def test_rain_falls_where_it_is_told():
    made = lit(A.rain, x=[10, 50], y=[5, 20], length=20, width=2, blur=1, brightness=0.5, color=[1, 0.5, 0])
    expected = np.full((60, 80, 3), 0.25)
    for x, y in ((10, 5), (50, 20)):
        expected[y : y + 20, x : x + 2] += [0.5, 0.25, 0]
    np.testing.assert_allclose(made, expected, rtol=1e-6)
    soft = lit(A.rain, x=[30], y=[20], length=10, width=1, blur=5, brightness=1, color=1)[..., 0] - 0.5
    np.testing.assert_allclose(soft.sum(), 10, rtol=1e-5)  # blurred, and nothing lost
    np.testing.assert_allclose(soft[25, 28:33], 0.2, rtol=1e-5)
    leaning = lit(A.rain, x=[10], y=[0], length=40, slant=20, blur=1, brightness=1, color=1)[..., 0] - 0.5
    ends = [np.nonzero(leaning[row])[0].mean() for row in (0, 39)]
    assert 18.5 < ends[1] - ends[0] < 20.5


def test_flares():
    made = lit(A.sun_flare, center=[0.5, 0.5], circles=0, radius=0.5, intensity=0.8, color=[1, 1, 0])
    assert made[30, 40, 0] > 0.85
    assert made[30, 40, 2] < 0.15
    np.testing.assert_array_equal(made[0, 0], 0.5)
    x = np.arange(80) + 0.5 - 40
    share = 0.8 * np.maximum(0, 1 - np.hypot(x, 0.5) / 30) ** 3
    np.testing.assert_allclose(made[30, :, 0], 0.5 + 0.5 * share, rtol=1e-4)
    plain, more = lit(A.sun_flare, circles=0), lit(A.sun_flare, circles=20)
    assert more.mean() > plain.mean()


def test_plasma_is_fractal_noise():
    images = ndd.as_batch(np.zeros((8, 256, 256, 1), np.float32), layout="HWC")
    for roughness, step in ((0.2, 0.02), (0.9, 0.05)):
        noise = np.asarray(A.plasma_brightness(images, brightness=1, roughness=roughness).torch())[..., 0]
        assert noise.min() >= 0
        assert noise.max() <= 1
        assert (noise.max(axis=(1, 2)) - noise.min(axis=(1, 2))).min() > 0.6
        steps = np.abs(np.diff(noise, axis=2)).mean()
        assert step / 20 < steps < step
        assert len({sample.tobytes() for sample in noise}) == 8


def test_what_plasma_changes():
    rng = lambda: ndd.random.RNG(3)  # noqa: E731
    noise = lit(A.plasma_brightness, flat(0), brightness=1, rng=rng())
    np.testing.assert_allclose(lit(A.plasma_brightness, brightness=-0.3, rng=rng()), 0.5 - 0.3 * noise, rtol=1e-5)
    np.testing.assert_allclose(lit(A.plasma_shadow, intensity=0.7, rng=rng()), 0.5 - 0.35 * noise, rtol=1e-5)
    bright = lit(A.plasma_contrast, flat(0.8), contrast=0.5, rng=rng())
    np.testing.assert_allclose(bright, 0.8 + 0.3 * 0.5 * noise, rtol=1e-5)
    density = 0.3 + 0.3 * lit(A.plasma_brightness, flat(0), brightness=1, rng=rng())
    np.testing.assert_allclose(lit(A.fog, density=0.6, rng=rng()), 0.5 + 0.5 * density, rtol=1e-5)


def test_spatter_covers_its_share():
    for cover in (0, 0.2, 0.7):
        made = lit(A.spatter, flat(0.5, 200, 300), cover=cover, intensity=1, color=[0.9, 0.5, 0.5])[..., 0]
        assert abs((made > 0.7).mean() - cover) < 0.07


@pytest.mark.parametrize("function", RANDOM)
def test_types_and_layouts_agree(function):
    image = np.random.default_rng(0).integers(0, 256, (37, 53, 3), np.uint8)
    run = lambda x, layout: np.asarray(function(ndd.as_tensor(x, layout=layout), rng=ndd.random.RNG(9)))  # noqa: E731
    expected = run(image, "HWC")
    assert not np.array_equal(expected, image)
    np.testing.assert_array_equal(run(image.transpose(2, 0, 1).copy(), "CHW").transpose(1, 2, 0), expected)
    np.testing.assert_array_equal(run(np.stack([image] * 2), "FHWC"), np.stack([expected] * 2))
    floats = run(image.astype(np.float32) / 255, "HWC")
    assert np.abs(np.clip(floats, 0, 1) * 255 - expected).max() < 0.51
    words = run(image.astype(np.uint16) * 257, "HWC")
    assert np.abs(words / 257 - expected).max() < 0.51
    assert run(image[..., 0].copy(), "HW").shape == (37, 53)


@pytest.mark.parametrize("function", RANDOM)
def test_samples_differ_and_threads_do_not(function):
    batch = ndd.as_batch([np.full((40 + i, 50, 3), 120, np.uint8) for i in range(6)] * 2, layout="HWC")
    made = []
    for threads in (1, 3):
        with ndd.EvalContext(num_threads=threads):
            made.append([np.asarray(x).tobytes() for x in function(batch, rng=ndd.random.RNG(2))])
    assert made[0] == made[1]
    if function is not A.sun_flare:
        assert len({x[: 40 * 150] for x in made[0]}) == 12


def test_random_arguments_and_scenes():
    scene = ndd.Scene(
        ndd.as_batch([np.asarray(flat()) for _ in range(3)], layout="HWC"),
        boxes=[np.float32([[1, 2, 30, 40]])] * 3,
        labels=[[1], [2], [3]],
    )
    for function, arguments in (
        (A.fog, {"density": A.between(0.2, 0.8)}),
        (A.rain, {"slant": A.between(-10, 10), "drops": A.between(3, 30)}),
        (A.iso_noise, {"intensity": A.between(0.1, 0.5)}),
        (A.planckian_jitter, {"temperature": A.between(4000, 9000)}),
    ):
        made = function(scene, **arguments)
        assert not np.array_equal(np.asarray(made.image.tensors[0]), np.asarray(flat()))
        np.testing.assert_array_equal(np.asarray(made.boxes.tensors[0]), [[1, 2, 30, 40]])
    with pytest.raises(TypeError, match="does not know what becomes of masks, boxes and points"):
        A.histogram_matching(scene, flat())


def test_what_is_refused():
    for function, arguments, text in (
        (A.fog, {"density": 2}, "expected a density from 0 to 1, got 2"),
        (A.fog, {"color": [1, 2]}, "expected one number or 3 as color, got 2"),
        (A.shadow, {"corners": 2}, "expected from 3 to 16 corners, got 2"),
        (A.shadow, {"corners_x": [0, 1, 1]}, "expected as many corners_y as corners_x"),
        (A.rain, {"x": [1], "y": []}, "expected as many y as x"),
        (A.illumination, {"kind": "corner", "corner": 4}, "expected a corner from 0 to 3, got 4"),
        (A.sun_flare, {"radius": 0}, "expected a radius above 0, got 0"),
        (A.plasma_shadow, {"roughness": -1}, "expected a roughness from 0 to 1, got -1"),
    ):
        with pytest.raises(RuntimeError, match=text):
            function(flat(), **arguments).evaluate()
    with pytest.raises(RuntimeError, match="expected one number or 0 as color, got 0"):
        A.fog(flat(channels=0), color=[]).evaluate()
