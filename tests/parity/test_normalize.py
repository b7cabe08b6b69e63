"""normalize is the real library's within 1e-5."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parity.compare import both

SUPPORTED = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32"]


def array(rng, shape, dtype="float32"):
    if dtype == "float32":
        return rng.uniform(-20, 60, shape).astype(np.float32)
    return rng.integers(0, 100, shape).astype(dtype)


@st.composite
def calls(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    ndim = draw(st.integers(1, 4))
    samples = draw(st.integers(1, 3))
    axes = draw(st.sets(st.integers(0, ndim - 1), min_size=1))
    # Two elements or more along each axis: the deviation of one is 0.
    kept = [draw(st.integers(2, 6)) for _ in range(ndim)]
    shapes = [[draw(st.integers(2, 6)) if d in axes else kept[d] for d in range(ndim)] for _ in range(samples)]
    data = [array(rng, shape, draw(st.sampled_from(SUPPORTED))) for shape in shapes[:1]]
    data += [array(rng, shape, data[0].dtype.name) for shape in shapes[1:]]
    letters = "ABCD"[:ndim]
    arguments = {}
    how = draw(st.sampled_from(["axes", "axis_names", "statistics", "both"]))
    if how == "axis_names":
        arguments["axis_names"] = "".join(letters[a] for a in sorted(axes))
    elif how != "statistics":
        arguments["axes"] = sorted(axes)
    batch = draw(st.booleans()) and how in ("axes", "axis_names")
    if batch:
        arguments["batch"] = True
    else:
        small = [[1 if d in axes else shape[d] for d in range(ndim)] for shape in shapes]
        if how in ("statistics", "both"):
            for name in draw(st.sampled_from([["mean"], ["stddev"], ["mean", "stddev"]])):
                arguments[name] = [rng.uniform(1, 9, shape).astype(np.float32) for shape in small]
    for name, values in {
        "ddof": st.integers(-1, 2),
        "epsilon": st.sampled_from([0.5, 4.0]),
        "scale": st.sampled_from([-2.0, 0.5]),
        "shift": st.sampled_from([-1.0, 100.0]),
    }.items():
        if draw(st.booleans()):
            arguments[name] = draw(values)
    return data, letters, arguments, draw(st.booleans())


@given(calls())
@settings(max_examples=150, deadline=None)
def test_random_calls(call):
    data, layout, arguments, as_batch = call

    def run(library):
        def value(arrays):
            if as_batch:
                return library.as_batch([a.copy() for a in arrays])
            return library.as_tensor(arrays[0].copy())

        given = {n: value(v) if isinstance(v, list) and n in ("mean", "stddev") else v for n, v in arguments.items()}
        if as_batch:
            inputs = library.as_batch([a.copy() for a in data], layout=layout)
        else:
            inputs = library.as_tensor(data[0].copy(), layout=layout)
        return library.normalize(inputs, **given)

    both(run, rtol=1e-5, atol=2e-5)


IMAGE = np.random.default_rng(4).integers(0, 256, (120, 90, 3)).astype(np.uint8)
SMALL = IMAGE[:2, :2].copy()
MEAN = np.array([[[1, 2, 3]]], np.float32)


@pytest.mark.parametrize("axes", [[0, 1], [0, 1, 2], [2], [1], [0, 2], None])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "int32"])
def test_images(axes, dtype):
    arguments = {} if axes is None else {"axes": axes}
    both(lambda library: library.normalize(IMAGE.astype(dtype), **arguments), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32"])
def test_integer_results(dtype):
    # At exact halves, rounding errors decide.
    both(
        lambda library: library.normalize(IMAGE, dtype=getattr(library, dtype), scale=50.123, shift=99.4567),
        atol=1,
    )


CASES = {
    "constant": lambda library: library.normalize(np.full((3, 4), 7, np.uint8), shift=2),
    "zero_stddev": lambda library: library.normalize(
        IMAGE, mean=MEAN, stddev=np.array([[[0.0, 2.0, -1.0]]], np.float32)
    ),
    "ddof_too_large": lambda library: library.normalize(SMALL, ddof=12),
    "ddof_too_large_epsilon": lambda library: library.normalize(SMALL, ddof=13, epsilon=1.0),
    "negative_variance": lambda library: library.normalize(SMALL, epsilon=-1e6),
    "nan": lambda library: library.normalize(np.array([1, np.nan, 2], np.float32)),
    "no_axis": lambda library: library.normalize(library.as_tensor(IMAGE, layout="HWC"), axis_names=""),
    "empty": lambda library: library.normalize(np.zeros((0, 3), np.float32)),
    "empty_in_batch": lambda library: library.normalize(library.as_batch([IMAGE, IMAGE[:0]]), batch=True),
    "tensor_as_batch": lambda library: library.normalize(IMAGE, axes=[0], batch_size=2),
    "error_axes_empty": lambda library: library.normalize(IMAGE, axes=[]),
    "error_axis": lambda library: library.normalize(IMAGE, axes=[3]),
    "error_name": lambda library: library.normalize(library.as_tensor(IMAGE, layout="HWC"), axis_names="X"),
    "error_no_layout": lambda library: library.normalize(IMAGE, axis_names="H"),
    "error_both": lambda library: library.normalize(library.as_tensor(IMAGE, layout="HWC"), axes=0, axis_names="H"),
    "error_mean": lambda library: library.normalize(IMAGE, mean=MEAN[..., :2].copy()),
    "error_mean_rank": lambda library: library.normalize(IMAGE, mean=MEAN.ravel()),
    "error_shapes": lambda library: library.normalize(IMAGE, mean=MEAN, stddev=IMAGE.astype(np.float32) + 1),
    "error_batch_mean": lambda library: library.normalize(IMAGE, mean=MEAN, batch=True),
    "error_batch": lambda library: library.normalize(
        library.as_batch([IMAGE, IMAGE[:, :5].copy()]), axes=0, batch=True
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_corner_cases(name):
    both(CASES[name], rtol=1e-5, atol=1e-5, fails=name.startswith("error") and RuntimeError)
