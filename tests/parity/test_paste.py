"""Regions that are erased, masked or pasted, on fixed and random cases."""

import numpy as np
import nvidia.dali.experimental.dynamic as dali
import pytest

import avida
from tests.parity.compare import both, cases

TYPES = ["uint8", "int16", "int32", "float32"]


def array(*shape, dtype="uint8", seed=0):
    return (np.random.default_rng(seed).random(shape) * 250).astype(dtype)


def tensor(library, data, layout="HWC"):
    return library.tensor(data, layout=layout)


ERASED = cases(
    [
        {},
        {"anchor": [1, 2], "shape": [2, 3]},
        {"anchor": [1, 2], "shape": [2, 3], "axes": [1, 0]},
        {"anchor": [1, 2], "shape": [2, 3], "axis_names": "WH"},
        {"anchor": [1], "shape": [2], "axis_names": "W", "fill_value": 3.6},
        {"anchor": [1, 2, 3, 3], "shape": [2, 3, 1, 1], "fill_value": [7.0, 8.0, 9.0]},
        {"anchor": [-1, -2, 4, 4], "shape": [2, 3, 9, 9]},
        {"anchor": [0.2, 0.5], "shape": [0.4, 0.4], "normalized": True},
        {"anchor": [0.2, 0.5], "shape": [2, 2], "normalized_anchor": True},
        {"anchor": [1, 1], "shape": [0.4, 0.4], "normalized_shape": True},
        {"anchor": [0.5, 0.5], "shape": [0.4, 0.4], "normalized": True, "centered_anchor": True},
        {"anchor": [2.5, 2], "shape": [3, 3], "centered_anchor": True},
        {"anchor": [1, 1], "shape": [-1, 2]},
        {"anchor": [0, 1], "shape": [1, 2], "axis_names": "HC", "fill_value": 50.0},
        {"anchor": [1], "shape": [1], "axis_names": "C", "fill_value": [50.0, 51.0, 52.0]},
    ],
    refused=[
        {"anchor": [2, 2], "shape": [3]},
        {"anchor": [2, 2, 2], "shape": [3, 3, 3]},
        {"anchor": [2, 2]},
        {"anchor": [0, 1], "shape": [1, 2], "fill_value": [100.0, 101.0]},
        {"anchor": [0, 1], "shape": [1, 2], "axis_names": "HX"},
        {"anchor": [0.2, 0.2], "shape": [0.5, 0.5], "normalized": True, "normalized_anchor": True},
    ],
)


@pytest.mark.parametrize(("arguments", "fails"), ERASED)
def test_erase(arguments, fails):
    both(lambda library: library.erase(tensor(library, array(5, 6, 3)), **arguments), fails=fails)


@pytest.mark.parametrize("dtype", [*TYPES, "uint16", "int64", "float16"])
def test_erase_types(dtype):
    x = array(5, 6, 2, dtype=dtype)
    both(lambda library: library.erase(tensor(library, x), anchor=[1, 2], shape=[2, 3], fill_value=[3.6, 9]))
    both(lambda library: library.erase(tensor(library, x.T.copy(), "CHW"), anchor=[1, 2], shape=[2, 3], fill_value=4.0))


@pytest.mark.parametrize("seed", range(40))
def test_erase_random_regions(seed):
    rng = np.random.default_rng(seed)
    n = 2 * int(rng.integers(1, 4))
    shares = bool(seed % 2)
    anchor, shape = rng.uniform(-0.3, 1.1, n), rng.uniform(0, 0.8, n)
    if not shares:
        anchor, shape = anchor * 30, shape * 30
    arguments = {"normalized": shares, "centered_anchor": bool(seed & 2), "fill_value": [1.0, 2.0, 3.0]}
    arguments |= {"anchor": np.float32(anchor).tolist(), "shape": np.float32(shape).tolist()}
    both(lambda library: library.erase(tensor(library, array(31, 23, 3)), **arguments))


