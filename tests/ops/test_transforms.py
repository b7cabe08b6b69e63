"""transforms.* and coord_transform."""

import numpy as np
import pytest

import avida as ndd
from tests.op_case import op_case

SHAPES = [(2, 3), (2, 3), (2, 3)]


def square(matrix):
    return np.r_[matrix, [[0] * (matrix.shape[1] - 1) + [1]]]


def after(x, own, reverse_order):
    first, last = (own, x) if reverse_order else (x, own)
    return (square(last) @ square(first))[:-1].astype(np.float32)


def about(linear, center):
    """[M T] with M as given, and a point that stays."""
    linear, center = np.asarray(linear, float), np.broadcast_to(center, len(linear))
    return np.c_[linear, center - linear @ center]


def case(op, **arguments):
    return op_case(
        f"transforms.{op}", shapes=SHAPES, dtypes=["float32"], rtol=1e-4, low=1, high=5, reverse_order=[False, True],
        **arguments,
    )  # fmt: skip


@case("translation", offset=[[1.5, -2.0], [3.0, 4.0]])
def translation(x, reverse_order, offset):
    return after(x, np.c_[np.eye(2), offset], reverse_order)


@case("scale", scale=[[2.0, 3.0], [0.5, -1.0]], center=[None, [4, 5]])
def scale(x, reverse_order, scale, center):
    return after(x, about(np.diag(scale), 0 if center is None else center), reverse_order)


@case("rotation", angle=[30.0, -110.0], center=[[0, 0], [4, 5]])
def rotation(x, reverse_order, angle, center):
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    return after(x, about([[c, -s], [s, c]], center), reverse_order)


@case("shear", shear=[[0.5, 2.0], [1.0, 0.0]], center=[[0, 0], [4, 5]])
def shear(x, reverse_order, shear, center):
    return after(x, about([[1, shear[0]], [shear[1], 1]], center), reverse_order)


@case("crop", from_start=[[0, 1]], from_end=[[4, 9]], to_start=[[1, -1], [0, 0]], to_end=[[2, 3]])
def crop(x, reverse_order, from_start, from_end, to_start, to_end):
    factor = np.subtract(to_end, to_start) / np.subtract(from_end, from_start)
    return after(x, np.c_[np.diag(factor), to_start - factor * from_start], reverse_order)


@case("combine")
def combine(a, b, reverse_order):
    return after(a, b, reverse_order)


@op_case("coord_transform", shapes=[(5, 2), (1, 2), (7, 2)], dtypes=["uint8", "int16", "int32", "float32"], rtol=1e-4,
         MT=[[[1, 0.5, 7], [2, -1, 0], [0, 0.25, 1]], [[3, 1, 0.5]]])  # fmt: skip
def points(x, MT):  # noqa: N803
    m = np.float32(MT)
    return (x.astype(np.float32) @ m[:, :-1].T + m[:, -1]).astype(np.float32)


@op_case("coord_transform", shapes=[(4, 3, 2), (1, 2, 2)], dtypes=["float32", "float16"], rtol=1e-4,
         M=[[[1, 0.5], [2, -1]], [[0.0, 1.0], [1.0, 0.0]]], T=[[1.0, 2.0]])  # fmt: skip
def matrix_and_shift(x, M, T):  # noqa: N803
    return (x.astype(np.float32) @ np.float32(M).T + np.float32(T)).astype(np.float32)


def numbers(result):
    return np.asarray(result).tolist()


