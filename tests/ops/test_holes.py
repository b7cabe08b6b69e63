"""Where coarse_dropout and spec_augment make holes, how large, and what they are filled with."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import RANDOM_INPUTS

A = ndd.augment
RANDOM_INPUTS["augment.coarse_dropout"] = lambda: [ndd.as_batch(np.full((2, 10, 10, 3), 9, np.uint8), layout="HWC")]
RANDOM_INPUTS["augment.spec_augment"] = lambda: [ndd.as_batch(np.full((2, 30, 90), 9, np.float32), layout="ft")]


def dropped(layout="HWC", shape=(40, 50, 3), n=60, dtype=np.uint8, value=200, **arguments):
    images = ndd.as_batch(np.full((n, *shape), value, dtype), layout=layout)
    return np.asarray(A.coarse_dropout(images, rng=ndd.random.RNG(3), **arguments).torch())


def test_one_hole_has_its_size_and_any_place():
    made = dropped(holes=1, height=0.25, width=0.5, fill_value=[1, 2, 3])
    tops, lefts = set(), set()
    for image in made:
        rows, columns = np.nonzero((image == [1, 2, 3]).all(axis=-1))
        assert (rows.max() - rows.min() + 1, columns.max() - columns.min() + 1, rows.size) == (10, 25, 250)
        assert (image != 200).sum() == 750
        tops.add(rows.min())
        lefts.add(columns.min())
    assert min(tops) < 4
    assert max(tops) > 26
    assert min(lefts) < 4
    assert max(lefts) > 21


def test_numbers_and_sizes_are_drawn():
    counts = {int((image[..., 0] == 0).sum()) for image in dropped(holes=[1, 2], height=[0.1, 0.1], width=[0.1, 0.3])}
    assert min(counts) >= 4 * 5
    assert max(counts) > 4 * 15
    assert len(counts) > 15
    np.testing.assert_array_equal(dropped(holes=0), 200)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_layouts_have_the_same_holes(dtype):
    arguments = {"dtype": dtype, "fill_value": [3, 4, 5]}
    expected = dropped(**arguments)
    planes = dropped(layout="CHW", shape=(3, 40, 50), **arguments)
    np.testing.assert_array_equal(planes.transpose(0, 2, 3, 1), expected)
    frames = dropped(layout="FHWC", shape=(2, 40, 50, 3), **arguments)
    np.testing.assert_array_equal(frames, np.stack([expected] * 2, axis=1))


def test_noise_is_uniform():
    made = dropped(holes=1, height=1, width=1, noise=True, value=7).astype(float)
    np.testing.assert_allclose(made.mean(), 127.5, atol=0.5)
    np.testing.assert_allclose(made.std(), 255 / 12**0.5, atol=0.5)
    assert np.unique(made).size == 256
    assert len({image.tobytes() for image in made}) == len(made)
    pairs = np.corrcoef(made[..., 0].ravel(), made[..., 1].ravel())
    assert abs(pairs[0, 1]) < 0.02


@pytest.mark.parametrize("layout", ["ft", "tf"])
def test_masks_of_spectrograms(layout):
    shape = (40, 200) if layout == "ft" else (200, 40)
    spectra = ndd.as_batch(np.ones((100, *shape), np.float32), layout=layout)
    made = np.asarray(A.spec_augment(spectra, freq_width=8, time_width=50, rng=ndd.random.RNG(1)).torch())
    made = made if layout == "ft" else made.transpose(0, 2, 1)
    bands, times = (made == 0).all(axis=2).sum(axis=1), (made == 0).all(axis=1).sum(axis=1)
    assert bands.max() <= 16
    assert bands.max() > 10
    assert times.max() <= 100
    assert times.max() > 60
    masked = 1 - (1 - bands / 40) * (1 - times / 200)
    np.testing.assert_allclose((made == 0).mean(axis=(1, 2)), masked, rtol=1e-5)
    few = A.spec_augment(spectra, freq_masks=0, time_share=0.1, rng=ndd.random.RNG(1))
    assert (np.asarray(few.torch()) == 0).mean(axis=(1, 2)).max() <= 0.2


def test_what_is_refused():
    image = ndd.as_tensor(np.zeros((9, 9, 3), np.uint8), layout="HWC")
    with pytest.raises(RuntimeError, match="expected shares of the extents up to 1, got 2 and"):
        A.coarse_dropout(image, height=2).evaluate()
    with pytest.raises(RuntimeError, match='expected one number or 3 in "fill_value", got 2'):
        A.coarse_dropout(image, fill_value=[1, 2]).evaluate()
    with pytest.raises(RuntimeError, match="expected numbers of masks and widths of at least 0, got -1"):
        A.spec_augment(ndd.as_tensor(np.ones((4, 5), np.float32), layout="ft"), freq_masks=-1).evaluate()