def test_erase_per_sample():
    data = [array(5, 6, 3), array(9, 4, 3, seed=1)]
    both(
        lambda library: library.erase(
            library.batch(data, layout="HWC"),
            anchor=library.batch([np.float32([1, 1]), np.float32([0, 0, 3, 3])]),
            shape=library.batch([np.float32([2, 2]), np.float32([1, 1, 2, 2])]),
            fill_value=library.batch([np.float32([5, 6, 7]), np.float32([1, 2, 3])]),
        )
    )


@pytest.mark.parametrize("angle", [0.0, 0.5, -1.2, 3.0])
def test_grid_mask(angle):
    """Pixels on the very edge of a square may fall to either side; there are few."""
    x = np.ones((120, 161, 3), np.uint8)
    for tile, ratio, shift_x, shift_y in [(100, 0.5, 0, 0), (37, 0.3, 5.5, -7), (10, 0.61, -3, 2.25), (5, 0.4, 1, 2)]:
        arguments = {"angle": angle, "tile": tile, "ratio": ratio, "shift_x": shift_x, "shift_y": shift_y}
        ours, theirs = (np.asarray(m.grid_mask(tensor(m, x), **arguments)) for m in (avida, dali))
        assert (ours != theirs).mean() <= (0.0005 if angle else 0), arguments


@pytest.mark.parametrize("dtype", TYPES)
def test_grid_mask_types(dtype):
    both(lambda library: library.grid_mask(tensor(library, array(12, 13, 3, dtype=dtype)), tile=4))


def grid(height, width, tile):
    y, x = np.mgrid[:height, :width] / tile
    return ~((y % 1 < 0.5) & (x % 1 < 0.5))


def test_grid_mask_layouts():
    """The real library takes the first three axes of any sample for H, W and C. avida reads the layout."""
    plain, video = array(3, 12, 17), array(2, 12, 17, 3)
    theirs = np.asarray(dali.grid_mask(tensor(dali, plain, "CHW"), tile=4))
    np.testing.assert_array_equal(theirs, plain * grid(3, 12, 4)[..., None])
    ours = np.asarray(avida.grid_mask(tensor(avida, plain, "CHW"), tile=4))
    np.testing.assert_array_equal(ours, plain * grid(12, 17, 4))
    # Behind the first 2 * 12 * 17 elements its memory is as it was found.
    theirs = np.asarray(dali.grid_mask(tensor(dali, video, "FHWC"), tile=4)).ravel()[: 2 * 12 * 17]
    np.testing.assert_array_equal(theirs, video.ravel()[: 2 * 12 * 17] * np.repeat(grid(2, 12, 4), 17))
    ours = np.asarray(avida.grid_mask(tensor(avida, video, "FHWC"), tile=4))
    np.testing.assert_array_equal(ours, video * grid(12, 17, 4)[..., None])


@pytest.mark.parametrize("tile", [0, -3])
def test_grid_mask_refuses(tile):
    both(lambda library: library.grid_mask(tensor(library, array(4, 4, 3)), tile=tile), fails=RuntimeError)


PASTED = cases(
    [
        {"ratio": 2.0, "fill_value": [9, 8, 7]},
        {"ratio": 2.0, "fill_value": 9, "paste_x": 0.0, "paste_y": 1.0},
        {"ratio": 1.7, "fill_value": [9], "paste_x": 0.3, "paste_y": 0.7},
        {"ratio": 1.5, "fill_value": 1, "min_canvas_size": 16.7},
        {"ratio": 1.0, "fill_value": 1},
    ],
    refused=[
        {"ratio": 0.5, "fill_value": 1},
        {"ratio": float("nan"), "fill_value": 1},
        {"ratio": 2.0, "fill_value": 1, "paste_x": 1.5},
        {"ratio": 2.0, "fill_value": 1, "paste_y": -0.5},
        {"ratio": 2.0, "fill_value": [9, 8]},
        {"ratio": 2.0, "fill_value": [9, 8, 7, 6]},
    ],
)


@pytest.mark.parametrize(("arguments", "fails"), PASTED)
def test_paste(arguments, fails):
    both(lambda library: library.paste(tensor(library, array(7, 11, 3)), **arguments), fails=fails)


