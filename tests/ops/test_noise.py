import io
import math

import numpy as np
import pytest
from PIL import Image

import avida as ndd
from avida import _core
from tests.instruction_sets import INSTRUCTION_SETS
from tests.op_case import op_case

N = 200_000


def noisy(name, x, layout=None, seed=3, **arguments):
    function = getattr(ndd.noise, name)
    return np.asarray(function(ndd.as_tensor(x, layout=layout), rng=ndd.random.RNG(seed), **arguments))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "float16", "float32", "float64"])
def test_gaussian(dtype):
    noise = noisy("gaussian", np.full(N, 100, dtype), mean=4, stddev=8).astype(np.float64) - 100
    assert abs(noise.mean() - 4) < 5 * 8 / np.sqrt(N)
    assert abs(noise.std() - 8) < 0.1
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 0.02


@pytest.mark.parametrize("stddev", [0.4, 3, 25, 120])
def test_noise_of_bytes_has_every_quantile(stddev):
    """Bytes have noise of their own, in integers of 16 bits; above some deviation that of the other types."""
    values = np.full(10 * N, 128, np.uint8)
    found = np.bincount(noisy("gaussian", values, mean=1, stddev=stddev), minlength=256).cumsum() / values.size
    ends = (np.arange(255) + 0.5 - 129) / stddev
    expected = [(1 + math.erf(end / 2**0.5)) / 2 for end in ends]
    np.testing.assert_allclose(found[:-1], expected, atol=5e-3)


def test_gaussian_saturates():
    assert set(noisy("gaussian", np.full(50, 200, np.uint8), mean=500)) == {255}
    assert set(noisy("gaussian", np.full(50, 200, np.uint8), mean=-500)) == {0}


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int32", "float32", "float64"])
@pytest.mark.parametrize(("value", "factor"), [(100, 20), (100, 7.5), (100, 1), (2, 10), (100, 0.01)])
def test_shot_has_the_value_as_its_mean(dtype, value, factor):
    out = noisy("shot", np.full(N, value, dtype), factor=factor).astype(np.float64)
    deviation = np.sqrt(value * factor)
    limit = np.iinfo(dtype).max if np.dtype(dtype).kind != "f" else np.inf
    if value + 7 * deviation < limit:  # else it saturates
        assert abs(out.mean() - value) < 5 * deviation / np.sqrt(N) + (0 if factor == int(factor) else 0.05)
        assert abs(out.var() / deviation**2 - 1) < 0.02 + (0.1 / deviation**2 if factor != int(factor) else 0)
    if dtype.startswith("float"):
        np.testing.assert_allclose(out / factor, np.round(out / factor), atol=2e-3)


def test_shot_of_any_number():
    x = np.float32([-5, 0, np.nan, np.inf, 1e30, 1e20])
    out = noisy("shot", x, factor=2)
    assert out[:3].tolist() == [0, 0, 0]
    np.testing.assert_allclose(out[3:], x[3:], rtol=1e-6)
    np.testing.assert_array_equal(noisy("shot", x, factor=0), x)


def test_shot_of_many_means_at_once():
    x = np.repeat(np.arange(256, dtype=np.uint8), 2000).reshape(256, 2000)
    mean = noisy("shot", x, factor=10).mean(1)
    low = slice(0, 120)  # above, it saturates at 255
    assert np.abs(mean - np.arange(256))[low].max() < 6 * np.sqrt(120 * 10 / 2000)


def test_salt_and_pepper():
    out = noisy("salt_and_pepper", np.full(N, 50, np.uint8)[:, None], prob=0.3, salt_vs_pepper=0.25)
    for value, share in ((255, 0.075), (0, 0.225), (50, 0.7)):
        assert abs((out == value).mean() - share) < 5 * np.sqrt(share / N)


@pytest.mark.parametrize(("dtype", "low", "high"), [("int8", -128, 127), ("float32", -1, 1), ("float16", -1, 1)])
def test_salt_and_pepper_values(dtype, low, high):
    assert set(noisy("salt_and_pepper", np.full((50, 1), 50, dtype), prob=1)[:, 0]) == {low, high}
    assert set(noisy("salt_and_pepper", np.full((50, 1), 50, dtype), prob=1, salt_val=3, pepper_val=2)[:, 0]) == {2, 3}


def test_salt_and_pepper_saturates():
    out = noisy("salt_and_pepper", np.full((50, 1), 50, np.uint8), prob=1, salt_val=300, pepper_val=-4)
    assert set(out[:, 0]) == {0, 255}


@pytest.mark.parametrize(("layout", "axis"), [("HWC", 2), ("CHW", 0), ("FCW", 1), (None, 2)])
def test_pixels_are_chosen_whole(layout, axis):
    x = np.full((30, 40, 50), 50, np.uint8)
    out = noisy("salt_and_pepper", x, layout, prob=0.5)
    np.testing.assert_array_equal(out.min(axis), out.max(axis))
    assert abs((out.min(axis) == 50).mean() - 0.5) < 0.1
    assert (noisy("salt_and_pepper", x, layout, prob=0.5, per_channel=True).min(axis) != out.max(axis)).any()


