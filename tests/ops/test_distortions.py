"""Elastic, grid and optical distortions against NumPy, and how their random fields are distributed."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import RANDOM_INPUTS, op_case
from tests.ops.warp_reference import centres, look_up

A = ndd.augment
for name in ("elastic", "grid_distortion"):
    RANDOM_INPUTS[f"augment.{name}"] = lambda: [ndd.as_batch(np.arange(600, dtype=np.uint8).reshape(2, 10, 10, 3))]


def smooth(height=40, width=60):
    y, x = np.mgrid[:height, :width]
    return np.uint8(np.stack([120 + 100 * np.sin(x / 9), 100 + 90 * np.cos(y / 7), (x + y) * 2], axis=-1))


@op_case(
    "augment.optical_distortion",
    layout="HWC",
    shapes=[(9, 11, 3), (6, 5, 1)],
    dtypes=["uint8", "float32"],
    rtol=1e-3,
    atol=1,
    k=[0.0, 0.4, -0.3],
)
def optical_case(x, k):
    size = np.array(x.shape[1::-1])
    u, v = ((c - n / 2) / n for c, n in zip(centres(x.shape[:2]), size, strict=True))
    square = u * u + v * v
    factor = 1 + k * square + k * square * square
    return look_up(x, [np.float32(n / 2 + n * c * factor) for c, n in zip((u, v), size, strict=True)], fill=0)


def test_grid_distortion_of_given_steps():
    image = smooth()
    steps = {"steps_x": [1, 2, 0.5, 1.5], "steps_y": [0.6, 1.4]}
    places = []
    for centre, factors, extent in zip(centres((40, 60)), steps.values(), (60, 40), strict=True):
        ends = np.concatenate([[0], np.cumsum(factors)]) / np.sum(factors) * extent
        places.append(np.interp(centre, np.linspace(0, extent, len(ends)), ends).astype(np.float32))
    expected = look_up(image, places, fill=0).astype(int)
    made = np.asarray(A.grid_distortion(ndd.as_tensor(image, layout="HWC"), **steps)).astype(int)
    inside = (slice(1, -1), slice(1, -1))
    assert np.abs(made - expected)[inside].max() <= 1


def displacements(**arguments):
    """How far pixels move along x, of 12 samples: seen on ramps."""
    ramp = np.broadcast_to(np.arange(256, dtype=np.float32), (12, 256, 256))
    made = A.elastic(ndd.as_batch(ramp, layout="HW"), border="clamp", rng=ndd.random.RNG(2), **arguments)
    return (np.asarray(made.torch()) - ramp)[:, 40:-40, 40:-40]


@pytest.mark.parametrize("sigma", [4, 9])
def test_elastic_fields_are_smoothed_noise(sigma):
    """Deviation and correlation are those of uniform noise under a Gaussian."""
    moves = displacements(alpha=100, sigma=sigma)
    deviation = 100 / 3**0.5 / (2 * sigma * np.pi**0.5)
    assert abs(moves.mean()) < deviation / 4
    np.testing.assert_allclose(moves.std(), deviation, rtol=0.1)
    for step in (sigma, 2 * sigma):
        for moved in (moves[:, step:], moves[:, :, step:]):
            found = (moved * moves[tuple(slice(0, n) for n in moved.shape)]).mean() / moves.var()
            assert abs(found - np.exp(-(step**2) / (4 * sigma**2))) < 0.1


def test_samples_move_in_their_own_ways():
    image = smooth()
    for function in (A.elastic, A.grid_distortion):
        made = function(ndd.as_batch([image] * 20, layout="HWC"), rng=ndd.random.RNG(1))
        again = function(ndd.as_batch([image] * 20, layout="HWC"), rng=ndd.random.RNG(1))
        assert len({np.asarray(sample).tobytes() for sample in made}) == 20
        np.testing.assert_array_equal(made.torch(), again.torch())


def test_nothing_moves():
    image = ndd.as_tensor(smooth(), layout="HWC")
    for made in (A.elastic(image, alpha=0), A.grid_distortion(image, limit=0), A.optical_distortion(image, k=0)):
        np.testing.assert_array_equal(np.asarray(made), np.asarray(image))


def test_what_is_refused():
    image = ndd.as_tensor(smooth(), layout="HWC")
    with pytest.raises(RuntimeError, match="expected a sigma from 1 to a million, got 0"):
        A.elastic(image, sigma=0).evaluate()
    with pytest.raises(RuntimeError, match="expected a limit from 0 to below 1, got 1"):
        A.grid_distortion(image, limit=1).evaluate()
    with pytest.raises(RuntimeError, match='expected numbers above 0 in "steps_x", got -1'):
        A.grid_distortion(image, steps_x=[1, -1]).evaluate()
