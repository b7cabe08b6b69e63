import numpy as np
import pytest

import avida as ndd
from tests.op_case import INTEGERS, op_case
from tests.ops.test_crop import anchor
from tests.ops.window_reference import window

MEAN, STD = [10.0, 20.0, 30.0], [2.0, 4.0, 8.0]


def normalized(x, mean, std, scale=1.0, shift=0.0):
    return (x.astype(np.float32) - np.float32(mean)) * (np.float32(scale) / np.float32(std)) + np.float32(shift)


@op_case(
    "crop_mirror_normalize",
    layout="HWC",
    dtypes=[*INTEGERS, "float16", "float32"],
    rtol=1e-5,
    mean=[[5.5], MEAN],
    std=[[3.0], STD],
    mirror=[0, 1],
    scale=[1.0, 2.5],
    shift=[0.0, 7.0],
)
def whole(x, mean, std, mirror, scale, shift):
    made = normalized(x, mean, std, scale, shift)
    return (made[:, ::-1] if mirror else made).transpose(2, 0, 1)


@op_case(
    "crop_mirror_normalize",
    layout="HWC",
    shapes=[(5, 7, 3), (4, 6, 3), (6, 5, 3)],
    dtypes=["uint8", "float32"],
    rtol=1e-5,
    crop_h=[3, 9],
    crop_w=[2, 11],
    mirror=[0, 1],
    out_of_bounds_policy=["pad", "trim_to_shape"],
    fill_values=[[4.0], [1.0, 2.0, 3.0]],
    output_layout=["CHW", "HWC", "WCH"],
    pad_output=[False, True],
)
def reaching_out(x, crop_h, crop_w, mirror, out_of_bounds_policy, fill_values, output_layout, pad_output):
    fill = np.broadcast_to(fill_values, 3)
    start = [anchor(x.shape[0], crop_h, 0.5), anchor(x.shape[1], crop_w, 0.5), 0]
    made = window(x.astype(np.float32), start, [crop_h, crop_w, 3], out_of_bounds_policy, fill, 2)
    if mirror:
        made = made[:, ::-1]
    if pad_output:
        one_for_all = out_of_bounds_policy == "pad" and len(fill_values) == 1
        added = np.full((*made.shape[:2], 1), fill_values[0] if one_for_all else 0, np.float32)
        made = np.concatenate([made, added], 2)
    return made.transpose(["HWC".index(axis) for axis in output_layout])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "float16", "float64"])
def test_output_types(dtype):
    x = np.arange(2 * 5 * 3, dtype=np.uint8).reshape(2, 5, 3) * 9
    made = ndd.crop_mirror_normalize(ndd.tensor(x, layout="HWC"), mean=[100.5], dtype=getattr(ndd, dtype))
    expected = ndd.cast(ndd.tensor((x - np.float32(100.5)).transpose(2, 0, 1)), dtype=getattr(ndd, dtype))
    np.testing.assert_array_equal(np.asarray(made), np.asarray(expected))


@pytest.mark.parametrize(
    ("layout", "wanted"), [("FHWC", "FCHW"), ("DHWC", "CDHW"), ("CFHW", "FHWC"), ("FDHWC", "FCDHW"), ("CDHW", "DHWC")]
)
def test_videos_and_volumes(layout, wanted):
    x = np.arange(np.prod(range(2, 2 + len(layout)))).reshape(range(2, 2 + len(layout))).astype(np.int16)
    made = ndd.crop_mirror_normalize(ndd.tensor(x, layout=layout), mirror=1, mean=[3], output_layout=wanted)
    expected = np.flip(x, layout.index("W")).transpose([layout.index(axis) for axis in wanted]) - 3.0
    assert made.layout == wanted
    np.testing.assert_array_equal(np.asarray(made), expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mean": [1.0, 2.0]}, 'one or 3 numbers in "mean", got 2'),
        ({"std": []}, 'one or 3 numbers in "std", got 0'),
        ({"output_layout": "FCHW"}, '"output_layout" with the axes of the input, "HWC", such as "CHW", got "FCHW"'),
        ({"out_of_bounds_policy": "wrap"}, 'got "wrap"'),
        ({"crop": [9, 9]}, "reaches beyond the sample"),
        ({"crop_h": 1}, '"crop_h" and "crop_w" together'),
        ({"out_of_bounds_policy": "pad", "fill_values": [1, 2]}, 'one or 3 numbers in "fill_values", got 2'),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        ndd.crop_mirror_normalize(ndd.zeros(shape=[4, 5, 3], dtype=ndd.uint8), **arguments).evaluate()


@pytest.mark.parametrize(("layout", "wanted"), [("FHWC", "FCHW"), ("DHWC", "CDHW"), ("CFHW", "FCHW")])
def test_the_layout_to_ask_for_is_named(layout, wanted):
    """The default is that of images."""
    x = ndd.as_tensor(np.zeros((2, 4, 4, 3), np.uint8), layout=layout)
    with pytest.raises(RuntimeError, match=f'axes of the input, "{layout}", such as "{wanted}", got "CHW"'):
        ndd.crop_mirror_normalize(x)
    assert ndd.crop_mirror_normalize(x, output_layout=wanted).layout == wanted


def test_numbers_per_sample():
    x = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    means = np.float32([[1, 2, 3], [4, 5, 6]])
    made = ndd.crop_mirror_normalize(
        ndd.batch([x, x], layout="HWC"), mean=ndd.batch(list(means)), mirror=ndd.batch([np.int32(0), np.int32(1)])
    )
    for i in range(2):
        expected = (x[:, ::-1] if i else x) - means[i]
        np.testing.assert_array_equal(np.asarray(made.tensors[i]), expected.transpose(2, 0, 1))


@pytest.mark.parametrize("width", [400, 401])
@pytest.mark.parametrize("mirror", [0, 1])
def test_large_images(width, mirror):
    x = np.random.default_rng(1).integers(0, 256, (300, width, 3), np.uint8)
    made = ndd.crop_mirror_normalize(ndd.batch([x, x], layout="HWC"), mean=MEAN, std=STD, mirror=mirror)
    expected = normalized(x[:, ::-1] if mirror else x, MEAN, STD).transpose(2, 0, 1)
    for sample in made.tensors:
        np.testing.assert_allclose(np.asarray(sample), expected, rtol=1e-6)
