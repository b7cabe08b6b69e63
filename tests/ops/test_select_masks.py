import numpy as np
import pytest

import avida as ndd
from tests.op_case import ALL, op_case

POLYGONS = np.int32([[0, 0, 3], [1, 3, 7], [2, 7, 10], [1, 10, 13]])
VERTICES = np.arange(26, dtype=np.float32).reshape(13, 2)
select = ndd.segmentation.select_masks


@op_case(
    "segmentation.select_masks",
    inputs=[
        [np.int32([1]), POLYGONS, VERTICES],
        [np.int32([2, 0]), POLYGONS, VERTICES + 5],
        [np.int32([1, 0, 2]), POLYGONS[::-1].copy(), VERTICES],
    ],
    reindex_masks=[False, True],
)
def selected(mask_ids, polygons, vertices, reindex_masks):
    rows, parts, count = [], [], 0
    for place, wanted in enumerate(mask_ids):
        for mask, begin, end in polygons[polygons[:, 0] == wanted]:
            rows.append([place if reindex_masks else mask, count, count + end - begin])
            parts.append(vertices[begin:end])
            count += end - begin
    return np.int32(rows), np.concatenate(parts)


def test_all_parts_of_a_mask():
    polygons, vertices = select([1], POLYGONS, VERTICES)
    assert np.asarray(polygons).tolist() == [[1, 0, 4], [1, 4, 7]]
    np.testing.assert_array_equal(np.asarray(vertices), VERTICES[3:][[0, 1, 2, 3, 7, 8, 9]])


@pytest.mark.parametrize("dtype", ALL)
def test_vertices_of_any_type(dtype):
    vertices = np.arange(39).reshape(13, 3).astype(dtype)
    np.testing.assert_array_equal(np.asarray(select([2], POLYGONS, vertices)[1]), vertices[7:10])


def test_nothing():
    polygons, vertices = select(np.int32([]), POLYGONS, VERTICES)
    assert (polygons.shape, vertices.shape) == ((0, 3), (0, 2))
    polygons, vertices = select(np.int32([]), POLYGONS[:0], VERTICES[:0])
    assert (polygons.shape, vertices.shape) == ((0, 3), (0, 2))
    polygons, vertices = select([4], np.int32([[4, 2, 2]]), VERTICES)
    assert np.asarray(polygons).tolist() == [[4, 0, 0]]
    assert vertices.shape == (0, 2)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (([5], POLYGONS, VERTICES), "masks that have polygons, got 5"),
        (([2, 2], POLYGONS, VERTICES), "got 2 again"),
        (([1], np.int32([[1, 7, 3]]), VERTICES), "got 7 to 3"),
        (([1], np.int32([[1, 3, 14]]), VERTICES), "got 3 to 14"),
        (([1], np.int32([[1, -1, 4]]), VERTICES), "got -1 to 4"),
        (([1], np.int32([[1, -(2**31), 2**31 - 1]]), VERTICES), "got -2147483648 to"),
        (([1], np.int32([[1, 0]]), VERTICES), "rows of mask, begin and end"),
        (([1], np.int32([1, 0, 3]), VERTICES), "rank 2, got 1"),
        (([1], POLYGONS, VERTICES.ravel()), "rank 2, got 1"),
        ((np.int64([1]), POLYGONS, VERTICES), "int32, got int64"),
        (([1], POLYGONS.astype(np.int64), VERTICES), "int32, got int64"),
    ],
)
def test_refused(inputs, message):
    with pytest.raises(RuntimeError, match=message):
        select(*inputs)[0].evaluate()
