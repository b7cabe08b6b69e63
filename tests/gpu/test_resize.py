"""Images that a GPU resizes in tiles: as on the CPU, at all borders of tiles and of words."""

import numpy as np
import pytest

import avida as ndd

rng = np.random.default_rng(11)


def picture(*shape):
    """Every byte, and sharp edges between the lowest and the highest, which filters overshoot."""
    return np.where(rng.random(shape) < 0.4, rng.choice([0, 255], shape), rng.integers(0, 256, shape)).astype(np.uint8)


def check(images, is_fake, layout="HWC", **arguments):
    """Of one tensor, or of a batch."""
    made = (ndd.batch if isinstance(images, list) else ndd.tensor)(images, layout=layout)
    expected, got = ndd.resize(made, **arguments), ndd.resize(made.gpu(), **arguments).cpu()
    if not isinstance(images, list):
        expected, got = [expected], [got]
    for one, other in zip(expected, got, strict=True):
        one, other = np.asarray(one).astype(int), np.asarray(other).astype(int)
        assert one.shape == other.shape
        assert np.abs(one - other).max(initial=0) <= (0 if is_fake else 1)
        assert np.mean(one != other) < 0.01
        assert one.std() > 0


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize(("rows", "columns"), [(90, 161), (301, 67), (64, 64)])
def test_borders_of_tiles(channels, rows, columns, is_fake):
    for size in ([31, 33], [32, 64], [57, 129], [90, 66], [131, 61]):
        check(picture(rows, columns, channels), is_fake, size=size)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("columns", range(200, 211))
def test_counts_of_taps(channels, columns, is_fake):
    """Two taps for each pixel, and up to 24; rows that begin at any byte of a word."""
    image = picture(40, columns, channels)
    for width in (240, 150, 101, 60, 50, 40, 29, 17):
        check(image, is_fake, size=[35, width])


@pytest.mark.parametrize("filter", range(1, 6))
def test_filters(filter, is_fake):
    image = picture(120, 131, 3)
    for size in ([50, 45], [200, 190], [50, 190], [-50, 45], [50, -45]):
        check(image, is_fake, size=size, interp_type=filter)
        check(image, is_fake, size=size, interp_type=filter, antialias=False)
    check(image, is_fake, size=[60, 190], min_filter=filter, mag_filter=0)
    check(image, is_fake, size=[190, 60], min_filter=filter, mag_filter=0)


def test_regions(is_fake):
    image = picture(120, 131, 3)
    for start, end in [([10.5, 20.25], [90, 77]), ([-30, -40], [150, 160]), ([90, 77], [10.5, 20.25])]:
        check(image, is_fake, size=[50, 60], roi_start=start, roi_end=end)


def test_few_pixels(is_fake):
    """Fewer than a pixel is made of, or than are read at once."""
    for rows in (1, 2, 3, 5):
        for columns in (1, 2, 3, 5, 7):
            check(picture(rows + 3, columns, 3), is_fake, size=[rows, 6])
            check(picture(rows + 20, columns, 1), is_fake, size=[3, 2])


def test_very_small_results(is_fake):
    """A row of the result is made of more rows than a tile can keep."""
    check(picture(600, 40, 3), is_fake, size=[3, 9])
    check(picture(300, 1100, 3), is_fake, size=[60, 5])
    check(picture(513, 513, 1), is_fake, size=[8, 8])


def test_batches(is_fake):
    images = [picture(rows, columns, 3) for rows, columns in [(90, 121), (37, 64), (120, 40), (300, 11), (64, 350)]]
    check(images, is_fake, size=[56, 70])
    check(images, is_fake, resize_shorter=50)
    check([picture(3, 41, 47, 3), picture(2, 60, 33, 3)], is_fake, layout="FHWC", size=[35, 36])
    check([picture(3, 41, 47), picture(3, 60, 33)], is_fake, layout="CHW", size=[35, 36])


def test_misaligned(is_fake):
    """Samples that begin and end at any byte of memory."""
    image = picture(70, 83, 3)
    made = ndd.tensor(image, layout="HWC").gpu()
    for cut in range(1, 5):
        part = ndd.tensor(np.ascontiguousarray(image[cut:, :]), layout="HWC")
        check_one = np.asarray(ndd.resize(part, size=[40, 41])).astype(int)
        got = np.asarray(ndd.resize(made[cut:], size=[40, 41]).cpu()).astype(int)
        assert np.abs(check_one - got).max() <= (0 if is_fake else 1)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("channels", [1, 3, 4, 7, 130])
def test_floats(channels, dtype):
    for rows, columns in [(90, 161), (301, 67)]:
        made = ndd.tensor(picture(rows, columns, channels).astype(dtype), layout="HWC")
        for size, filter in [
            ([31, 43], 1),
            ([66, 129], 3),
            ([-90, 61], 2),
            ([3, 40], 5),
            ([200, -300], 1),
            ([50, 190], 0),
        ]:
            arguments = {"size": size, "interp_type": filter, "dtype": ndd.float32}
            expected = np.asarray(ndd.resize(made, **arguments))
            got = np.asarray(ndd.resize(made.gpu(), **arguments).cpu())
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-3)


def test_sequences_of_floats():
    made = ndd.batch([picture(3, 41, 47, 3), picture(2, 60, 33, 3)], layout="FHWC")
    expected = ndd.resize(made, size=[35, 36], dtype=ndd.float32)
    got = ndd.resize(made.gpu(), size=[35, 36], dtype=ndd.float32).cpu()
    for one, other in zip(expected, got, strict=True):
        np.testing.assert_allclose(np.asarray(other), np.asarray(one), rtol=1e-5, atol=1e-3)
