"""Noise follows the same distributions as the real library's; its streams differ. What JPEG loses is the same."""

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import both
from tests.parity.test_random import N, assert_same_distribution, assert_same_frequencies, assert_same_moments

TYPES = ["uint8", "int8", "uint16", "int16", "int32", "int64", "float32"]


def noisy(name, x, layout=None, **arguments):
    for library in (avida, dali):
        out = getattr(library.noise, name)(
            library.tensor(x, layout=layout), rng=library.random.RNG(seed=99), **arguments
        )
        assert out.layout == layout
        array = np.asarray(out)
        assert array.dtype == x.dtype
        assert array.shape == x.shape
        yield array


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("arguments", [{}, {"mean": -3, "stddev": 12}, {"stddev": -2}])
def test_gaussian(dtype, arguments):
    ours, theirs = (a.astype(np.float64) for a in noisy("gaussian", np.full(N, 50, dtype), **arguments))
    assert_same_moments(ours, theirs)
    if dtype == "float32":
        assert_same_distribution(ours, theirs)
    else:
        assert_same_frequencies(ours, theirs)


def test_gaussian_saturates_and_rounds():
    for value, mean in ((250, 1000), (5, -1000), (100, 10.6)):
        ours, theirs = noisy("gaussian", np.full((4, 5), value, np.uint8), mean=mean, stddev=0)
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("value", "factor"), [(100, 20), (100, 12.3), (3, 5), (120, 1), (7, 0.3), (120, 0.01)])
def test_shot(dtype, value, factor):
    ours, theirs = (a.astype(np.float64) for a in noisy("shot", np.full(N, value, dtype), factor=factor))
    assert_same_moments(ours, theirs)
    assert_same_frequencies(ours, theirs)


def test_shot_of_large_numbers():
    ours, theirs = (a.astype(np.float64) for a in noisy("shot", np.full(N, 3e6, np.float32), factor=2.5))
    assert_same_moments(ours, theirs)
    assert_same_distribution(ours, theirs)


def test_shot_of_negative_numbers():
    ours, theirs = noisy("shot", np.full(50, -100, np.int16))
    np.testing.assert_array_equal(ours, theirs)


SALTED = [
    {},
    {"prob": 0.3, "salt_vs_pepper": 0.2},
    {"prob": 1.0, "salt_vs_pepper": 1.0},
    {"prob": 0.5, "salt_vs_pepper": 0.0},
    {"prob": 0.2, "salt_val": 7.7, "pepper_val": 3.2},
    {"prob": 0.0},
]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("arguments", SALTED)
def test_salt_and_pepper(dtype, arguments):
    ours, theirs = noisy("salt_and_pepper", np.full((N, 1), 50, dtype), **arguments)
    assert set(np.unique(ours)) == set(np.unique(theirs))
    assert_same_frequencies(ours.astype(np.float64), theirs.astype(np.float64))


@pytest.mark.parametrize(("layout", "axis"), [("HWC", 2), ("CHW", 0), (None, 2)])
@pytest.mark.parametrize("per_channel", [False, True])
def test_channels(layout, axis, per_channel):
    x = np.full((30, 40, 50), 50, np.uint8)
    for out in noisy("salt_and_pepper", x, layout, prob=0.5, per_channel=per_channel):
        assert (out.min(axis) == out.max(axis)).all() != per_channel


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [("gaussian", {"mean": 2, "stddev": 9}), ("shot", {"factor": 6}),
     ("salt_and_pepper", {"prob": 0.3, "per_channel": True})],
)  # fmt: skip
def test_videos(name, arguments, dtype):
    """Every element of every frame has noise of its own."""
    x = np.full((4, N // 400, 25, 4), 50, dtype)
    ours, theirs = (a.astype(np.float64) for a in noisy(name, x, "FHWC", **arguments))
    for frame in range(4):
        assert_same_moments(ours[frame].ravel(), theirs[frame].ravel())
        assert (ours[frame] != ours[frame - 1]).any()
    if name == "gaussian" and dtype == "float32":
        assert_same_distribution(ours.ravel(), theirs.ravel())
    else:
        assert_same_frequencies(ours.ravel(), theirs.ravel())


@pytest.mark.parametrize("per_channel", [False, True])
def test_channels_of_videos(per_channel):
    x = np.full((3, 30, 40, 3), 50, np.uint8)
    for out in noisy("salt_and_pepper", x, "FHWC", prob=0.5, per_channel=per_channel):
        assert (out.min(-1) == out.max(-1)).all() != per_channel


@pytest.mark.parametrize("arguments", [{"prob": 1.5}, {"prob": float("nan")}, {"salt_vs_pepper": -0.1}])
def test_salt_and_pepper_refuses(arguments):
    both(
        lambda library: library.noise.salt_and_pepper(library.tensor(np.zeros((3, 3, 1), np.uint8)), **arguments),
        fails=RuntimeError,
    )


def photo(height, width, seed=0):
    y, x = np.mgrid[:height, :width]
    waves = np.stack([128 + 100 * np.sin(x / 9), 128 + 90 * np.cos(y / 7), (x + y) % 256], -1)
    return np.clip(waves + np.random.default_rng(seed).normal(0, 12, waves.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("quality", [-3, 0, 1, 10, 50, 90, 100, 120])
@pytest.mark.parametrize("size", [(61, 83), (64, 64), (1, 1), (7, 300)])
def test_jpeg(quality, size):
    x = photo(*size)
    both(
        lambda library: library.jpeg_compression_distortion(library.tensor(x, layout="HWC"), quality=quality),
        atol=1,
    )


def test_jpeg_of_videos_and_batches():
    video = np.stack([photo(20, 30, seed) for seed in range(3)])
    both(lambda library: library.jpeg_compression_distortion(library.tensor(video, layout="FHWC")), atol=1)
    images = [photo(20, 30), photo(9, 50)]
    both(
        lambda library: library.jpeg_compression_distortion(
            library.batch(images, layout="HWC"), quality=library.batch([np.int32(5), np.int32(80)])
        ),
        atol=1,
    )


def test_jpeg_with_a_quality_for_each_frame():
    """The real library refuses it: its frames, one by one, are the reference."""
    video, qualities = np.stack([photo(20, 30, seed) for seed in range(3)]), np.int32([4, 50, 95])

    def run(library):
        given = library.per_frame(library.tensor(qualities))
        return library.jpeg_compression_distortion(library.tensor(video, layout="FHWC"), quality=given).evaluate()

    with pytest.raises(RuntimeError):
        run(dali)
    for ours, frame, quality in zip(np.asarray(run(avida)), video, qualities, strict=True):
        theirs = np.asarray(dali.jpeg_compression_distortion(dali.tensor(frame, layout="HWC"), quality=int(quality)))
        np.testing.assert_allclose(ours, theirs, atol=1)


@pytest.mark.parametrize(("shape", "dtype"), [((9, 9, 4), "uint8"), ((9, 9, 3), "float32")])
def test_jpeg_refuses(shape, dtype):
    both(
        lambda library: library.jpeg_compression_distortion(library.tensor(np.ones(shape, dtype), layout="HWC")),
        fails=RuntimeError,
    )
