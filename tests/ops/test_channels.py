"""Channels in random order, or filled: given orders against NumPy, and how often each one is drawn."""

from collections import Counter

import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, RANDOM_INPUTS

A = ndd.augment
for name in ("channel_dropout", "channel_shuffle"):
    RANDOM_INPUTS[f"augment.{name}"] = lambda: [ndd.as_batch(np.arange(4800, dtype=np.uint8).reshape(50, 4, 8, 3))]


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("channels", [1, 3, 5])
def test_given_orders(dtype, channels):
    image = np.arange(70 * channels).reshape(10, 7, channels).astype(dtype)
    order = np.random.default_rng(channels).permutation(channels).tolist()
    made = A.channel_shuffle(ndd.as_tensor(image, layout="HWC"), order)
    np.testing.assert_array_equal(np.asarray(made), image[..., order])
    planes = np.ascontiguousarray(image.transpose(2, 0, 1))
    made = A.channel_shuffle(ndd.as_tensor(planes, layout="CHW"), order)
    np.testing.assert_array_equal(np.asarray(made), planes[order])


@pytest.mark.parametrize("layout", ["HWC", "FCHW"])
def test_orders_are_equally_likely(layout):
    shape = (2, 2, 3) if layout == "HWC" else (2, 3, 2, 2)
    values = np.arange(3, dtype=np.uint8)
    image = np.broadcast_to(values if layout == "HWC" else values[:, None, None], shape)
    made = A.channel_shuffle(ndd.as_batch([image.copy()] * 1200, layout=layout), rng=ndd.random.RNG(2))
    orders = Counter(np.asarray(x).tobytes() for x in made)
    assert len(orders) == 6
    assert min(orders.values()) > 150


@pytest.mark.parametrize("channels", [3, 4])
def test_as_many_channels_as_asked_for_are_filled(channels):
    images = ndd.as_batch(np.full((300, 5, 6, channels), 9, np.uint8), layout="HWC")
    made = A.channel_dropout(images, channels=2, fill_value=7, rng=ndd.random.RNG(2)).torch().numpy()
    filled = (made == 7).all(axis=(1, 2))
    assert (filled.sum(axis=1) == 2).all()
    assert (made[~np.broadcast_to(filled[:, None, None], made.shape)] == 9).all()
    np.testing.assert_allclose(filled.mean(axis=0), 2 / channels, atol=0.12)


def test_what_is_refused():
    image = ndd.as_tensor(np.zeros((2, 5, 3), np.uint8), layout="HWC")
    with pytest.raises(RuntimeError, match="expected from 0 to 3 channels to drop, got 4"):
        A.channel_dropout(image, channels=4).evaluate()
    with pytest.raises(RuntimeError, match='expected channels from 0 to 2 in "order", got 3'):
        A.channel_shuffle(image, order=[0, 1, 3]).evaluate()