@pytest.mark.parametrize("seed", range(20))
def test_paste_random(seed):
    rng = np.random.default_rng(seed)
    data = [array(*rng.integers(1, 20, 2), 1, seed=seed), array(8, 9, 1, seed=seed)]
    ratio, x, y = (np.float32(rng.uniform(low, high, 2)) for low, high in ((1, 4), (0, 1), (0, 1)))
    both(
        lambda library: library.paste(
            library.batch(data, layout="HWC"),
            fill_value=[200],
            n_channels=1,
            ratio=library.batch(list(ratio)),
            paste_x=library.batch(list(x)),
            paste_y=library.batch(list(y)),
        )
    )


MULTI = cases(
    [
        {"output_size": [14, 16]},
        {"output_size": [14, 16], "out_anchors": [[0, 0], [4, 5]]},
        {
            "output_size": [14, 16],
            "out_anchors": [[0, 0], [4, 5]],
            "in_anchors": [[1, 1], [0, 2]],
            "shapes": [[2, 2], [3, 1]],
        },
        {"output_size": [14, 16], "in_anchors": [[1, 1], [0, 2]]},
        {"output_size": [14, 16], "out_anchors_rel": [[0, 0], [0.3, 0.2]], "in_anchors_rel": [[0.4, 0.5], [0, 0.1]]},
        {"output_size": [14, 16], "shapes_rel": [[0.5, 0.6], [0.33, 0.9]]},
    ],
    refused=[
        {"output_size": [2, 2]},
        {"output_size": [-1, 2]},
        {},
        {"output_size": [14, 16], "out_anchors": [[-1, 0], [0, 0]]},
        {"output_size": [14, 16], "in_anchors": [[2, 2], [0, 0]], "shapes": [[9, 1], [1, 1]]},
        {"output_size": [14, 16], "out_anchors": [[0, 0]]},
        {"output_size": [14, 16], "in_ids": [1, 0]},
    ],
)


def pairs(library, arguments):
    """Nested lists as arrays, of the type that the argument's name asks for."""
    return {
        n: library.tensor(np.array(v, np.float32 if n.endswith("rel") else np.int32)) if np.ndim(v) == 2 else v
        for n, v in arguments.items()
    }


@pytest.mark.parametrize(("arguments", "fails"), MULTI)
def test_multi_paste(arguments, fails):
    a, b = array(7, 9, 3), array(5, 8, 3, seed=1)
    both(
        lambda library: library.multi_paste(tensor(library, a), tensor(library, b), **pairs(library, arguments)),
        fails=fails,
    )


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("to", TYPES)
def test_multi_paste_types(dtype, to):
    x = (array(7, 9, 3, dtype="float32") * 1.7).astype(dtype)
    both(lambda library: library.multi_paste(tensor(library, x), output_size=[9, 9], dtype=getattr(library, to)))


def test_multi_paste_of_chosen_samples():
    data = [array(7, 9, 3), array(5, 8, 3, seed=1), array(3, 3, 3, seed=2)]
    both(
        lambda library: library.multi_paste(
            library.batch(data, layout="HWC"),
            in_ids=library.batch([np.int32([0, 1]), np.int32([2]), np.int32([2, 1, 0])]),
            output_size=library.batch([np.int32([12, 13]), np.int32([6, 5]), np.int32([10, 10])]),
            out_anchors=library.batch(
                [np.int32([[0, 0], [4, 5]]), np.int32([[2, 1]]), np.int32([[7, 7], [2, 0], [1, 1]])]
            ),
        )
    )
    both(
        lambda library: library.multi_paste(library.batch(data, layout="HWC"), in_ids=[5], output_size=[9, 9]),
        fails=RuntimeError,
    )
    both(lambda library: library.multi_paste(library.batch(data, layout="HWC"), in_ids=[0, 1]), fails=RuntimeError)
    both(lambda library: library.multi_paste(library.batch([data[0]] * 2, layout="HWC"), in_ids=[0, 1]))
