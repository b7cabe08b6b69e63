import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case
from tests.ops.filter_reference import windows
from tests.ops.test_gaussian_blur import random

TYPES = ["uint8", "int8", "uint16", "int16", "int32", "uint32", "float16", "float32", "float64", "bool"]
BORDERS = {"constant": "constant", "replicate": "clamp", "reflect": "reflect_1001", "reflect_101": "reflect_101",
           "wrap": "wrap"}  # fmt: skip


def pick(x, mask, anchor, border, largest, axes=(0, 1)):
    anchor = [m // 2 if a == -1 else a for a, m in zip(anchor, mask, strict=True)]
    if x.dtype == bool:
        lowest, highest = False, True
    else:
        info = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
        lowest, highest = info.min, info.max
    found = windows(x, mask, axes, anchor, BORDERS[border], lowest if largest else highest)
    return found.max((-2, -1)) if largest else found.min((-2, -1))


CASE = {
    "dtypes": TYPES,
    "mask_size": [[3, 3], [1, 4], [5, 2], [9, 8]],
    "anchor": [[-1, -1], [0, 0], [0, -1]],
    "border_mode": list(BORDERS),
}


@op_case("experimental.dilate", layout="HWC", shapes=[(9, 7, 3), (1, 4, 3), (6, 2, 3)], **CASE)
def dilate(x, mask_size, anchor, border_mode):
    return pick(x, mask_size, anchor, border_mode, True)


@op_case("experimental.erode", layout="HWC", shapes=[(9, 7, 3), (1, 4, 3), (6, 2, 3)], **CASE)
def erode(x, mask_size, anchor, border_mode):
    return pick(x, mask_size, anchor, border_mode, False)


@pytest.mark.parametrize(("layout", "axes"), [("HW", (0, 1)), ("CHW", (1, 2)), ("FHWC", (1, 2)), ("FCHW", (2, 3))])
@pytest.mark.parametrize("largest", [True, False])
def test_layouts(layout, axes, largest):
    x = random((4, 5, 6, 7)[: len(layout)])
    run = ndd.experimental.dilate if largest else ndd.experimental.erode
    out = run(ndd.tensor(x, layout=layout), mask_size=[3, 2])
    np.testing.assert_array_equal(np.asarray(out), pick(x, [3, 2], [-1, -1], "constant", largest, axes))


@pytest.mark.parametrize("iterations", [0, 1, 2, 5])
@pytest.mark.parametrize("border", ["constant", "replicate"])
def test_iterations_repeat_it(iterations, border):
    x = random((30, 41, 3))
    expected = x
    for _ in range(iterations):
        expected = pick(expected, [3, 4], [1, 0], border, False)
    image = ndd.tensor(x, layout="HWC")
    out = ndd.experimental.erode(image, mask_size=[3, 4], anchor=[1, 0], iterations=iterations, border_mode=border)
    np.testing.assert_array_equal(np.asarray(out), expected)


@pytest.mark.parametrize("mask", [[31, 17], [64, 3], [1, 300], [2**31 - 1, 2**31 - 1]])
def test_large_masks(mask):
    x = random((10, 90, 2))
    clipped = [min(m, 4 * s + 1) for m, s in zip(mask, x.shape[:2], strict=True)]
    for border in BORDERS:
        out = ndd.experimental.dilate(ndd.tensor(x, layout="HWC"), mask_size=mask, border_mode=border, anchor=0)
        expected = x
        for axis in (0, 1):
            size = [1, 1]
            size[axis] = clipped[axis]
            expected = pick(expected, size, [0, 0], border, True)
        np.testing.assert_array_equal(np.asarray(out), expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(24, 40), (6, 7)])
def test_nan_spreads(shape, dtype):
    rng = np.random.default_rng(0)
    x = rng.normal(0, 9, shape).astype(dtype)
    x[rng.random(shape) < 0.02] = np.nan
    x[2, 3] = -np.nan
    image = ndd.tensor(x, layout="HW")
    for mask in ([3, 3], [1, 4], [4, 1], [8, 11]):
        for border in BORDERS:
            for largest, run in ((True, ndd.experimental.dilate), (False, ndd.experimental.erode)):
                out = np.asarray(run(image, mask_size=mask, border_mode=border))
                np.testing.assert_array_equal(out, pick(x, mask, [-1, -1], border, largest))


def test_one_large_image_is_shared_among_threads():
    x = random((700, 900, 3))
    results = []
    for threads in (1, 2, 5):
        with ndd.EvalContext(num_threads=threads):
            out = ndd.experimental.dilate(ndd.tensor(x, layout="HWC"), mask_size=[7, 5])
            results.append(np.asarray(out).tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize(
    "arguments",
    [{"mask_size": 0}, {"mask_size": [3, -1]}, {"mask_size": [3, 3, 3]}, {"anchor": 3}, {"anchor": -2},
     {"iterations": -1}, {"border_mode": "none"}],
)  # fmt: skip
def test_wrong_arguments(arguments):
    with pytest.raises(RuntimeError, match=r"expected|must be"):
        ndd.experimental.dilate(ndd.tensor(random((4, 5, 3)), layout="HWC"), **arguments).evaluate()


def test_empty_images():
    x = ndd.tensor(np.zeros((0, 4, 3), np.uint8), layout="HWC")
    assert np.asarray(ndd.experimental.erode(x)).shape == (0, 4, 3)
