import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case
from tests.ops.filter_reference import correlate
from tests.ops.test_gaussian_blur import assert_close, random

BORDERS = ["reflect_101", "reflect_1001", "wrap", "clamp", "constant"]


def weights(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-0.3, 0.5, shape).astype(np.float32)


def pairs(shapes, dtype):
    return [[random(shape, dtype, i), weights(*size, seed=i)] for i, (shape, size) in enumerate(shapes)]


IMAGES = [((9, 7, 3), (3, 3)), ((1, 4, 3), (2, 5)), ((6, 2, 3), (4, 1))]


@op_case("filter", layout="HWC", inputs=pairs(IMAGES, "uint8"), atol=1, border=BORDERS, anchor=[[-1, -1], [0, 0]])
def images(x, filter, border, anchor):
    return correlate(x, filter, anchor, border)


@op_case("filter", layout="HWC", inputs=pairs(IMAGES, "float32"), rtol=1e-4, border=BORDERS, anchor=[[1, 0]])
def real_images(x, filter, border, anchor):
    return correlate(x, filter, anchor, border)


@op_case("filter", layout="HWC", rtol=1e-4, mode=["valid", "VALID"], dtype=[ndd.float32],
         inputs=pairs([((9, 7, 3), (3, 3)), ((4, 4, 3), (4, 4)), ((6, 2, 3), (6, 1))], "int16"))  # fmt: skip
def inside(x, filter, mode, dtype):
    return correlate(x, filter, mode="valid", dtype="float32")


@op_case("filter", layout="DHW", rtol=1e-4, border=BORDERS, anchor=[[-1, -1, -1], [0, 1, 0]], dtype=[ndd.float32],
         inputs=pairs([((5, 6, 7), (3, 3, 2)), ((1, 2, 3), (2, 3, 4)), ((4, 1, 1), (5, 2, 1))], "uint8"))  # fmt: skip
def volumes(x, filter, border, anchor, dtype):
    return correlate(x, filter, anchor, border, axes=(0, 1, 2), dtype="float32")


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32", "float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("layout", "axes"), [("HW", [0, 1]), ("CHW", [1, 2]), ("FHWC", [1, 2]), ("FCHW", [2, 3]), ("CDHW", [1, 2, 3])]
)
def test_layouts_and_types(layout, axes, dtype):
    x = random((4, 5, 6, 7)[: len(layout)]) % 100
    by = weights(*(3, 4, 2)[: len(axes)])
    out = ndd.filter(ndd.tensor(x.astype(dtype), layout=layout), by)
    assert out.layout == layout
    np.testing.assert_allclose(np.asarray(out).astype(float), correlate(x.astype(dtype), by, axes=axes), rtol=2e-3,
                               atol=1 if np.dtype(dtype).kind != "f" else 0.3)  # fmt: skip


@pytest.mark.parametrize("fill", [0, 7, 200])
def test_fill_value(fill):
    x, by = random((6, 5, 3)), np.full((3, 3), 1 / 9, np.float32)
    out = ndd.filter(ndd.tensor(x, layout="HWC"), by, np.uint8(fill), border="constant")
    assert_close(out, correlate(x, by, border="constant", fill=fill))


def test_a_filter_and_a_fill_value_for_each_frame():
    x, by, fill = random((4, 5, 6, 2)), weights(4, 3, 3), np.uint8([1, 50, 100, 200])
    out = ndd.filter(ndd.tensor(x, layout="FHWC"), ndd.tensor(by, layout="FHW"), fill, border="constant")
    expected = [correlate(x[f], by[f], border="constant", fill=fill[f]) for f in range(4)]
    assert_close(out, np.stack(expected))


@pytest.mark.parametrize("border", BORDERS)
def test_filters_larger_than_the_image(border):
    x, by = random((3, 4, 3)), weights(31, 15) / 40
    out = ndd.filter(ndd.tensor(x, layout="HWC"), by, border=border, dtype=ndd.float32)
    assert_close(out, correlate(x, by, border=border, dtype="float32"))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize("shape", [(4, 5, 3), (20, 30, 3)])
def test_weights_that_are_no_numbers_or_too_large(shape, bad):
    x, by = np.ones(shape, np.uint8), np.zeros((3, 3), np.float32)
    by[1, 1] = bad
    image = ndd.tensor(x, layout="HWC")
    np.testing.assert_array_equal(np.asarray(ndd.filter(image, by, dtype=ndd.float32)), np.full(shape, np.float32(bad)))
    np.testing.assert_array_equal(np.asarray(ndd.filter(image, by)), 255 if bad > 0 else 0)  # NaN is 0


@pytest.mark.parametrize("size", [(3, 3), (15, 15), (2, 9)])
def test_one_large_image_is_shared_among_threads(size):
    x, results = random((300, 400, 3)), []
    for threads in (1, 2, 5):
        with ndd.EvalContext(num_threads=threads):
            results.append(np.asarray(ndd.filter(ndd.tensor(x, layout="HWC"), weights(*size) / 9)).tobytes())
    assert len(set(results)) == 1


def test_many_rows():
    x, by = random((300, 200, 3)), weights(5, 3)
    for mode in ("same", "valid"):
        out = ndd.filter(ndd.tensor(x, layout="HWC"), by, mode=mode)
        assert_close(out, correlate(x, by, mode=mode))


def test_filters_of_another_type():
    x = random((6, 5, 3))
    assert_close(ndd.filter(ndd.tensor(x, layout="HWC"), np.full((2, 2), 0.25)), correlate(x, np.full((2, 2), 0.25)))


def test_empty_images():
    x = ndd.tensor(np.zeros((0, 4, 3), np.uint8), layout="HWC")
    assert np.asarray(ndd.filter(x, weights(3, 3))).shape == (0, 4, 3)


@pytest.mark.parametrize(
    ("by", "arguments"),
    [((3,), {}), ((1, 3, 3), {}), ((0, 3), {}), ((3, 3), {"border": "isolated"}), ((3, 3), {"mode": "full"}),
     ((3, 3), {"anchor": 3}), ((3, 3), {"anchor": [-2, 0]}), ((3, 3), {"anchor": [0, 0, 0]}),
     ((3, 3), {"dtype": ndd.int16}), ((5, 5), {"mode": "valid"}), ((3, 3), {"anchor": []})],
)  # fmt: skip
def test_wrong_arguments(by, arguments):
    with pytest.raises(RuntimeError, match=r"expected|must be"):
        ndd.filter(ndd.tensor(random((4, 5, 3)), layout="HWC"), weights(*by), **arguments).evaluate()
