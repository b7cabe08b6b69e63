"""What is probably not meant is said once, at the line that did it."""

import warnings

import numpy as np
import pytest

import avida as ndd

random = ndd.random


def images(samples=4):
    return ndd.as_batch([np.arange(60, dtype=np.uint8).reshape(4, 5, 3)] * samples, layout="HWC")


def warnings_of(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return caught


@pytest.mark.parametrize(
    "use",
    [
        lambda batch: ndd.flip(batch, horizontal=random.coin_flip()),
        lambda batch: ndd.rotate(batch, angle=random.uniform(range=[-10, 10]) * 2 + 1),
        lambda batch: ndd.brightness(batch, brightness=ndd.math.abs(random.normal())),
        lambda batch: ndd.brightness(batch, brightness=random.uniform(shape=[2])[0]),
        lambda batch: ndd.brightness(batch, brightness=ndd.cast(random.coin_flip(), dtype="float32")),
        lambda batch: ndd.flip(batch, horizontal=random.choice([0, 1])),
        lambda batch: ndd.flip(batch, horizontal=random.coin_flip(rng=random.RNG(3))),
        lambda batch: ndd.resize(batch, size=[random.uniform(range=[4, 8]), 4]),
        lambda batch: ndd.resize(batch, size=ndd.stack(random.uniform(range=[4, 8]), random.uniform(range=[4, 8]))),
        lambda batch: batch * random.uniform(),
        lambda batch: random.uniform() - batch,
    ],
)
def test_one_draw_for_a_batch(use):
    (warning,) = warnings_of(lambda: use(images()))
    assert "batch_size=" in str(warning.message)
    assert "like=" in str(warning.message)
    assert warning.filename == __file__


@pytest.mark.parametrize(
    "use",
    [
        lambda batch: ndd.flip(batch, horizontal=random.coin_flip(like=batch)),
        lambda batch: ndd.flip(batch, horizontal=random.coin_flip(batch_size=4)),
        lambda batch: ndd.flip(batch, horizontal=random.coin_flip().item()),
        lambda batch: ndd.flip(batch, horizontal=ndd.as_tensor(random.coin_flip())),
        lambda batch: ndd.flip(batch, horizontal=ndd.tensor(random.coin_flip())),
        lambda batch: ndd.flip(batch.tensors[0], horizontal=random.coin_flip()),
        lambda batch: ndd.flip(batch, horizontal=ndd.batch([random.coin_flip() for _ in batch])),
        lambda batch: ndd.paste(batch, ratio=ndd.as_tensor(random.uniform(range=[1, 2])), fill_value=0),
        lambda batch: batch.tensors[0] * random.uniform(),
        lambda batch: ndd.math.abs([random.uniform(shape=[2]), random.uniform(shape=[3])]),
        lambda batch: batch + ndd.random_resized_crop(batch.tensors[0], size=[4, 5]),  # an image, not a random number
    ],
)
def test_one_draw_that_is_meant(use):
    assert warnings_of(lambda: use(images())) == []


def test_once_for_each_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            ndd.flip(images(), horizontal=random.coin_flip())
        ndd.flip(images(), horizontal=random.coin_flip())
    assert len(caught) == 2


def test_as_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="one random number is used for all samples"):
            ndd.flip(images(), horizontal=random.coin_flip())


@pytest.mark.parametrize(
    ("shape", "layout"),
    [((3, 32, 32), "CHW"), ((1, 32, 20), "CHW"), ((4, 8, 9), "CHW"), ((2, 3, 32, 32), "FCHW")],
)
@pytest.mark.parametrize("make", [ndd.as_tensor, lambda x: ndd.as_batch([x, x]), lambda x: x])
def test_images_that_look_like_channels_first(shape, layout, make):
    image = make(np.zeros(shape, np.uint8))
    for function in (ndd.flip, lambda x: ndd.random_resized_crop(x, size=8)):
        (warning,) = warnings_of(lambda function=function: function(image))
        assert f'layout="{layout}"' in str(warning.message)
        assert f"axis {len(shape) - 3} has {shape[-3]} element" in str(warning.message)
        assert warning.filename == __file__


@pytest.mark.parametrize(
    ("shape", "layout"),
    [
        ((32, 32, 3), None),
        ((3, 32, 32), "CHW"),
        ((3, 32, 32), "HWC"),
        ((3, 32, 3), None),
        ((1, 1, 1), None),
        ((4, 5, 2), None),
        ((30, 32, 32), None),
        ((2, 32, 32, 3), None),
        ((3, 32, 32, 3), None),
    ],
)
def test_images_as_assumed(shape, layout):
    image = ndd.as_tensor(np.zeros(shape, np.uint8), layout=layout)
    assert warnings_of(lambda: ndd.flip(image)) == []


def test_once_for_images_of_all_sizes():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for width in range(32, 40):
            ndd.flip(np.zeros((3, 32, width), np.uint8))
    assert len(caught) == 1


def test_layouts_do_not_matter_elsewhere():
    array = np.zeros((3, 32, 32), np.float32)
    assert warnings_of(lambda: (ndd.as_tensor(array) + 1, ndd.transpose(array, perm=[1, 2, 0]))) == []