def test_matrices_without_an_input():
    assert numbers(ndd.transforms.translation(offset=[1, 2, 3])) == [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3]]
    assert numbers(ndd.transforms.scale(scale=2, ndim=2)) == [[2, 0, 0], [0, 2, 0]]
    assert numbers(ndd.transforms.shear(shear=[1, 2, 3, 4, 5, 6])) == [[1, 1, 2, 0], [3, 1, 4, 0], [5, 6, 1, 0]]
    np.testing.assert_allclose(ndd.transforms.shear(angles=[45, 0]), [[1, 1, 0], [0, 1, 0]], atol=1e-6)
    around_x = [[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0]]
    np.testing.assert_allclose(ndd.transforms.rotation(angle=90, axis=[3, 0, 0]), around_x, atol=1e-6)
    swapped = ndd.transforms.crop(from_start=[10, 0], from_end=[0, 5], absolute=True)
    np.testing.assert_allclose(swapped, [[0.1, 0, 0], [0, 0.2, 0]], rtol=1e-6)
    out = ndd.transforms.translation(offset=[1, 2], batch_size=3)
    assert (out.batch_size, out.layout, str(out.dtype)) == (3, "**", "f32")


def test_frames_are_transformed_alike():
    frames = np.random.default_rng(0).random((4, 2, 3)).astype(np.float32)
    out = ndd.transforms.translation(ndd.tensor(frames, layout="F**"), offset=[1, 2])
    expected = frames + np.float32([[0, 0, 1], [0, 0, 2]])
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    both = ndd.transforms.combine(ndd.tensor(frames, layout="F**"), out)
    np.testing.assert_allclose(np.asarray(both)[3], after(frames[3], expected[3], False), rtol=1e-5)


def test_wrong_transforms():
    matrix = np.zeros((2, 3), np.float32)
    for call in (
        lambda: ndd.transforms.translation(matrix, offset=[1, 2, 3]),
        lambda: ndd.transforms.translation(offset=[]),
        lambda: ndd.transforms.translation(offset=[0] * 7),
        lambda: ndd.transforms.translation(np.zeros((3, 3), np.float32), offset=[1, 2, 3]),
        lambda: ndd.transforms.translation(np.zeros((2, 3)), offset=[1, 2]),
        lambda: ndd.transforms.scale(scale=[1, 2], center=[1, 2, 3]),
        lambda: ndd.transforms.shear(),
        lambda: ndd.transforms.shear(shear=[1, 2], angles=[1, 2]),
        lambda: ndd.transforms.shear(shear=[1]),
        lambda: ndd.transforms.shear(angles=[91, 0]),
        lambda: ndd.transforms.shear(angles=[np.nan, 0]),
        lambda: ndd.transforms.crop(from_end=[1, 2], to_end=[1, 2, 3]),
        lambda: ndd.transforms.combine(matrix, np.zeros((3, 4), np.float32)),
    ):
        with pytest.raises(RuntimeError, match="expected"):
            call().evaluate()
    with pytest.raises(ValueError, match="length"):
        ndd.transforms.rotation(angle=1, axis=[0, 0, 0]).evaluate()


def test_points():
    x = np.float32([[0, 1], [2, 3], [4, 5]])
    assert numbers(ndd.coord_transform(x)) == x.tolist()
    assert numbers(ndd.coord_transform(x, M=3)) == (3 * x).tolist()
    assert numbers(ndd.coord_transform(x, MT=3)) == (3 * x).tolist()
    assert numbers(ndd.coord_transform(x, T=3)) == (3 + x).tolist()
    assert numbers(ndd.coord_transform(x, M=[1, 1], T=1)) == [[2], [6], [10]]
    assert numbers(ndd.coord_transform(x.astype(np.uint8), M=100, dtype=ndd.uint8)) == [
        [0, 100],
        [200, 255],
        [255, 255],
    ]
    assert np.asarray(ndd.coord_transform(np.zeros((0, 2), np.float32), M=[[1, 2]])).shape == (0, 1)
    many = np.random.default_rng(0).random((5000, 2)).astype(np.float32)
    np.testing.assert_allclose(ndd.coord_transform(many, M=[[1, 2]]), many @ np.float32([[1], [2]]), rtol=1e-5)
    for wrong in ({"M": 1, "MT": 1}, {"M": [[1, 2, 3]]}, {"T": [1, 2, 3]}, {"MT": [1, 2]}):
        with pytest.raises(RuntimeError, match="expected"):
            ndd.coord_transform(x, **wrong).evaluate()
    with pytest.raises(RuntimeError, match="expected points"):
        ndd.coord_transform(x[0])