def test_what_is_not_chosen_stays():
    x = np.random.default_rng(0).integers(1, 255, (3, 70, 60), np.uint8)
    for layout in ("CHW", "HWC", "FHW"):
        out = noisy("salt_and_pepper", x, layout, prob=0.2)
        kept = (out != 0) & (out != 255)
        assert 0.7 < kept.mean() < 0.9
        np.testing.assert_array_equal(out[kept], x[kept])


@pytest.mark.parametrize("arguments", [{"prob": 1.1}, {"prob": np.nan}, {"salt_vs_pepper": -0.1}])
def test_salt_and_pepper_refuses(arguments):
    with pytest.raises(RuntimeError, match=r"from 0 to 1|got NaN"):
        noisy("salt_and_pepper", np.zeros((3, 3)), **arguments)


@pytest.mark.parametrize("name", ["gaussian", "shot", "salt_and_pepper"])
def test_forms(name):
    assert noisy(name, np.float32(5)).shape == ()
    assert noisy(name, np.zeros((0, 4, 3), np.uint8)).shape == (0, 4, 3)
    with pytest.raises(RuntimeError, match="expected numbers"):
        noisy(name, np.zeros(3, bool))


@pytest.mark.parametrize("name", ["gaussian", "shot", "salt_and_pepper"])
def test_threads_change_no_bit(name):
    """One large sample is cut into rows."""
    x = np.random.default_rng(0).integers(0, 255, (300, 301, 3), np.uint8)
    with ndd.EvalContext(num_threads=1):
        expected = noisy(name, x, "HWC")
    with ndd.EvalContext(num_threads=5):
        np.testing.assert_array_equal(noisy(name, x, "HWC"), expected)


@op_case("jpeg_compression_distortion", layout="HWC", dtypes=["uint8"], quality=[1, 50, 100])
def distorted(x, quality):
    file = io.BytesIO()
    Image.fromarray(x[..., 0] if x.shape[2] == 1 else x).save(file, "JPEG", quality=quality, subsampling=2)
    return np.asarray(Image.open(file)).reshape(x.shape)


def jpeg_pictures(rng, height, width, channels):
    """Noise, extremes, whole blocks of extremes, and what resembles a photo."""
    shape = (height, width, channels)
    yield rng.integers(0, 256, shape, np.uint8)
    yield rng.choice(np.uint8([0, 255]), shape)
    blocks = rng.choice(np.uint8([0, 255]), (height // 8 + 1, width // 8 + 1, channels))
    yield np.kron(blocks, np.ones((8, 8, 1), np.uint8))[:height, :width]
    ramp = np.add.outer(np.arange(height), 3 * np.arange(width))[..., None] + 20 * np.arange(channels)
    yield np.clip(ramp + rng.normal(0, 6, shape), 0, 255).astype(np.uint8)


JPEG_SIZES = [
    (1, 1),
    (2, 2),
    (1, 5),
    (6, 3),
    (33, 4),
    (9, 6),
    (16, 16),
    (17, 17),
    (31, 34),
    (64, 65),
    (37, 130),
    (290, 95),
]


@pytest.mark.parametrize("instructions", INSTRUCTION_SETS)
def test_jpeg_at_every_quality_and_size(instructions):
    rng = np.random.default_rng(0)
    _core.testing.use_vectors(instructions)
    try:
        for quality in range(1, 101):
            for height, width in JPEG_SIZES if quality in (1, 50, 100) else [JPEG_SIZES[quality % len(JPEG_SIZES)]]:
                for channels in 1, 3:
                    for x in jpeg_pictures(rng, height, width, channels):
                        out = np.asarray(ndd.jpeg_compression_distortion(x, quality=quality))
                        np.testing.assert_array_equal(out, distorted(x, quality))
    finally:
        _core.testing.use_vectors(INSTRUCTION_SETS[0])


@pytest.mark.parametrize("channels", [1, 3])
def test_jpeg_by_threads(channels):
    x = np.random.default_rng(0).integers(0, 256, (3, 700, 211, channels), np.uint8)
    for threads in 1, 2, 7:
        with ndd.EvalContext(num_threads=threads):
            out = np.asarray(ndd.jpeg_compression_distortion(ndd.tensor(x, layout="FHWC"), quality=30))
        np.testing.assert_array_equal(out, np.stack([distorted(frame, 30) for frame in x]))


def test_jpeg_forms():
    assert ndd.jpeg_compression_distortion(np.zeros((0, 5, 3), np.uint8)).shape == (0, 5, 3)
    with pytest.raises(RuntimeError, match="JPEG"):
        ndd.jpeg_compression_distortion(np.zeros((1, 70_000, 3), np.uint8)).evaluate()
    with pytest.raises(RuntimeError, match="channels"):
        ndd.jpeg_compression_distortion(np.zeros((3, 5, 4), np.uint8)).evaluate()
